#include "models.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runnable.h"

#include "hone/model_tasks.h"
#include "hone/schedule/program.h"
#include "hone/tuned.h"

namespace hone::bench {
namespace {

/// Layers of less work are left out: their time is mostly that of a call.
constexpr double kSmallest = 1e6;

std::string shape_text(const ir::Expr& buffer) {
  std::vector<std::int64_t> extents;
  for (const ir::Expr& extent : buffer.get<ir::Buffer>().shape) extents.push_back(ir::constant_value(extent));
  return fmt::format("{}", fmt::join(extents, "×"));
}

/// "Conv+Relu 64×64×3×3 to 1×4×56×56×16": the operators, the largest constant and the result.
std::string layer_name(const TaskUse& use) {
  const std::vector<ir::Expr>& params = use.task->naive().params;
  const ir::Expr* weights = nullptr;
  for (const std::size_t i : use.task->constants)
    if (!weights || elements(params[i]) > elements(*weights)) weights = &params[i];
  return fmt::format("{} {}to {}", use.name, weights ? shape_text(*weights) + " " : "", shape_text(params.back()));
}

double bytes_of(const ir::Function& naive) {
  double bytes = 0;
  for (const ir::Expr& param : naive.params) bytes += static_cast<double>(elements(param) * param.type().bytes());
  return bytes;
}

struct Row {
  std::string algorithm;
  Timing timing;
};

Row time_task(const space::Task& task, int threads, int rounds) {
  const codegen::Target target = value(codegen::parse_target(fmt::format("cpu -threads={}", threads)));
  const Chosen chosen = default_choice(task, target);
  const schedule::Schedule made = value(chosen.space->build(chosen.candidate));
  const Runnable kernel = prepare(task.naive(), schedule::split_packing(made.program()), target);
  runtime::ThreadPool pool(threads);
  seconds(kernel, &pool, 1);
  const std::string& sketch = chosen.space->sketches()[chosen.candidate.sketch].name;
  return {sketch.substr(0, sketch.find(' ')), time_rounds(kernel, task.flops, target, &pool, rounds)};
}

}  // namespace

void time_model(const std::string& file, const std::vector<int>& threads, int rounds) {
  constexpr std::int64_t kSequence = 128;
  std::string head = "| layer | calls | algorithm |", line = "|---|---|---|";
  for (const int n : threads) {
    head += fmt::format(" ms, {0} thr | GFLOP/s | of peak | GB/s |", n);
    line += "---|---|---|---|";
  }
  fmt::print("### {}\n\n{}\n{}\n", std::filesystem::path(file).stem().string(), head, line);
  const codegen::Target target = value(codegen::parse_target(fmt::format("cpu -threads={}", threads.front())));
  const auto found = value(model_tasks(file, target, {{.name = "", .dims = {{"sequence", kSequence}}}}));
  for (const TaskUse& use : value(found.front())) {
    if (use.task->flops < kSmallest) continue;
    std::string cells;
    for (const int n : threads) {
      const Row row = time_task(*use.task, n, rounds);
      const Timing& timing = row.timing;
      if (cells.empty()) cells = fmt::format("| {} | {} | {} |", layer_name(use), use.uses, row.algorithm);
      cells += fmt::format(" {:.3f} | {:.0f} | {:.0f} % | {:.0f} |", timing.best_s * 1e3,
                           use.task->flops / timing.best_s * 1e-9, timing.ratio * 100,
                           bytes_of(use.task->naive()) / timing.best_s * 1e-9);
    }
    fmt::print("{}\n", cells);
    std::fflush(stdout);
  }
  fmt::print("\n");
}

}  // namespace hone::bench
