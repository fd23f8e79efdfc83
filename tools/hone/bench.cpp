// hone bench: measures a model as a whole and kernel by kernel.
#include <CLI/Option.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <tuple>

#include "chrome_trace.h"
#include "command.h"
#include "describe.h"
#include "kernels.h"
#include "model.h"

#include "hone/codegen/target.h"
#include "hone/measure/peak.h"

namespace hone::command {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchOptions {
  ModelOptions model;
  std::int64_t rounds = 0, warmup = 3;
  double seconds = 2;
  bool has_profile = false;
  std::string trace;
};

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The smallest number that a share of all are not above; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return quantile(numbers, 0.5);
}

/// A model with its inputs, and outputs that are filled again and again.
struct Subject {
  Session session;
  std::vector<Value> inputs, outputs;

  Result<double> run_once(Profile* profile = nullptr) {
    const Clock::time_point begin = Clock::now();
    HONE_TRY(session.run(inputs, outputs, profile));
    return ms_since(begin);
  }
};

/// The times of `rounds` runs, or of as many as fit into the time if that is 0 (three at least).
Result<std::vector<double>> time_rounds(Subject& subject, const BenchOptions& options) {
  constexpr std::size_t kFewest = 3;
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  const auto is_enough = [&] {
    if (options.rounds > 0) return times.size() >= static_cast<std::size_t>(options.rounds);
    return times.size() >= kFewest && ms_since(begin) >= options.seconds * 1e3;
  };
  while (!is_enough()) {
    HONE_TRY(const double time, subject.run_once());
    times.push_back(time);
  }
  return times;
}

void show_latency(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  fmt::print("rounds {}\nmin    {} ms\nmedian {} ms\np90    {} ms\np99    {} ms\nmean   {} ms\n", times.size(),
             ms_text(times.front()), ms_text(quantile(times, 0.5)), ms_text(quantile(times, 0.9)),
             ms_text(quantile(times, 0.99)), ms_text(mean));
}

/// The steps that call one kernel, together.
struct KernelRow {
  std::string kernel, name;
  std::size_t calls = 0;
  double ms = 0, flops = 0, bytes = 0;
};

/// One row per kernel, the slowest first. A step's time is the median over the rounds.
std::vector<KernelRow> gather_rows(const std::vector<Profile>& rounds) {
  const auto infos = describe_steps(rounds.front().plans);
  std::map<const runtime::Step*, std::vector<double>> times;
  for (const Profile& round : rounds)
    for (const Profile::Entry& entry : round.entries)
      times[entry.step].push_back(static_cast<double>(entry.time.end_ns - entry.time.begin_ns) * 1e-6);
  std::vector<KernelRow> rows;
  for (const Profile::Entry& entry : rounds.front().entries) {
    const StepInfo& info = infos.at(entry.step);
    const std::string name = fmt::format("{} → {}", entry.step->name, info.output);
    const auto is_same = [&](const KernelRow& row) {
      return row.kernel == info.kernel && (info.kernel != "host" || row.name == name);
    };
    auto row = std::find_if(rows.begin(), rows.end(), is_same);
    if (row == rows.end()) row = rows.insert(rows.end(), KernelRow{info.kernel, name});
    ++row->calls;
    row->ms += median(times[entry.step]);
    row->flops += entry.step->flops;
    row->bytes += entry.step->bytes;
  }
  std::sort(rows.begin(), rows.end(),
            [](const KernelRow& a, const KernelRow& b) { return std::tie(b.ms, a.name) < std::tie(a.ms, b.name); });
  return rows;
}

std::vector<std::string> cells(const KernelRow& row, double total_ms, double peak) {
  const double gflops = row.ms > 0 ? row.flops / row.ms * 1e-6 : 0, gbytes = row.ms > 0 ? row.bytes / row.ms * 1e-6 : 0;
  return {row.kernel,
          fmt::format("{}", row.calls),
          ms_text(row.ms),
          fmt::format("{:.1f} %", total_ms > 0 ? row.ms / total_ms * 100 : 0),
          row.flops > 0 ? fmt::format("{:.1f}", gflops) : "",
          row.flops > 0 ? fmt::format("{:.1f} %", gflops / peak * 100) : "",
          row.bytes > 0 ? fmt::format("{:.1f}", gbytes) : "",
          row.name};
}

Result<void> show_profile(const Session& session, const std::vector<Profile>& rounds) {
  HONE_TRY(const codegen::Target target, codegen::parse_target(session.target()));
  HONE_TRY(const double peak, measure::fma_peak(target, session.threads()));
  KernelRow all{"all", "of the steps' medians"};
  const std::vector<KernelRow> rows = gather_rows(rounds);
  for (const KernelRow& row : rows) {
    all.calls += row.calls;
    all.ms += row.ms;
    all.flops += row.flops;
    all.bytes += row.bytes;
  }
  fmt::print("peak   {:.1f} GFLOP/s of fp32 multiply-adds on {} threads, measured now\n\n", peak, session.threads());
  Table table({"kernel", "calls", "ms", "share", "GFLOP/s", "of peak", "GB/s", "operators → output"});
  for (const KernelRow& row : rows) table.add(cells(row, all.ms, peak));
  table.add(cells(all, all.ms, peak));
  fmt::print("{}", table.text());
  return {};
}

Result<void> bench(const BenchOptions& options) {
  const Clock::time_point begin = Clock::now();
  HONE_TRY(Session session, load_model(options.model));
  const double load_ms = ms_since(begin);
  HONE_TRY(std::vector<Value> inputs, make_inputs(session, options.model, Missing::Random));
  const std::size_t output_count = session.outputs().size();
  Subject subject{std::move(session), std::move(inputs), std::vector<Value>(output_count)};

  HONE_TRY(const double first_ms, subject.run_once());
  fmt::print("{} on {}\n", options.model.model, subject.session.target());
  fmt::print("load   {} ms\nfirst  {} ms, with compiling\n", ms_text(load_ms), ms_text(first_ms));
  for (std::int64_t round = 0; round < options.warmup; ++round) HONE_TRY(subject.run_once());
  HONE_TRY(const std::vector<double> times, time_rounds(subject, options));
  show_latency(times);

  if (!options.has_profile && options.trace.empty()) return {};
  constexpr std::size_t kMostProfiled = 50;
  std::vector<Profile> profiled(std::min(kMostProfiled, times.size()));
  for (Profile& profile : profiled) HONE_TRY(subject.run_once(&profile));
  if (options.has_profile) HONE_TRY(show_profile(subject.session, profiled));
  if (!options.trace.empty()) HONE_TRY(write_chrome_trace(options.trace, profiled));
  return {};
}

}  // namespace

Action add_bench(CLI::App& parser) {
  const auto options = std::make_shared<BenchOptions>();
  options->model.add_to(parser);
  constexpr std::int64_t kMostRounds = 1'000'000'000;
  add_number(parser, "--rounds", options->rounds, 1, kMostRounds,
             "how many runs are timed (as many as --seconds allows)");
  add_number(parser, "--warmup", options->warmup, 0, kMostRounds, "runs before that, after the first one (3)");
  add_seconds(parser, "--seconds", options->seconds, "how long to go on without --rounds (2)");
  parser.add_flag("--profile", options->has_profile,
                  "show the time, work and share of the machine's peak of each kernel");
  add_text(parser, "--trace", options->trace, "FILE",
           "write the steps of profiled runs for chrome://tracing or Perfetto");
  return [options] { return bench(*options); };
}

}  // namespace hone::command
