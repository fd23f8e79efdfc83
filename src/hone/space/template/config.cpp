#include "hone/space/template/config.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <optional>

#include "hone/schedule/primitives.h"

namespace hone::space {
namespace {

/// How a loop marked so is bound; nothing if it is not.
std::optional<ir::ForKind> gpu_index(Mark mark) {
  switch (mark) {
    case Mark::BlockZ:
      return ir::ForKind::BlockZ;
    case Mark::BlockY:
      return ir::ForKind::BlockY;
    case Mark::BlockX:
      return ir::ForKind::BlockX;
    case Mark::Virtual:
      return ir::ForKind::VThread;
    case Mark::ThreadZ:
      return ir::ForKind::ThreadZ;
    case Mark::ThreadY:
      return ir::ForKind::ThreadY;
    case Mark::ThreadX:
      return ir::ForKind::ThreadX;
    case Mark::None:
    case Mark::Unroll:
    case Mark::Vectorize:
    case Mark::Fuse:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

void Config::note(Error problem) {
  if (status_) status_ = std::move(problem);
}

std::vector<std::int64_t> Config::decide(std::string_view name, Result<Options> options,
                                         const std::function<std::size_t(const Options&)>& fallback,
                                         std::int64_t extent, std::vector<std::int64_t> harmless) {
  if (decided_) {
    const auto found = decided_->find(name);
    if (found != decided_->end() && found->second.size() == harmless.size()) return found->second;
    note(error(ErrorCode::InvalidArgument,
               "knob '{}' was not declared with {} numbers: a template must declare the same knobs in every run", name,
               harmless.size()));
    return harmless;
  }
  if (!options) {
    note(error(ErrorCode::InvalidArgument, "knob '{}': {}", name, options.error().message));
    return harmless;
  }
  const bool is_known = std::any_of(declaration_.knobs.begin(), declaration_.knobs.end(),
                                    [&](const Knob& knob) { return knob.name == name; });
  if (is_known) {
    note(error(ErrorCode::InvalidArgument, "knob '{}' is declared twice", name));
    return harmless;
  }
  const std::size_t first = fallback(*options);
  if (first >= options->size()) {
    note(error(ErrorCode::InvalidArgument, "knob '{}': the fallback {} is outside the options 0..{}", name, first,
               options->size() - 1));
    return harmless;
  }
  std::vector<std::int64_t> decided = (*options)[first];
  declaration_.knobs.push_back({std::string(name), *std::move(options)});
  declaration_.fallback.push_back(first);
  declaration_.extents.push_back(extent);
  return decided;
}

Factors Config::split(std::string_view knob, std::int64_t extent, const SplitRule& rule) {
  Factors harmless(std::max<std::size_t>(rule.outputs, 1), 1);
  const auto fallback = [&](const Options& options) {
    return rule.fallback.empty() ? 0 : fallback_split(options, rule.fallback);
  };
  if (!rule.fallback.empty() && rule.fallback.size() != rule.outputs)
    note(error(ErrorCode::InvalidArgument, "knob '{}': the fallback {} must have {} numbers", knob,
               fmt::format("{}", rule.fallback), rule.outputs));
  Result<Options> options = decided_ ? Result<Options>(Options()) : split_options(extent, rule);
  Factors factors = decide(knob, std::move(options), fallback, extent, std::move(harmless));
  factors[0] = schedule::kRest;
  return factors;
}

std::vector<std::string> Config::reorder(std::string_view knob, const std::vector<std::string>& loops,
                                         const ReorderRule& rule) {
  std::vector<std::int64_t> harmless(loops.size());
  std::iota(harmless.begin(), harmless.end(), 0);
  const auto fallback = [&](const Options&) { return rule.fallback; };
  Result<Options> options = decided_ ? Result<Options>(Options()) : reorder_options(loops.size(), rule);
  std::vector<std::string> ordered;
  for (const std::int64_t place : decide(knob, std::move(options), fallback, 0, std::move(harmless)))
    ordered.push_back(loops[static_cast<std::size_t>(place)]);
  return ordered;
}

std::vector<Mark> Config::annotate(std::string_view knob, std::size_t loops, std::string_view policy) {
  Result<Options> options = decided_ ? Result<Options>(Options()) : annotate_options(loops, policy);
  std::vector<Mark> marks;
  const auto first = [](const Options&) -> std::size_t { return 0; };
  for (const std::int64_t mark :
       decide(knob, std::move(options), first, 0, std::vector<std::int64_t>(loops, static_cast<int>(Mark::None))))
    marks.push_back(static_cast<Mark>(mark));
  return marks;
}

std::vector<std::size_t> Config::locate(std::string_view knob, std::size_t loops, std::size_t anchors) {
  Result<Options> options = decided_ ? Result<Options>(Options()) : locate_options(loops, anchors);
  const auto first = [](const Options&) -> std::size_t { return 0; };
  std::vector<std::size_t> places;
  for (const std::int64_t place : decide(knob, std::move(options), first, 0, std::vector<std::int64_t>(anchors, 0)))
    places.push_back(static_cast<std::size_t>(place));
  return places;
}

std::int64_t Config::choose(std::string_view knob, const std::vector<std::int64_t>& numbers, std::size_t fallback) {
  Options options;
  for (const std::int64_t number : numbers) options.push_back({number});
  Result<Options> listed = std::move(options);
  if (numbers.empty()) listed = error(ErrorCode::InvalidArgument, "no number is listed");
  return decide(knob, std::move(listed), [&](const Options&) { return fallback; }, 0, {0})[0];
}

void Config::keep_if(ConfigFilter filter) {
  if (!decided_) declaration_.filters.push_back(std::move(filter));
}

Result<void> mark_loops(schedule::Schedule& schedule, std::vector<std::string> loops, const std::vector<Mark>& marks) {
  if (loops.size() != marks.size())
    return error(ErrorCode::InvalidArgument, "mark: {} marks for {} loops", marks.size(), loops.size());
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (marks[i] == Mark::Fuse) {
      if (i + 1 == loops.size()) return error(ErrorCode::IllegalStep, "mark: there is no loop after '{}'", loops[i]);
      HONE_TRY(schedule.apply(schedule::Fuse{{loops[i], loops[i + 1]}}));
      loops[i + 1] = fmt::format("{}@{}", loops[i], loops[i + 1]);
    } else if (marks[i] == Mark::Unroll) {
      HONE_TRY(schedule.apply(schedule::Unroll{loops[i]}));
    } else if (marks[i] == Mark::Vectorize) {
      HONE_TRY(schedule.apply(schedule::Vectorize{loops[i]}));
    } else if (const std::optional<ir::ForKind> index = gpu_index(marks[i])) {
      HONE_TRY(schedule.apply(schedule::Bind{loops[i], *index}));
    }
  }
  return {};
}

}  // namespace hone::space
