/// The rules of the finals: what samples of times decide. Nothing here measures or stores.
#pragma once

#include <cstddef>
#include <vector>

namespace hone {

/// Times by rounds; empty for what could not be run.
using Samples = std::vector<double>;

/// The mean of the faster half: the others were disturbed. Infinity if there is none.
double typical(Samples samples);

/// Whether the challenger is faster by more than noise, and by enough to be worth anything: by its fastest sample, and
/// by the faster half of all.
bool is_surely_faster(const Samples& challenger, const Samples& incumbent);

/// Which variant a task is compiled to. Variant 0 is the default, which wins unless another is surely faster; variant
/// 1, which leads by the times of the kernel alone, then wins unless another is surely faster than it, and so on.
std::size_t decide_task(const std::vector<Samples>& variants);

/// What the whole model becomes.
enum class Verdict {
  Assembled,  ///< for each task what decide_task says
  Alone,      ///< for each task what is fastest alone
  Default,    ///< what it was without tuning
};

/// Times of the whole model: `assembled` must be faster than `standard`, the default, in both ways, in most rounds and
/// by more than noise, if only by a little, and then stays unless `alone` is surely faster. Without samples a variant
/// cannot win.
Verdict decide_model(const Samples& standard, const Samples& assembled, const Samples& alone);

}  // namespace hone
