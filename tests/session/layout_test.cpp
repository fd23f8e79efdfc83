#include <gtest/gtest.h>
#include <set>
#include <span>

#include "hone/compile.h"
#include "hone/graph/evaluate.h"
#include "hone/graph/operator.h"
#include "hone/runner.h"
#include "hone/runtime/thread_pool.h"
#include "hone/support/rng.h"

namespace hone {
namespace {

using graph::ValueId;
using runtime::ElementType;
using runtime::Shape;
using runtime::Tensor;
using runtime::Value;

Tensor random_image(Rng& rng, const Shape& shape) {
  Tensor tensor = *Tensor::allocate(ElementType::F32, shape);
  for (float& element : tensor.as<float>()) element = static_cast<float>(rng.uniform(-8, 8)) / 8;
  return tensor;
}

/// Convolutions of several kinds, pooling, joins, a residual and transposes, all of `channels` channels.
std::shared_ptr<const graph::Graph> image_model(std::int64_t channels) {
  using Ints = std::vector<std::int64_t>;
  Rng rng(/*seed=*/7);
  graph::Graph graph;
  graph.inputs = {graph.add_value("x")};
  graph::Builder b(graph);
  const auto conv = [&](ValueId x, std::int64_t out, std::int64_t in, std::int64_t window, std::int64_t stride,
                        std::int64_t groups) {
    graph::Attributes attributes;
    attributes.set("strides", Ints{stride, stride});
    attributes.set("pads", Ints(4, window / 2));
    attributes.set("group", groups);
    return b.add("Conv", {x, b.constant(random_image(rng, {out, in / groups, window, window}))}, attributes);
  };
  const auto transpose = [&](ValueId x, const Ints& order) {
    graph::Attributes attributes;
    attributes.set("perm", order);
    return b.add("Transpose", {x}, attributes);
  };
  graph::Attributes join, pool;
  join.set("axis", std::int64_t{1});
  pool.set("kernel_shape", Ints{3, 3});
  pool.set("strides", Ints{2, 2});
  const ValueId first = b.add("Relu", {conv(graph.inputs[0], channels, 3, 3, 1, 1)});
  const ValueId deep = conv(first, channels, channels, 3, 1, channels);
  const ValueId mixed = b.add("Add", {conv(deep, channels, channels, 1, 1, 1), first});
  const ValueId joined = b.add("Concat", {mixed, b.add("Sigmoid", {deep})}, join);
  const ValueId pooled = b.add("MaxPool", {joined}, pool);
  const ValueId back = transpose(b.add("Softmax", {transpose(pooled, {0, 2, 3, 1})}), {0, 3, 1, 2});
  const ValueId last = conv(b.add("Add", {back, pooled}), 2 * channels, 2 * channels, 3, 2, 2);
  graph.outputs = {b.add("GlobalAveragePool", {last}), b.add("Neg", {mixed})};
  graph.nodes = b.nodes();
  return std::make_shared<const graph::Graph>(std::move(graph));
}

/// Vectors of 4, 8 and as many floats as this machine has: other blocks fit each of them.
std::vector<codegen::Target> machines() {
  std::vector<codegen::Target> targets = {*codegen::parse_target("cpu -threads=2")};
  for (const int bits : {128, 256}) {
    if (bits >= targets.front().vector_bits) break;
    codegen::Target target = targets.front();
    target.vector_bits = bits;
    targets.push_back(target);
  }
  return targets;
}

TEST(Layout, ModelsAgreeWithTheReferenceInAllLayouts) {
  Rng rng(/*seed=*/8);
  runtime::ThreadPool pool(2);
  std::set<std::int64_t> seen;
  for (const std::int64_t channels : {1, 8, 12, 32}) {
    const auto model = image_model(channels);
    const std::vector<Value> inputs = {random_image(rng, {2, 3, 13, 18})};
    const auto expected = graph::evaluate(*model, inputs);
    ASSERT_TRUE(expected) << expected.error().message;
    for (const codegen::Target& target : machines()) {
      const std::vector<graph::Given> given = {{graph::OutputSpec{ElementType::F32, {2, 3, 13, 18}}, std::nullopt}};
      const auto stage = graph::specialize(*model, given, {});
      ASSERT_TRUE(stage) << stage.error().message;
      const graph::ChannelBlocks blocks = tasks_of(*stage, target)->blocks;
      seen.insert(blocks.begin(), blocks.end());
      const Runner runner(model, std::make_shared<RunnerContext>(target));
      std::vector<Value> found(2);
      const auto done = runner.run(inputs, found, &pool);
      ASSERT_TRUE(done) << done.error().message;
      for (std::size_t i = 0; i < found.size(); ++i) {
        const std::span<const float> a = found[i].tensor()->as<float>(), e = (*expected)[i].tensor()->as<float>();
        ASSERT_EQ(a.size(), e.size());
        for (std::size_t j = 0; j < a.size(); ++j)
          ASSERT_NEAR(a[j], e[j], 2e-4F) << channels << " channels, output " << i << ", element " << j;
      }
    }
  }
  EXPECT_TRUE(seen.contains(0));
  EXPECT_GT(seen.size(), 1U);
}

}  // namespace
}  // namespace hone
