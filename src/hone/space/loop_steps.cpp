#include "hone/space/loop_steps.h"

#include <algorithm>

#include "hone/schedule/primitives.h"
#include "hone/space/sketch/reading_order.h"

namespace hone::space {
namespace {

/// Copies that are written out without being asked for.
constexpr std::int64_t kMostCopies = 32;

}  // namespace

Result<std::vector<std::string>> split_loop(Schedule& draft, const std::string& block, const std::string& loop,
                                            const std::vector<std::int64_t>& factors) {
  const std::vector<std::string> before = schedule::loops_of(draft.program(), block);
  const auto place = std::find(before.begin(), before.end(), loop) - before.begin();
  HONE_TRY(draft.apply(schedule::Split{loop, {factors.begin(), factors.end()}}));
  const std::vector<std::string> after = schedule::loops_of(draft.program(), block);
  return std::vector<std::string>(after.begin() + place,
                                  after.begin() + place + static_cast<std::ptrdiff_t>(factors.size()));
}

Result<std::vector<std::string>> split_levels(Schedule& draft, const std::string& block, const std::string& loop,
                                              const std::vector<std::int64_t>& factors) {
  const std::int64_t extent = extent_of(draft.program(), loop);
  std::vector<std::string> levels(factors.size() + 1);
  std::vector<std::size_t> used;
  std::int64_t covered = 1;
  for (std::size_t i = factors.size(); i-- > 0 && covered < extent;) {
    if (factors[i] > 1) used.insert(used.begin(), i + 1);
    covered *= factors[i];
  }
  if (covered < extent || used.empty()) used.insert(used.begin(), 0);
  if (used.size() == 1) {
    levels[used[0]] = loop;
    return levels;
  }
  std::vector<std::int64_t> parts = {schedule::kRest};
  for (std::size_t i = 1; i < used.size(); ++i) parts.push_back(factors[used[i] - 1]);
  HONE_TRY(const std::vector<std::string> names, split_loop(draft, block, loop, parts));
  for (std::size_t i = 0; i < used.size(); ++i) levels[used[i]] = names[i];
  return levels;
}

Result<void> vectorize_innermost(Schedule& draft, const std::string& block, const std::string& outer) {
  const Result<schedule::Path> path = schedule::find_block(draft.program(), block, "loop steps");
  if (!path || schedule::is_reduction(path->block())) return {};
  std::vector<std::string> loops = schedule::loops_of(draft.program(), block);
  const auto begin = std::find(loops.begin(), loops.end(), outer);
  if (begin != loops.end()) loops.erase(loops.begin(), begin + 1);
  std::erase_if(loops, [&](const std::string& loop) { return extent_of(draft.program(), loop) == 1; });
  if (loops.empty() || extent_of(draft.program(), loops.back()) == 0) return {};
  if (!draft.apply(schedule::Vectorize{loops.back()})) return {};
  std::int64_t copies = 1;
  for (std::size_t i = loops.size() - 1; i-- > 0;) {
    copies *= extent_of(draft.program(), loops[i]);
    if (copies > kMostCopies) break;
    HONE_TRY(draft.apply(schedule::Unroll{loops[i]}));
  }
  return {};
}

Result<void> run_parallel(Schedule& draft, std::vector<std::string> loops) {
  if (loops.empty()) return {};
  std::int64_t iterations = 1;
  for (const std::string& loop : loops) iterations *= extent_of(draft.program(), loop);
  HONE_TRY(const schedule::Path outermost, schedule::find_loop(draft.program(), loops[0], "loop steps"));
  if (iterations < 2 || outermost.loop().how != ir::ForKind::Serial) return {};
  if (loops.size() == 1) return draft.apply(schedule::Parallel{loops[0]});
  const std::vector<schedule::Path> below = schedule::blocks_below(outermost);
  const std::string block = below.front().block().name;
  const std::vector<std::string> before = schedule::loops_of(draft.program(), block);
  const auto place = std::find(before.begin(), before.end(), loops[0]) - before.begin();
  HONE_TRY(draft.apply(schedule::Fuse{loops}));
  return draft.apply(schedule::Parallel{schedule::loops_of(draft.program(), block)[static_cast<std::size_t>(place)]});
}

Result<void> store_in_reading_order(Schedule& draft, const std::string& block, const std::string& buffer) {
  HONE_TRY(const ir::Expr found, schedule::find_buffer(draft.program(), buffer, "loop steps"));
  const std::optional<std::string> map = reading_order(draft.program(), block, found);
  return map ? draft.apply(schedule::TransformLayout{buffer, *map}) : Result<void>();
}

Result<std::string> copy_operand(Schedule& draft, const std::string& block, const std::string& buffer,
                                 ir::Scope scope) {
  HONE_TRY(draft.apply(schedule::CacheRead{block, buffer, scope}));
  HONE_TRY(const schedule::Path reader, schedule::find_block(draft.program(), block, "loop steps"));
  for (const Read& read : reads_of(reader.block()))
    if (ir::name_of(read.buffer).starts_with(buffer + ".")) return ir::name_of(read.buffer);
  return error(ErrorCode::IllegalStep, "copy: block '{}' does not read a copy of '{}'", block, buffer);
}

Result<std::string> place_copy(Schedule& draft, const std::string& block, const std::string& copy,
                               const std::string& loop) {
  HONE_TRY(const ir::Expr buffer, schedule::find_buffer(draft.program(), copy, "loop steps"));
  std::string writer = schedule::writers(draft.program(), buffer).front().block().name;
  if (!loop.empty()) HONE_TRY(draft.apply(schedule::ComputeAt{writer, loop}));
  HONE_TRY(store_in_reading_order(draft, block, copy));
  HONE_TRY(vectorize_innermost(draft, writer, loop));
  return writer;
}

}  // namespace hone::space
