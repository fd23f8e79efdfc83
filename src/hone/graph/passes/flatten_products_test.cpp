#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

/// What flattening leaves of the product of `x` with a matrix of `columns` columns.
std::vector<std::string> product_of(const Shape& x, std::int64_t columns) {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_floats(rng, x)};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& values) {
    return std::vector{b.add("MatMul", {values[0], b.constant(random_floats(rng, {x.back(), columns}))})};
  });
  return operators_of(after_specializing(flatten_products, graph, inputs));
}

TEST(FlattenProducts, LeadingAxesBecomeRows) {
  for (const Shape& x : {Shape{2, 3, 4}, Shape{1, 7, 7, 5}, Shape{3, 1, 2, 1}, Shape{2, 1, 1, 5, 3}})
    EXPECT_THAT(product_of(x, 5), ElementsAre("Reshape", "MatMul", "Reshape"));
  EXPECT_THAT(product_of({2, 3, 4}, 1), ElementsAre("Reshape", "MatMul", "Reshape"));
}

TEST(FlattenProducts, OneAxisOfRowsStays) {
  for (const Shape& x : {Shape{4}, Shape{3, 4}, Shape{1, 3, 4}, Shape{3, 1, 4}, Shape{1, 1, 1, 4}, Shape{2, 0, 4}})
    EXPECT_THAT(product_of(x, 5), ElementsAre("MatMul"));
}

TEST(FlattenProducts, ProductsOfTensorsStay) {
  Rng rng(2);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 4}), random_floats(rng, {2, 4, 5})};
  const Graph graph = graph_of(
      inputs, [](Builder& b, const std::vector<ValueId>& x) { return std::vector{b.add("MatMul", {x[0], x[1]})}; });
  EXPECT_THAT(operators_of(after_specializing(flatten_products, graph, inputs)), ElementsAre("MatMul"));
}

TEST(FlattenProducts, NeighboursStayBesideTheirProducts) {
  Rng rng(3);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 3, 4})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    ValueId y = b.add("MatMul", {x[0], b.constant(random_floats(rng, {4, 6}))});
    y = b.add("Gelu", {b.add("Add", {y, b.constant(random_floats(rng, {6}))})});
    y = b.add("MatMul", {y, b.constant(random_floats(rng, {6, 4}))});
    y = b.add("Add", {b.constant(random_floats(rng, {4})), y});
    return std::vector{b.add("Add", {x[0], y})};
  });
  const Pass pass = [](Draft draft) { return merge_reshapes(sink_reshapes(flatten_products(std::move(draft)))); };
  EXPECT_THAT(operators_of(after_specializing(pass, graph, inputs)),
              ElementsAre("Reshape", "MatMul", "Add", "Gelu", "MatMul", "Add", "Reshape", "Add", "Reshape"));
}

}  // namespace
}  // namespace hone::graph
