/// Statistics of timing samples.
#pragma once

#include <span>

namespace hone::measure {

/// The smallest sample; infinity if there is none.
double minimum(std::span<const double> samples);
/// The middle sample, or the mean of the two in the middle; infinity if there is none.
double median(std::span<const double> samples);
/// The mean of all samples; infinity if there is none.
double mean(std::span<const double> samples);

/// Welch's test: how likely two sets of samples differ in their means at least as much as these do if what they measure
/// does not differ at all. Equal constants give 1, different constants 0; fewer than two samples on a side give 1.
double welch_p_value(std::span<const double> a, std::span<const double> b);

/// Student's test with pooled variance, as the published Droplet Search uses it; edge cases as above.
double student_p_value(std::span<const double> a, std::span<const double> b);

}  // namespace hone::measure
