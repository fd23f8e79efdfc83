/// Ansor's transform steps: the fourteen kinds that its records consist of, as JSON and back.
///
/// A step is an array, a tag and then its fields: ["SP", 2, 0, 512, [1, 64, 8], 1]. Stages and iterators are numbers,
/// counted as they are when the step is applied: what makes a new stage shifts the numbers of those behind it. The
/// names of fields are Ansor's (TVM's auto_scheduler, arXiv 2006.06762); what the steps mean for a program of ours is
/// in ansor_import.h and ansor_export.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "hone/ir/stmt.h"
#include "hone/support/result.h"

namespace hone::space::ansor {

using Ids = std::vector<std::int64_t>;

/// Declares the tag, equality and the list of fields of a step.
#define HONE_ANSOR_STEP(type, tag, ...)               \
  static constexpr std::string_view kTag = tag;       \
  bool operator==(const type&) const = default;       \
  auto fields() { return std::tie(__VA_ARGS__); }     \
  auto fields() const { return std::tie(__VA_ARGS__); }

/// What an iterator may be marked as; the numbers are those of records.
enum class Mark : std::uint8_t {
  None,
  Unroll,
  Vectorize,
  Parallel,
  VThread,
  BlockX,
  ThreadX,
  BlockY,
  ThreadY,
  BlockZ,
  ThreadZ,
  Tensorize
};

/// What our loops are marked as instead.
inline constexpr std::pair<Mark, ir::ForKind> kMarks[] = {
    {Mark::Unroll, ir::ForKind::Unrolled},   {Mark::Vectorize, ir::ForKind::Vectorized},
    {Mark::Parallel, ir::ForKind::Parallel}, {Mark::VThread, ir::ForKind::VThread},
    {Mark::BlockX, ir::ForKind::BlockX},     {Mark::BlockY, ir::ForKind::BlockY},
    {Mark::BlockZ, ir::ForKind::BlockZ},     {Mark::ThreadX, ir::ForKind::ThreadX},
    {Mark::ThreadY, ir::ForKind::ThreadY},   {Mark::ThreadZ, ir::ForKind::ThreadZ}};

struct Annotation {
  std::int64_t stage = 0, iter = 0, annotation = 0;  ///< the last: a Mark
  HONE_ANSOR_STEP(Annotation, "AN", stage, iter, annotation)
};
/// Fuses consecutive iterators; none of them: makes an iterator of one iteration, the outermost.
struct Fuse {
  std::int64_t stage = 0;
  Ids fused_ids;
  HONE_ANSOR_STEP(Fuse, "FU", stage, fused_ids)
};
struct Pragma {
  std::int64_t stage = 0, iter = 0;
  std::string pragma;
  HONE_ANSOR_STEP(Pragma, "PR", stage, iter, pragma)
};
/// All iterators of the stage in their new order.
struct Reorder {
  std::int64_t stage = 0;
  Ids after_ids;
  HONE_ANSOR_STEP(Reorder, "RE", stage, after_ids)
};
/// k lengths make k + 1 iterators: factors of the inner ones, or numbers of parts of the outer ones.
struct Split {
  std::int64_t stage = 0, iter = 0, extent = 0;  ///< extent: 0 if it is not known
  Ids lengths;
  std::int64_t inner_to_outer = 1;
  HONE_ANSOR_STEP(Split, "SP", stage, iter, extent, lengths, inner_to_outer)
};
/// Splits by the first n_split - 1 lengths of an earlier split, and the product of the rest of them.
struct FollowSplit {
  std::int64_t stage = 0, iter = 0, src_step = 0, n_split = 0;
  HONE_ANSOR_STEP(FollowSplit, "FSP", stage, iter, src_step, n_split)
};
/// Splits by the product of one length of each of some earlier splits.
struct FollowFusedSplit {
  std::int64_t stage = 0, iter = 0;
  Ids src_steps;
  std::int64_t level = 0, factor_or_nparts = 1;
  HONE_ANSOR_STEP(FollowFusedSplit, "FFSP", stage, iter, src_steps, level, factor_or_nparts)
};
struct StorageAlign {
  std::int64_t stage = 0, iter = 0, factor = 0, offset = 0;
  HONE_ANSOR_STEP(StorageAlign, "SA", stage, iter, factor, offset)
};
struct ComputeAt {
  std::int64_t stage = 0, target_stage = 0, target_iter = 0;
  HONE_ANSOR_STEP(ComputeAt, "CA", stage, target_stage, target_iter)
};
struct ComputeInline {
  std::int64_t stage = 0;
  HONE_ANSOR_STEP(ComputeInline, "CI", stage)
};
struct ComputeRoot {
  std::int64_t stage = 0;
  HONE_ANSOR_STEP(ComputeRoot, "CR", stage)
};
/// The readers read through a copy, a new stage right behind this one.
struct CacheRead {
  std::int64_t stage = 0;
  std::string scope;
  Ids readers;
  HONE_ANSOR_STEP(CacheRead, "CHR", stage, scope, readers)
};
/// The stage is computed into a copy, a new stage right before it, and only copies from there.
struct CacheWrite {
  std::int64_t stage = 0;
  std::string scope;
  HONE_ANSOR_STEP(CacheWrite, "CHW", stage, scope)
};
/// Partial results over a reduction iterator, a new stage right before, with its axis at place `factor_iter`.
struct Rfactor {
  std::int64_t stage = 0, iter = 0, factor_iter = 0;
  HONE_ANSOR_STEP(Rfactor, "RF", stage, iter, factor_iter)
};

#undef HONE_ANSOR_STEP

using Step = std::variant<Annotation, Fuse, Pragma, Reorder, Split, FollowSplit, FollowFusedSplit, StorageAlign,
                          ComputeAt, ComputeInline, ComputeRoot, CacheRead, CacheWrite, Rfactor>;
using Steps = std::vector<Step>;

/// "SP", "FU", …
std::string_view tag_of(const Step& step);

/// The steps as a JSON array of arrays, and back. An error names the step by its place, the field by its number, what
/// was found and what is allowed.
std::string to_json(const Steps& steps);
Result<Steps> parse_steps(std::string_view json);

/// The lengths that a step which follows others splits by: see FollowSplit and FollowFusedSplit. An error if it follows
/// something that is no split before it.
Result<Ids> lengths_of(const FollowSplit& step, const Steps& steps);
Result<Ids> lengths_of(const FollowFusedSplit& step, const Steps& steps);

/// The pragma that lets loops of up to so many statements be unrolled: "auto_unroll_max_step$512".
inline constexpr std::string_view kUnrollPragma = "auto_unroll_max_step$";

}  // namespace hone::space::ansor
