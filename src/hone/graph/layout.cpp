#include "hone/graph/layout.h"

#include <algorithm>
#include <set>

#include "hone/graph/kernel_reads.h"
#include "hone/ir/affine.h"
#include "hone/support/log.h"

namespace hone::graph {
namespace {

std::size_t place_of(ValueId id) { return static_cast<std::size_t>(id); }

/// Operators whose values are images: [N, C, ...].
bool is_about_images(const Node& node) {
  static const std::set<std::string_view> names = {"Conv",        "ConvTranspose", "FusedConv",         "MaxPool",
                                                   "AveragePool", "LpPool",        "GlobalAveragePool", "GlobalMaxPool",
                                                   "GlobalLpPool"};
  return names.contains(node.op);
}

std::vector<ValueId> values_of(const Group& group) {
  std::vector<ValueId> values = group.inputs;
  values.insert(values.end(), group.outputs.begin(), group.outputs.end());
  return values;
}

/// The blocks that fit a value by its type and shape.
std::vector<std::int64_t> fitting_blocks(const std::optional<OutputSpec>& spec, std::int64_t lanes) {
  if (!spec || spec->type != ElementType::F32 || spec->shape.size() < 3 || spec->shape.size() > 5) return {0};
  const std::int64_t channels = spec->shape[1];
  // Programs recognize a single block in images of four axes alone.
  const std::int64_t most = spec->shape.size() == 4 ? channels : channels - 1;
  std::vector<std::int64_t> blocks = {0};
  for (std::int64_t block = lanes; block >= std::max<std::int64_t>(4, lanes / 2); block /= 2)
    if (block <= most && channels % block == 0) blocks.push_back(block);
  return blocks;
}

/// Which values are made of which, channel by channel: pairs of parameters of a kernel.
std::vector<std::pair<std::size_t, std::size_t>> same_channels(const ir::Function& program) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  const auto results = kernel_results(program);
  if (!results) return pairs;
  for (const KernelResult& result : *results)
    for (const KernelRead& read : result.reads) {
      if (read.indices.size() < 3 || result.spatial.size() < 3) continue;
      const auto channel = ir::to_affine(read.indices[1]);
      if (channel && channel->coefficient(result.spatial[1].var) == 1) pairs.emplace_back(read.param, result.param);
    }
  return pairs;
}

/// Says of each value whether it is an image.
std::vector<bool> find_images(const Stage& stage, std::span<const Group> groups,
                              std::span<const LayoutKernel> kernels) {
  std::vector<bool> is_image(stage.graph.values.size(), false);
  std::vector<std::pair<std::size_t, std::size_t>> alike;
  std::size_t next = 0;
  for (const Group& group : groups) {
    if (group.kind != Group::Kind::Kernel) continue;
    const std::vector<ValueId> values = values_of(group);
    for (const auto& [a, b] : same_channels(kernels[next++].program))
      alike.emplace_back(place_of(values[a]), place_of(values[b]));
    const bool is_seed = std::any_of(group.nodes.begin(), group.nodes.end(),
                                     [&](std::size_t i) { return is_about_images(stage.graph.nodes[i]); });
    if (is_seed)
      for (const ValueId id : values) is_image[place_of(id)] = !stage.graph.is_constant(id);
  }
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (const auto& [a, b] : alike)
      if (is_image[a] != is_image[b]) is_image[a] = is_image[b] = is_changed = true;
  }
  return is_image;
}

std::vector<LayoutParam> params_of(const Stage& stage, const Group& group, const LayoutOptions& options) {
  std::vector<LayoutParam> params;
  for (const ValueId id : values_of(group))
    params.push_back({stage.specs[place_of(id)]->shape, options[place_of(id)], stage.graph.is_constant(id)});
  return params;
}

}  // namespace

LayoutOptions layout_options(const Stage& stage, std::span<const Group> groups, std::span<const LayoutKernel> kernels,
                             std::int64_t lanes) {
  LayoutOptions options(stage.graph.values.size(), {0});
  const std::vector<bool> is_image = find_images(stage, groups, kernels);
  for (const Group& group : groups)
    if (group.kind == Group::Kind::Kernel)
      for (const ValueId id : group.outputs)
        if (is_image[place_of(id)]) options[place_of(id)] = fitting_blocks(stage.specs[place_of(id)], lanes);
  const auto keep_plain = [&](ValueId id) {
    if (id != kAbsent) options[place_of(id)] = {0};
  };
  for (const Group& group : groups)
    if (group.kind != Group::Kind::Kernel)
      for (const std::size_t i : group.nodes) {
        for (const ValueId id : reads_of(stage.graph.nodes[i])) keep_plain(id);
        for (const ValueId id : stage.graph.nodes[i].outputs) keep_plain(id);
      }
  for (const ValueId id : stage.graph.outputs) keep_plain(id);
  return options;
}

ChannelBlocks choose_channel_blocks(const Stage& stage, std::span<const Group> groups,
                                    std::span<const LayoutKernel> kernels, const LayoutMachine& machine) {
  const LayoutOptions options = layout_options(stage, groups, kernels, machine.lanes);
  std::vector<std::size_t> counts;
  for (const std::vector<std::int64_t>& blocks : options) counts.push_back(blocks.size());
  std::vector<CostTable> tables;
  std::size_t next = 0;
  for (const Group& group : groups) {
    if (group.kind != Group::Kind::Kernel) continue;
    const LayoutKernel& kernel = kernels[next++];
    const std::vector<ValueId> values = values_of(group);
    if (std::none_of(values.begin(), values.end(), [&](ValueId id) { return counts[place_of(id)] > 1; })) continue;
    KernelCosts costs = kernel_costs(kernel.program, params_of(stage, group, options), kernel.is_winograd, machine);
    const std::size_t lanes = counts.size();
    counts.insert(counts.end(), costs.counts.begin() + static_cast<std::ptrdiff_t>(values.size()), costs.counts.end());
    for (CostTable& table : costs.tables) {
      for (std::size_t& v : table.variables) v = v < values.size() ? place_of(values[v]) : lanes + (v - values.size());
      tables.push_back(std::move(table));
    }
  }
  const CheapestChoice choice = find_cheapest(counts, tables);
  ChannelBlocks blocks;
  for (std::size_t i = 0; i < options.size(); ++i) {
    blocks.push_back(options[i][choice.options[i]]);
    if (options[i].size() > 1)
      log::debug("layout", "{}: block {}", stage.graph.name_of(static_cast<ValueId>(i)), blocks.back());
  }
  log::debug("layout", "{} tables, {} cycles expected, {} layouts guessed", tables.size(), choice.cost, choice.guessed);
  return blocks;
}

double layout_cost(const Stage& stage, const Group& group, const LayoutKernel& kernel, const ChannelBlocks& blocks,
                   const LayoutMachine& machine) {
  LayoutOptions options;
  for (const std::int64_t block : blocks) options.push_back({block});
  const KernelCosts costs = kernel_costs(kernel.program, params_of(stage, group, options), kernel.is_winograd, machine);
  return find_cheapest(costs.counts, costs.tables).cost;
}

Shape blocked_shape(const Shape& shape, std::int64_t block) {
  Shape stored = shape;
  stored[1] /= block;
  stored.push_back(block);
  return stored;
}

}  // namespace hone::graph
