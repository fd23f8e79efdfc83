/// AutoTVM's features (arXiv 1805.08166, section 3.1): how often loops touch memory, told loop by loop or as curves.
///
/// Each access is counted by itself: `A_0` is the first access to buffer A in the program, `A_1` the second. Below a
/// loop, an access has a count (the product of the extents of the loops that move it) and a reuse (the product of the
/// others). Loops that run once are loops here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/cost/program_tables.h"

namespace hone::cost {

inline constexpr std::string_view kItervarSchema = "hone-itervar/1", kCurveSchema = "hone-curve/1",
                                  kKnobSchema = "hone-knob/1";

/// How one loop touches memory by one access.
struct LoopTouch {
  std::int32_t access;  ///< place in TouchAnalysis::accesses()
  double stride;        ///< elements that an iteration moves the access by, 0 if it does not
  double count, reuse;
  double thread_count = 0, thread_reuse = 0;  ///< per worker: against the loop where the workers' part begins
};

struct TouchedLoop {
  std::int64_t extent;
  ir::ForKind how;
  int depth;                                     ///< the number of loops around it and itself
  double topdown;                                ///< iterations of it and the loops around it
  double bottomup = 0;                           ///< the most iterations below it and itself
  double adds = 0, multiplies = 0, divides = 0;  ///< floating operations that stand right below it
  std::vector<LoopTouch> touches = {};           ///< by the names of the accesses
};

struct TouchedAccess {
  std::string name;  ///< "A_0"
  std::string base;  ///< "A": the buffer's name without the suffix of a copy
  int depth;         ///< the number of loops around it
};

/// The loops of a program in the order they are met, and their touches.
class TouchAnalysis {
 public:
  static Result<TouchAnalysis> analyze(const ir::Function& program);

  const std::vector<TouchedLoop>& loops() const { return loops_; }
  const std::vector<TouchedAccess>& accesses() const { return accesses_; }
  /// The greatest "unroll" annotation.
  std::int64_t unroll() const { return unroll_; }

 private:
  std::vector<TouchedLoop> loops_;
  std::vector<TouchedAccess> accesses_;
  std::int64_t unroll_ = 0;
};

/// For each loop: length, depth, topdown, bottomup, its kind, operations, and six numbers per touch. The number of
/// features follows from the structure of the program.
std::vector<float> itervar_features(const TouchAnalysis& analysis);

/// For each buffer that the deepest loops touch, four curves of 20 samples of two numbers each: count against reuse and
/// against topdown, both ways. The number of features does not depend on shapes.
std::vector<float> curve_features(const TouchAnalysis& analysis);

}  // namespace hone::cost
