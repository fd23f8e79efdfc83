#include "hone/graph/kernel_reads.h"

#include <algorithm>

#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"

namespace hone::graph {
namespace {

constexpr std::size_t kMostReads = 256;
constexpr int kDeepest = 64;  ///< tensors between a parameter and a result

/// The block that makes a tensor, and where it writes.
struct Writer {
  const ir::Block* block = nullptr;
  const ir::Store* store = nullptr;
};

std::int64_t extent_of(const ir::Iter& iter) { return ir::as_int(iter.extent).value_or(1); }

bool reduces(const ir::Block& block) {
  return std::any_of(block.iters.begin(), block.iters.end(),
                     [](const ir::Iter& iter) { return iter.kind == ir::IterKind::Reduce; });
}

double iterations_of(const ir::Block& block) {
  double count = 1;
  for (const ir::Iter& iter : block.iters) count *= static_cast<double>(extent_of(iter));
  return count;
}

/// What a block loads, the same only once.
std::vector<const ir::Load*> loads_of(const ir::Block& block) {
  std::vector<const ir::Load*> loads;
  ir::walk(
      block.body, [](const ir::Stmt&) {},
      [&](const ir::Expr& e) {
        const ir::Load* load = e.as<ir::Load>();
        const auto is_same = [&](const ir::Load* other) {
          return other->buffer.is(load->buffer) &&
                 std::equal(other->indices.begin(), other->indices.end(), load->indices.begin(), load->indices.end(),
                            [](const ir::Expr& a, const ir::Expr& b) { return ir::equal(a, b); });
        };
        if (load && std::none_of(loads.begin(), loads.end(), is_same)) loads.push_back(load);
      });
  return loads;
}

/// From where a tensor is read: variables stand for these expressions, below a sum that takes so many steps.
struct Place {
  ir::Substitution variables;
  double sum_steps = 0;
  double copies = 0;
  int depth = 0;
};

class ReadTracer {
 public:
  explicit ReadTracer(const ir::Function& program) : program_(program) {
    ir::walk(program.body, [&](const ir::Stmt& s) {
      if (const ir::Block* block = s.as<ir::Block>()) add(*block);
    });
  }

  std::optional<std::vector<KernelResult>> run() {
    std::vector<KernelResult> results;
    for (std::size_t i = 0; i < program_.params.size() && is_usual_; ++i) {
      const Writer* writer = find(program_.params[i]);
      if (!writer) continue;
      KernelResult result;
      result.param = i;
      for (const ir::Expr& index : writer->store->indices) {
        result.spatial.push_back({index, 1});
        for (const ir::Iter& iter : writer->block->iters)
          if (iter.var.is(index)) result.spatial.back().extent = extent_of(iter);
        result.points *= static_cast<double>(result.spatial.back().extent);
      }
      summed_.clear();
      trace(*writer, {}, result);
      results.push_back(std::move(result));
    }
    return is_usual_ ? std::optional(std::move(results)) : std::nullopt;
  }

 private:
  void add(const ir::Block& block) {
    ir::walk(block.body, [&](const ir::Stmt& s) {
      const ir::Store* store = s.as<ir::Store>();
      if (!store) return;
      is_usual_ &= !find(store->buffer);
      for (auto index = store->indices.begin(); index != store->indices.end(); ++index) {
        const auto is_same = [&](const ir::Expr& other) { return other.is(*index); };
        is_usual_ &=
            ir::is_int(*index, 0) || (index->as<ir::Var>() && std::none_of(store->indices.begin(), index, is_same));
      }
      writers_.emplace_back(store->buffer, Writer{&block, store});
    });
  }

  const Writer* find(const ir::Expr& buffer) const {
    for (const auto& [written, writer] : writers_)
      if (written.is(buffer)) return &writer;
    return nullptr;
  }

  std::optional<std::size_t> param_of(const ir::Expr& buffer) const {
    for (std::size_t i = 0; i < program_.params.size(); ++i)
      if (program_.params[i].is(buffer)) return i;
    return std::nullopt;
  }

  /// Adds what a block reads.
  void trace(const Writer& writer, const Place& place, KernelResult& result) {
    const ir::Block& block = *writer.block;
    Place inside = place;
    ++inside.depth;
    is_usual_ &= inside.depth <= kDeepest;
    if (reduces(block)) {
      inside.sum_steps = iterations_of(block);
      inside.copies = 0;
      if (std::find(summed_.begin(), summed_.end(), &block) == summed_.end()) {
        summed_.push_back(&block);
        result.steps += inside.sum_steps;
        for (const ir::Iter& iter : block.iters)
          if (iter.kind == ir::IterKind::Reduce) result.reduced.push_back({iter.var, extent_of(iter)});
      }
      result.sums_apart |= place.depth > 0;
    } else if (place.sum_steps > 0) {
      inside.copies = iterations_of(block);
    }
    for (const ir::Load* load : loads_of(block))
      if (is_usual_) follow(*load, writer, inside, result);
  }

  void follow(const ir::Load& load, const Writer& reader, const Place& inside, KernelResult& result) {
    std::vector<ir::Expr> indices;
    for (const ir::Expr& index : load.indices) indices.push_back(ir::substitute(index, inside.variables));
    const Writer* source = find(load.buffer);
    if (!source) {
      const std::optional<std::size_t> param = param_of(load.buffer);
      is_usual_ &= param.has_value() && result.reads.size() < kMostReads;
      if (!is_usual_) return;
      const bool is_summed = inside.sum_steps > 0;
      const double count = is_summed ? inside.sum_steps : iterations_of(*reader.block);
      result.reads.push_back({*param, std::move(indices), count, inside.copies, is_summed});
      return;
    }
    if (source->block == reader.block) return;  // the sum itself
    Place next = inside;
    next.variables.clear();
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (source->store->indices[i].as<ir::Var>()) next.variables.emplace_back(source->store->indices[i], indices[i]);
    trace(*source, next, result);
  }

  const ir::Function& program_;
  std::vector<std::pair<ir::Expr, Writer>> writers_;
  std::vector<const ir::Block*> summed_;  ///< of the result that is traced
  bool is_usual_ = true;
};

}  // namespace

std::optional<std::vector<KernelResult>> kernel_results(const ir::Function& program) {
  return ReadTracer(program).run();
}

}  // namespace hone::graph
