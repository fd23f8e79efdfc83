/// Traces in the words of Ansor's records (arXiv 2006.06762; TVM's auto_scheduler), which TLP reads.
///
/// Ansor knows stages and loops by number, so these follow from the naive program: its parameters are the first stages,
/// its blocks the next, and loops count from the outside. Steps that Ansor has no word for (layouts, prefetches,
/// scopes) are left out.
#pragma once

#include <string_view>
#include <vector>

#include "hone/cost/trace_walk.h"
#include "hone/schedule/step.h"
#include "hone/support/result.h"

namespace hone::cost {

/// Ansor's step kinds.
enum class AnsorTag : std::uint8_t { AN, FU, PR, RE, SP, FSP, FFSP, SA, CA, CI, CR, CHR, CHW, RF };

/// A step: its numbers in the order of the record, lists flattened. Of PR the last one is the unroll limit, of CHW and
/// CHR the scope is 1 (local), 2 (shared) or 3 (global).
struct AnsorStep {
  AnsorTag tag;
  std::vector<double> numbers;

  bool operator==(const AnsorStep&) const = default;
};

/// Writes traces as steps. One after the other, memory is kept.
class AnsorWriter {
 public:
  std::vector<AnsorStep> write(const NaiveBlocks& naive, const schedule::Trace& trace);

 private:
  void add(const schedule::Step& step, std::vector<AnsorStep>& steps) const;
  std::size_t stage_of(std::size_t block) const { return naive_->params.size() + block; }
  std::size_t stage_of_buffer(std::string_view buffer) const;

  TraceWalk walk_;
  const NaiveBlocks* naive_ = nullptr;
};

/// The steps of a record: [["SP", 2, 0, 512, [8, 1, 16], 1], …]. An error names the step and what is wrong.
Result<std::vector<AnsorStep>> parse_ansor_steps(std::string_view json);

}  // namespace hone::cost
