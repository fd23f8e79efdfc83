#include "compare.h"

#include <cstring>
#include <memory>

#include "guarded_memory.h"

#include "hone/codegen/compile.h"
#include "hone/ir/interpret.h"
#include "hone/ir/rewrite.h"
#include "hone/runtime/thread_pool.h"

namespace hone::differential {

namespace {

/// Quotients and functions such as exp are rounded, and sums of rounded terms depend on their order.
double tolerance_of(const ir::Function& naive) {
  bool is_rounded = false, is_double = true;
  ir::walk(
      naive.body, [](const ir::Stmt&) {},
      [&](const ir::Expr& e) {
        if (!e.type().is_float()) return;
        is_rounded |= e.as<ir::Call>() || e.as<ir::Div>();
        is_double &= e.type().scalar == ir::Scalar::F64;
      });
  if (!is_rounded) return 0;
  return is_double ? 1e-13 : 1e-5;
}

Result<void> interpret_on(const ir::Function& program, std::vector<ir::Array>& arrays) {
  std::vector<ir::Array*> args;
  for (ir::Array& array : arrays) args.push_back(&array);
  return ir::interpret(program, args);
}

std::optional<std::string> difference(const std::vector<ir::Array>& found, const Reference& reference) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double largest = ir::max_difference(found[i], reference.after[i]);
    if (largest > reference.tolerance)
      return fmt::format("parameter {} differs by {}, allowed is {}", i, largest, reference.tolerance);
  }
  return {};
}

std::size_t bytes_of(const ir::Array& array) { return static_cast<std::size_t>(array.size() * array.type().bytes()); }

/// Runs a kernel on guarded copies of the arguments.
std::optional<std::string> wrong_in_run(const codegen::Kernel& kernel, const Reference& reference, Against against,
                                        runtime::ThreadPool& pool) {
  std::vector<std::unique_ptr<GuardedMemory>> memory;
  std::vector<void*> args;
  for (const ir::Array& array : reference.before) {
    memory.push_back(std::make_unique<GuardedMemory>(bytes_of(array), against));
    if (bytes_of(array) > 0) std::memcpy(memory.back()->data(), array.data(), bytes_of(array));
    args.push_back(memory.back()->data());
  }
  const std::int64_t damaged_before = damaged_scratch();
  if (const Result<void> ran = kernel(args, &pool); !ran) return ran.error().message;
  if (damaged_scratch() != damaged_before) return "bytes around scratch memory were overwritten";

  std::vector<ir::Array> found = reference.before;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!memory[i]->is_intact()) return fmt::format("bytes around parameter {} were overwritten", i);
    if (bytes_of(found[i]) > 0) std::memcpy(found[i].data(), memory[i]->data(), bytes_of(found[i]));
  }
  return difference(found, reference);
}

}  // namespace

Result<Reference> make_reference(const ir::Function& naive, std::uint64_t seed) {
  Rng rng(seed);
  Reference reference{{}, {}, tolerance_of(naive)};
  for (const ir::Expr& param : naive.params) {
    std::vector<std::int64_t> shape;
    for (const ir::Expr& extent : param.get<ir::Buffer>().shape) shape.push_back(ir::constant_value(extent));
    reference.before.push_back(ir::random_whole(rng, param.type(), shape));
  }
  reference.after = reference.before;
  HONE_TRY(interpret_on(naive, reference.after));
  return reference;
}

std::optional<std::string> wrong_in_interpreter(const ir::Function& program, const Reference& reference) {
  std::vector<ir::Array> found = reference.before;
  if (const Result<void> ran = interpret_on(program, found); !ran) return "interpreter: " + ran.error().message;
  if (const auto wrong = difference(found, reference)) return "interpreter: " + *wrong;
  return {};
}

std::optional<std::string> wrong_as_machine_code(const ir::Function& program, const Reference& reference,
                                                 const codegen::Target& target) {
  static runtime::ThreadPool one(1), two(2);
  const auto compiled = codegen::compile(ir::Module{{program}}, target, {.runtime = guarded_runtime()});
  if (!compiled) return fmt::format("{}: {}", to_string(target), compiled.error().message);
  const codegen::Kernel& kernel = compiled->kernels()[0];
  if (const auto wrong = wrong_in_run(kernel, reference, Against::PageAfter, one))
    return fmt::format("{}, one thread: {}", to_string(target), *wrong);
  if (const auto wrong = wrong_in_run(kernel, reference, Against::PageBefore, two))
    return fmt::format("{}, two threads: {}", to_string(target), *wrong);
  return {};
}

const std::vector<codegen::Target>& runnable_targets() {
  static const std::vector<codegen::Target> targets = [] {
    std::vector<codegen::Target> found;
    for (const char* text : {"cpu -mattr=+sse4.2", "cpu -mattr=+avx2", "cpu -mattr=+avx512"}) {
      const codegen::Target target = codegen::parse_target(text).value();
      if (codegen::compile(ir::Module{}, target)) found.push_back(target);
    }
    return found;
  }();
  return targets;
}

}  // namespace hone::differential
