#include "hone/measure/prepared_kernel.h"

#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/primitives.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::measure {
namespace {

/// A matrix product whose second operand is packed in panels of some columns, and what it must give.
struct PackedProduct {
  explicit PackedProduct(int columns) {
    const tensor::Tensor a = tensor::placeholder("A", {5, 7}), b = tensor::placeholder("B", {7, 24});
    const ir::Function naive = tensor::lower("matmul", {a, b}, {tensor::matmul(a, b).value()});
    const std::string layout = fmt::format("(k, n) -> (n // {0}, k, n % {0})", columns);
    text = to_text(split_packing(schedule::transform_layout(naive, "B", layout).value()));
    task.reference = split_packing(naive);
  }
  ProgramText text;
  TaskData task;
};

codegen::Target one_thread() { return codegen::parse_target("cpu -threads=1").value(); }

/// Compiles, packs, calls and checks.
void expect_right(const ProgramText& text, TaskArguments& arguments) {
  Result<PreparedKernel> kernel = PreparedKernel::compile(text, one_thread(), arguments);
  ASSERT_TRUE(kernel) << kernel.error().message;
  const Result<void> bound = kernel->bind(arguments);
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_TRUE(kernel->reset_outputs(arguments));
  ASSERT_TRUE(kernel->call(nullptr));
  const Result<Comparison> found = kernel->check(arguments, one_thread());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->status, TrialStatus::Ok) << found->message;
}

TEST(PreparedKernel, IsRightWhateverIsKeptOfItsCodeAndItsPackedConstants) {
  const PackedProduct product(8);
  TaskArguments arguments(to_text(product.task));
  expect_right(product.text, arguments);
  expect_right(product.text, arguments);  // code and packed constants are there
  arguments.forget_packings();
  expect_right(product.text, arguments);  // the code that packs is kept as well
  TaskArguments others(to_text(product.task));
  expect_right(product.text, others);
}

TEST(PreparedKernel, PacksAnewIfTheKeptCodeCannot) {
  const PackedProduct product(8);
  TaskArguments arguments(to_text(product.task));
  expect_right(product.text, arguments);
  // Another program that packs alike is compiled without what packs.
  ProgramText other = product.text;
  other.main.insert(other.main.find("func ") + 5, "another_");
  expect_right(other, arguments);
  arguments.forget_packings();
  expect_right(other, arguments);
}

TEST(TaskArguments, KeepTheCodeOfTheLastFewPrograms) {
  const PackedProduct first(8);
  TaskArguments arguments(to_text(first.task));
  const auto key = [](const ProgramText& text) {
    return fmt::format("{}\n{}\n{}", codegen::to_string(one_thread()), text.main, text.prepare);
  };
  expect_right(first.text, arguments);
  EXPECT_TRUE(arguments.find_compiled(key(first.text)));
  for (int columns = 1; columns <= 16; ++columns)
    if (columns != 8) expect_right(PackedProduct(columns).text, arguments);
  EXPECT_FALSE(arguments.find_compiled(key(first.text))) << "code of every program ever tried is kept";
  EXPECT_TRUE(arguments.find_compiled(key(PackedProduct(16).text)));
  EXPECT_FALSE(arguments.find_compiled("no such program"));
}

}  // namespace
}  // namespace hone::measure
