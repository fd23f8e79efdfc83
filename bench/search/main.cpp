/// Times what a search does thousands of times: replaying traces, editing one decision, hashing, and scoring by a
/// model. Or makes the comparisons of papers on auto-tuning with hone's searches.
///
///     bench_search [--repeats N]
///     bench_search --claims throughput,sketch,autotvm,ansor,droplet,hidet,tlp,zero [--only TEXT] [--threads N]
///                  [--trials N] [--time SECONDS] [--seed N] [--all] [--rows FILE] [--stop-after SECONDS]
///                  [--ranked N] [--network FILE...] [--models FOLDER] [--write FILE]
///
/// Prints tables to stderr and one JSON line per figure to stdout.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "claims.h"
#include "cost_model.h"
#include "figure.h"
#include "sentences.h"
#include "tasks.h"

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/trace.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/support/rng.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::bench {
namespace {

using namespace schedule;

/// Convolution 3×3 of 64 channels on 56×56 with padding, bias and relu: blocks `padded`, `Y` and `Z`.
Program conv() {
  using tensor::Indices;
  const tensor::Tensor x = tensor::placeholder("X", {1, 64, 56, 56}), w = tensor::placeholder("W", {64, 64, 3, 3});
  const tensor::Tensor bias = tensor::placeholder("bias", {64});
  const tensor::Tensor padded =
      tensor::compute("padded", {{"pn", 1}, {"pc", 64}, {"ph", 58}, {"pw", 58}}, [&](const Indices& i) {
        const ir::Expr h = i[2] - 1, v = i[3] - 1;
        const ir::Expr inside = logical_and(logical_and(h >= 0, h < 56), logical_and(v >= 0, v < 56));
        return ir::select(inside, x(i[0], i[1], h, v), ir::constant(ir::kF32, 0.0));
      });
  const tensor::Tensor y = tensor::compute("Y", {{"n", 1}, {"o", 64}, {"h", 56}, {"w", 56}}, [&](const Indices& i) {
    return tensor::reduce_sum({{"c", 64}, {"r", 3}, {"s", 3}}, [&](const Indices& q) {
      return padded(i[0], q[0], i[2] + q[1], i[3] + q[2]) * w(i[1], q[0], q[1], q[2]);
    });
  });
  const tensor::Tensor z = tensor::compute("Z", {{"zn", 1}, {"zo", 64}, {"zh", 56}, {"zw", 56}}, [&](const Indices& i) {
    return max(y(i) + bias(i[1]), ir::constant(ir::kF32, 0.0));
  });
  return tensor::lower("conv", {x, w, bias}, {z});
}

/// Thirty steps in the manner of Ansor's CPU sketches: multi-level tiling SSRSRS, fusion of the epilogue, annotations.
Trace conv_trace() {
  const auto all = [](const std::string& name, std::int64_t parts) {
    Numbers numbers;
    for (std::int64_t i = 0; i < parts; ++i) numbers.push_back(Number::from(name, i));
    return numbers;
  };
  return {
      SampleTile{"to", "o", 4, 64, {2, 2, 4, 4}},
      Split{"o", all("to", 4)},
      SampleTile{"th", "h", 4, 64, {7, 2, 2, 2}},
      Split{"h", all("th", 4)},
      SampleTile{"tw", "w", 4, 64, {1, 4, 1, 14}},
      Split{"w", all("tw", 4)},
      SampleTile{"tc", "c", 2, 64, {16, 4}},
      Split{"c", all("tc", 2)},
      SampleTile{"tr", "r", 2, 64, {1, 3}},
      Split{"r", all("tr", 2)},
      SampleTile{"ts", "s", 2, 64, {3, 1}},
      Split{"s", all("ts", 2)},
      Reorder{{"n", "o.0", "h.0", "w.0", "o.1", "h.1", "w.1", "c.0", "r.0", "s.0", "o.2", "h.2", "w.2", "c.1", "r.1",
               "s.1", "o.3", "h.3", "w.3"}},
      Split{"zo", {kRest, 4, 16}},
      Split{"zh", {kRest, 2, 4}},
      Split{"zw", {kRest, 4, 14}},
      Reorder{{"zn", "zo.0", "zh.0", "zw.0", "zo.1", "zh.1", "zw.1", "zo.2", "zh.2", "zw.2"}},
      ReverseComputeAt{"Z", "w.1"},
      SampleLocation{"where", "padded", {6}},
      ComputeAt{"padded", "$where"},
      Fuse{{"n", "o.0", "h.0", "w.0"}},
      Parallel{"n@o.0@h.0@w.0"},
      Annotate{"c.0", "unroll", "16"},
      DecomposeReduction{"Y", "c.0"},
      Vectorize{"w.3"},
      SampleChoice{"u", {0, 16, 64, 512}, {2}},
      Unroll{"h.3"},
      Unroll{"o.3"},
      SetScope{"padded", ir::Scope::Local},
      StorageAlign{"padded", 2, 16, 0},
  };
}

/// What the sketch space takes to build random candidates, on one thread.
Result<void> time_builds() {
  constexpr int kDrawn = 300;
  codegen::Target target = codegen::host_target();
  target.threads = 1;
  for (const Result<NamedTask>& task : {conv_task({.in = 128, .out = 128, .size = 28, .kernel = 3}, target),
                                        product_task(512, 512, 512, Weights::Variable)}) {
    if (!task) return task.error();
    HONE_TRY(const auto space, space::make_space("sketch", *task->task, target));
    Rng rng(/*seed=*/1);
    int legal = 0;
    const Figure all = time(1, [&] {
      for (int i = 0; i < kDrawn; ++i) legal += space->build(space::random_candidate(*space, rng)) ? 1 : 0;
    });
    print(fmt::format("build of a sketch of {}", task->name), {all.min_ns / kDrawn, all.median_ns / kDrawn},
          fmt::format("{} of {} are legal", legal, kDrawn));
  }
  return {};
}

Result<void> time_steps(int repeats) {
  const Program naive = conv();
  const Trace trace = conv_trace();
  HONE_TRY(const Program scheduled, replay(naive, trace));
  Schedule schedule(naive);
  for (const Step& step : trace) HONE_TRY(schedule.apply(step));

  fmt::print(stderr, "{:<44}{:>12}{:>12}\n", "", "min µs", "median µs");
  print(fmt::format("replay of {} steps on conv+bias+relu", trace.size()),
        time(repeats, [&] { replay(naive, trace).value(); }), "bar: 1000 µs");
  bool flip = false;
  print("edit of the first decision",
        time(repeats,
             [&] {
               flip = !flip;
               schedule.decide(0, flip ? std::vector<std::int64_t>{4, 1, 4, 4} : std::vector<std::int64_t>{2, 2, 4, 4})
                   .value();
             }),
        "");
  print("edit of the last decision",
        time(repeats,
             [&] {
               flip = !flip;
               schedule.decide(25, {flip ? 1 : 2}).value();
             }),
        "");
  print("structural hash", time(repeats, [&] { ir::structural_hash(scheduled); }), "");
  print("print as text", time(repeats, [&] { ir::to_text(scheduled); }), "");
  const std::string json = to_json(trace);
  print("trace from JSON", time(repeats, [&] { parse_trace(json).value(); }), "");
  HONE_TRY(time_sentences(naive, trace));
  HONE_TRY(time_builds());
  return time_cost_model(naive, trace);
}

struct Arguments {
  int repeats = 500;
  std::vector<std::string> claims;
  std::string write;
  ClaimOptions options;
};

/// The comparisons that are asked for, in their order.
Result<void> run_claims(const Arguments& arguments, const std::string& command) {
  for (const std::string& name : arguments.claims) {
    const auto found =
        std::find_if(claims().begin(), claims().end(), [&](const Claim& claim) { return claim.name == name; });
    if (found == claims().end()) {
      std::string names;
      for (const Claim& claim : claims()) names += fmt::format("{}{}", names.empty() ? "" : ", ", claim.name);
      return error(ErrorCode::InvalidArgument, "there is no claim '{}', only: {}", name, names);
    }
    HONE_TRY(const Report report, found->run(arguments.options));
    print(report);
    if (!arguments.write.empty()) HONE_TRY(write_section(report, arguments.write, command));
  }
  return {};
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::bench::Arguments arguments;
  arguments.options.target = hone::codegen::host_target();
  int threads = 1;
  CLI::App app("Times the inner steps of a search, or compares searches");
  app.add_option("--repeats", arguments.repeats, "how often each step is timed");
  app.add_option("--claims", arguments.claims,
                 "comparisons: throughput, sketch, autotvm, ansor, droplet, hidet, tlp, zero")
      ->delimiter(',');
  app.add_flag("--learning", arguments.options.learns,
               "tlp: also networks that are corrected by what is measured, as auto is");
  app.add_option("--network", arguments.options.networks,
                 "trained cost models to compare, for the claims tlp and zero");
  app.add_option("--only", arguments.options.only, "tasks whose name has this in it");
  app.add_option("--threads", threads, "of kernels, where a comparison does not say (1)")->check(CLI::PositiveNumber);
  app.add_option("--trials", arguments.options.trials, "of the search that is compared with (what the claim says)");
  app.add_option("--time", arguments.options.seconds, "of each search with a time limit, in s (what the claim says)");
  app.add_option("--seed", arguments.options.seed, "of all searches (1)");
  app.add_flag("--all", arguments.options.all, "all tasks of the models, not a choice of them");
  app.add_flag("--published", arguments.options.published,
               "droplet, hidet and tlp: compare with searches of Ansor's space as published");
  app.add_option("--ranked", arguments.options.ranked,
                 "hidet: try so many mappings of each task, those that the network of hone likes best (all)")
      ->check(CLI::PositiveNumber);
  app.add_option("--rows", arguments.options.rows,
                 "the file in which droplet and hidet keep what they found, to go on after a break");
  app.add_option("--stop-after", arguments.options.stop_after_s,
                 "the time in s after which droplet and hidet begin with no further task (none)")
      ->check(CLI::PositiveNumber);
  app.add_option("--models", arguments.options.models, "the folder with ONNX files (build/models)");
  app.add_option("--write", arguments.write, "the file whose sections are replaced: docs/results/search.md");
  CLI11_PARSE(app, argc, argv);
  arguments.options.target.threads = threads;
  std::string command = "./dev bench search";
  for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
  const hone::Result<void> status = arguments.claims.empty() ? hone::bench::time_steps(arguments.repeats)
                                                             : hone::bench::run_claims(arguments, command);
  if (status) return 0;
  fmt::print(stderr, "bench_search: {}\n", status.error().message);
  return 1;
}
