/// Traces: the list of steps that made a program, its text form, and replaying it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/schedule/program.h"
#include "hone/schedule/step.h"
#include "hone/support/rng.h"

namespace hone::schedule {

/// A trace as a JSON array, one object per step: [{"step":"split","loop":"i","factors":[0,8]}, …].
std::string to_json(const Trace& trace);
/// Reads what to_json writes. An error names the step, the field, the value found and what is allowed.
Result<Trace> parse_trace(std::string_view json);

/// One step on one line for people: split(loop=i, factors=[0, 8]).
std::string to_text(const Step& step);

/// Applies `trace` to an unscheduled program. The first illegal step is the error.
Result<Program> replay(const Program& program, const Trace& trace);

/// A step with its decision made at random among the legal ones (other steps come back as they are).
Result<Step> sample(const Program& program, const Step& step, Rng& rng);

/// The loops under which compute_at might put a block, outermost first: those around all readers of its output.
std::vector<std::string> locations(const Program& program, std::string_view block);

/// A program under schedule together with the trace that made it. Keeps the program before each step (they share most
/// of their nodes), so that editing one decision replays only from there.
class Schedule {
 public:
  explicit Schedule(Program naive);

  /// The program after the last step.
  const Program& program() const { return states_.back().program; }
  const Trace& trace() const { return trace_; }
  /// The program before the first step.
  const Program& naive() const { return states_.front().program; }

  /// Applies one more step; after an error nothing has changed.
  Result<void> apply(const Step& step);
  /// Applies one more step, making its decision first if it is a sampling step without one.
  Result<void> apply(const Step& step, Rng& rng);

  /// Changes the decision of the sampling step at `position` and replays what follows; after an error nothing has
  /// changed.
  Result<void> decide(std::size_t position, const std::vector<std::int64_t>& decision);

 private:
  /// What a sampling step decided: the numbers that "$name[i]" stands for, or the loop that "$name" stands for.
  struct Decided {
    std::string name;
    std::vector<std::int64_t> values;
    std::string loop;
  };
  struct State {
    Program program;
    std::vector<Decided> decided;
  };

  class Resolver;

  static Result<State> next(const State& state, const Step& step);
  static Result<Step> resolve(const Step& step, const std::vector<Decided>& decided);
  static Result<Decided> decided_by(const Step& step, const Program& program);

  Trace trace_;
  std::vector<State> states_;
};

}  // namespace hone::schedule
