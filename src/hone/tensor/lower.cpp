#include "hone/tensor/lower.h"

#include <algorithm>
#include <fmt/core.h>
#include <set>

#include "hone/ir/rewrite.h"

namespace hone::tensor {

using ir::Expr;
using ir::Stmt;

namespace {

/// Hands out names that occur once in the function.
class Names {
 public:
  std::string unique(const std::string& wish) {
    std::string name = wish;
    for (int number = 1; !taken_.insert(name).second; ++number) name = fmt::format("{}_{}", wish, number);
    return name;
  }

  /// A loop's name such that both it and its block variable's are free; takes both.
  std::string unique_loop(const std::string& wish) {
    std::string name = wish;
    for (int number = 1; taken_.contains(name) || taken_.contains("v" + name); ++number)
      name = fmt::format("{}_{}", wish, number);
    taken_.insert({name, "v" + name});
    return name;
  }

 private:
  std::set<std::string> taken_;
};

/// i, j, k, … z, then a, b, … for the axes of a nest that have no name.
std::string default_axis_name(std::size_t position) {
  constexpr std::string_view kLetters = "ijklmnopqrstuvwxyzabcdefgh";
  return std::string(1, kLetters[position % kLetters.size()]);
}

bool contains(const std::vector<Tensor>& tensors, const Expr& buffer) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.buffer().is(buffer); });
}

/// Lists the operations between inputs and outputs, producers first.
class Order {
 public:
  explicit Order(const std::vector<Tensor>& inputs) : inputs_(inputs) {}

  void visit(const Tensor& tensor) {
    if (contains(inputs_, tensor.buffer()) || !seen_.insert(tensor.operation().get()).second) return;
    HONE_CHECK(!tensor.operation()->is_placeholder(), "placeholder '{}' is not among the inputs", tensor.name());
    for (const Tensor& read : tensor.operation()->reads) visit(read);
    operations.push_back(tensor.operation().get());
  }

  std::vector<const Operation*> operations;

 private:
  const std::vector<Tensor>& inputs_;
  std::set<const Operation*> seen_;  // asked for membership, never iterated
};

/// One loop of the nest with the block variable bound to it.
struct NestLoop {
  Expr var, extent;
  ir::Iter iter;
};

NestLoop make_loop(const Axis& axis, std::size_t position, ir::IterKind kind, Names& names) {
  const std::string name = names.unique_loop(axis.name.empty() ? default_axis_name(position) : axis.name);
  const Expr var = ir::var(name), extent = ir::imm(axis.extent);
  return {var, extent, ir::Iter{.var = ir::var("v" + name), .extent = extent, .kind = kind, .binding = var}};
}

bool has_empty_axis(const Reduction& reduction) {
  return std::any_of(reduction.axes.begin(), reduction.axes.end(), [](const Axis& axis) { return axis.extent == 0; });
}

Stmt store_all(const std::vector<Expr>& buffers, const Indices& indices, const std::vector<Expr>& values) {
  std::vector<Stmt> stores;
  for (std::size_t i = 0; i < buffers.size(); ++i) stores.push_back(ir::store(buffers[i], indices, values[i]));
  return ir::seq(std::move(stores));
}

/// Stores the combination of what is there with the sources. Several outputs are let-bound first, since each new value
/// may depend on all the old ones.
Stmt update_all(const std::vector<Expr>& buffers, const Indices& indices, const Reduction& reduction,
                const std::vector<Expr>& sources, Names& names) {
  std::vector<Expr> so_far;
  for (const Expr& buffer : buffers) so_far.push_back(ir::load(buffer, indices));
  const std::vector<Expr> combined = reduction.combiner.combine(so_far, sources);
  if (buffers.size() == 1) return store_all(buffers, indices, combined);

  std::vector<Expr> next;
  for (const Expr& buffer : buffers) next.push_back(ir::var(names.unique("new_" + ir::name_of(buffer)), buffer.type()));
  Stmt body = store_all(buffers, indices, next);
  for (std::size_t i = buffers.size(); i-- > 0;)
    body = ir::make(ir::Let{.var = next[i], .value = combined[i], .body = body});
  return body;
}

/// Every buffer in the values must be one that the function knows; others were not read inside the compute's body.
void check_reads(const Operation& operation, const std::vector<Expr>& values, const ir::Substitution& buffers) {
  for (const Expr& value : values)
    ir::walk(value, [&](const Expr& e) {
      const bool is_known = !e.as<ir::Buffer>() || std::any_of(buffers.begin(), buffers.end(),
                                                               [&](const auto& pair) { return pair.second.is(e); });
      HONE_CHECK(is_known, "'{}' reads '{}' in a value made outside its body", operation.name, ir::name_of(e));
    });
}

/// The loop nest of one operation. `buffers` says what stands for each tensor in the function.
Stmt lower_operation(const Operation& operation, const ir::Substitution& buffers, Names& names) {
  const Reduction* reduction = operation.body->reduction();
  const bool is_plain = !reduction || reduction->axes.empty() || has_empty_axis(*reduction);

  std::vector<NestLoop> loops;
  ir::Substitution values = buffers;
  Indices indices;
  for (std::size_t i = 0; i < operation.axes.size(); ++i) {
    loops.push_back(make_loop(operation.axes[i], loops.size(), ir::IterKind::Spatial, names));
    indices.push_back(loops.back().iter.var);
    values.emplace_back(operation.indices[i], indices.back());
  }
  for (std::size_t i = 0; !is_plain && i < reduction->axes.size(); ++i) {
    loops.push_back(make_loop(reduction->axes[i], loops.size(), ir::IterKind::Reduce, names));
    values.emplace_back(reduction->vars[i], loops.back().iter.var);
  }

  std::vector<Expr> outputs, sources;
  for (const Expr& buffer : operation.buffers) outputs.push_back(ir::substitute(buffer, buffers));
  const bool is_empty = reduction && has_empty_axis(*reduction);
  for (const Expr& value : is_empty ? reduction->combiner.identity : operation.body->values())
    sources.push_back(ir::substitute(value, values));

  check_reads(operation, sources, buffers);

  ir::Block block{.name = ir::name_of(outputs[0])};
  for (const NestLoop& loop : loops) block.iters.push_back(loop.iter);
  if (is_plain) {
    block.body = store_all(outputs, indices, sources);
  } else {
    block.init = store_all(outputs, indices, reduction->combiner.identity);
    block.body = update_all(outputs, indices, *reduction, sources, names);
  }
  Stmt nest = ir::make(std::move(block));
  for (std::size_t i = loops.size(); i-- > 0;)
    nest = ir::make(ir::For{.var = loops[i].var, .extent = loops[i].extent, .body = nest});
  return nest;
}

/// The buffer itself if its name is free, else the same buffer with a number after its name.
Expr with_unique_name(const Expr& buffer, Names& names) {
  ir::Buffer node = buffer.get<ir::Buffer>();
  std::string name = names.unique(node.name);
  if (name == node.name) return buffer;
  node.name = std::move(name);
  return ir::make(std::move(node), buffer.type());
}

}  // namespace

ir::Function lower(std::string name, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  Order order(inputs);
  for (const Tensor& output : outputs) {
    HONE_CHECK(!contains(inputs, output.buffer()), "tensor '{}' is both input and output", output.name());
    order.visit(output);
  }

  Names names;
  ir::Function function{.name = std::move(name)};
  ir::Substitution buffers;
  const auto add_buffer = [&](const Expr& buffer) {
    for (const auto& [known, unused] : buffers)
      HONE_CHECK(!known.is(buffer), "tensor '{}' is listed twice", ir::name_of(buffer));
    buffers.emplace_back(buffer, with_unique_name(buffer, names));
    return buffers.back().second;
  };
  for (const Tensor& tensor : inputs) function.params.push_back(add_buffer(tensor.buffer()));
  for (const Tensor& tensor : outputs) function.params.push_back(add_buffer(tensor.buffer()));
  std::vector<Expr> intermediates;
  for (const Operation* operation : order.operations)
    for (const Expr& buffer : operation->buffers)
      if (!contains(outputs, buffer) && !contains(inputs, buffer)) intermediates.push_back(add_buffer(buffer));

  std::vector<Stmt> nests;
  for (const Operation* operation : order.operations) nests.push_back(lower_operation(*operation, buffers, names));
  function.body = ir::seq(std::move(nests));
  for (std::size_t i = intermediates.size(); i-- > 0;)
    function.body = ir::make(ir::Allocate{.buffer = intermediates[i], .body = function.body});
  return function;
}

}  // namespace hone::tensor
