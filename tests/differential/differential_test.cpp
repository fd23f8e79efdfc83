/// Thousands of random schedules of every definition: what they compute must not depend on the schedule, on the
/// interpreter or compiler that runs it, on the instruction set, or on the number of threads.
///
/// HONE_DIFFERENTIAL_SEED draws other sequences; with HONE_DIFFERENTIAL_CASE only the sequence of that number runs, and
/// is printed.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <iostream>
#include <unistd.h>

#include "compare.h"
#include "sequence.h"

#include "hone/ir/text.h"

namespace hone::differential {
namespace {

using schedule::Program;
using schedule::Trace;

constexpr std::uint64_t kShards = 20;  // CTest runs them side by side

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text) return {};
  return std::strtoull(text, nullptr, 10);
}

std::uint64_t seed() { return number_from("HONE_DIFFERENTIAL_SEED").value_or(1); }
bool is_short() { return std::getenv("HONE_SHORT_TESTS") != nullptr; }

/// How to see one sequence again.
std::string replay_command(std::uint64_t number) {
  return fmt::format("HONE_DIFFERENTIAL_SEED={} HONE_DIFFERENTIAL_CASE={} hone_differential_test\n", seed(), number);
}

/// What to print should generated code crash.
char crash_note[256] = "";
struct sigaction previous_actions[NSIG];

void print_crash_note(int signal) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, crash_note, std::strlen(crash_note));
  sigaction(signal, &previous_actions[signal], nullptr);  // and let it happen again
}

void install_crash_note() {
  struct sigaction action = {};
  action.sa_handler = print_crash_note;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    sigaction(signal, &action, &previous_actions[signal]);
}

/// Compares in the interpreter and on every target; exceptions are wrong too.
std::optional<std::string> wrong(const Program& program, const Reference& reference) {
  try {
    if (auto difference = wrong_in_interpreter(program, reference)) return difference;
    for (const codegen::Target& target : runnable_targets())
      if (auto difference = wrong_as_machine_code(program, reference, target)) return difference;
  } catch (const std::exception& e) { return fmt::format("exception: {}", e.what()); }
  return {};
}

/// What is wrong with a sequence, with the shortest trace that shows it.
std::optional<std::string> wrong(const Sequence& sequence) {
  const auto report = [&](const std::string& what, const Trace& trace) {
    const Result<Program> program = schedule::replay(sequence.naive, trace);
    return fmt::format("{}\nin '{}' after {}\n{}\nof\n{}", what, sequence.definition, schedule::to_json(trace),
                       program ? ir::to_text(*program) : program.error().message, ir::to_text(sequence.naive));
  };
  if (sequence.failure) return report(*sequence.failure, sequence.schedule.trace());
  const Result<Reference> reference = make_reference(sequence.naive, /*seed=*/1);
  if (!reference) return report("the naive program fails: " + reference.error().message, {});
  const std::optional<std::string> found = wrong(sequence.schedule.program(), *reference);
  if (!found) return {};
  const auto is_wrong = [&](const Program& program) { return wrong(program, *reference).has_value(); };
  const Trace shorter = shorten(sequence.naive, sequence.schedule.trace(), is_wrong);
  return report(*found, shorter);
}

class Differential : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Differential, RandomSchedulesComputeWhatTheNaiveProgramComputes) {
  const std::uint64_t count = is_short() ? 10 : 400;
  const std::optional<std::uint64_t> only = number_from("HONE_DIFFERENTIAL_CASE");
  install_crash_note();
  Tally tally;
  int failures = 0;
  for (std::uint64_t number = GetParam(); number < count * kShards && failures < 5; number += kShards) {
    if (only && number != *only) continue;
    std::snprintf(crash_note, sizeof crash_note, "crash: %s", replay_command(number).c_str());
    const Sequence sequence = draw_sequence(seed(), number, tally);
    if (only)
      std::cout << sequence.definition << "\n"
                << ir::to_text(sequence.naive) << schedule::to_json(sequence.schedule.trace()) << "\n"
                << ir::to_text(sequence.schedule.program()) << std::flush;
    if (const std::optional<std::string> what = wrong(sequence)) {
      ++failures;
      ADD_FAILURE() << replay_command(number) << *what;
    }
  }
  std::cout << "seed " << seed() << ", the interpreter and " << runnable_targets().size()
            << " targets: " << to_text(tally);
}

INSTANTIATE_TEST_SUITE_P(Shard, Differential, testing::Range<std::uint64_t>(0, kShards));

TEST(DifferentialSteps, EveryPrimitiveIsAppliedAndRefused) {
  Tally tally;
  for (std::uint64_t number = 0; number < 1000; ++number) {
    const Sequence sequence = draw_sequence(seed(), number, tally);
    ASSERT_FALSE(sequence.failure) << replay_command(number) << *sequence.failure;
  }
  std::cout << to_text(tally);
  for (std::size_t kind = 0; kind < tally.legal.size(); ++kind) {
    EXPECT_GE(tally.legal[kind], 3) << "step kind " << kind;
    EXPECT_GE(tally.refused[kind], 1) << "step kind " << kind;
  }
}

}  // namespace
}  // namespace hone::differential
