#include <algorithm>
#include <charconv>
#include <limits>

#include "hone/ir/parser.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"
#include "hone/ir/typing.h"

namespace hone::ir {

namespace {

/// What one pair of braces holds: a single statement is itself, anything else a sequence.
Stmt as_body(std::vector<Stmt> stmts) {
  return stmts.size() == 1 ? std::move(stmts.front()) : make(Seq{std::move(stmts)});
}

}  // namespace

Error Parser::wrong(const Token& where, std::string_view message) const {
  return error(ErrorCode::ParseError, "parse: line {}, column {}: {}", where.line, where.column, message);
}

Error Parser::unexpected(std::string_view allowed) const {
  const Token& token = peek();
  const std::string found = token.kind == TokenKind::End      ? "the end of the text"
                            : token.kind == TokenKind::Bad    ? token.text
                            : token.kind == TokenKind::String ? quote_string(token.text)
                                                              : "'" + token.text + "'";
  return wrong(token, fmt::format("found {}, allowed is {}", found, allowed));
}

Result<void> Parser::check_depth() const {
  if (depth_ > kMaxNesting) return wrong(peek(), fmt::format("brackets nest deeper than {}", kMaxNesting));
  return {};
}

bool Parser::is_at(std::string_view text, std::size_t ahead) const {
  const Token& token = peek(ahead);
  return (token.kind == TokenKind::Symbol || token.kind == TokenKind::Word) && token.text == text;
}

bool Parser::is_at_name() const {
  return peek().kind == TokenKind::Quoted || (peek().kind == TokenKind::Word && is_plain_name(peek().text));
}

bool Parser::accept(std::string_view text) {
  if (!is_at(text)) return false;
  ++at_;
  return true;
}

Result<void> Parser::expect(std::string_view text) {
  if (!accept(text)) return unexpected(fmt::format("'{}'", text));
  return {};
}

Result<void> Parser::expect_end() const {
  if (!is_at_end()) return unexpected("the end of the text");
  return {};
}

Result<std::string> Parser::name(std::string_view what) {
  if (!is_at_name()) return unexpected(fmt::format("the name of {}", what));
  return tokens_[at_++].text;
}

Result<DType> Parser::type() {
  if (peek().kind != TokenKind::Word) return unexpected("a type");
  HONE_TRY(const DType type, located(peek(), parse_dtype(peek().text)));
  ++at_;
  return type;
}

Result<void> Parser::define(std::string name, const Expr& e) {
  if (in_scope_.size() >= static_cast<std::size_t>(kMaxLength))
    return wrong(peek(), fmt::format("more than {} names are in scope", kMaxLength));
  in_scope_.emplace_back(std::move(name), e);
  return {};
}

const Expr* Parser::find(std::string_view name, Kind kind) const {
  for (auto known = in_scope_.rbegin(); known != in_scope_.rend(); ++known)
    if (known->second.kind() == kind && known->first == name) return &known->second;
  return nullptr;
}

Result<Stmt> Parser::braces() {
  HONE_TRY(expect("{"));
  return rest_of_braces();
}

Result<Stmt> Parser::rest_of_braces() {
  HONE_TRY(std::vector<Stmt> stmts, statements());
  return as_body(std::move(stmts));
}

/// Statements up to and including '}'. What alloc and let define is visible up to there, and the statements behind them
/// are their bodies; a loop, not recursion, so that long chains of them are no danger.
Result<std::vector<Stmt>> Parser::statements() {
  const Level level(*this);
  HONE_TRY(check_depth());
  const std::size_t outside = in_scope_.size();
  std::vector<Stmt> stmts;
  std::vector<Open> open;
  while (!accept("}")) {
    if (is_at("alloc") || is_at("let")) {
      HONE_TRY(open_scope(open, stmts.size()));
    } else {
      HONE_TRY(Stmt next, statement());
      stmts.push_back(std::move(next));
    }
  }
  in_scope_.resize(outside);
  for (; !open.empty(); open.pop_back()) {
    Open& last = open.back();
    const auto begin = stmts.begin() + static_cast<std::ptrdiff_t>(last.position);
    Stmt body = as_body({begin, stmts.end()});
    stmts.erase(begin, stmts.end());
    stmts.push_back(last.value ? make(Let{last.definition, last.value, body}) : make(Allocate{last.definition, body}));
  }
  return stmts;
}

/// `alloc T: f32[8] in local` or `let x: i64 = value`.
Result<void> Parser::open_scope(std::vector<Open>& open, std::size_t position) {
  if (accept("alloc")) {
    HONE_TRY(const Expr buffer, declaration());
    open.push_back({position, buffer, {}});
    return define(name_of(buffer), buffer);
  }
  HONE_TRY(expect("let"));
  const Token where = peek();
  HONE_TRY(std::string variable, name("a variable"));
  HONE_TRY(expect(":"));
  HONE_TRY(const DType stated, type());
  HONE_TRY(expect("="));
  HONE_TRY(const Expr value, expr());
  if (value.type() != stated || stated == kVoid)
    return wrong(where, fmt::format("variable '{}' of {} is bound to a value of {}, allowed is one type", variable,
                                    to_string(stated), to_string(value.type())));
  open.push_back({position, var(variable, stated), value});
  return define(std::move(variable), open.back().definition);
}

Result<Stmt> Parser::statement() {
  if (is_at("for")) return loop();
  if (is_at("block")) return block();
  if (is_at("if")) return branch();
  if (is_at("{")) return braces();
  if (accept("barrier")) return make(Barrier{});
  if (accept("evaluate")) {
    HONE_TRY(Expr value, expr());
    return make(Evaluate{std::move(value)});
  }
  if (accept("seq")) {
    HONE_TRY(expect("{"));
    HONE_TRY(std::vector<Stmt> stmts, statements());
    return make(Seq{std::move(stmts)});
  }
  if (is_at_name()) return store();
  return unexpected("a statement or '}'");
}

Result<Stmt> Parser::loop() {
  HONE_TRY(expect("for"));
  HONE_TRY(std::string variable, name("a loop"));
  for (const std::string_view text : {"in", "0", ".."}) {
    const bool is_zero = text == "0" && peek().kind == TokenKind::Number && peek().text == text;
    if (!is_zero && !is_at(text)) return unexpected(fmt::format("'{}'", text));
    ++at_;
  }
  For node{.var = var(variable)};
  HONE_TRY(node.extent, index_expr("an extent"));
  if (const std::optional<ForKind> how = peek().kind == TokenKind::Word ? find_for_kind(peek().text) : std::nullopt) {
    node.how = *how;
    ++at_;
  }
  HONE_TRY(node.annotations, annotations());
  HONE_TRY(define(std::move(variable), node.var));
  if (!is_at("{")) return unexpected("a kind of loop, '@' or '{'");
  HONE_TRY(node.body, braces());
  in_scope_.pop_back();
  return make(std::move(node));
}

/// `vi: spatial(128) = i`, any number of times. The variables are not in scope yet.
Result<std::vector<Iter>> Parser::iters() {
  std::vector<Iter> result;
  while (is_at_name() && is_at(":", 1)) {
    HONE_TRY(std::string variable, name("an iteration variable"));
    HONE_TRY(expect(":"));
    if (!is_at("spatial") && !is_at("reduce")) return unexpected("'spatial' or 'reduce'");
    Iter iter{.var = var(std::move(variable)), .kind = is_at("spatial") ? IterKind::Spatial : IterKind::Reduce};
    ++at_;
    HONE_TRY(expect("("));
    HONE_TRY(iter.extent, index_expr("an extent"));
    HONE_TRY(expect(")"));
    HONE_TRY(expect("="));
    HONE_TRY(iter.binding, index_expr("a binding"));
    result.push_back(std::move(iter));
  }
  return result;
}

Result<Stmt> Parser::block() {
  HONE_TRY(expect("block"));
  Block node;
  HONE_TRY(node.name, name("a block"));
  HONE_TRY(node.annotations, annotations());
  HONE_TRY(expect("{"));
  HONE_TRY(node.iters, iters());
  if (accept("where")) { HONE_TRY(node.predicate, condition("a predicate")); }
  const std::size_t outside = in_scope_.size();
  for (const Iter& iter : node.iters) HONE_TRY(define(name_of(iter.var), iter.var));
  if (accept("init")) { HONE_TRY(node.init, braces()); }
  HONE_TRY(node.body, rest_of_braces());
  in_scope_.resize(outside);
  return make(std::move(node));
}

Result<Stmt> Parser::branch() {
  HONE_TRY(expect("if"));
  If node;
  HONE_TRY(node.condition, condition("a condition"));
  HONE_TRY(node.then, braces());
  if (accept("else")) { HONE_TRY(node.otherwise, braces()); }
  return make(std::move(node));
}

Result<Stmt> Parser::store() {
  const Token where = peek();
  if (!is_at("[", 1)) {
    ++at_;
    return unexpected("'[', for '" + where.text + "' begins no other statement");
  }
  Store node;
  HONE_TRY(node.buffer, buffer_name());
  HONE_TRY(expect("["));
  operators_ = 0;
  HONE_TRY(node.indices, list("]"));
  HONE_TRY(expect("="));
  HONE_TRY(node.value, expr());
  if (accept("where")) { HONE_TRY(node.mask, expr()); }
  HONE_TRY(const DType type, located(where, type_of_access(node.buffer, node.indices, node.mask)));
  if (node.value.type() != type)
    return wrong(where, fmt::format("store of {} into buffer '{}', allowed is {}", to_string(node.value.type()),
                                    name_of(node.buffer), to_string(type)));
  return make(std::move(node));
}

/// `@key("value")`, any number of times.
Result<Annotations> Parser::annotations() {
  Annotations result;
  while (accept("@")) {
    const Token where = peek();
    HONE_TRY(const std::string key, name("an annotation"));
    if (ir::find(result, key)) return wrong(where, fmt::format("annotation '{}' is given twice", key));
    HONE_TRY(expect("("));
    if (peek().kind != TokenKind::String) return unexpected("a string");
    result = with(std::move(result), key, peek().text);
    ++at_;
    HONE_TRY(expect(")"));
  }
  return result;
}

/// `A: f32[4, 4] in local align(0, 32, 8)`.
Result<Expr> Parser::declaration() {
  const Token where = peek();
  Buffer node;
  HONE_TRY(node.name, name("a buffer"));
  HONE_TRY(expect(":"));
  HONE_TRY(const DType element, type());
  if (element.is_vector() || element == kVoid)
    return wrong(
        where, fmt::format("buffer '{}' has elements of {}, allowed is a scalar type", node.name, to_string(element)));
  HONE_TRY(expect("["));
  operators_ = 0;
  HONE_TRY(node.shape, list("]"));
  for (const Expr& extent : node.shape)
    HONE_TRY(located(where, check_index("an extent of buffer '" + node.name + "'", extent.type())));
  if (accept("in")) {
    const std::optional<Scope> scope = peek().kind == TokenKind::Word ? find_scope(peek().text) : std::nullopt;
    if (!scope) return unexpected("global, shared, local or register");
    node.scope = *scope;
    ++at_;
  }
  while (accept("align")) {
    HONE_TRY(const StorageAlign alignment, align());
    node.alignments.push_back(alignment);
  }
  return make(std::move(node), element);
}

/// `(axis, factor, offset)`.
Result<StorageAlign> Parser::align() {
  HONE_TRY(expect("("));
  HONE_TRY(const std::int64_t axis, plain_integer(std::numeric_limits<int>::max()));
  HONE_TRY(expect(","));
  HONE_TRY(const std::int64_t factor, plain_integer(std::numeric_limits<std::int64_t>::max()));
  HONE_TRY(expect(","));
  HONE_TRY(const std::int64_t offset, plain_integer(std::numeric_limits<std::int64_t>::max()));
  HONE_TRY(expect(")"));
  return StorageAlign{static_cast<int>(axis), factor, offset};
}

Result<std::int64_t> Parser::plain_integer(std::int64_t most) {
  const std::string& text = peek().text;
  std::int64_t value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = peek().kind == TokenKind::Number && status == std::errc() && stop == text.data() + text.size();
  if (!is_whole || value > most) return unexpected(fmt::format("a number in 0..{}", most));
  ++at_;
  return value;
}

/// `[n, m]`: the symbolic sizes.
Result<void> Parser::sizes() {
  if (!accept("[")) return {};
  do {
    HONE_TRY(std::string size, name("a size"));
    const Expr variable = var(size);
    HONE_TRY(define(std::move(size), variable));
  } while (accept(","));
  if (!accept("]")) return unexpected("',' or ']'");
  return {};
}

/// `(A: f32[4], B: f32[4])`.
Result<std::vector<Expr>> Parser::params() {
  HONE_TRY(expect("("));
  std::vector<Expr> result;
  if (!accept(")")) {
    do {
      HONE_TRY(Expr param, declaration());
      result.push_back(std::move(param));
    } while (accept(","));
    if (!accept(")")) return unexpected("',' or ')'");
  }
  for (const Expr& param : result) HONE_TRY(define(name_of(param), param));
  return result;
}

Result<Function> Parser::function() {
  Function f;
  HONE_TRY(expect("func"));
  HONE_TRY(f.name, name("a function"));
  const Token where = peek();
  HONE_TRY(sizes());
  const std::vector<std::pair<std::string, Expr>> declared = in_scope_;
  HONE_TRY(f.params, params());
  const std::vector<Expr> used = symbolic_sizes(f);
  for (const auto& [size, variable] : declared) {
    if (std::none_of(used.begin(), used.end(), [&](const Expr& e) { return e.is(variable); }))
      return wrong(where, fmt::format("size '{}' is in no parameter's shape, allowed are sizes that are", size));
  }
  HONE_TRY(f.body, braces());
  in_scope_.clear();
  return f;
}

Result<Function> parse_function(std::string_view text) {
  Parser parser(text);
  HONE_TRY(Function function, parser.function());
  HONE_TRY(parser.expect_end());
  return function;
}

Result<Module> parse_module(std::string_view text) {
  Parser parser(text);
  Module module;
  while (!parser.is_at_end()) {
    HONE_TRY(Function function, parser.function());
    module.functions.push_back(std::move(function));
  }
  return module;
}

}  // namespace hone::ir
