#include <gmock/gmock.h>

#include "hone/compile.h"
#include "hone/graph/evaluate.h"
#include "hone/graph/operator.h"
#include "hone/support/rng.h"

namespace hone {
namespace {

using runtime::ElementType;
using runtime::Shape;
using runtime::Tensor;
using ::testing::ElementsAre;

/// The algorithms that a convolution of 3x3 without steps may be computed by on an image of this size.
std::vector<std::string> algorithms_at(std::int64_t size) {
  constexpr std::int64_t kChannels = 64;
  graph::Graph graph;
  graph.inputs = {graph.add_value("x")};
  graph::Builder builder(graph);
  Tensor weight = *Tensor::allocate(ElementType::F32, {kChannels, kChannels, 3, 3});
  Rng rng(/*seed=*/1);
  for (float& element : weight.as<float>()) element = static_cast<float>(rng.uniform(-8, 8));
  graph::Attributes attributes;
  attributes.set("pads", std::vector<std::int64_t>(4, 1));
  graph.outputs = {builder.add("Conv", {graph.inputs[0], builder.constant(std::move(weight))}, attributes)};
  graph.nodes = builder.nodes();
  const std::vector<graph::Given> given = {
      {graph::OutputSpec{ElementType::F32, {1, kChannels, size, size}}, std::nullopt}};
  const auto stage = graph::specialize(graph, given, {});
  EXPECT_TRUE(stage) << stage.error().message;
  const auto tasks = tasks_of(*stage, *codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1"));
  EXPECT_TRUE(tasks) << tasks.error().message;
  std::vector<std::string> names;
  for (const space::Task& task : tasks->tasks)
    for (const space::Algorithm& algorithm : task.algorithms)
      if (task.algorithms.size() > 1) names.push_back(algorithm.name);
  return names;
}

TEST(Algorithms, HaveNoWinogradTilesWhoseBorderWastesWhatTheySave) {
  EXPECT_THAT(algorithms_at(56), ElementsAre("direct", "winograd2", "winograd4", "winograd6"));
  // Nine tiles of 8x8 values, or sixteen of 6x6: as many.
  EXPECT_THAT(algorithms_at(14), ElementsAre("direct", "winograd2", "winograd4", "winograd6"));
  // Four tiles of 8x8 values, or four of 6x6.
  EXPECT_THAT(algorithms_at(7), ElementsAre("direct", "winograd2", "winograd4"));
}

}  // namespace
}  // namespace hone
