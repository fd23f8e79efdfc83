#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "hone/ir/binary.h"
#include "hone/ir/number_text.h"
#include "hone/ir/parser.h"
#include "hone/ir/typing.h"

namespace hone::ir {

namespace {

struct Operator {
  std::string_view text;
  int precedence;
  Kind kind;
};

constexpr std::array<Operator, 12> kOperators = {{{"or", kOr, Kind::Or},
                                                  {"and", kAnd, Kind::And},
                                                  {"==", kCompare, Kind::Eq},
                                                  {"!=", kCompare, Kind::Ne},
                                                  {"<", kCompare, Kind::Lt},
                                                  {"<=", kCompare, Kind::Le},
                                                  {"+", kSum, Kind::Add},
                                                  {"-", kSum, Kind::Sub},
                                                  {"*", kProduct, Kind::Mul},
                                                  {"/", kProduct, Kind::Div},
                                                  {"//", kProduct, Kind::FloorDiv},
                                                  {"%", kProduct, Kind::FloorMod}}};

const Operator* find_operator(const Token& token) {
  if (token.kind != TokenKind::Symbol && token.kind != TokenKind::Word) return nullptr;
  for (const Operator& op : kOperators)
    if (op.text == token.text) return &op;
  return nullptr;
}

}  // namespace

/// A whole expression, outside of all others.
Result<Expr> Parser::expr() {
  operators_ = 0;
  return binary(kLoosest);
}

Result<Expr> Parser::index_expr(std::string_view what) {
  const Token where = peek();
  HONE_TRY(Expr e, expr());
  HONE_TRY(located(where, check_index(what, e.type())));
  return e;
}

Result<Expr> Parser::condition(std::string_view what) {
  const Token where = peek();
  HONE_TRY(Expr e, expr());
  HONE_TRY(located(where, check_condition(what, e.type())));
  return e;
}

/// Operators that bind at least as tightly as `loosest`, those of one precedence from left to right.
Result<Expr> Parser::binary(int loosest) {
  HONE_TRY(Expr left, loosest <= kNot && is_at("not") ? negation() : primary());
  for (const Operator* op = find_operator(peek()); op && op->precedence >= loosest; op = find_operator(peek())) {
    const Token where = peek();
    if (++operators_ > kMaxLength)
      return wrong(where, fmt::format("an expression has more than {} operators", kMaxLength));
    ++at_;
    HONE_TRY(Expr right, binary(op->precedence + 1));
    HONE_TRY(located(where, type_of_binary(op->kind, left.type(), right.type())));
    left = make_binary(op->kind, std::move(left), std::move(right));
  }
  return left;
}

Result<Expr> Parser::negation() {
  const Level level(*this);
  HONE_TRY(check_depth());
  const Token where = peek();
  ++at_;
  HONE_TRY(Expr a, binary(kNot));
  HONE_TRY(located(where, type_of_not(a.type())));
  return make(Not{std::move(a)});
}

Result<Expr> Parser::primary() {
  const Token& token = peek();
  if (token.kind == TokenKind::Number) return number(/*is_negative=*/false);
  if (is_at("(")) return parenthesis();
  if (accept("-")) {
    if (peek().kind == TokenKind::Number) return number(/*is_negative=*/true);
    if (peek().kind != TokenKind::Word || !peek().text.starts_with("inf_")) return unexpected("a number");
    HONE_TRY(const Expr infinity, word());
    return constant(infinity.type(), -std::numeric_limits<double>::infinity());
  }
  if (token.kind != TokenKind::Word && token.kind != TokenKind::Quoted) return unexpected("a value");
  if (is_at("(", 1)) return call();
  return is_at("[", 1) ? load() : word();
}

/// `( expression )`, or a masked load: `( A[i] where mask )`.
Result<Expr> Parser::parenthesis() {
  const Level level(*this);
  HONE_TRY(check_depth());
  HONE_TRY(expect("("));
  HONE_TRY(Expr e, binary(kLoosest));
  const Token where = peek();
  if (accept("where")) {
    const Load* node = e.as<Load>();
    if (!node || node->mask) return wrong(where, "a mask behind something else, allowed is a mask behind one load");
    HONE_TRY(Expr mask, binary(kLoosest));
    HONE_TRY(located(where, type_of_access(node->buffer, node->indices, mask)));
    e = make(Load{node->buffer, node->indices, std::move(mask)});
  }
  HONE_TRY(expect(")"));
  return e;
}

/// Digits and a type; index constants have none.
Result<Expr> Parser::number(bool is_negative) {
  const Token token = peek();
  const std::string_view digits = std::string_view(token.text).substr(0, token.digits);
  const std::string_view suffix = std::string_view(token.text).substr(token.digits);
  HONE_TRY(const DType type, suffix.empty() ? Result<DType>(kIndex) : located(token, parse_dtype(suffix)));
  if (type.is_vector() || type == kVoid || type.is_bool())
    return wrong(token, fmt::format("a constant of {}, allowed is a scalar number type", to_string(type)));
  ++at_;
  if (!type.is_float()) return integer(token, type, is_negative);
  const std::optional<double> value = float_from_text(type, digits);
  if (!value) return wrong(token, fmt::format("constant {} is outside of {}", digits, to_string(type)));
  return constant(type, is_negative ? -*value : *value);
}

Result<Expr> Parser::integer(const Token& token, DType type, bool is_negative) {
  const char* first = token.text.data();
  const char* last = first + token.digits;
  std::uint64_t magnitude = 0;
  const auto [stop, status] = std::from_chars(first, last, magnitude);
  if (stop != last)
    return wrong(token, fmt::format("constant {} of {}, allowed are whole numbers", token.text, to_string(type)));
  // The most negative value is one further from zero than the largest is.
  const std::uint64_t most = static_cast<std::uint64_t>(max_value(type)) + (is_negative ? 1 : 0);
  const bool fits = magnitude == 0 || (!(is_negative && type.is_unsigned()) && magnitude <= most);
  if (status != std::errc() || !fits) {
    const std::string largest =
        type == kU64 ? std::to_string(std::numeric_limits<std::uint64_t>::max()) : std::to_string(max_value(type));
    return wrong(token, fmt::format("constant {}{} is outside {}..{}", is_negative ? "-" : "", token.text,
                                    min_value(type), largest));
  }
  return make(IntImm{static_cast<std::int64_t>(is_negative ? 0 - magnitude : magnitude)}, type);
}

/// A variable, or one of the constants that are words.
Result<Expr> Parser::word() {
  const Token token = peek();
  if (token.kind == TokenKind::Word && !is_plain_name(token.text)) {
    if (accept("true")) return boolean(true);
    if (accept("false")) return boolean(false);
    const bool is_infinity = token.text.starts_with("inf_");
    if (!is_infinity && !token.text.starts_with("nan_")) return unexpected("a value");
    HONE_TRY(const DType type, located(token, parse_dtype(std::string_view(token.text).substr(4))));
    ++at_;
    using Limits = std::numeric_limits<double>;
    return constant(type, is_infinity ? Limits::infinity() : Limits::quiet_NaN());
  }
  const Expr* found = find(token.text, Kind::Var);
  if (!found) return wrong(token, fmt::format("unknown variable '{}', allowed are those in scope", token.text));
  ++at_;
  return *found;
}

/// Expressions up to the closing bracket.
Result<std::vector<Expr>> Parser::list(std::string_view close) {
  const Level level(*this);
  HONE_TRY(check_depth());
  std::vector<Expr> items;
  if (accept(close)) return items;
  while (true) {
    HONE_TRY(Expr item, binary(kLoosest));
    items.push_back(std::move(item));
    if (accept(close)) return items;
    if (!is_at(",")) return unexpected(fmt::format("',' or '{}'", close));
    ++at_;
  }
}

Result<Expr> Parser::buffer_name() {
  const Token token = peek();
  HONE_TRY(const std::string buffer, name("a buffer"));
  const Expr* found = find(buffer, Kind::Buffer);
  if (!found) return wrong(token, fmt::format("unknown buffer '{}', allowed are those in scope", buffer));
  return *found;
}

Result<Expr> Parser::load() {
  const Token where = peek();
  HONE_TRY(Expr buffer, buffer_name());
  HONE_TRY(expect("["));
  HONE_TRY(std::vector<Expr> indices, list("]"));
  HONE_TRY(located(where, type_of_access(buffer, indices, {})));
  return make(Load{std::move(buffer), std::move(indices)});
}

/// `bitcast(type, value)`.
Result<Expr> Parser::bitcast() {
  const Level level(*this);
  HONE_TRY(check_depth());
  const Token where = peek();
  ++at_;
  HONE_TRY(expect("("));
  HONE_TRY(const DType to, type());
  HONE_TRY(expect(","));
  HONE_TRY(Expr value, binary(kLoosest));
  HONE_TRY(expect(")"));
  HONE_TRY(located(where, type_of_call(Intrinsic::Bitcast, {value}, to)));
  return make(Call{Intrinsic::Bitcast, {std::move(value)}}, to);
}

Result<Expr> Parser::call() {
  const Token where = peek();
  if (is_at("bitcast")) return bitcast();
  at_ += 2;  // the name and the parenthesis
  HONE_TRY(std::vector<Expr> args, list(")"));
  if (where.kind != TokenKind::Word) return call_intrinsic(where, "", std::move(args));
  if (where.text == "ramp" || where.text == "broadcast") return call_vector(where, where.text, std::move(args));
  return call_intrinsic(where, where.text, std::move(args));
}

/// `ramp(base, stride, lanes)` or `broadcast(value, lanes)`.
Result<Expr> Parser::call_vector(const Token& where, std::string_view function, std::vector<Expr> args) {
  const bool is_ramp = function == "ramp";
  if (args.size() != (is_ramp ? 3u : 2u))
    return wrong(where, fmt::format("{} of {} arguments, allowed are {}", function, args.size(), is_ramp ? 3 : 2));
  const std::optional<std::int64_t> lanes = as_int(args.back());
  if (!lanes) return wrong(where, fmt::format("{} of variable lanes, allowed is a constant", function));
  if (is_ramp) {
    HONE_TRY(const DType type, located(where, type_of_ramp(args[0].type(), args[1].type(), *lanes)));
    return make(Ramp{args[0], args[1]}, type.lanes);
  }
  HONE_TRY(const DType type, located(where, type_of_broadcast(args[0].type(), *lanes)));
  return make(Broadcast{args[0]}, type.lanes);
}

/// min, max, select, a cast written as its type, or an intrinsic.
Result<Expr> Parser::call_intrinsic(const Token& where, std::string_view function, std::vector<Expr> args) {
  const auto expect_count = [&](std::size_t count) -> Result<void> {
    if (args.size() == count) return {};
    return wrong(where, fmt::format("{} of {} arguments, allowed are {}", function, args.size(), count));
  };
  if (function == "min" || function == "max") {
    const Kind kind = function == "min" ? Kind::Min : Kind::Max;
    HONE_TRY(expect_count(2));
    HONE_TRY(located(where, type_of_binary(kind, args[0].type(), args[1].type())));
    return make_binary(kind, args[0], args[1]);
  }
  if (function == "select") {
    HONE_TRY(expect_count(3));
    HONE_TRY(located(where, type_of_select(args[0].type(), args[1].type(), args[2].type())));
    return make(Select{args[0], args[1], args[2]});
  }
  if (const std::optional<Intrinsic> intrinsic = find_intrinsic(function)) {
    HONE_TRY(const DType result, located(where, type_of_call(*intrinsic, args, kVoid)));
    return make(Call{*intrinsic, std::move(args)}, result);
  }
  const Result<DType> to = parse_dtype(function);
  if (!to)
    return wrong(where, fmt::format("unknown function '{}', allowed are min, max, select, ramp, broadcast, types and "
                                    "intrinsics such as exp",
                                    where.text));
  HONE_TRY(expect_count(1));
  HONE_TRY(located(where, type_of_cast(*to, args[0].type())));
  return make(Cast{args[0]}, *to);
}

}  // namespace hone::ir
