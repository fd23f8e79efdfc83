#include "hone/graph/layout_cost.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "hone/graph/kernel_reads.h"
#include "hone/graph/lane_access.h"
#include "hone/ir/rewrite.h"
#include "hone/support/arithmetic.h"

namespace hone::graph {
namespace {

// Cycles, measured on a Zen 4 core with vectors of 512 bits by `bench_layer --layouts`.

/// Of an element that is gathered into a vector, or scattered from one.
constexpr double kGather = 1.6;
/// Of a step of a sum that is not computed in vectors.
constexpr double kScalarStep = 3;
/// Of a vector that a step of a sum without products takes in: loading, comparing or multiplying.
constexpr double kVectorStep = 1.2;
/// The same if lanes run along rows of an image: neighbours are not aligned, and at the border vectors are masked.
constexpr double kRowStep = 3.5;
/// Of a vector of results: activation, store.
constexpr double kVectorResult = 6;
/// Of a vector that is one half of a block in memory, beyond that.
constexpr double kHalfBlock = 1.5;
/// How much longer multiply-adds take along rows, and with registers that several blocks of channels share.
constexpr double kRowProducts = 1.06, kSharedProducts = 1.02;
/// The same along rows if channels are in groups, of which few products come together.
constexpr double kGroupedRowProducts = 2;
/// The same if elements for a vector along a row are apart, or much of it is empty, and sums are not kept in blocks.
constexpr double kApartRowProducts = 4, kEmptyRowProducts = 1.5;
/// Beyond this share of empty lanes along rows sums are kept in blocks of channels (space/layout.h).
constexpr double kMostEmpty = 1.2;
/// Of an element of a plain image whose channels are summed, since planes are far apart; and the share of the products
/// that this costs where blocks are not full, so that each element is loaded more often.
constexpr double kPlainPlane = 0.5, kPlainShare = 0.15;
/// Of an element that Winograd's transforms take from, or leave in, anything but full blocks.
constexpr double kWinogradIn = 3.3, kWinogradOut = 1.8;

/// Of the layouts of a kernel's parameters, in one table.
constexpr std::size_t kMostCombinations = 81;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Where the lanes of a result run.
struct LaneChoice {
  std::size_t axis = 0;  ///< of the result
  std::int64_t width = 1;
  bool is_block = false;  ///< along an axis that some value is stored in blocks of; else along the last one
};

/// How a sum uses its operands.
enum class SumKind : std::uint8_t {
  None,
  Products,  ///< all channels of the result use the same elements: convolutions
  Grouped,   ///< those of a group do
  Single,    ///< each uses its own: pooling, depthwise convolutions
};

class ResultCosts {
 public:
  ResultCosts(const KernelResult& result, std::span<const LayoutParam> params, bool is_winograd,
              const LayoutMachine& machine, KernelCosts& costs)
      : result_(result), params_(params), is_winograd_(is_winograd), machine_(machine), costs_(costs) {}

  void run() {
    kind_ = sum_kind();
    choices_ = lane_choices();
    for (const LaneChoice& choice : choices_) computing_.push_back(cost_of_computing(choice));
    for (const KernelRead& read : result_.reads)
      if (!params_[read.param].is_constant)
        add(read.param,
            [&](const LaneChoice& choice, std::int64_t block) { return cost_of_reading(read, choice, block); });
    add(result_.param, [&](const LaneChoice& choice, std::int64_t block) { return cost_of_writing(choice, block); });
    std::size_t combinations = 1;
    for (const Terms& terms : terms_)
      combinations = std::min(kMostCombinations + 1, combinations * params_[terms.param].blocks.size());
    combinations <= kMostCombinations ? write_one_table(combinations) : write_star();
  }

 private:
  /// What each choice of lanes (in rows) costs with each layout of a parameter (in columns).
  struct Terms {
    std::size_t param;
    std::vector<double> costs;
  };

  template <typename Cost>
  void add(std::size_t param, Cost cost) {
    auto terms = std::find_if(terms_.begin(), terms_.end(), [&](const Terms& t) { return t.param == param; });
    const std::vector<std::int64_t>& blocks = params_[param].blocks;
    if (terms == terms_.end())
      terms = terms_.insert(terms_.end(), {param, std::vector<double>(choices_.size() * blocks.size(), 0)});
    std::size_t place = 0;
    for (const LaneChoice& choice : choices_)
      for (const std::int64_t block : blocks) terms->costs[place++] += cost(choice, block);
  }

  /// A table over all parameters: the least that any lanes cost which the layouts lead to.
  void write_one_table(std::size_t combinations) {
    CostTable table;
    for (const Terms& terms : terms_) table.variables.push_back(terms.param);
    std::vector<std::size_t> options(terms_.size());
    for (std::size_t i = 0; i < combinations; ++i) {
      for (std::size_t t = terms_.size(), rest = i; t-- > 0;) {
        const std::size_t count = params_[terms_[t].param].blocks.size();
        options[t] = rest % count;
        rest /= count;
      }
      double least = kNever;
      for (std::size_t c = 0; c < choices_.size(); ++c) {
        if (choices_[c].is_block && !leads_to(choices_[c], options)) continue;
        double sum = computing_[c];
        for (std::size_t t = 0; t < terms_.size(); ++t)
          sum += terms_[t].costs[c * params_[terms_[t].param].blocks.size() + options[t]];
        least = std::min(least, sum);
      }
      table.costs.push_back(least);
    }
    costs_.tables.push_back(std::move(table));
  }

  /// Whether one of the parameters is stored in blocks of this width, along the axis of the lanes.
  bool leads_to(const LaneChoice& choice, const std::vector<std::size_t>& options) const {
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      const std::size_t param = terms_[t].param;
      const std::int64_t block = params_[param].blocks[options[t]];
      if (block != choice.width) continue;
      if (param == result_.param && choice.axis == 1) return true;
      for (const KernelRead& read : result_.reads)
        if (read.param == param && splits(read, block, choice.axis)) return true;
    }
    return false;
  }

  /// A variable for the lanes, and a table over it and each parameter.
  void write_star() {
    const std::size_t lanes = costs_.counts.size();
    costs_.counts.push_back(choices_.size());
    costs_.tables.push_back({{lanes}, computing_});
    for (Terms& terms : terms_) costs_.tables.push_back({{lanes, terms.param}, std::move(terms.costs)});
  }

  std::size_t last_axis() const { return result_.spatial.size() - 1; }
  /// Along the channels of an image there may be lanes; other results have none.
  const ir::Expr* channel() const {
    return result_.spatial.size() > 2 && result_.spatial[1].extent > 1 ? &result_.spatial[1].var : nullptr;
  }

  LaneAccess access(const KernelRead& read, const LaneChoice& choice, std::int64_t block) const {
    const LoopVariable& lane = result_.spatial[choice.axis];
    return lane_access(read.indices, params_[read.param].shape, block, lane.var, std::min(choice.width, lane.extent),
                       result_);
  }

  double elements(std::size_t param) const {
    double count = 1;
    for (const std::int64_t extent : params_[param].shape) count *= static_cast<double>(extent);
    return count;
  }

  bool sums_channels(const KernelRead& read) const {
    return read.is_summed && read.indices.size() > 1 &&
           std::any_of(result_.reduced.begin(), result_.reduced.end(),
                       [&](const LoopVariable& loop) { return ir::uses(read.indices[1], loop.var); });
  }

  SumKind sum_kind() const {
    if (result_.steps == 0) return SumKind::None;
    for (const KernelRead& read : result_.reads) {
      if (params_[read.param].is_constant || !sums_channels(read)) continue;
      return channel() && ir::uses(read.indices[1], *channel()) ? SumKind::Grouped : SumKind::Products;
    }
    return SumKind::Single;
  }

  /// The last axis, then each axis that a value may be stored in blocks of.
  std::vector<LaneChoice> lane_choices() const {
    std::vector<LaneChoice> choices = {{last_axis(), machine_.lanes, false}};
    const auto offer = [&](std::size_t axis, std::int64_t block, bool fits) {
      const bool is_known = std::any_of(choices.begin(), choices.end(), [&](const LaneChoice& c) {
        return c.is_block && c.axis == axis && c.width == block;
      });
      if (block > 0 && !is_known && fits) choices.push_back({axis, block, true});
    };
    for (const std::int64_t block : params_[result_.param].blocks)
      if (result_.spatial.size() > 1) offer(1, block, /*fits=*/true);
    for (const KernelRead& read : result_.reads)
      for (const std::int64_t block : params_[read.param].blocks)
        for (std::size_t axis = 0; axis < result_.spatial.size() && read.indices.size() > 1; ++axis)
          offer(axis, block, splits(read, block, axis));
    return choices;
  }

  /// How many lanes of vectors along the last axis there are for each element.
  double emptiness() const {
    const std::int64_t width = std::max<std::int64_t>(1, result_.spatial[last_axis()].extent);
    return static_cast<double>(ceil_div(width, machine_.lanes) * machine_.lanes) / static_cast<double>(width);
  }

  /// Whether elements for vectors along the last axis are apart even if all is plain.
  bool is_apart_in_rows() const {
    return std::any_of(result_.reads.begin(), result_.reads.end(), [&](const KernelRead& read) {
      return read.is_summed && !params_[read.param].is_constant &&
             access(read, {last_axis(), machine_.lanes, false}, /*block=*/0) == LaneAccess::Apart;
    });
  }

  /// Whether sums of products are kept in blocks although the result is plain.
  bool sums_in_lanes() const {
    const std::int64_t half = std::max<std::int64_t>(4, machine_.lanes / 2);
    return channel() && result_.spatial[1].extent % half == 0 && (emptiness() > kMostEmpty || is_apart_in_rows());
  }

  double cost_of_products() const {
    return result_.steps / static_cast<double>(machine_.lanes * machine_.multiply_adds);
  }

  double cost_of_computing(const LaneChoice& choice) const {
    const auto width = static_cast<double>(choice.width), lanes = static_cast<double>(machine_.lanes);
    if (is_winograd_) {
      const bool is_full = choice.is_block && choice.axis == 1 && choice.width == machine_.lanes;
      return is_full ? 0 : result_.points * kWinogradOut;
    }
    if (!choice.is_block) return cost_in_rows();
    const double results = result_.points / width * kVectorResult;
    switch (kind_) {
      case SumKind::None:
        return results;
      case SumKind::Products:
      case SumKind::Grouped:
        if (choice.axis != 1) return result_.steps * kScalarStep;
        return results + cost_of_products() * (width < lanes ? kSharedProducts : 1);
      case SumKind::Single:
        return results + (choice.axis == 1 ? result_.steps / width * kVectorStep : result_.steps * kScalarStep);
    }
    return 0;
  }

  /// The cost of lanes along the last axis, all values plain.
  double cost_in_rows() const {
    const auto lanes = static_cast<double>(machine_.lanes);
    const double results = result_.points / lanes * emptiness() * kVectorResult;
    const bool is_column = result_.spatial[last_axis()].extent < 2;
    switch (kind_) {
      case SumKind::None:
        return is_column ? result_.points * kScalarStep : results;
      case SumKind::Products:
        if (is_column) return result_.steps * kScalarStep;
        if (sums_in_lanes()) return cost_of_products() + result_.points * kGather + results;
        return cost_of_products() * (is_apart_in_rows() ? kApartRowProducts : kRowProducts * emptiness()) + results;
      case SumKind::Grouped:
        if (is_column) return result_.steps * kScalarStep;
        return cost_of_products() * kGroupedRowProducts * emptiness() + results;
      case SumKind::Single:
        if (!is_column) return result_.steps / lanes * kRowStep * emptiness() + results;
        // Rows that are summed up are vectors if they are long.
        return !result_.reduced.empty() && result_.reduced.back().extent >= 2 * machine_.lanes
                   ? result_.steps / lanes * kVectorStep
                   : result_.steps * kScalarStep;
    }
    return 0;
  }

  /// Whether a program splits an axis of the result because this read finds its tensor in blocks. Sums in a tensor of
  /// their own have as many channels as they like.
  bool splits(const KernelRead& read, std::int64_t block, std::size_t axis) const {
    if (block == 0 || read.indices.size() < 2 || !ir::uses(read.indices[1], result_.spatial[axis].var)) return false;
    return result_.spatial[axis].extent % block == 0 || (read.is_summed && result_.sums_apart);
  }

  double cost_of_reading(const KernelRead& read, const LaneChoice& choice, std::int64_t block) const {
    if (is_winograd_ && read.is_summed) {
      const bool is_full = block == machine_.lanes;
      return is_full ? 0 : elements(read.param) * kWinogradIn;
    }
    for (std::size_t axis = 0; axis < result_.spatial.size(); ++axis) {
      if (!splits(read, block, axis)) continue;
      if (!choice.is_block || (axis == choice.axis && block < choice.width)) return kNever;
    }
    const bool is_product = read.is_summed && kind_ == SumKind::Products;
    if (is_product && !choice.is_block) return cost_of_products_in_rows(read, block);
    const double all = elements(read.param), count = read.is_summed ? read.count : std::min(read.count, all);
    switch (access(read, choice, block)) {
      case LaneAccess::Same:
        return is_product && block == 0 ? cost_of_plain_planes(all, choice.width) : 0;
      case LaneAccess::Vector:
      case LaneAccess::Near:
        return block > choice.width ? count / static_cast<double>(choice.width) * kHalfBlock : 0;
      case LaneAccess::Apart:
        if (read.is_summed && kind_ == SumKind::Grouped) return count * kScalarStep;
        // What is copied for a sum is gathered then, into blocks.
        return (choice.is_block && read.copies > 0 ? std::min(read.copies, all) : count) * kGather;
    }
    return 0;
  }

  /// A sum of products along rows reads a plain copy of what is stored in blocks, unless there is a single block.
  double cost_of_products_in_rows(const KernelRead& read, std::int64_t block) const {
    const double all = elements(read.param);
    if (block == 0 && !sums_in_lanes()) return 0;
    if (block == 0)
      return cost_of_plain_planes(all, result_.spatial[1].extent % machine_.lanes == 0 ? machine_.lanes : 1);
    if (params_[read.param].shape[1] == block) return result_.steps * kScalarStep;
    if (!sums_in_lanes()) return all * kGather;
    return all * kGather + cost_of_products() * ((is_apart_in_rows() ? kApartRowProducts : kEmptyRowProducts) - 1);
  }

  double cost_of_plain_planes(double elements, std::int64_t width) const {
    return elements * kPlainPlane + (width < machine_.lanes ? cost_of_products() * kPlainShare : 0);
  }

  double cost_of_writing(const LaneChoice& choice, std::int64_t block) const {
    if (block > 0 && (!choice.is_block || (choice.axis == 1 && block < choice.width))) return kNever;
    std::vector<ir::Expr> indices;
    for (const LoopVariable& loop : result_.spatial) indices.push_back(loop.var);
    const KernelRead written{result_.param, std::move(indices), result_.points, 0, false};
    switch (access(written, choice, block)) {
      case LaneAccess::Same:
        return 0;
      case LaneAccess::Vector:
      case LaneAccess::Near:
        return block > choice.width ? result_.points / static_cast<double>(choice.width) * kHalfBlock : 0;
      case LaneAccess::Apart:
        break;
    }
    // Sums that have no tensor of their own are scattered at each step.
    if (kind_ == SumKind::Single && !result_.sums_apart) return result_.steps * kScalarStep;
    if (kind_ == SumKind::Grouped && is_near_somewhere(choice)) return result_.steps * kScalarStep;
    return result_.points * kGather;
  }

  /// Whether lanes belong to several groups of channels.
  bool is_near_somewhere(const LaneChoice& choice) const {
    return std::any_of(result_.reads.begin(), result_.reads.end(), [&](const KernelRead& read) {
      return sums_channels(read) && !params_[read.param].is_constant &&
             access(read, choice, choice.width) != LaneAccess::Same;
    });
  }

  const KernelResult& result_;
  std::span<const LayoutParam> params_;
  bool is_winograd_;
  const LayoutMachine& machine_;
  KernelCosts& costs_;
  SumKind kind_ = SumKind::None;
  std::vector<LaneChoice> choices_;
  std::vector<double> computing_;  ///< what each choice of lanes costs whatever the layouts
  std::vector<Terms> terms_;       ///< one for each parameter
};

}  // namespace

KernelCosts kernel_costs(const ir::Function& program, std::span<const LayoutParam> params, bool is_winograd,
                         const LayoutMachine& machine) {
  KernelCosts costs;
  for (const LayoutParam& param : params) costs.counts.push_back(param.blocks.size());
  const std::optional<std::vector<KernelResult>> results = kernel_results(program);
  if (!results) {
    // Of what is not understood, blocks are expected to cost most.
    for (std::size_t i = 0; i < params.size(); ++i) {
      CostTable table{{i}, {}};
      double elements = 1;
      for (const std::int64_t extent : params[i].shape) elements *= static_cast<double>(extent);
      for (const std::int64_t block : params[i].blocks) table.costs.push_back(block > 0 ? elements * kScalarStep : 0);
      costs.tables.push_back(std::move(table));
    }
    return costs;
  }
  for (const KernelResult& result : *results)
    if (!result.spatial.empty() && result.points > 0) ResultCosts(result, params, is_winograd, machine, costs).run();
  return costs;
}

}  // namespace hone::graph
