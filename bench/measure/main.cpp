/// Times the measurer itself: how many trials a second it does for convolutions of ResNet-50, and where the time goes.
///
///     bench_measure [--trials N] [--threads N] [--min-repeat-ms T]
///
/// Each trial is compiled anew, checked against a reference and timed, as in a search. Prints a table to stderr and one
/// JSON line per layer to stdout.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>

#include "hone/measure/measurer.h"
#include "hone/measure/protocol.h"
#include "hone/measure/statistics.h"
#include "hone/space/default_program.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Layer {
  const char* name;
  std::int64_t channels, size, out_channels, kernel, stride;
};

constexpr Layer kLayers[] = {
    {"1x1 64>256 @56", 64, 56, 256, 1, 1},     {"3x3 64>64 @56", 64, 56, 64, 3, 1},
    {"3x3 128>128 @28", 128, 28, 128, 3, 1},   {"3x3 256>256 @14 /2", 256, 28, 256, 3, 2},
    {"1x1 1024>512 @14", 1024, 14, 512, 1, 1}, {"3x3 512>512 @7", 512, 7, 512, 3, 1},
};

Result<ir::Function> naive_conv(const Layer& layer) {
  const tensor::Tensor x = tensor::placeholder("X", {1, layer.channels, layer.size, layer.size});
  const tensor::Tensor w = tensor::placeholder("W", {layer.out_channels, layer.channels, layer.kernel, layer.kernel});
  const std::int64_t pad = layer.kernel / 2;
  tensor::ConvOptions options;
  options.strides = {layer.stride, layer.stride};
  options.padding_before = options.padding_after = {pad, pad};
  HONE_TRY(const tensor::Tensor y, tensor::conv(x, w, options));
  return tensor::lower("conv", {x, w}, {tensor::relu(y)});
}

/// The default program of a layer, compared with the naive one.
Result<measure::MeasureInput> trial_of(const Layer& layer, const codegen::Target& target) {
  HONE_TRY(const ir::Function naive, naive_conv(layer));
  const std::vector<std::size_t> constants = {1};
  measure::TaskData data;
  data.reference = measure::split_packing(naive);
  return measure::MeasureInput{space::default_program(naive, constants, target),
                               std::make_shared<const measure::TaskData>(std::move(data))};
}

/// What sending a program costs: printing, encoding, decoding and parsing it; the best of some repeats, in ms.
Result<double> transport_ms(const measure::KernelProgram& program) {
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) {
    const Clock::time_point begin = Clock::now();
    measure::Message message{.kind = measure::MessageKind::Prepare};
    message.programs.push_back(measure::to_text(program));
    HONE_TRY(const measure::Message received, measure::decode(measure::encode(message)));
    HONE_TRY(const measure::KernelProgram parsed, measure::parse(received.programs[0]));
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return measure::minimum(times);
}

Result<void> run(int trials, int threads, double min_repeat_ms) {
  measure::MeasurerOptions options;
  options.target.threads = threads;
  options.timing.min_repeat_ms = min_repeat_ms;
  HONE_TRY(measure::Measurer measurer, measure::Measurer::start(options));
  const char* commit = std::getenv("HONE_COMMIT");
  fmt::print(stderr, "{:<20}{:>10}{:>12}{:>12}{:>12}{:>14}{:>8}\n", "layer", "trials/s", "compile ms", "trial ms",
             "kernel µs", "transport ms", "failed");
  double seconds = 0;
  for (const Layer& layer : kLayers) {
    HONE_TRY(const measure::MeasureInput trial, trial_of(layer, options.target));
    HONE_TRY(const double transport, transport_ms(trial.program));
    measurer.measure(std::vector(2, trial));  // the reference is computed
    const Clock::time_point begin = Clock::now();
    const std::vector<measure::MeasureResult> results =
        measurer.measure(std::vector(static_cast<std::size_t>(trials), trial));
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    seconds += elapsed;
    std::vector<double> compile_ms, trial_ms, kernel_ns;
    int failed = 0;
    for (const measure::MeasureResult& result : results) {
      compile_ms.push_back(result.compile_ms);
      trial_ms.push_back(result.trial_ms);
      kernel_ns.push_back(result.min_ns());
      if (!result.is_ok() && failed++ == 0) fmt::print(stderr, "{}: {}\n", to_string(result.status), result.message);
    }
    const double rate = trials / elapsed, compile = measure::median(compile_ms), kernel = measure::median(kernel_ns);
    fmt::print(stderr, "{:<20}{:>10.1f}{:>12.1f}{:>12.1f}{:>12.1f}{:>14.2f}{:>8}\n", layer.name, rate, compile,
               measure::median(trial_ms), kernel * 1e-3, transport, failed);
    fmt::print(
        "{{\"bench\":\"measure\",\"name\":\"{}\",\"commit\":\"{}\",\"target\":\"{}\",\"trials\":{},"
        "\"trials_per_second\":{:.2f},\"compile_ms\":{:.2f},\"trial_ms\":{:.2f},\"median_ns\":{:.0f},\"transport_ms\":{"
        ":.3f},"
        "\"failed\":{}}}\n",
        layer.name, commit ? commit : "unknown", codegen::to_string(options.target), trials, rate, compile,
        measure::median(trial_ms), kernel, transport, failed);
  }
  fmt::print(stderr, "{:<20}{:>10.1f}\n", "all", static_cast<double>(trials) * std::size(kLayers) / seconds);
  return {};
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  int trials = 40, threads = 1;
  double min_repeat_ms = 2;
  CLI::App app("How many trials a second the measurer does");
  app.add_option("--trials", trials, "trials of each layer")->check(CLI::Range(1, 100000));
  app.add_option("--threads", threads, "threads of the kernels")->check(CLI::Range(1, 1024));
  app.add_option("--min-repeat-ms", min_repeat_ms, "how long a sample takes")->check(CLI::Range(0.0, 1e4));
  CLI11_PARSE(app, argc, argv);
  if (const hone::Result<void> done = hone::bench::run(trials, threads, min_repeat_ms); !done) {
    fmt::print(stderr, "bench_measure: {}\n", done.error().message);
    return 1;
  }
  return 0;
}
