#include <cmath>
#include <fmt/core.h>

#include "hone/ir/lexer.h"
#include "hone/ir/number_text.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"

namespace hone::ir {

namespace {

/// Writes nodes into `out`, statements with an indent of two spaces a level.
class Printer {
 public:
  std::string out;

  void expr(const Expr& e, int context = kLoosest);
  void body(const Stmt& s);
  void function(const Function& f);

 private:
  void binary(const Expr& a, std::string_view op, const Expr& b, int precedence, int context);
  void comparison(const Expr& a, std::string_view op, const Expr& b, int context);
  void constant(const Expr& e);
  void access(const Expr& buffer, const std::vector<Expr>& indices);
  void load(const Load& node);
  void call(std::string_view name, std::initializer_list<Expr> args);
  void list(const std::vector<Expr>& list);
  void call(const Call& node, DType type);
  void name(const Expr& e);
  void declare(const Expr& buffer);

  void element(const Stmt& s, bool is_last);
  void line(std::string_view text) { out.append(static_cast<std::size_t>(2 * indent_), ' ').append(text); }
  void braces(const Stmt& s);
  void single(const Stmt& s);
  void annotations(const Annotations& list);
  void loop(const For& node);
  void block(const Block& node);
  void assign(const Store& node);
  void branch(const If& node);

  int indent_ = 0;
};

void Printer::binary(const Expr& a, std::string_view op, const Expr& b, int precedence, int context) {
  if (context > precedence) out += '(';
  expr(a, precedence);
  out.append(" ").append(op).append(" ");
  expr(b, precedence + 1);
  if (context > precedence) out += ')';
}

void Printer::comparison(const Expr& a, std::string_view op, const Expr& b, int context) {
  if (context > kCompare) out += '(';
  expr(a, kSum);
  out.append(" ").append(op).append(" ");
  expr(b, kSum);
  if (context > kCompare) out += ')';
}

void Printer::constant(const Expr& e) {
  const DType type = e.type();
  if (const IntImm* node = e.as<IntImm>()) {
    if (type == kBool && (node->value == 0 || node->value == 1)) {
      out += node->value ? "true" : "false";
      return;
    }
    out += type.scalar == Scalar::U64 ? std::to_string(static_cast<std::uint64_t>(node->value))
                                      : std::to_string(node->value);
    if (type != kIndex) out += to_string(type);
    return;
  }
  const double value = e.get<FloatImm>().value;
  if (std::isnan(value)) {
    out += "nan_";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-inf_" : "inf_";
  } else {
    out += float_to_text(type, value);
  }
  out += to_string(type);
}

void Printer::name(const Expr& e) {
  const Var* var = e.as<Var>();
  const Buffer* buffer = e.as<Buffer>();
  out += var ? quote_name(var->name) : buffer ? quote_name(buffer->name) : "null";
}

void Printer::list(const std::vector<Expr>& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i) out += ", ";
    expr(list[i]);
  }
}

void Printer::access(const Expr& buffer, const std::vector<Expr>& indices) {
  name(buffer);
  out += '[';
  list(indices);
  out += ']';
}

void Printer::load(const Load& node) {
  if (node.mask) out += '(';
  access(node.buffer, node.indices);
  if (!node.mask) return;
  out += " where ";
  expr(node.mask);
  out += ')';
}

void Printer::call(std::string_view function, std::initializer_list<Expr> args) {
  out.append(function).append("(");
  list(args);
  out += ')';
}

void Printer::call(const Call& node, DType type) {
  out.append(to_string(node.function)).append("(");
  if (node.function == Intrinsic::Bitcast) out.append(to_string(type)).append(", ");
  list(node.args);
  out += ')';
}

void Printer::expr(const Expr& e, int context) {
  if (!e) {
    out += "null";
    return;
  }
  switch (e.kind()) {
    case Kind::IntImm:
    case Kind::FloatImm:
      return constant(e);
    case Kind::Var:
    case Kind::Buffer:
      return name(e);
    case Kind::Add:
      return binary(e.get<Add>().a, "+", e.get<Add>().b, kSum, context);
    case Kind::Sub:
      return binary(e.get<Sub>().a, "-", e.get<Sub>().b, kSum, context);
    case Kind::Mul:
      return binary(e.get<Mul>().a, "*", e.get<Mul>().b, kProduct, context);
    case Kind::Div:
      return binary(e.get<Div>().a, "/", e.get<Div>().b, kProduct, context);
    case Kind::FloorDiv:
      return binary(e.get<FloorDiv>().a, "//", e.get<FloorDiv>().b, kProduct, context);
    case Kind::FloorMod:
      return binary(e.get<FloorMod>().a, "%", e.get<FloorMod>().b, kProduct, context);
    case Kind::Min:
      return call("min", {e.get<Min>().a, e.get<Min>().b});
    case Kind::Max:
      return call("max", {e.get<Max>().a, e.get<Max>().b});
    case Kind::Eq:
      return comparison(e.get<Eq>().a, "==", e.get<Eq>().b, context);
    case Kind::Ne:
      return comparison(e.get<Ne>().a, "!=", e.get<Ne>().b, context);
    case Kind::Lt:
      return comparison(e.get<Lt>().a, "<", e.get<Lt>().b, context);
    case Kind::Le:
      return comparison(e.get<Le>().a, "<=", e.get<Le>().b, context);
    case Kind::And:
      return binary(e.get<And>().a, "and", e.get<And>().b, kAnd, context);
    case Kind::Or:
      return binary(e.get<Or>().a, "or", e.get<Or>().b, kOr, context);
    case Kind::Not:
      if (context > kNot) out += '(';
      out += "not ";
      expr(e.get<Not>().a, kNot);
      if (context > kNot) out += ')';
      return;
    case Kind::Select:
      return call("select", {e.get<Select>().condition, e.get<Select>().a, e.get<Select>().b});
    case Kind::Cast:
      return call(to_string(e.type()), {e.get<Cast>().value});
    case Kind::Load:
      return load(e.get<Load>());
    case Kind::Call:
      return call(e.get<Call>(), e.type());
    case Kind::Ramp:
      return call("ramp", {e.get<Ramp>().base, e.get<Ramp>().stride, imm(e.type().lanes)});
    case Kind::Broadcast:
      return call("broadcast", {e.get<Broadcast>().value, imm(e.type().lanes)});
    case Kind::For:
    case Kind::Block:
    case Kind::Store:
    case Kind::If:
    case Kind::Seq:
    case Kind::Allocate:
    case Kind::Let:
    case Kind::Evaluate:
    case Kind::Barrier:
      break;
  }
  HONE_CHECK(false, "{} is not an expression", to_string(e.kind()));
}

/// `A: f32[4, 4] in local align(0, 32, 8)`.
void Printer::declare(const Expr& buffer) {
  name(buffer);
  const Buffer* node = buffer.as<Buffer>();
  if (!node) return;
  out.append(": ").append(to_string(buffer.type())).append("[");
  list(node->shape);
  out += ']';
  if (node->scope != Scope::Global) out.append(" in ").append(to_string(node->scope));
  for (const StorageAlign& align : node->alignments)
    out += fmt::format(" align({}, {}, {})", align.axis, align.factor, align.offset);
}

void Printer::annotations(const Annotations& list) {
  for (const Annotation& a : list) out += fmt::format(" @{}({})", quote_name(a.key), quote_string(a.value));
}

/// What stands between braces: the statements of a sequence, or the one statement.
void Printer::body(const Stmt& s) {
  const Seq* node = s.as<Seq>();
  if (!node || node->stmts.size() == 1) return element(s, /*is_last=*/true);
  for (std::size_t i = 0; i < node->stmts.size(); ++i) element(node->stmts[i], i + 1 == node->stmts.size());
}

void Printer::braces(const Stmt& s) {
  out += "{\n";
  ++indent_;
  body(s);
  --indent_;
  line("}");
}

/// A sequence of one statement has a word of its own, because one statement between braces is itself.
void Printer::single(const Stmt& s) {
  line("seq {\n");
  ++indent_;
  element(s, /*is_last=*/true);
  --indent_;
  line("}\n");
}

void Printer::loop(const For& node) {
  line("for ");
  name(node.var);
  out += " in 0..";
  expr(node.extent);
  if (node.how != ForKind::Serial) out.append(" ").append(to_string(node.how));
  annotations(node.annotations);
  out += ' ';
  braces(node.body);
}

void Printer::block(const Block& node) {
  line("block ");
  out += quote_name(node.name);
  annotations(node.annotations);
  out += " {\n";
  ++indent_;
  for (const Iter& iter : node.iters) {
    line("");
    name(iter.var);
    out += iter.kind == IterKind::Spatial ? ": spatial(" : ": reduce(";
    expr(iter.extent);
    out += ") = ";
    expr(iter.binding);
    out += '\n';
  }
  if (node.predicate) {
    line("where ");
    expr(node.predicate);
    out += '\n';
  }
  if (node.init) {
    line("init ");
    braces(node.init);
    out += '\n';
  }
  body(node.body);
  --indent_;
  line("}");
}

void Printer::assign(const Store& node) {
  line("");
  access(node.buffer, node.indices);
  out += " = ";
  expr(node.value);
  if (!node.mask) return;
  out += " where ";
  expr(node.mask);
}

void Printer::branch(const If& node) {
  line("if ");
  expr(node.condition);
  out += ' ';
  braces(node.then);
  if (!node.otherwise) return;
  out += " else ";
  braces(node.otherwise);
}

/// One statement of a list. What Allocate and Let define is visible to the end of the braces around them: where their
/// body ends earlier, they get braces of their own.
void Printer::element(const Stmt& s, bool is_last) {
  if (!s) {
    line("null\n");
    return;
  }
  const bool is_scope = s.kind() == Kind::Allocate || s.kind() == Kind::Let;
  if (is_scope && !is_last) {
    line("");
    braces(s);
    out += '\n';
    return;
  }
  if (const Allocate* allocate = s.as<Allocate>()) {
    line("alloc ");
    declare(allocate->buffer);
    out += '\n';
    return body(allocate->body);
  }
  if (const Let* let = s.as<Let>()) {
    line("let ");
    name(let->var);
    out.append(": ").append(let->var ? to_string(let->var.type()) : "null").append(" = ");
    expr(let->value);
    out += '\n';
    return body(let->body);
  }
  if (const Seq* node = s.as<Seq>()) {
    if (node->stmts.size() == 1) return single(node->stmts.front());
    line("");
    braces(s);
  } else if (const For* loop_node = s.as<For>()) {
    loop(*loop_node);
  } else if (const Block* block_node = s.as<Block>()) {
    block(*block_node);
  } else if (const Store* store_node = s.as<Store>()) {
    assign(*store_node);
  } else if (const If* if_node = s.as<If>()) {
    branch(*if_node);
  } else if (const Evaluate* evaluate = s.as<Evaluate>()) {
    line("evaluate ");
    expr(evaluate->value);
  } else {
    line("barrier");
  }
  out += '\n';
}

void Printer::function(const Function& f) {
  out.append("func ").append(quote_name(f.name));
  if (const std::vector<Expr> sizes = symbolic_sizes(f); !sizes.empty()) {
    out += '[';
    list(sizes);
    out += ']';
  }
  out += '(';
  for (std::size_t i = 0; i < f.params.size(); ++i) {
    if (i) out += ", ";
    declare(f.params[i]);
  }
  out += ") ";
  braces(f.body);
  out += '\n';
}

}  // namespace

std::string to_text(const Expr& e) {
  Printer printer;
  printer.expr(e);
  return std::move(printer.out);
}

std::string to_text(const Stmt& s) {
  Printer printer;
  printer.body(s);
  return std::move(printer.out);
}

std::string to_text(const Function& function) {
  Printer printer;
  printer.function(function);
  return std::move(printer.out);
}

std::string to_text(const Module& module) {
  Printer printer;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (i) printer.out += '\n';
    printer.function(module.functions[i]);
  }
  return std::move(printer.out);
}

}  // namespace hone::ir
