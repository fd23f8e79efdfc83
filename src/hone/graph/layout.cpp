#include "hone/graph/layout.h"

#include <algorithm>
#include <set>

#include "hone/ir/affine.h"
#include "hone/ir/rewrite.h"

namespace hone::graph {
namespace {

bool is_convolution(const Node& node) {
  static const std::set<std::string_view> names = {"Conv", "ConvTranspose", "FusedConv"};
  return names.contains(node.op);
}

/// The largest block that divides the channels, 0 if there is none that fills half a vector.
std::int64_t block_for(std::int64_t channels, std::int64_t lanes) {
  for (std::int64_t block = lanes; block >= std::max<std::int64_t>(4, lanes / 2); block /= 2)
    if (channels % block == 0) return block;
  return 0;
}

/// Whether the program makes channel c of its output from channel c (or one at a fixed distance) of each input that is
/// stored in blocks.
bool keeps_channels(const ir::Function& program, const ir::Expr& output, std::span<const ir::Expr> blocked) {
  const auto is_one_of = [](std::span<const ir::Expr> buffers, const ir::Expr& buffer) {
    return std::any_of(buffers.begin(), buffers.end(), [&](const ir::Expr& b) { return b.is(buffer); });
  };
  // Buffers in between count as blocked: what they are made of is checked where they are written.
  std::vector<ir::Expr> images(blocked.begin(), blocked.end());
  const std::size_t rank = output.get<ir::Buffer>().shape.size();
  bool keeps = true;
  ir::walk(program.body, [&](const ir::Stmt& s) {
    const ir::Block* block = s.as<ir::Block>();
    if (!block) return;
    ir::Expr channel;
    bool is_made_of_images = false;
    ir::walk(block->body, [&](const ir::Stmt& inner) {
      if (const ir::Store* store = inner.as<ir::Store>(); store && store->indices.size() == rank)
        channel = store->indices[1];
    });
    ir::walk(
        block->body, [](const ir::Stmt&) {},
        [&](const ir::Expr& e) {
          const ir::Load* load = e.as<ir::Load>();
          if (!load || !is_one_of(images, load->buffer)) return;
          is_made_of_images = true;
          const auto index = ir::to_affine(load->indices[1]);
          keeps &= channel && load->indices.size() == rank && index && index->coefficient(channel) == 1;
        });
    if (is_made_of_images)
      ir::walk(block->body, [&](const ir::Stmt& inner) {
        if (const ir::Store* store = inner.as<ir::Store>(); store && !is_one_of(images, store->buffer))
          images.push_back(store->buffer);
      });
  });
  return keeps;
}

class Chooser {
 public:
  Chooser(const Stage& stage, std::span<const Group> groups, std::int64_t lanes)
      : stage_(stage), blocks_(stage.graph.values.size(), 0), may_block_(stage.graph.values.size(), false) {
    for (const Group& group : groups)
      if (group.kind == Group::Kind::Kernel)
        for (const ValueId id : group.outputs) may_block_[index(id)] = block_of(id, lanes) > 0;
    for (const Group& group : groups)
      if (group.kind != Group::Kind::Kernel) forbid(group);
    for (const ValueId id : stage.graph.outputs)
      if (id != kAbsent) may_block_[index(id)] = false;
    lanes_ = lanes;
  }

  ChannelBlocks run(std::span<const Group> groups, std::span<const ir::Function> programs) {
    std::size_t next = 0;
    for (const Group& group : groups)
      if (group.kind == Group::Kind::Kernel) place(group, programs[next++]);
    return std::move(blocks_);
  }

 private:
  static std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }

  std::int64_t block_of(ValueId id, std::int64_t lanes) const {
    const auto& spec = stage_.specs[index(id)];
    if (!spec || spec->type != ElementType::F32 || spec->shape.size() < 3 || spec->shape.size() > 5) return 0;
    const std::int64_t channels = spec->shape[1], block = block_for(channels, lanes);
    return spec->shape.size() == 4 || channels > block ? block : 0;  // programs recognize single blocks of images alone
  }

  void forbid(const Group& group) {
    for (const std::size_t i : group.nodes) {
      for (const ValueId id : reads_of(stage_.graph.nodes[i])) may_block_[index(id)] = false;
      for (const ValueId id : stage_.graph.nodes[i].outputs)
        if (id != kAbsent) may_block_[index(id)] = false;
    }
  }

  void place(const Group& group, const ir::Function& program) {
    std::vector<ir::Expr> blocked;
    for (std::size_t i = 0; i < group.inputs.size(); ++i)
      if (blocks_[index(group.inputs[i])] > 0) blocked.push_back(program.params[i]);
    const bool convolves = std::any_of(group.nodes.begin(), group.nodes.end(),
                                       [&](std::size_t i) { return is_convolution(stage_.graph.nodes[i]); });
    for (std::size_t i = 0; i < group.outputs.size(); ++i) {
      const ValueId id = group.outputs[i];
      if (!may_block_[index(id)]) continue;
      const bool follows =
          !blocked.empty() && keeps_channels(program, program.params[group.inputs.size() + i], blocked);
      if (convolves || follows) blocks_[index(id)] = block_of(id, lanes_);
    }
  }

  const Stage& stage_;
  ChannelBlocks blocks_;
  std::vector<bool> may_block_;
  std::int64_t lanes_ = 0;
};

}  // namespace

ChannelBlocks choose_channel_blocks(const Stage& stage, std::span<const Group> groups,
                                    std::span<const ir::Function> programs, std::int64_t lanes) {
  return Chooser(stage, groups, lanes).run(groups, programs);
}

Shape blocked_shape(const Shape& shape, std::int64_t block) {
  Shape stored = shape;
  stored[1] /= block;
  stored.push_back(block);
  return stored;
}

}  // namespace hone::graph
