#include "hone/compile.h"

#include <algorithm>
#include <map>

#include "hone/schedule/primitives.h"
#include "hone/space/attention_schedule.h"
#include "hone/space/default_program.h"
#include "hone/space/layout.h"
#include "hone/support/arithmetic.h"

namespace hone {
namespace {

using graph::Group;
using graph::kAbsent;
using graph::ValueId;
using runtime::Place;
using runtime::Slot;

/// Turns the groups of a stage into the slots and steps of a plan.
class PlanWriter {
 public:
  PlanWriter(const graph::Stage& stage, const graph::ChannelBlocks& blocks, KernelCache& cache,
             const MakeBody& make_body)
      : stage_(stage), blocks_(blocks), kernels_(cache), make_body_(make_body) {}

  Result<std::unique_ptr<runtime::Plan>> run(const std::vector<Group>& groups,
                                             const std::vector<std::shared_ptr<const CompiledKernel>>& kernels) {
    for (std::size_t i = 0; i < stage_.graph.inputs.size(); ++i) {
      const std::size_t slot = add_slot(stage_.graph.inputs[i], Place::Input);
      parts_.slots[slot].input = i;
      parts_.inputs.push_back(slot);
    }
    std::size_t next_kernel = 0;
    for (const Group& group : groups) {
      switch (group.kind) {
        case Group::Kind::Kernel:
          HONE_TRY(add_kernel(group, kernels[next_kernel++]));
          break;
        case Group::Kind::View:
          add_view(group);
          break;
        case Group::Kind::Host:
          add_host(group);
          break;
      }
    }
    for (const ValueId id : stage_.graph.outputs) parts_.outputs.push_back(kept_slot(id));
    for (Slot& slot : parts_.slots)
      if (slot.place == Place::Arena) slot.place = parts_.slots[slot.memory].place;
    drop_unused_constants();
    return std::make_unique<runtime::Plan>(std::move(parts_));
  }

 private:
  std::size_t add_slot(ValueId id, Place place) {
    Slot slot;
    slot.place = place;
    slot.memory = parts_.slots.size();
    if (id != kAbsent) {
      slot.name = stage_.graph.name_of(id);
      if (const auto& spec = stage_.specs[static_cast<std::size_t>(id)]) {
        slot.type = spec->type;
        slot.shape = spec->shape;
        if (const std::int64_t block = blocks_[static_cast<std::size_t>(id)])
          slot.shape = graph::blocked_shape(spec->shape, block);
      }
      slots_[id] = parts_.slots.size();
    }
    parts_.slots.push_back(std::move(slot));
    return parts_.slots.size() - 1;
  }

  /// The slot of a value that was made before, or of a constant.
  std::size_t slot_of(ValueId id) {
    if (id == kAbsent) return runtime::kNoSlot;
    if (const auto found = slots_.find(id); found != slots_.end()) return found->second;
    const std::size_t slot = add_slot(id, Place::Constant);
    parts_.slots[slot].constant = stage_.graph.constants.at(id);
    return slot;
  }

  /// The same for a value that outlives the run, or may: its memory cannot be in the arena.
  std::size_t kept_slot(ValueId id) {
    const std::size_t slot = slot_of(id);
    if (slot == runtime::kNoSlot) return slot;
    Slot& root = parts_.slots[parts_.slots[slot].memory];
    if (root.place == Place::Arena) root.place = Place::Owned;
    return slot;
  }

  std::size_t output_slot(ValueId id) {
    if (id == kAbsent) return runtime::kNoSlot;
    const auto& spec = stage_.specs[static_cast<std::size_t>(id)];
    const bool is_static = spec && spec->type != runtime::ElementType::String;
    return add_slot(id, is_static ? Place::Arena : Place::Dynamic);
  }

  runtime::Step new_step(const Group& group) const {
    runtime::Step step;
    step.name = graph::describe(stage_, group);
    step.node = stage_.graph.nodes[group.nodes.front()].name;
    return step;
  }

  Result<void> add_kernel(const Group& group, const std::shared_ptr<const CompiledKernel>& kernel) {
    runtime::Step step = new_step(group);
    runtime::KernelStep call;
    call.entry = kernel->entry;
    for (const ValueId id : group.inputs) call.args.push_back(slot_of(id));
    HONE_TRY(pack(*kernel, call.args));
    for (const ValueId id : group.outputs) call.args.push_back(output_slot(id));
    for (const std::size_t slot : call.args)
      step.bytes += static_cast<double>(runtime::element_count(parts_.slots[slot].shape).value_or(0)) *
                    static_cast<double>(runtime::bytes_of(parts_.slots[slot].type));
    step.flops = kernel->flops;
    step.origin = to_string(kernel->origin);
    step.call = std::move(call);
    parts_.steps.push_back(std::move(step));
    parts_.keep_alive.push_back(kernel);
    return {};
  }

  /// Brings the constants among `args` into the layout that the kernel wants.
  Result<void> pack(const CompiledKernel& kernel, std::vector<std::size_t>& args) {
    if (!kernel.prepare) return {};
    std::vector<runtime::Tensor> constants;
    for (const CompiledKernel::Packed& packed : kernel.packed)
      constants.push_back(*parts_.slots[args[packed.param]].constant.tensor());
    HONE_TRY(std::vector<runtime::Tensor> all, kernels_.pack(kernel, constants));
    std::vector<std::size_t> made;
    for (runtime::Tensor& tensor : all) {
      made.push_back(add_slot(kAbsent, Place::Constant));
      Slot& slot = parts_.slots.back();
      slot.name = parts_.slots[args[kernel.packed[made.size() - 1].param]].name + ".packed";
      slot.type = tensor.type();
      slot.shape = tensor.shape();
      slot.constant = std::move(tensor);
    }
    for (std::size_t i = 0; i < made.size(); ++i) args[kernel.packed[i].param] = made[i];
    return {};
  }

  void add_view(const Group& group) {
    const std::size_t source = slot_of(group.inputs[0]);
    const std::size_t slot = add_slot(group.outputs[0], parts_.slots[source].place);
    parts_.slots[slot].memory = parts_.slots[source].memory;
  }

  void add_host(const Group& group) {
    const graph::Node& node = stage_.graph.nodes[group.nodes.front()];
    runtime::Step step = new_step(group);
    runtime::HostStep host;
    host.kernel = graph::find_operator(node.domain, node.op)->host;
    host.attributes = node.attributes;
    host.opset = node.opset;
    const auto is_dynamic = [&](ValueId id) { return id != kAbsent && !stage_.specs[static_cast<std::size_t>(id)]; };
    const bool may_keep = !node.subgraphs.empty() || std::any_of(node.outputs.begin(), node.outputs.end(), is_dynamic);
    for (const ValueId id : node.inputs) host.inputs.push_back(may_keep ? kept_slot(id) : slot_of(id));
    for (const auto& [name, subgraph] : node.subgraphs) {
      runtime::HostStep::BoundBody body;
      body.code = make_body_(subgraph.graph);
      for (const ValueId id : subgraph.captures) body.captures.push_back(kept_slot(id));
      host.bodies.push_back(std::move(body));
    }
    for (const ValueId id : node.outputs) host.outputs.push_back(output_slot(id));
    step.call = std::move(host);
    parts_.steps.push_back(std::move(step));
  }

  /// Lets go of constants that are used only as kernels packed them.
  void drop_unused_constants() {
    std::vector<bool> is_used(parts_.slots.size());
    const auto use = [&](const std::vector<std::size_t>& slots) {
      for (const std::size_t slot : slots)
        if (slot != runtime::kNoSlot) is_used[parts_.slots[slot].memory] = true;
    };
    use(parts_.outputs);
    for (const runtime::Step& step : parts_.steps) {
      if (const auto* kernel = std::get_if<runtime::KernelStep>(&step.call)) use(kernel->args);
      if (const auto* host = std::get_if<runtime::HostStep>(&step.call)) {
        use(host->inputs);
        for (const runtime::HostStep::BoundBody& body : host->bodies) use(body.captures);
      }
    }
    for (std::size_t i = 0; i < is_used.size(); ++i)
      if (!is_used[i] && parts_.slots[i].place == Place::Constant) parts_.slots[i].constant = {};
  }

  const graph::Stage& stage_;
  const graph::ChannelBlocks& blocks_;
  KernelCache& kernels_;
  const MakeBody& make_body_;
  runtime::PlanParts parts_;
  std::map<ValueId, std::size_t> slots_;
};

/// The program of a group that finds and leaves each value in its layout.
Result<ir::Function> in_layouts(ir::Function program, const Group& group, const graph::ChannelBlocks& blocks) {
  std::vector<ValueId> values = group.inputs;
  values.insert(values.end(), group.outputs.begin(), group.outputs.end());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const std::int64_t block = blocks[static_cast<std::size_t>(values[i])]) {
      const std::size_t rank = program.params[i].get<ir::Buffer>().shape.size();
      HONE_TRY(program, schedule::set_param_layout(program, i, space::blocked_map(rank, block)));
    }
  return program;
}

/// How many products Winograd's algorithm makes for each pair of channels, those beyond the result included.
std::int64_t winograd_products(const graph::WinogradShape& shape, std::int64_t tile) {
  return shape.images * ceil_div(shape.height, tile) * ceil_div(shape.width, tile) * (tile + 2) * (tile + 2);
}

/// The tile of Winograd's algorithm that a kernel likely uses, 0 if none.
std::int64_t likely_winograd_tile(const graph::Stage& stage, const Group& group, const codegen::Target& target) {
  const std::optional<graph::WinogradShape> shape = graph::winograd_shape(stage, group);
  if (!shape) return 0;
  return space::default_winograd_tile(
      {shape->images, shape->in_channels, shape->out_channels, shape->height, shape->width}, target);
}

}  // namespace

graph::LayoutMachine layout_machine(const codegen::Target& target) {
  return {.lanes = target.lanes(/*bits=*/32), .multiply_adds = target.multiply_adds};
}

Result<space::Task> task_of(const graph::Stage& stage, const Group& group, const ir::Function& direct,
                            const graph::ChannelBlocks& blocks, const codegen::Target& target) {
  space::Task task;
  task.flops = flops_of(direct);
  HONE_TRY(ir::Function naive, in_layouts(direct, group, blocks));
  task.algorithms.push_back({"direct", std::move(naive)});
  for (std::size_t i = 0; i < group.inputs.size(); ++i)
    if (stage.graph.is_constant(group.inputs[i])) task.constants.push_back(i);
  const auto add = [&](const std::string& name, const graph::Algorithm& algorithm) -> Result<void> {
    HONE_TRY(const ir::Function program, graph::lower(stage, group, algorithm));
    HONE_TRY(ir::Function other, in_layouts(program, group, blocks));
    task.algorithms.push_back({name, std::move(other)});
    return {};
  };
  if (const std::optional<space::KeyBlock> keys = space::key_block_of(task.naive(), target)) {
    HONE_TRY(add(fmt::format("online{}", keys->keys), {.key_block = keys->keys}));
    if (keys->is_likely && space::schedule_pattern(task.algorithms.back().naive, target)) task.likely = 1;
  }
  const std::optional<graph::WinogradShape> shape = graph::winograd_shape(stage, group);
  if (!shape) return task;
  const std::int64_t likely = likely_winograd_tile(stage, group, target);
  std::int64_t fewest = 9 * shape->images * shape->height * shape->width;
  for (const std::int64_t tile : {2, 4, 6}) {
    // A larger tile transforms more values and is less exact: not where its border wastes more than it saves.
    const std::int64_t products = winograd_products(*shape, tile);
    if (tile == likely)
      task.likely = task.algorithms.size();
    else if (products > fewest)
      continue;
    fewest = std::min(fewest, products);
    HONE_TRY(add(fmt::format("winograd{}", tile), {.winograd_tile = tile}));
  }
  return task;
}

Result<std::vector<graph::LayoutKernel>> layout_kernels(const graph::Stage& stage, const std::vector<Group>& groups,
                                                        const codegen::Target& target) {
  std::vector<graph::LayoutKernel> kernels;
  for (const Group& group : groups) {
    if (group.kind != Group::Kind::Kernel) continue;
    HONE_TRY(ir::Function program, graph::lower(stage, group));
    kernels.push_back({std::move(program), likely_winograd_tile(stage, group, target) > 0});
  }
  return kernels;
}

Result<StageTasks> tasks_of(const graph::Stage& stage, const codegen::Target& target) {
  StageTasks found;
  HONE_TRY(found.groups, graph::partition(stage));
  HONE_TRY(const std::vector<graph::LayoutKernel> kernels, layout_kernels(stage, found.groups, target));
  if (target.is_gpu())  // what blocks of channels cost there is not known
    found.blocks.assign(stage.specs.size(), 0);
  else
    found.blocks = graph::choose_channel_blocks(stage, found.groups, kernels, layout_machine(target));
  for (const Group& group : found.groups) {
    if (group.kind != Group::Kind::Kernel) continue;
    HONE_TRY(space::Task task, task_of(stage, group, kernels[found.tasks.size()].program, found.blocks, target));
    found.tasks.push_back(std::move(task));
  }
  return found;
}

Result<std::unique_ptr<runtime::Plan>> compile(const graph::Stage& stage, KernelCache& kernels,
                                               const MakeBody& make_body) {
  HONE_TRY(const StageTasks found, tasks_of(stage, kernels.target()));
  HONE_TRY(const auto compiled, kernels.compile(found.tasks));
  return PlanWriter(stage, found.blocks, kernels, make_body).run(found.groups, compiled);
}

}  // namespace hone
