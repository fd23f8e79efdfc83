#include "hone/graph/layout.h"

#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

constexpr LayoutMachine kWideMachine{.lanes = 16, .multiply_adds = 1};

/// A stage with its groups and kernels, and the layouts that are chosen.
struct Chosen {
  Stage stage;
  std::vector<Group> groups;
  std::vector<LayoutKernel> kernels;
  LayoutOptions options;
  ChannelBlocks blocks;

  /// The blocks of what kernels make, in order.
  std::vector<std::int64_t> made() const {
    std::vector<std::int64_t> all;
    for (const Group& group : groups)
      if (group.kind == Group::Kind::Kernel)
        for (const ValueId id : group.outputs) all.push_back(blocks[static_cast<std::size_t>(id)]);
    return all;
  }

  double cost(const ChannelBlocks& of) const {
    double sum = 0;
    std::size_t next = 0;
    for (const Group& group : groups)
      if (group.kind == Group::Kind::Kernel) sum += layout_cost(stage, group, kernels[next++], of, kWideMachine);
    return sum;
  }
};

Chosen chosen_for(const std::vector<Tensor>& inputs,
                  const std::function<std::vector<ValueId>(Builder&, const std::vector<ValueId>&)>& make) {
  std::vector<Given> given;
  for (const Tensor& input : inputs) given.push_back({OutputSpec{input.type(), input.shape()}, std::nullopt});
  Result<Stage> stage = specialize(graph_of(inputs, make), given, kEvaluate);
  EXPECT_TRUE(stage) << stage.error().message;
  Chosen chosen{.stage = *std::move(stage)};
  chosen.groups = *partition(chosen.stage);
  for (const Group& group : chosen.groups)
    if (group.kind == Group::Kind::Kernel) chosen.kernels.push_back({*lower(chosen.stage, group)});
  chosen.options = layout_options(chosen.stage, chosen.groups, chosen.kernels, kWideMachine.lanes);
  chosen.blocks = choose_channel_blocks(chosen.stage, chosen.groups, chosen.kernels, kWideMachine);
  return chosen;
}

/// Weights of zeros: layouts do not depend on them.
ValueId weights(Builder& b, const Shape& shape) { return b.constant(*Tensor::allocate(ElementType::F32, shape)); }

Tensor image(const Shape& shape) { return *Tensor::allocate(ElementType::F32, shape); }

ValueId depthwise(Builder& b, ValueId x, std::int64_t channels) {
  return b.add("Conv", {x, weights(b, {channels, 1, 3, 3})},
               attributes({{"group", channels}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}}));
}

TEST(Layout, BetweenConvolutionsChannelsAreInBlocks) {
  const Chosen chosen = chosen_for({image({1, 3, 30, 30})}, [](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = b.add("Conv", {x[0], weights(b, {32, 3, 3, 3})});
    const ValueId z =
        b.add("MaxPool", {depthwise(b, y, 32)}, attributes({{"kernel_shape", std::vector<std::int64_t>{2, 2}}}));
    return std::vector{b.add("Conv", {z, weights(b, {8, 32, 1, 1})})};
  });
  EXPECT_THAT(chosen.made(), ElementsAre(16, 16, 16, 0));
}

TEST(Layout, WhatIsReadElementByElementByOutputsStaysPlain) {
  const Chosen chosen = chosen_for({image({1, 16, 64, 64})}, [](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = b.add("Conv", {x[0], weights(b, {32, 16, 1, 1})});
    return std::vector{b.add("Relu", {y}), b.add("Sigmoid", {y})};
  });
  EXPECT_THAT(chosen.made(), ElementsAre(0, 0, 0));
}

TEST(Layout, ATransposeThatAConvolutionReadsMakesBlocks) {
  const Chosen chosen = chosen_for({image({1, 28, 28, 32})}, [](Builder& b, const std::vector<ValueId>& x) {
    const auto to_front = attributes({{"perm", std::vector<std::int64_t>{0, 3, 1, 2}}});
    const auto to_back = attributes({{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}});
    const ValueId y = b.add("Transpose", {x[0]}, to_front);
    const ValueId z = b.add("Transpose", {depthwise(b, y, 32)}, to_back);
    const ValueId sum = b.add("Add", {y, b.add("Transpose", {b.add("Softmax", {z})}, to_front)});
    return std::vector{b.add("Transpose", {depthwise(b, sum, 32)}, to_back)};
  });
  std::vector<std::int64_t> free;
  for (std::size_t i = 0; i < chosen.blocks.size(); ++i)
    if (chosen.options[i].size() > 1) free.push_back(chosen.blocks[i]);
  EXPECT_THAT(free, ElementsAre(16, 16, 16, 16));
}

TEST(Layout, BlocksFitTheChannelsOfFloatsThatKernelsTouch) {
  for (const std::int64_t channels : {0, 1, 7, 8, 16, 24, 30, 40, 48, 60}) {
    const Chosen chosen = chosen_for({image({1, 4, 9, 9})}, [&](Builder& b, const std::vector<ValueId>& x) {
      const ValueId y = b.add("Conv", {x[0], weights(b, {channels, 4, 3, 3})});
      const ValueId viewed = b.add("Conv", {y, weights(b, {16, channels, 1, 1})});
      const ValueId whole =
          b.add("Cast", {b.add("Conv", {y, weights(b, {16, channels, 1, 1})})}, attributes({{"to", std::int64_t{7}}}));
      return std::vector{b.add("Reshape", {viewed, b.ints({16, 49})}), b.add("Abs", {whole})};
    });
    for (std::size_t i = 0; i < chosen.blocks.size(); ++i) {
      const std::int64_t block = chosen.blocks[i];
      if (block == 0) continue;
      EXPECT_TRUE(block == 16 || block == 8);
      EXPECT_EQ(chosen.stage.specs[i]->type, ElementType::F32);
      EXPECT_GT(chosen.stage.specs[i]->shape[1], 0);
      EXPECT_EQ(chosen.stage.specs[i]->shape[1] % block, 0);
    }
    for (const Group& group : chosen.groups) {
      if (group.kind == Group::Kind::Kernel) continue;
      for (const ValueId id : group.inputs) EXPECT_EQ(chosen.blocks[static_cast<std::size_t>(id)], 0);
    }
    for (const ValueId id : chosen.stage.graph.outputs) EXPECT_EQ(chosen.blocks[static_cast<std::size_t>(id)], 0);
  }
}

TEST(Layout, MatricesOfATransformerHaveNoBlocks) {
  const Chosen chosen = chosen_for({image({1, 64, 32})}, [](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = b.add("MatMul", {x[0], weights(b, {32, 32})});
    return std::vector{b.add("MatMul", {b.add("Softmax", {y}), weights(b, {32, 32})})};
  });
  for (const std::vector<std::int64_t>& options : chosen.options) EXPECT_THAT(options, ElementsAre(0));
}

/// The expected costs of the first kernel, whose first input and output are stored in such blocks.
double cost_in(const Chosen& chosen, std::int64_t in, std::int64_t out, std::size_t input = 0) {
  const Group& group = chosen.groups.front();
  ChannelBlocks blocks(chosen.blocks.size(), 0);
  blocks[static_cast<std::size_t>(group.inputs[input])] = in;
  blocks[static_cast<std::size_t>(group.outputs[0])] = out;
  return layout_cost(chosen.stage, group, chosen.kernels.front(), blocks, kWideMachine);
}

TEST(Layout, KernelsAreCheapestWhereLanesRunAlongAllTheirValues) {
  const Chosen single = chosen_for({image({1, 32, 20, 20})}, [](Builder& b, const std::vector<ValueId>& x) {
    return std::vector{depthwise(b, x[0], 32)};
  });
  const Chosen transpose = chosen_for({image({1, 32, 20, 32})}, [](Builder& b, const std::vector<ValueId>& x) {
    return std::vector{b.add("Transpose", {x[0]}, attributes({{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}}))};
  });
  for (const std::int64_t out : {0, 8})
    for (const std::int64_t in : {0, 8, 16}) EXPECT_GT(cost_in(single, in, out), cost_in(single, 16, 16));
  EXPECT_GT(cost_in(transpose, 0, 0), 3 * cost_in(transpose, 16, 0));
}

TEST(Layout, PartsThatDoNotBeginWithABlockAreGatheredWhateverTheirLayout) {
  const auto join = [](const std::vector<Tensor>& parts) {
    return chosen_for(parts, [](Builder& b, const std::vector<ValueId>& x) {
      return std::vector{b.add("Concat", x, attributes({{"axis", 1}}))};
    });
  };
  const Chosen even = join({image({1, 16, 9, 9}), image({1, 16, 9, 9})});
  const Chosen odd = join({image({1, 4, 9, 9}), image({1, 16, 9, 9}), image({1, 12, 9, 9})});
  EXPECT_LT(cost_in(even, 16, 16, 1), cost_in(even, 0, 16, 1));
  EXPECT_EQ(cost_in(odd, 16, 16, 1), cost_in(odd, 0, 16, 1));
}

/// A few convolutions, pools, sums, joins and transposes of random values of before.
std::vector<ValueId> random_layers(Builder& b, Rng& rng, ValueId x, int layers) {
  struct Known {
    ValueId id;
    std::int64_t channels;
  };
  std::vector<Known> known = {{x, 8}};
  for (int i = 0; i < layers; ++i) {
    const Known from = rng.choose(known);
    const std::vector<std::int64_t> all = {7, 8, 16, 24, 32};
    const std::int64_t out = rng.choose(all);
    switch (rng.uniform(0, 4)) {
      case 0:
        known.push_back({b.add("Conv", {from.id, weights(b, {out, from.channels, 1, 1})}), out});
        break;
      case 1:
        known.push_back({depthwise(b, from.id, from.channels), from.channels});
        break;
      case 2:
        known.push_back({b.add("Relu", {from.id}), from.channels});
        break;
      case 3: {
        const Known other = rng.choose(known);
        known.push_back(
            {b.add("Concat", {from.id, other.id}, attributes({{"axis", 1}})), from.channels + other.channels});
        break;
      }
      default:
        known.push_back({b.add("MaxPool", {from.id},
                               attributes({{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                                           {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}})),
                         from.channels});
    }
  }
  return {known.back().id, known[known.size() / 2].id};
}

TEST(Layout, NoOtherLayoutsAreExpectedToBeCheaper) {
  Rng rng(/*seed=*/3);
  int compared = 0;
  for (int trial = 0; trial < 12; ++trial) {
    const Chosen chosen = chosen_for({image({1, 8, 12, 20})}, [&](Builder& b, const std::vector<ValueId>& x) {
      return random_layers(b, rng, x[0], 7);
    });
    const double least = chosen.cost(chosen.blocks);
    for (int other = 0; other < 60; ++other) {
      ChannelBlocks blocks = chosen.blocks;
      for (std::size_t i = 0; i < blocks.size(); ++i)
        if (rng.chance(other % 2 == 0 ? 0.5 : 0.15)) blocks[i] = rng.choose(chosen.options[i]);
      compared += blocks != chosen.blocks ? 1 : 0;
      EXPECT_GE(chosen.cost(blocks), least * (1 - 1e-9)) << "trial " << trial;
    }
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace hone::graph
