#include "hone/finals.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "hone/kernel_cache.h"
#include "hone/measure/records/task_key.h"
#include "hone/measure/statistics.h"
#include "hone/runtime/plan.h"
#include "hone/support/log.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

/// Rounds: the fewest that can be compared, those aimed at, and those that are plenty.
constexpr std::size_t kFewest = 6, kAimed = 12, kMost = 60;
/// Runs of a variant in each round, after one that does not count: a model that is run again and again finds in the
/// outer caches what it left there itself, not what another variant did.
constexpr std::size_t kRunsInRow = 2;
/// Seconds that are enough for a comparison if it has as many rounds as are aimed at.
constexpr double kPlentySeconds = 60;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Bytes of memory that processes can still have; nothing if the system does not say.
std::optional<double> available_bytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;)
    if (double kib = 0; word == "MemAvailable:" && in >> kib) return kib * 1024;
  return std::nullopt;
}

/// Which candidate of a task a variant has: the default, the leader, one of the others, or again the leader.
std::size_t choice_of(const FinalsTask& task, std::size_t variant) {
  if (variant < 2) return variant == 0 ? 0 : task.leader;
  std::size_t others = 1;
  for (std::size_t i = 1; i < task.candidates.size(); ++i)
    if (i != task.leader && ++others == variant) return i;
  return task.leader;
}

/// The model with one candidate for each task.
class Variant {
 public:
  /// Compiles it. `choices` has one candidate of each task.
  static Result<Variant> make(const Session& session, std::span<const Value> inputs,
                              const std::vector<FinalsTask>& tasks, std::vector<std::size_t> choices) {
    KernelChoices chosen;
    for (std::size_t i = 0; i < tasks.size(); ++i) chosen[tasks[i].key] = tasks[i].candidates[choices[i]];
    Variant made(session.with_kernels(std::move(chosen)), std::move(choices));
    HONE_TRY(const std::vector<TaskUse> uses, made.session_.tasks(inputs));
    for (const TaskUse& use : uses) {
      const std::string key = measure::task_key(use.task->naive(), use.task->constants).key;
      const auto task = std::find_if(tasks.begin(), tasks.end(), [&](const FinalsTask& t) { return t.key == key; });
      if (task == tasks.end()) continue;
      for (const runtime::Step* step : use.steps) made.task_of_[step] = static_cast<std::size_t>(task - tasks.begin());
    }
    made.outputs_.resize(made.session_.outputs().size());
    return made;
  }

  Result<void> run(std::span<const Value> inputs, bool counts) {
    Profile profile;
    const Clock::time_point begin = Clock::now();
    HONE_TRY(session_.run(inputs, outputs_, &profile));
    const double whole_ns = seconds_since(begin) * 1e9;
    if (!counts) return {};
    std::vector<double> sums(choices.size(), 0.0);
    for (const Profile::Entry& entry : profile.entries)
      if (const auto task = task_of_.find(entry.step); task != task_of_.end())
        sums[task->second] += static_cast<double>(entry.time.end_ns - entry.time.begin_ns);
    whole.push_back(whole_ns);
    for (std::size_t i = 0; i < sums.size(); ++i) tasks[i].push_back(sums[i]);
    return {};
  }

  void forget() {
    whole.clear();
    for (Samples& samples : tasks) samples.clear();
  }

  Result<double> constant_bytes(std::span<const Value> inputs) const {
    HONE_TRY(const std::vector<const runtime::Plan*> plans, session_.plans(inputs));
    double bytes = 0;
    for (const runtime::Plan* plan : plans) bytes += static_cast<double>(plan->constant_bytes());
    return bytes;
  }

  std::vector<std::size_t> choices;  ///< of each task, a place among its candidates
  Samples whole;                     ///< times of the model, in ns
  std::vector<Samples> tasks;        ///< of all calls of each task in a run

 private:
  Variant(Session session, std::vector<std::size_t> chosen)
      : choices(std::move(chosen)), tasks(choices.size()), session_(std::move(session)) {}

  Session session_;
  std::unordered_map<const runtime::Step*, std::size_t> task_of_;
  std::vector<Value> outputs_;
};

class Finals {
 public:
  Finals(const Session& session, std::span<const Value> inputs, const std::vector<FinalsTask>& tasks,
         const FinalsOptions& options)
      : session_(session), inputs_(inputs), tasks_(tasks), options_(options) {}

  Result<FinalsReport> run() {
    HONE_TRY(compile_variants());
    if (is_stopped()) return stopped();
    std::vector<Variant*> all;
    for (Variant& variant : variants_) all.push_back(&variant);
    HONE_TRY(report_.rounds, time("timing", all, share_of_rest(kShareOfTiming)));
    if (is_stopped()) return stopped();
    HONE_TRY(judge(assemble()));
    if (is_stopped()) return stopped();
    report_.seconds = seconds_since(start_);
    return std::move(report_);
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  /// Of the time that is left: for the variants; the rest is for the model as a whole, perhaps twice.
  static constexpr double kShareOfTiming = 0.5, kShareOfCheck = 0.6;

  bool is_stopped() const { return options_.stop && *options_.stop; }

  FinalsReport stopped() {
    report_.is_stopped = true;
    report_.tasks.clear();
    report_.seconds = seconds_since(start_);
    return std::move(report_);
  }

  /// Of the time that is left, or will be in so many seconds.
  double share_of_rest(double share, double in_s = 0) const {
    if (options_.seconds <= 0) return kInfinity;
    return std::max(0.0, options_.seconds - seconds_since(start_) - in_s) * share;
  }

  void tell(std::string_view stage, std::size_t variants, std::size_t rounds, double left_s) const {
    if (options_.progress) options_.progress({std::string(stage), variants, rounds, seconds_since(start_), left_s});
  }

  /// How long `time` goes on if a round takes so long.
  static double expected_seconds(double round_s, double seconds) {
    const std::size_t fewest = std::isfinite(seconds) ? kFewest : kAimed;
    const double wanted_s = std::max(std::min(seconds, kPlentySeconds), static_cast<double>(fewest) * round_s);
    return std::min(wanted_s, static_cast<double>(kMost) * round_s);
  }

  /// How long it takes to check what comes of the variants, beginning in so many seconds with compiling it. A turn is
  /// what a variant runs in a round.
  double expected_check_seconds(double turn_s, double in_s) const {
    constexpr double kRivals = 3;
    return compile_s_ + expected_seconds(kRivals * turn_s, share_of_rest(kShareOfCheck, in_s + compile_s_));
  }

  /// What is left when `more` of so many variants are to be compiled.
  double left_while_compiling(std::size_t variants, std::size_t more) const {
    if (variants_.empty()) return kInfinity;
    const double compile_s = compile_s_ * static_cast<double>(more);
    const double timing_s =
        expected_seconds(turn_s_ * static_cast<double>(variants), share_of_rest(kShareOfTiming, compile_s));
    return compile_s + timing_s + expected_check_seconds(turn_s_, compile_s + timing_s);
  }

  /// Makes as many variants as there are candidates, and as there is memory and time for: each takes about as much as
  /// the first.
  Result<void> compile_variants() {
    std::size_t wanted = 0;
    for (const FinalsTask& task : tasks_)
      wanted = std::max(wanted, task.candidates.size() + (task.leader == 0 ? 1 : 0));
    wanted = std::min(wanted, options_.most_variants);
    std::optional<double> memory = available_bytes();
    double bytes = 0;
    for (std::size_t number = 0; number < wanted && !is_stopped(); ++number) {
      const double needed_s = number == 0 ? 0 : seconds_since(start_) / static_cast<double>(number);
      const bool is_late = options_.seconds > 0 && seconds_since(start_) + needed_s > options_.seconds / 2;
      const bool is_large = memory && bytes * static_cast<double>(number) > *memory / 2;
      if (number >= 2 && (is_late || is_large)) break;
      if (number == 1 && is_large)
        return error(ErrorCode::OutOfMemory,
                     "two variants of the model need more than half of the memory that is free");
      std::vector<std::size_t> choices;
      for (const FinalsTask& task : tasks_) choices.push_back(choice_of(task, number));
      tell("compiling", number, 0, left_while_compiling(wanted, wanted - number));
      Result<Variant> variant = Variant::make(session_, inputs_, tasks_, std::move(choices));
      if (!variant && number < 2) return std::move(variant).error();
      if (!variant) {
        log::warning("finals", "a variant is left out: {}", variant.error().message);
        continue;
      }
      compile_s_ = seconds_since(start_) / static_cast<double>(number + 1);
      if (number == 0) {
        HONE_TRY(bytes, variant->constant_bytes(inputs_));
        const Clock::time_point begin = Clock::now();
        HONE_TRY(variant->run(inputs_, /*counts=*/false));
        turn_s_ = seconds_since(begin) * (kRunsInRow + 1);
      }
      variants_.push_back(*std::move(variant));
    }
    report_.variants = variants_.size();
    return {};
  }

  /// Runs variants in turns, forwards and backwards, for so many seconds; gives the number of rounds that count.
  Result<std::size_t> time(std::string_view stage, const std::vector<Variant*>& variants, double seconds) {
    for (Variant* variant : variants) variant->forget();
    const Clock::time_point begin = Clock::now();
    const std::size_t fewest = std::isfinite(seconds) ? kFewest : kAimed;
    for (std::size_t round = 0; round < kMost; ++round) {
      const double round_s = round == 0 ? 0 : seconds_since(begin) / static_cast<double>(round);
      if (round >= fewest && seconds_since(begin) + round_s > std::min(seconds, kPlentySeconds)) return round;
      for (std::size_t i = 0; i < variants.size(); ++i) {
        Variant& variant = *variants[round % 2 == 0 ? i : variants.size() - 1 - i];
        for (std::size_t run = 0; run <= kRunsInRow; ++run) {
          if (is_stopped()) return round;
          HONE_TRY(variant.run(inputs_, /*counts=*/run > 0));
        }
      }
      const double mean_s = seconds_since(begin) / static_cast<double>(round + 1);
      double left_s = std::max(0.0, expected_seconds(mean_s, seconds) - seconds_since(begin));
      if (stage == "timing")
        left_s += expected_check_seconds(mean_s / static_cast<double>(variants.size()), /*in_s=*/left_s);
      tell(stage, variants.size(), round + 1, left_s);
    }
    return kMost;
  }

  /// For each task the candidate that was fastest. What says so is kept.
  std::vector<std::size_t> assemble() {
    std::vector<std::size_t> choices;
    for (std::size_t task = 0; task < tasks_.size(); ++task) {
      std::vector<Samples> samples;
      for (const Variant& variant : variants_) {
        const bool is_new = variant.choices[task] >= samples.size();
        if (is_new) samples.resize(variant.choices[task] + 1);
        Samples& all = samples[variant.choices[task]];
        if (all.empty()) all = variant.tasks[task];
      }
      choices.push_back(decide_task(samples));
      samples_.push_back(std::move(samples));
    }
    return choices;
  }

  /// Times the model as a whole: what was assembled, what leads alone, and the default. Where what was assembled is no
  /// gain, it has another chance without what did not help it.
  Result<void> judge(const std::vector<std::size_t>& assembled) {
    const std::vector<std::size_t> none(tasks_.size(), 0);
    if (assembled == none) return adopt(Verdict::Default, variants_[0]);
    HONE_TRY(Variant winner, Variant::make(session_, inputs_, tasks_, assembled));
    std::vector<Variant*> rivals{&variants_[0], &winner};
    const bool is_alone = assembled == variants_[1].choices;
    if (!is_alone) rivals.push_back(&variants_[1]);
    HONE_TRY(const std::size_t rounds, time("checking", rivals, share_of_rest(kShareOfCheck)));
    report_.rounds += rounds;
    if (is_stopped()) return {};
    if (is_alone) variants_[1].whole = winner.whole;
    const Verdict verdict = decide_model(variants_[0].whole, winner.whole, is_alone ? Samples() : variants_[1].whole);
    if (verdict == Verdict::Assembled) return adopt(verdict, winner);
    if (verdict == Verdict::Alone) return adopt(verdict, variants_[1]);

    std::vector<std::size_t> fewer = assembled;
    for (std::size_t task = 0; task < tasks_.size(); ++task)
      if (!is_surely_faster(winner.tasks[task], variants_[0].tasks[task])) fewer[task] = 0;
    if (fewer == none || fewer == assembled) return adopt(Verdict::Default, variants_[0]);
    HONE_TRY(Variant second, Variant::make(session_, inputs_, tasks_, fewer));
    HONE_TRY(report_.rounds, time("checking", {&variants_[0], &second}, share_of_rest(1)));
    if (is_stopped()) return {};
    const bool is_gain = decide_model(variants_[0].whole, second.whole, {}) == Verdict::Assembled;
    return is_gain ? adopt(Verdict::Assembled, second) : adopt(Verdict::Default, variants_[0]);
  }

  Result<void> adopt(Verdict verdict, const Variant& chosen) {
    report_.verdict = verdict;
    report_.default_ns = typical(variants_[0].whole);
    report_.alone_ns = variants_.size() > 1 ? typical(variants_[1].whole) : report_.default_ns;
    report_.chosen_ns = typical(chosen.whole);
    for (std::size_t task = 0; task < tasks_.size(); ++task) {
      const double calls = static_cast<double>(tasks_[task].use.uses);
      FinalsDecision decision{.key = tasks_[task].key,
                              .candidate = tasks_[task].candidates[chosen.choices[task]],
                              .is_default = chosen.choices[task] == 0,
                              .is_changed = chosen.choices[task] != tasks_[task].leader,
                              .default_ns = 0,
                              .samples_ns = samples_[task][chosen.choices[task]]};
      for (double& sample : decision.samples_ns) sample /= calls;
      decision.default_ns =
          decision.is_default ? measure::minimum(decision.samples_ns) : measure::minimum(samples_[task][0]) / calls;
      report_.tasks.push_back(std::move(decision));
    }
    return {};
  }

  const Session& session_;
  std::span<const Value> inputs_;
  const std::vector<FinalsTask>& tasks_;
  const FinalsOptions& options_;
  const Clock::time_point start_ = Clock::now();
  std::vector<Variant> variants_;
  std::vector<std::vector<Samples>> samples_;  ///< of each task, by candidate
  double compile_s_ = 0, turn_s_ = 0;          ///< of a variant: compiling it, and what it runs in a round
  FinalsReport report_;
};

}  // namespace

Result<FinalsReport> run_finals(const Session& session, std::span<const Value> inputs,
                                const std::vector<FinalsTask>& tasks, const FinalsOptions& options) {
  if (tasks.empty()) return FinalsReport{};
  return Finals(session, inputs, tasks, options).run();
}

}  // namespace hone
