#include <gtest/gtest.h>
#include <limits>

#include "hone/graph/apply.h"
#include "hone/graph/testing.h"
#include "hone/ir/interpret.h"
#include "hone/ir/rewrite.h"
#include "hone/tensor/key_blocks.h"
#include "hone/tensor/lower.h"

namespace hone::graph {
namespace {

using runtime::Shape;

struct Operand {
  ElementType type;
  Shape shape;
};

constexpr std::int64_t kKeys = 23, kQueries = 9;
const Operand kQuery{ElementType::F32, {2, 4, kQueries, 3}}, kKey{ElementType::F32, {2, 2, kKeys, 3}};
const Operand kAbsentOperand{ElementType::Undefined, {}};

ir::Function program_of(const std::vector<Operand>& operands, const Attributes& attributes,
                        const Algorithm& algorithm) {
  Node node{.name = "", .domain = "hone", .op = "FusedAttention", .outputs = {100}, .attributes = attributes};
  std::vector<Application::Input> inputs;
  std::vector<tensor::Tensor> params;
  for (const Operand& operand : operands) {
    const auto id = static_cast<ValueId>(inputs.size());
    node.inputs.push_back(operand.type == ElementType::Undefined ? kAbsent : id);
    inputs.push_back(operand.type == ElementType::Undefined ? Application::Input()
                                                            : shaped_input(id, "x", {operand.type, operand.shape}));
    if (inputs.back().tensor) params.push_back(*inputs.back().tensor);
  }
  const auto made = define(Application(node, inputs, algorithm), *find_operator(node.domain, node.op));
  EXPECT_TRUE(made) << made.error().message;
  return tensor::lower("attention", params, {made->front()});
}

/// Expects blocks of keys to give what all keys at a time give; `change` may set arguments.
void expect_as_at_once(
    const std::vector<Operand>& more, const Attributes& attributes,
    FunctionRef<void(std::vector<ir::Array>&)> change = [](std::vector<ir::Array>&) {}) {
  std::vector<Operand> operands = {kQuery, kKey, kKey};
  operands.insert(operands.end(), more.begin(), more.end());
  const ir::Function direct = program_of(operands, attributes, {});
  Rng rng(/*seed=*/1);
  std::vector<ir::Array> expected = ir::random_arguments(direct, rng);
  change(expected);
  const std::vector<ir::Array> arguments = expected;
  ASSERT_TRUE(ir::interpret(direct, expected));
  for (const std::int64_t block : {1, 8, 23, 64}) {
    std::vector<ir::Array> found = arguments;
    ASSERT_TRUE(ir::interpret(program_of(operands, attributes, {.key_block = block}), found));
    EXPECT_LE(ir::max_difference(found.back(), expected.back()), 1e-5) << "blocks of " << block;
  }
}

const std::pair<std::string, Attribute> kCausal{"is_causal", std::int64_t{1}}, kPast{"past", kKeys - kQueries},
    kScale{"scale", 0.3F}, kCap{"softcap", 2.0F}, kLeft{"left_window", std::int64_t{5}},
    kPlain{"plain_softmax", std::int64_t{1}};

TEST(AttentionKeyBlocks, AgreeForScalesCapsOrderAndWindows) {
  expect_as_at_once({}, {});
  expect_as_at_once({}, testing::attributes({kScale, kCap}));
  expect_as_at_once({}, testing::attributes({kCausal}));
  expect_as_at_once({}, testing::attributes({kCausal, kPast, kLeft, kPlain}));
}

TEST(AttentionKeyBlocks, AgreeForMasks) {
  const Operand added{ElementType::F32, {1, 1, kQueries, kKeys}}, seen{ElementType::Bool, {kQueries, kKeys}};
  const Operand shorter{ElementType::Bool, {kQueries, kKeys - 5}};
  for (const Operand& mask : {added, seen, shorter}) expect_as_at_once({mask}, testing::attributes({kScale}));
  const auto hide_rows = [](std::vector<ir::Array>& arguments) {
    for (std::int64_t key = 0; key < 3 * kKeys; ++key) arguments[3].set(key, -std::numeric_limits<double>::infinity());
  };
  expect_as_at_once({added}, {}, hide_rows);
  expect_as_at_once({added}, testing::attributes({kPlain}), hide_rows);
}

TEST(AttentionKeyBlocks, AgreeForLengthsAndSinks) {
  const auto lengths = [](std::vector<ir::Array>& arguments) {
    arguments[3].set(0, std::int64_t{0});
    arguments[3].set(1, std::int64_t{17});
  };
  expect_as_at_once({kAbsentOperand, {ElementType::I64, {2}}}, testing::attributes({kCausal}), lengths);
  expect_as_at_once({kAbsentOperand, kAbsentOperand, kAbsentOperand, {ElementType::F32, {4}}},
                    testing::attributes({kScale}));
}

TEST(AttentionKeyBlocks, AreForSingleFloatsOnly) {
  const auto has_parts = [](ElementType type) {
    const std::vector<Operand> operands = {{type, kQuery.shape}, {type, kKey.shape}, {type, kKey.shape}};
    bool found = false;
    ir::walk(program_of(operands, {}, {.key_block = 8}).body, [&](const ir::Stmt& s) {
      const ir::Block* block = s.as<ir::Block>();
      found = found || (block && block->name == tensor::kKeyBlockParts);
    });
    return found;
  };
  EXPECT_TRUE(has_parts(ElementType::F32));
  EXPECT_FALSE(has_parts(ElementType::F64));
}

}  // namespace
}  // namespace hone::graph
