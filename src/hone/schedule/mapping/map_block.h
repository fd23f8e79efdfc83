/// Programs written with mappings: the loops of a block as a list of levels, from cores down to lanes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hone/schedule/mapping/mapping.h"
#include "hone/schedule/program.h"

namespace hone::schedule {

/// One level of a nest. If its mapping has spatial parts, its workers are the iterations of a loop `name` that runs as
/// `how` says, around the loops `name.0`, `name.1`, … of its repeats. If it has none, `how` is that of the repeats:
/// serial or unrolled.
struct Level {
  std::string name;
  Mapping mapping;
  ir::ForKind how = ir::ForKind::Serial;
  bool operator==(const Level&) const = default;
};

/// "core: spatial(2, 1) parallel"; a serial level says nothing of its kind.
std::string to_text(const Level& level);
/// Reads what to_text writes.
Result<Level> parse_level(std::string_view text);

/// Replaces the naive loops of a block by those of the levels, the first outermost, `inner` ones inside of the block's
/// reduction loops. The product of all mappings says which point of the spatial variables, in the order of the block,
/// each iteration computes. Where it spans more than their extents, the block's predicate skips what is too much; so
///
///     map_block(p, "C", {{"core", spatial({2, 1}), ForKind::Parallel}, {"tile", repeat({3, 4})}},
///               {{"row", repeat({6, 1}), ForKind::Unrolled}, {"lane", spatial({1, 16}), ForKind::Vectorized}})
///
/// runs a matrix product of up to 36 × 64 elements. Names that are taken get a number, as in `core_1`.
Result<Program> map_block(const Program& program, std::string_view block, std::span<const Level> levels,
                          std::span<const Level> inner = {});

}  // namespace hone::schedule
