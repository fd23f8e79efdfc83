#include "sequence.h"

#include <algorithm>

#include "random_step.h"

#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/tensor/catalogue.h"

namespace hone::differential {

using namespace schedule;

namespace {

/// How much work a program makes for the interpreter and the compiler.
struct Size {
  std::int64_t iterations = 0;  ///< of blocks, all loops counted
  std::int64_t copies = 0;      ///< of blocks, in unrolled loops and vector lanes
};

void add_size(const ir::Stmt& stmt, const Size& around, Size& total) {
  if (stmt.as<ir::Block>()) {
    total.iterations += around.iterations;
    total.copies += around.copies;
    return;
  }
  Size inside = around;
  if (const ir::For* loop = stmt.as<ir::For>()) {
    const std::int64_t extent = std::clamp<std::int64_t>(ir::as_int(loop->extent).value_or(1), 1, 1 << 20);
    inside.iterations = std::min<std::int64_t>(inside.iterations * extent, 1 << 30);
    if (loop->how == ir::ForKind::Unrolled || loop->how == ir::ForKind::Vectorized)
      inside.copies = std::min<std::int64_t>(inside.copies * extent, 1 << 30);
  }
  ir::for_each_child(stmt, [&](const ir::Stmt& s) { add_size(s, inside, total); }, [](const ir::Expr&) {});
}

/// Whether thousands of such programs can be compiled and run within minutes.
bool is_small(const Program& program) {
  Size total;
  add_size(program.body, {1, 1}, total);
  return total.iterations <= 30'000 && total.copies <= 96;
}

std::optional<std::string> broken_promise(const Program& program) {
  if (const Result<void> verified = ir::verify(program); !verified) return "verify: " + verified.error().message;
  const std::string text = ir::to_text(program);
  const Result<Program> parsed = ir::parse_function(text);
  if (!parsed) return "the text does not parse: " + parsed.error().message;
  if (!ir::equal(*parsed, program)) return "the text reads back as another program";
  if (ir::structural_hash(*parsed) != ir::structural_hash(program)) return "the text reads back with another hash";
  return {};
}

bool is_same(const Program& a, const Program& b) { return ir::equal(a, b) && ir::to_text(a) == ir::to_text(b); }

/// Applies a step, and checks what it promises.
std::optional<std::string> try_step(Schedule& schedule, const Step& step, Rng& rng, Tally& tally) {
  const Schedule before = schedule;
  const std::string text_before = ir::to_text(schedule.program());
  const Result<void> applied = schedule.apply(step, rng);
  if (!applied) {
    ++tally.refused[step.index()];
    const std::string& message = applied.error().message;
    const bool is_named = message.starts_with(std::string(name_of(step)) + ": ");
    if (!is_named || message.size() < name_of(step).size() + 4)
      return fmt::format("the refusal '{}' does not begin with the name of the step", message);
    if (ir::to_text(schedule.program()) != text_before || schedule.trace() != before.trace())
      return "the step was refused but changed the program";
    return {};
  }
  if (!is_small(schedule.program())) {
    schedule = before;
    return {};
  }
  ++tally.legal[step.index()];
  if (ir::to_text(before.program()) != text_before) return "the step changed the program it was given";
  return broken_promise(schedule.program());
}

/// Changes one decision of the trace, if it has any.
std::optional<std::string> try_decide(Schedule& schedule, const Program& naive, Rng& rng) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < schedule.trace().size(); ++i)
    if (decision_of(schedule.trace()[i])) positions.push_back(i);
  if (positions.empty()) return {};
  const std::size_t position = rng.choose(positions);
  const Schedule before = schedule;
  const Trace earlier(before.trace().begin(), before.trace().begin() + static_cast<std::ptrdiff_t>(position));
  const Result<Program> there = replay(naive, earlier);
  if (!there) return "the beginning of the trace does not replay: " + there.error().message;
  const Result<Step> sampled = sample(*there, before.trace()[position], rng);
  if (!sampled) return "a decision cannot be drawn again: " + sampled.error().message;
  if (!schedule.decide(position, *decision_of(*sampled))) {
    if (!is_same(schedule.program(), before.program()) || schedule.trace() != before.trace())
      return "decide was refused but changed the schedule";
    return {};
  }
  if (!is_small(schedule.program())) schedule = before;
  return broken_promise(schedule.program());
}

std::optional<std::string> broken_trace(const Schedule& schedule, const Program& naive) {
  const Result<Trace> parsed = parse_trace(to_json(schedule.trace()));
  if (!parsed) return "the trace does not parse: " + parsed.error().message;
  if (*parsed != schedule.trace()) return "the trace reads back as another";
  const Result<Program> replayed = replay(naive, *parsed);
  if (!replayed) return "the trace does not replay: " + replayed.error().message;
  if (!is_same(*replayed, schedule.program())) return "the trace replays to another program";
  return {};
}

std::optional<std::string> apply_random_steps(Sequence& sequence, Rng& rng, Tally& tally) {
  const auto wanted = static_cast<std::size_t>(rng.uniform(3, 10));
  constexpr int kMaxTries = 40;
  std::vector<Step> planned;  // in reverse
  for (int tries = 0; tries < kMaxTries; ++tries) {
    if (planned.empty() && sequence.schedule.trace().size() >= wanted) break;
    if (planned.empty()) {
      const Program& program = sequence.schedule.program();
      planned = rng.chance(0.2) ? random_idiom(rng, program) : std::vector{random_step(rng, program)};
      std::reverse(planned.begin(), planned.end());
      if (planned.empty()) continue;
    }
    const Step step = planned.back();
    planned.pop_back();
    try {
      if (const auto broken = try_step(sequence.schedule, step, rng, tally))
        return fmt::format("{}: {}", to_text(step), *broken);
    } catch (const std::exception& e) { return fmt::format("{}: exception: {}", to_text(step), e.what()); }
  }
  try {
    if (rng.chance(0.5))
      if (const auto broken = try_decide(sequence.schedule, sequence.naive, rng)) return broken;
    return broken_trace(sequence.schedule, sequence.naive);
  } catch (const std::exception& e) { return fmt::format("exception: {}", e.what()); }
}

template <std::size_t kIndex = 0>
std::string tally_lines(const Tally& tally) {
  if constexpr (kIndex == std::variant_size_v<Step>) {
    return {};
  } else {
    return fmt::format("  {:<24}{:>8} legal{:>8} refused\n", std::variant_alternative_t<kIndex, Step>::kName,
                       tally.legal[kIndex], tally.refused[kIndex]) +
           tally_lines<kIndex + 1>(tally);
  }
}

}  // namespace

std::string to_text(const Tally& tally) { return fmt::format("{} sequences\n", tally.sequences) + tally_lines(tally); }

Sequence draw_sequence(std::uint64_t seed, std::uint64_t number, Tally& tally) {
  Rng rng = Rng(seed).fork(number);
  tensor::NamedProgram entry = tensor::catalogue_entry(number % tensor::catalogue_size(), rng);
  Sequence sequence{entry.name, entry.function, Schedule(entry.function), {}};
  sequence.failure = apply_random_steps(sequence, rng, tally);
  ++tally.sequences;
  return sequence;
}

Trace shorten(const Program& naive, Trace trace, FunctionRef<bool(const Program&)> is_wrong) {
  for (std::size_t i = trace.size(); i-- > 0;) {
    Trace shorter = trace;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
    const Result<Program> program = replay(naive, shorter);
    if (program && is_wrong(*program)) trace = std::move(shorter);
  }
  return trace;
}

}  // namespace hone::differential
