#include "hone/graph/operators/resize_table.h"

#include <algorithm>
#include <cmath>

#include "hone/support/error.h"

namespace hone::graph {
namespace {

/// The weight of a neighbour at a distance.
double weight_at(double distance, const ResizeOptions& options) {
  const double d = std::abs(distance), a = static_cast<double>(options.cubic_coefficient);
  if (options.mode == "linear") return std::max(0.0, 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

std::int64_t nearest_to(float place, const ResizeAxis& axis, const std::string& how) {
  const float below = std::floor(place), rest = place - below;
  bool is_up = false;
  if (rest != 0) {
    if (how == "round_prefer_floor") is_up = rest > 0.5F;
    if (how == "round_prefer_ceil") is_up = rest >= 0.5F;
    if (how == "ceil") is_up = true;
    if (how == "simple") is_up = axis.scale < 1;
  }
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(below) + (is_up ? 1 : 0), 0, axis.from - 1);
}

}  // namespace

float resize_place(const ResizeAxis& axis, const std::string& transform, std::int64_t i) {
  const auto x = static_cast<float>(i), last = static_cast<float>(axis.from - 1);
  const float length = axis.scale * static_cast<float>(axis.from);  // not rounded, unlike the extent
  if (transform == "half_pixel") return (x + 0.5F) / axis.scale - 0.5F;
  if (transform == "pytorch_half_pixel") return axis.to > 1 ? (x + 0.5F) / axis.scale - 0.5F : 0.0F;
  if (transform == "half_pixel_symmetric") {
    const float center = static_cast<float>(axis.from) / 2;
    return center * (1 - static_cast<float>(axis.to) / length) + (x + 0.5F) / axis.scale - 0.5F;
  }
  if (transform == "align_corners") return axis.to == 1 || length == 1 ? 0.0F : x * last / (length - 1);
  if (transform == "asymmetric") return x / axis.scale;
  if (transform == "tf_half_pixel_for_nn") return (x + 0.5F) / axis.scale;
  HONE_CHECK(transform == "tf_crop_and_resize", "coordinate transformation '{}'", transform);
  const float size = axis.roi_end - axis.roi_start;
  const float inside = axis.to == 1 || length == 1 ? size * last / 2 : x * size * last / (length - 1);
  return axis.roi_start * last + inside;
}

ResizeTable resize_table(const ResizeAxis& axis, const ResizeOptions& options) {
  ResizeTable table;
  const bool is_nearest = options.mode == "nearest";
  // antialiasing widens the window by as much as the axis shrinks
  const double scale = options.is_antialiased ? std::min(static_cast<double>(axis.scale), 1.0) : 1.0;
  const double support = options.mode == "linear" ? 1 : 2;
  const auto first = static_cast<std::int64_t>(std::floor(-support / scale)) + 1;
  table.taps = is_nearest ? 1 : 2 - 2 * first;
  std::vector<bool> is_outside;
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const float far = static_cast<float>(4 * axis.from + 4);
    const float place = std::clamp(resize_place(axis, options.transform, i), -far, far);
    is_outside.push_back(options.transform == "tf_crop_and_resize" &&
                         (place < 0 || place > static_cast<float>(axis.from - 1)));
    if (is_nearest) {
      table.indices.push_back(nearest_to(place, axis, options.nearest));
      table.weights.push_back(1);
      continue;
    }
    const auto below = static_cast<std::int64_t>(std::floor(place));
    double sum = 0;
    for (std::int64_t k = 0; k < table.taps; ++k) {
      const std::int64_t at = below + first + k;
      const bool is_dropped = options.excludes_outside && (at < 0 || at >= axis.from);
      const double weight =
          is_dropped ? 0 : weight_at((static_cast<double>(at) - static_cast<double>(place)) * scale, options);
      table.indices.push_back(std::clamp<std::int64_t>(at, 0, axis.from - 1));
      table.weights.push_back(weight);
      sum += weight;
    }
    if ((options.is_antialiased || options.excludes_outside) && sum != 0)
      for (auto weight = table.weights.end() - table.taps; weight != table.weights.end(); ++weight) *weight /= sum;
  }
  if (std::find(is_outside.begin(), is_outside.end(), true) != is_outside.end()) table.is_outside = is_outside;
  return table;
}

}  // namespace hone::graph
