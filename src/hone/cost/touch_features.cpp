#include "hone/cost/touch_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "hone/cost/store_features.h"

namespace hone::cost {

namespace {

constexpr int kCurveSamples = 20;

/// Workers within workers: blocks of a GPU run threads, threads and cores run serial loops.
int parallel_level(ir::ForKind how) {
  switch (how) {
    case ir::ForKind::BlockX:
    case ir::ForKind::BlockY:
    case ir::ForKind::BlockZ:
      return 2;
    case ir::ForKind::ThreadX:
    case ir::ForKind::ThreadY:
    case ir::ForKind::ThreadZ:
    case ir::ForKind::Parallel:
      return 1;
    case ir::ForKind::Serial:
    case ir::ForKind::Vectorized:
    case ir::ForKind::Unrolled:
    case ir::ForKind::VThread:
      return 0;
  }
  return 0;
}

/// The place of a kind among the published ones.
std::size_t kind_column(ir::ForKind how) {
  constexpr std::array kOrder = {ir::ForKind::BlockX,   ir::ForKind::BlockY,     ir::ForKind::BlockZ,
                                 ir::ForKind::ThreadX,  ir::ForKind::ThreadY,    ir::ForKind::ThreadZ,
                                 ir::ForKind::Unrolled, ir::ForKind::Vectorized, ir::ForKind::Parallel,
                                 ir::ForKind::Serial,   ir::ForKind::VThread};
  return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), how) - kOrder.begin());
}

/// How many elements of row-major memory an iteration of the loop moves the access by.
double flat_stride(const ProgramTables& tables, const AccessRow& access, std::int32_t loop) {
  const auto axes = tables.axes_of(access);
  double elements = 1, stride = 0;
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    for (const IndexTerm& term : tables.terms_of(axes[axis]))
      if (term.loop == loop)
        stride += elements * static_cast<double>(term.coefficient) / static_cast<double>(term.divisor);
    elements *= static_cast<double>(axes[axis].extent);
  }
  return stride;
}

double add_counts(const OpCounts& ops, Op op) {
  return ops.floats[static_cast<std::size_t>(op)] + ops.floats[static_cast<std::size_t>(Op::MultiplyAdd)];
}

/// One curve: what `y` is where `x` is reached, at x = 0, 1, …, and how far before that x was.
void add_curve(const std::vector<double>& x, const std::vector<double>& y, std::vector<float>& features) {
  for (int sample = 0; sample < kCurveSamples; ++sample) {
    const auto beyond = std::upper_bound(x.begin(), x.end(), sample + 1e-6);
    const auto at = static_cast<std::size_t>(beyond - x.begin()) - 1;  // x begins with 0
    features.push_back(static_cast<float>(y[at]));
    features.push_back(static_cast<float>(sample - x[at]));
  }
}

}  // namespace

Result<TouchAnalysis> TouchAnalysis::analyze(const ir::Function& program) {
  ProgramTables tables;
  HONE_TRY(tables.fill(program));
  TouchAnalysis analysis;
  for (const LoopRow& row : tables.loops()) {
    const TouchedLoop* outer = row.parent < 0 ? nullptr : &analysis.loops_[static_cast<std::size_t>(row.parent)];
    analysis.loops_.push_back({.extent = row.extent,
                               .how = row.how,
                               .depth = outer ? outer->depth + 1 : 1,
                               .topdown = (outer ? outer->topdown : 1) * static_cast<double>(row.extent)});
    analysis.unroll_ = std::max(analysis.unroll_, row.unroll);
  }

  std::vector<int> seen(tables.buffers().size());
  for (const StatementRow& statement : tables.statements()) {
    const auto loops = tables.loops_of(statement);
    if (!loops.empty()) {
      TouchedLoop& inner = analysis.loops_[static_cast<std::size_t>(loops.back())];
      inner.adds += add_counts(statement.ops, Op::AddSub);
      inner.multiplies += add_counts(statement.ops, Op::Multiply);
      inner.divides += statement.ops.floats[static_cast<std::size_t>(Op::Divide)];
    }
    for (const AccessRow& access : tables.accesses_of(statement)) {
      const auto buffer = static_cast<std::size_t>(access.buffer);
      const std::string& name = name_of(tables.buffers()[buffer].buffer);
      const auto id = static_cast<std::int32_t>(analysis.accesses_.size());
      analysis.accesses_.push_back({.name = fmt::format("{}_{}", name, seen[buffer]++),
                                    .base = name.substr(0, name.find('.')),
                                    .depth = static_cast<int>(loops.size())});
      double count = 1, reuse = 1;
      int inner_level = 0;
      double base_count = 0, base_reuse = 0;  // where the workers' part begins, once that is known
      for (std::size_t i = loops.size(); i-- > 0;) {
        TouchedLoop& loop = analysis.loops_[static_cast<std::size_t>(loops[i])];
        const int level = parallel_level(loop.how);
        if (i + 1 < loops.size() && level == inner_level + 1) base_count = count, base_reuse = reuse;
        if (level == 0) base_count = base_reuse = 0;
        const double stride = flat_stride(tables, access, loops[i]);
        (stride != 0 ? count : reuse) *= static_cast<double>(loop.extent);
        LoopTouch touch{.access = id, .stride = stride, .count = count, .reuse = reuse};
        if (base_count > 0 && base_reuse > 0)
          touch.thread_count = count / base_count, touch.thread_reuse = reuse / base_reuse;
        loop.touches.push_back(touch);
        loop.bottomup = std::max(loop.bottomup, count * reuse);
        inner_level = level;
      }
    }
  }
  for (TouchedLoop& loop : analysis.loops_)
    std::sort(loop.touches.begin(), loop.touches.end(), [&](const LoopTouch& a, const LoopTouch& b) {
      return analysis.accesses_[static_cast<std::size_t>(a.access)].name <
             analysis.accesses_[static_cast<std::size_t>(b.access)].name;
    });
  return analysis;
}

std::vector<float> itervar_features(const TouchAnalysis& analysis) {
  std::vector<float> features;
  const auto add = [&](double value) { features.push_back(static_cast<float>(value)); };
  for (const TouchedLoop& loop : analysis.loops()) {
    add(slog(static_cast<double>(loop.extent)));
    add(loop.depth);
    add(slog(loop.topdown));
    add(slog(loop.bottomup));
    for (std::size_t kind = 0; kind < 11; ++kind) add(kind == kind_column(loop.how) ? 1 : 0);
    for (const double ops : {loop.adds, loop.multiplies, loop.divides}) add(slog(ops));
    for (const LoopTouch& touch : loop.touches)
      for (const double value : {touch.stride, -1.0, touch.count, touch.reuse, touch.thread_count, touch.thread_reuse})
        add(slog(value));
  }
  add(slog(static_cast<double>(analysis.unroll())));
  return features;
}

std::vector<float> curve_features(const TouchAnalysis& analysis) {
  int deepest = 0;
  for (const TouchedAccess& access : analysis.accesses()) deepest = std::max(deepest, access.depth);
  std::map<std::string, std::int32_t> last;  // the last access of each name among the deepest
  for (std::size_t i = 0; i < analysis.accesses().size(); ++i)
    if (analysis.accesses()[i].depth == deepest) last[analysis.accesses()[i].base] = static_cast<std::int32_t>(i);

  std::vector<float> features;
  for (const auto& [base, access] : last) {
    std::vector<double> counts = {0}, reuses = {0}, topdowns = {0};
    for (const TouchedLoop& loop : analysis.loops())
      for (const LoopTouch& touch : loop.touches) {
        if (touch.access != access) continue;
        counts.push_back(std::log2(std::max(1.0, touch.count)));
        reuses.push_back(std::log2(std::max(1.0, touch.reuse)));
        topdowns.push_back(std::log2(std::max(1.0, loop.topdown)));
      }
    for (std::vector<double>* values : {&counts, &reuses, &topdowns}) std::sort(values->begin(), values->end());
    add_curve(counts, reuses, features);
    add_curve(reuses, counts, features);
    add_curve(counts, topdowns, features);
    add_curve(topdowns, counts, features);
  }
  features.push_back(static_cast<float>(slog(static_cast<double>(analysis.unroll()))));
  return features;
}

}  // namespace hone::cost
