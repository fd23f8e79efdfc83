/// Tables for Resize: which elements of an axis each element of the resized axis is made of, and with which weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hone::graph {

/// How one axis is resized.
struct ResizeAxis {
  std::int64_t from, to;  ///< extents
  float scale;
  float roi_start = 0, roi_end = 1;  ///< the part of the axis that tf_crop_and_resize takes
};

/// The attributes of Resize that say how.
struct ResizeOptions {
  std::string mode = "nearest";          ///< nearest, linear, cubic
  std::string transform = "half_pixel";  ///< how places are mapped
  std::string nearest = "round_prefer_floor";
  float cubic_coefficient = -0.75F;
  bool is_antialiased = false, excludes_outside = false;
};

/// `taps` neighbours and weights for each element of the result.
struct ResizeTable {
  std::int64_t taps = 1;
  std::vector<std::int64_t> indices;  ///< all inside the axis
  std::vector<double> weights;
  std::vector<bool> is_outside;  ///< elements that tf_crop_and_resize takes from outside; empty if there are none
};

/// The place in the original axis that element `i` of the result stands for.
float resize_place(const ResizeAxis& axis, const std::string& transform, std::int64_t i);

/// Before: the options are known ones, and the axis has elements.
ResizeTable resize_table(const ResizeAxis& axis, const ResizeOptions& options);

}  // namespace hone::graph
