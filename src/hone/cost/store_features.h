/// Ansor's features of store statements (arXiv 2006.06762, appendix B): 164 numbers for each store of a program.
///
/// They are counted from the scheduled program, so that thousands of candidates can be looked at without lowering any.
/// Loops that run once do not count. Where the published extractor is known to be off, this one is not, so trees that
/// were fitted to its numbers cannot read these:
///
/// - multiply-adds are counted; vectorised, unrolled and parallel loops say where in the nest they stand;
/// - the init of a reduction is a store of its own, in the loops that do not only reduce;
/// - lines skip the extents of the loops that were skipped, unique lines come from the buffer's own box;
/// - all statements below a loop are seen when reuse is looked for, not only those before;
/// - the curve of arithmetic intensity is sampled at equal steps of log2(operations), integers' products included;
/// - arithmetic of indices is not counted, and neither are the guards of tails.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/cost/program_tables.h"
#include "hone/cost/touched_regions.h"

namespace hone::cost {

inline constexpr std::size_t kStoreFeatures = 164;
/// Changes whenever a feature changes its place or meaning.
inline constexpr std::string_view kStoreSchema = "hone-store-164/1";

/// sign(x) · log2(|x| + 1), which brings extents and bytes to one scale.
double slog(double x);

/// The names of the features in their order, such as "float.multiply_add" and "buffer0.stride".
std::vector<std::string> store_feature_names();

/// Extracts features of one program after the other; the memory in between is kept.
class StoreFeatures {
 public:
  /// Appends one row per store of the program, in the order they stand in, and says how many.
  Result<std::size_t> extract(const ir::Function& program, std::vector<float>& rows);

 private:
  ProgramTables tables_;
  TouchedRegions regions_;
};

}  // namespace hone::cost
