#include "hone/space/sketch/building.h"

#include <algorithm>

namespace hone::space {
namespace {

/// Copies that are written out without being asked for.
constexpr std::int64_t kMostCopies = 32;

}  // namespace

Result<std::vector<std::string>> split_loop(Building& building, const std::string& block, const std::string& loop,
                                            const std::vector<std::int64_t>& factors) {
  const std::vector<std::string> before = schedule::loops_of(building.program(), block);
  const auto place = std::find(before.begin(), before.end(), loop) - before.begin();
  HONE_TRY(building.apply(schedule::Split{loop, {factors.begin(), factors.end()}}));
  const std::vector<std::string> after = schedule::loops_of(building.program(), block);
  return std::vector<std::string>(after.begin() + place,
                                  after.begin() + place + static_cast<std::ptrdiff_t>(factors.size()));
}

Result<void> vectorize_innermost(Building& building, const std::string& block, const std::string& outer) {
  const Result<schedule::Path> path = schedule::find_block(building.program(), block, "sketch");
  if (!path || schedule::is_reduction(path->block())) return {};
  std::vector<std::string> loops = schedule::loops_of(building.program(), block);
  const auto begin = std::find(loops.begin(), loops.end(), outer);
  if (begin != loops.end()) loops.erase(loops.begin(), begin + 1);
  std::erase_if(loops, [&](const std::string& loop) { return extent_of(building.program(), loop) == 1; });
  if (loops.empty() || extent_of(building.program(), loops.back()) == 0) return {};
  if (!building.apply(schedule::Vectorize{loops.back()})) return {};
  std::int64_t copies = 1;
  for (std::size_t i = loops.size() - 1; i-- > 0;) {
    copies *= extent_of(building.program(), loops[i]);
    if (copies > kMostCopies) break;
    HONE_TRY(building.apply(schedule::Unroll{loops[i]}));
  }
  return {};
}

Result<void> run_parallel(Building& building, std::vector<std::string> loops) {
  if (loops.empty()) return {};
  std::int64_t iterations = 1;
  for (const std::string& loop : loops) iterations *= extent_of(building.program(), loop);
  HONE_TRY(const schedule::Path outermost, schedule::find_loop(building.program(), loops[0], "sketch"));
  if (iterations < 2 || outermost.loop().how != ir::ForKind::Serial) return {};
  if (loops.size() == 1) return building.apply(schedule::Parallel{loops[0]});
  const std::vector<schedule::Path> below = schedule::blocks_below(outermost);
  const std::string block = below.front().block().name;
  const std::vector<std::string> before = schedule::loops_of(building.program(), block);
  const auto place = std::find(before.begin(), before.end(), loops[0]) - before.begin();
  HONE_TRY(building.apply(schedule::Fuse{loops}));
  return building.apply(
      schedule::Parallel{schedule::loops_of(building.program(), block)[static_cast<std::size_t>(place)]});
}

}  // namespace hone::space
