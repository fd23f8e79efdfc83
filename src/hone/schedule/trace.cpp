#include "hone/schedule/trace.h"

#include <algorithm>

#include "hone/schedule/primitives.h"
#include "hone/schedule/sample.h"

namespace hone::schedule {

namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

std::vector<std::int64_t> values_of(const Numbers& numbers) {
  std::vector<std::int64_t> values;
  for (const Number& number : numbers) values.push_back(number.value);
  return values;
}

/// Applies a step whose references are resolved. Sampling steps leave the program as it is.
Result<Program> apply_step(const Step& step, const Program& p) {
  return std::visit(
      Overloaded{
          [&](const Split& s) { return split(p, s.loop, values_of(s.factors)); },
          [&](const Fuse& s) { return fuse(p, s.loops); },
          [&](const Reorder& s) { return reorder(p, s.loops); },
          [&](const Parallel& s) { return parallel(p, s.loop); },
          [&](const Vectorize& s) { return vectorize(p, s.loop); },
          [&](const Unroll& s) { return unroll(p, s.loop); },
          [&](const Bind& s) { return bind(p, s.loop, s.index); },
          [&](const Annotate& s) { return annotate(p, s.target, s.key, s.value); },
          [&](const ComputeAt& s) { return s.loop.empty() ? Result<Program>(p) : compute_at(p, s.block, s.loop); },
          [&](const ReverseComputeAt& s) { return reverse_compute_at(p, s.block, s.loop); },
          [&](const ComputeInline& s) { return compute_inline(p, s.block); },
          [&](const ReverseComputeInline& s) { return reverse_compute_inline(p, s.block); },
          [&](const CacheRead& s) { return cache_read(p, s.block, s.buffer, s.scope); },
          [&](const CacheWrite& s) { return cache_write(p, s.block, s.scope); },
          [&](const Rfactor& s) { return rfactor(p, s.block, s.loop); },
          [&](const DecomposeReduction& s) { return decompose_reduction(p, s.block, s.loop); },
          [&](const SetScope& s) { return set_scope(p, s.buffer, s.scope); },
          [&](const StorageAlign& s) {
            return storage_align(p, s.buffer, s.axis.value, s.factor.value, s.offset.value);
          },
          [&](const TransformLayout& s) { return transform_layout(p, s.buffer, s.map); },
          [&](const Pad& s) { return pad(p, s.block, values_of(s.multiples)); },
          [&](const SplitVariable& s) { return split_variable(p, s.block, s.variable, s.factor.value); },
          [&](const DoubleBuffer& s) { return double_buffer(p, s.buffer, s.loop); },
          [&](const SoftwarePipeline& s) { return software_pipeline(p, s.loop); },
          [&](const Prefetch& s) { return prefetch(p, s.buffer, s.loop, s.distance.value); },
          [&](const SpreadPrefetch& s) { return spread_prefetch(p, s.buffer, s.loop, s.inner, s.distance.value); },
          [&](const Tensorize& s) { return tensorize(p, s.loop, s.intrinsic); },
          [&](const SampleTile&) { return Result<Program>(p); },
          [&](const SampleChoice&) { return Result<Program>(p); },
          [&](const SampleLocation&) { return Result<Program>(p); },
      },
      step);
}

template <typename Decisions>
auto find_decision(const Decisions& decided, std::string_view name) {
  return std::find_if(decided.begin(), decided.end(), [&](const auto& d) { return d.name == name; });
}

}  // namespace

Result<Program> replay(const Program& program, const Trace& trace) {
  Schedule schedule(program);
  for (const Step& step : trace) HONE_TRY(schedule.apply(step));
  return schedule.program();
}

Schedule::Schedule(Program naive) { states_.push_back({std::move(naive), {}}); }

Result<void> Schedule::apply(const Step& step) {
  HONE_TRY(State state, next(states_.back(), step));
  states_.push_back(std::move(state));
  trace_.push_back(step);
  return {};
}

Result<void> Schedule::apply(const Step& step, Rng& rng) {
  const std::vector<std::int64_t>* decision = decision_of(step);
  if (!decision || !decision->empty()) return apply(step);
  HONE_TRY(const Step sampled, sample(program(), step, rng));
  return apply(sampled);
}

Result<void> Schedule::decide(std::size_t position, const std::vector<std::int64_t>& decision) {
  if (position >= trace_.size())
    return error(ErrorCode::InvalidArgument, "decide: step {} is outside 0..{}", position,
                 static_cast<std::int64_t>(trace_.size()) - 1);
  Step changed = trace_[position];
  if (!decision_of(changed))
    return error(ErrorCode::InvalidArgument, "decide: step {} is '{}', allowed are sampling steps", position,
                 name_of(changed));
  *decision_of(changed) = decision;

  std::vector<State> rest;
  for (std::size_t i = position; i < trace_.size(); ++i) {
    const State& before = rest.empty() ? states_[position] : rest.back();
    HONE_TRY(State after, next(before, i == position ? changed : trace_[i]));
    rest.push_back(std::move(after));
  }
  trace_[position] = std::move(changed);
  states_.resize(position + 1, states_.front());
  std::move(rest.begin(), rest.end(), std::back_inserter(states_));
  return {};
}

Result<Schedule::State> Schedule::next(const State& state, const Step& step) {
  HONE_TRY(const Step resolved, resolve(step, state.decided));
  HONE_TRY(Program program, apply_step(resolved, state.program));
  State after{std::move(program), state.decided};
  if (decision_of(resolved)) {
    HONE_TRY(Decided decided, decided_by(resolved, state.program));
    if (find_decision(after.decided, decided.name) != after.decided.end())
      return error(ErrorCode::IllegalStep, "{}: the name '{}' is taken by an earlier decision", name_of(step),
                   decided.name);
    after.decided.push_back(std::move(decided));
  }
  return after;
}

/// Puts what was decided in place of references such as "$tile[1]" and "$location".
class Schedule::Resolver final : public FieldVisitor {
 public:
  Resolver(std::string_view step, const std::vector<Decided>& decided) : step_(step), decided_(decided) {}

  void visit(std::string_view, Number& number) final {
    if (number.decision.empty()) return;
    const Decided* found = look_up(number.decision);
    if (!found) return;
    const auto count = static_cast<std::int64_t>(found->values.size());
    if (number.element >= 0 && number.element < count) {
      number = found->values[static_cast<std::size_t>(number.element)];
    } else {
      failure = error(ErrorCode::IllegalStep, "{}: element {} of decision '{}' is outside 0..{}", step_, number.element,
                      number.decision, count - 1);
    }
  }
  void visit(std::string_view field, Numbers& numbers) final {
    for (Number& number : numbers) visit(field, number);
  }
  void visit(std::string_view field, std::string& text) final {
    if (field != "loop" || !text.starts_with('$')) return;
    if (const Decided* found = look_up(std::string_view(text).substr(1))) text = found->loop;
  }
  void visit(std::string_view, Names&) final {}
  void visit(std::string_view, std::int64_t&) final {}
  void visit(std::string_view, std::vector<std::int64_t>&) final {}
  void visit(std::string_view, ir::Scope&) final {}
  void visit(std::string_view, ir::ForKind&) final {}

  std::optional<Error> failure;

 private:
  const Decided* look_up(std::string_view name) {
    const auto found = find_decision(decided_, name);
    if (found != decided_.end()) return &*found;
    failure = error(ErrorCode::IllegalStep, "{}: no decision '{}' was made before", step_, name);
    return nullptr;
  }

  std::string_view step_;
  const std::vector<Decided>& decided_;
};

Result<Step> Schedule::resolve(const Step& step, const std::vector<Decided>& decided) {
  Step resolved = step;
  Resolver resolver(name_of(step), decided);
  show(resolved, resolver);
  if (resolver.failure) return *std::move(resolver.failure);
  return resolved;
}

Result<Schedule::Decided> Schedule::decided_by(const Step& step, const Program& program) {
  if (const SampleTile* s = std::get_if<SampleTile>(&step)) {
    HONE_TRY(check_tile(program, *s));
    return Decided{s->name, s->decision, {}};
  }
  if (const SampleChoice* s = std::get_if<SampleChoice>(&step)) {
    HONE_TRY(const std::int64_t value, chosen_option(*s));
    return Decided{s->name, {value}, {}};
  }
  const SampleLocation& s = std::get<SampleLocation>(step);
  HONE_TRY(std::string loop, chosen_location(program, s));
  return Decided{s.name, s.decision, std::move(loop)};
}

}  // namespace hone::schedule
