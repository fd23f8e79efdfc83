#include "hone/cost/touched_regions.h"

#include <algorithm>

namespace hone::cost {

namespace {

const LoopRow& row(const ProgramTables& tables, std::int32_t loop) {
  return tables.loops()[static_cast<std::size_t>(loop)];
}

int depth(const ProgramTables& tables, std::int32_t loop) {
  int count = 0;
  for (; loop >= 0; loop = row(tables, loop).parent) ++count;
  return count;
}

/// The innermost loop around both, -1 if there is none.
std::int32_t common_loop(const ProgramTables& tables, std::int32_t a, std::int32_t b) {
  int depth_a = depth(tables, a), depth_b = depth(tables, b);
  for (; depth_a > depth_b; --depth_a) a = row(tables, a).parent;
  for (; depth_b > depth_a; --depth_b) b = row(tables, b).parent;
  while (a != b) a = row(tables, a).parent, b = row(tables, b).parent;
  return a;
}

/// The innermost loop that a statement runs in without leaving out one around it: an init stands before the loops that
/// only reduce.
std::int32_t place_of(const ProgramTables& tables, const StatementRow& statement) {
  std::int32_t place = -1;
  for (const std::int32_t loop : tables.loops_of(statement)) {
    if (row(tables, loop).parent != place) break;
    place = loop;
  }
  return place;
}

bool is_below(const ProgramTables& tables, std::int32_t loop, std::int32_t outer) {
  while (loop >= 0 && loop != outer) loop = row(tables, loop).parent;
  return loop == outer;
}

}  // namespace

void TouchedRegions::fill(const ProgramTables& tables) {
  spans_.assign(tables.statements().size(), {});
  nests_.clear(), roles_.clear(), touches_.clear(), elements_.clear();
  totals_.assign(tables.loops().size(), {});
  shared_.assign(tables.loops().size() * tables.buffers().size(), {});
  homes_.assign(tables.buffers().size(), {});
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const StatementRow& statement = tables.statements()[i];
    add_nest(tables, statement, spans_[i]);
    spans_[i].touches.first = static_cast<std::uint32_t>(touches_.size());
    for (const AccessRow& access : tables.accesses_of(statement)) {
      const auto known = std::span(touches_).subspan(spans_[i].touches.first);
      if (std::none_of(known.begin(), known.end(), [&](const Touch& touch) { return touch.buffer == access.buffer; }))
        add_touch(tables, statement, access.buffer, spans_[i]);
    }
    spans_[i].touches.size = static_cast<std::uint32_t>(touches_.size()) - spans_[i].touches.first;
    add_totals(tables, i);
  }
  find_homes(tables);
}

void TouchedRegions::add_nest(const ProgramTables& tables, const StatementRow& statement, Spans& spans) {
  spans.nest.first = static_cast<std::uint32_t>(nests_.size());
  const auto loops = tables.loops_of(statement);
  const auto roles = tables.roles_of(statement);
  for (std::size_t i = loops.size(); i-- > 0;) {
    if (row(tables, loops[i]).extent == 1) continue;
    nests_.push_back(loops[i]);
    roles_.push_back(roles[i]);
  }
  spans.nest.size = static_cast<std::uint32_t>(nests_.size()) - spans.nest.first;
}

void TouchedRegions::add_touch(const ProgramTables& tables, const StatementRow& statement, std::int32_t buffer,
                               const Spans& spans) {
  Touch touch{.buffer = buffer, .reads = false, .writes = false, .run = 1, .elements = {}};
  std::span<const AxisRow> shape;
  reaches_.clear();
  for (const AccessRow& access : tables.accesses_of(statement)) {
    if (access.buffer != buffer) continue;
    (access.is_write ? touch.writes : touch.reads) = true;
    shape = tables.axes_of(access);
    for (const AxisRow& axis : shape)
      reaches_.push_back({static_cast<double>(axis.constant), static_cast<double>(axis.constant)});
  }

  const auto extent_of = [&](std::size_t axis) {
    Reach all = reaches_[axis];
    for (std::size_t i = axis + shape.size(); i < reaches_.size(); i += shape.size())
      all = {std::min(all.min, reaches_[i].min), std::max(all.max, reaches_[i].max)};
    return std::min(all.max - all.min + 1, static_cast<double>(shape[axis].extent));
  };
  const auto count = [&] {
    double elements = 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) elements *= extent_of(axis);
    elements_.push_back(elements);
  };

  touch.elements.first = static_cast<std::uint32_t>(elements_.size());
  count();
  for (const std::int32_t loop : part(nests_, spans.nest)) {
    const std::int64_t extent = row(tables, loop).extent;
    std::size_t reach = 0;
    for (const AccessRow& access : tables.accesses_of(statement)) {
      if (access.buffer != buffer) continue;
      for (const AxisRow& axis : tables.axes_of(access)) {
        for (const IndexTerm& term : tables.terms_of(axis)) {
          if (term.loop != loop) continue;
          const double way = static_cast<double>(term.coefficient) *
                             static_cast<double>(std::max<std::int64_t>(term.values(extent) - 1, 0));
          (way < 0 ? reaches_[reach].min : reaches_[reach].max) += way;
        }
        ++reach;
      }
    }
    count();
  }
  touch.elements.size = static_cast<std::uint32_t>(elements_.size()) - touch.elements.first;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    touch.run *= extent_of(axis);
    if (extent_of(axis) < static_cast<double>(shape[axis].extent)) break;
  }
  touches_.push_back(touch);
}

void TouchedRegions::add_totals(const ProgramTables& tables, std::size_t statement) {
  const auto loops = nest(statement);
  for (std::size_t i = 0; i < loops.size(); ++i)
    for (const Touch& touch : touches(statement)) {
      const double count = elements(touch)[i + 1];
      totals_[static_cast<std::size_t>(loops[i])].bytes +=
          count * tables.buffers()[static_cast<std::size_t>(touch.buffer)].bytes;
      SharedTouch& sharing =
          shared_[static_cast<std::size_t>(loops[i]) * homes_.size() + static_cast<std::size_t>(touch.buffer)];
      sharing.min_elements = sharing.statements++ ? std::min(sharing.min_elements, count) : count;
    }
}

void TouchedRegions::find_homes(const ProgramTables& tables) {
  constexpr std::int32_t kUnknown = -2;
  for (BufferHome& home : homes_) home.loop = kUnknown;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const std::int32_t place = place_of(tables, tables.statements()[i]);
    for (const Touch& touch : touches(i)) {
      std::int32_t& loop = homes_[static_cast<std::size_t>(touch.buffer)].loop;
      loop = loop == kUnknown ? place : common_loop(tables, loop, place);
    }
  }
  for (std::size_t b = 0; b < homes_.size(); ++b)
    if (tables.buffers()[b].is_param || homes_[b].loop == kUnknown) homes_[b] = {-1, tables.buffers()[b].elements};
  for (std::size_t i = 0; i < spans_.size(); ++i)
    for (const Touch& touch : touches(i)) {
      BufferHome& home = homes_[static_cast<std::size_t>(touch.buffer)];
      std::size_t inside = 0;
      for (const std::int32_t loop : nest(i)) inside += loop != home.loop && is_below(tables, loop, home.loop);
      if (!tables.buffers()[static_cast<std::size_t>(touch.buffer)].is_param)
        home.elements = std::max(home.elements, elements(touch)[inside]);
    }
}

}  // namespace hone::cost
