#include "hone/runtime/kernels/roi.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <span>

#include "hone/runtime/kernels/bad.h"
#include "hone/runtime/kernels/number.h"
#include "hone/runtime/kernels/shape_rules.h"

namespace hone::runtime {
namespace {

/// Two neighbours of a place on an axis and their weights, which are 0 far outside.
struct Sample {
  std::int64_t low = 0, high = 0;
  double low_weight = 0, high_weight = 0;
};

Sample sample_at(double place, std::int64_t extent) {
  if (!(place >= -1 && place <= static_cast<double>(extent))) return {};
  const double clamped = std::max(place, 0.0);
  const std::int64_t low = std::min(static_cast<std::int64_t>(clamped), extent - 1);
  const double beyond = low == extent - 1 ? 0.0 : clamped - static_cast<double>(low);
  return {low, std::min(low + 1, extent - 1), 1 - beyond, beyond};
}

struct RoiOptions {
  double scale = 1;
  bool is_half_pixel = true, is_max = false;
  std::int64_t samples = 0, rows = 1, columns = 1;
};

/// The samples of all bins along one axis of a region, one bin after the other.
std::vector<Sample> samples_of(double from, double to, std::int64_t bins, std::int64_t extent,
                               const RoiOptions& options) {
  const double offset = options.is_half_pixel ? 0.5 : 0.0, start = from * options.scale - offset;
  double size = to * options.scale - offset - start;
  if (!options.is_half_pixel) size = std::max(size, 1.0);
  const double bin_size = size / static_cast<double>(bins);
  constexpr double kMost = 1 << 16;  // only broken data asks for more
  const double wanted = std::isfinite(bin_size) ? std::clamp(std::ceil(bin_size), 0.0, kMost) : 0.0;
  const std::int64_t count = options.samples > 0 ? options.samples : static_cast<std::int64_t>(wanted);
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < bins * count; ++i)
    samples.push_back(
        sample_at(start + (static_cast<double>(i) + 0.5) / static_cast<double>(count) * bin_size, extent));
  return samples;
}

/// The mean over all pairs of samples, or the largest of all weighted neighbours.
template <typename Number>
double pooled(const typename Number::Stored* image, std::int64_t width, std::span<const Sample> rows,
              std::span<const Sample> columns, bool is_max) {
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  const auto visit = [&](std::int64_t y, std::int64_t x, double weight) {
    const double value = weight * static_cast<double>(Number::load(image[y * width + x]));
    sum += value;
    most = std::max(most, value);
  };
  for (const Sample& y : rows)
    for (const Sample& x : columns) {
      visit(y.low, x.low, y.low_weight * x.low_weight);
      visit(y.low, x.high, y.low_weight * x.high_weight);
      visit(y.high, x.low, y.high_weight * x.low_weight);
      visit(y.high, x.high, y.high_weight * x.high_weight);
    }
  if (rows.empty() || columns.empty()) return 0;
  return is_max ? most : sum / static_cast<double>(rows.size() * columns.size());
}

}  // namespace

Result<void> roi_align_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Tensor roi_tensor, call.tensor(1));
  HONE_TRY(const Tensor batch_tensor, call.tensor(2));
  HONE_TRY(const std::vector<double> rois, roi_tensor.to_doubles());
  HONE_TRY(const Integers batches, batch_tensor.to_ints());
  RoiOptions options;
  options.scale = static_cast<double>(call.attributes.real("spatial_scale", 1));
  const std::string mode = call.attributes.text("mode", "avg");
  const std::string transform = call.attributes.text("coordinate_transformation_mode", "half_pixel");
  options.is_half_pixel = transform == "half_pixel";
  options.is_max = mode == "max";
  options.samples = call.attributes.integer("sampling_ratio", 0);
  options.rows = call.attributes.integer("output_height", 1);
  options.columns = call.attributes.integer("output_width", 1);
  if (mode != "avg" && mode != "max") return bad("mode '{}', allowed are avg and max", mode);
  if (x.rank() != 4 || roi_tensor.rank() != 2 || roi_tensor.extent(1) != 4 ||
      batch_tensor.size() != roi_tensor.extent(0))
    return bad("rois {} and {} batch indices for {}", describe(roi_tensor.type(), roi_tensor.shape()),
               batch_tensor.size(), describe(x.type(), x.shape()));
  if (options.rows < 1 || options.columns < 1 || options.samples < 0 || options.samples > 4096)
    return bad("an output of {} by {} with {} samples", options.rows, options.columns, options.samples);
  const std::int64_t channels = x.extent(1), height = x.extent(2), width = x.extent(3);
  HONE_TRY(Tensor y, call.output(0, x.type(), {roi_tensor.extent(0), channels, options.rows, options.columns}));
  if (y.size() > 0 && height * width == 0) return bad("an image of {} by {}", height, width);
  return with_number(x.type(), [&]<typename Number>(Number) -> Result<void> {
    using Stored = typename Number::Stored;
    Stored* write = y.as<Stored>().data();
    for (std::int64_t r = 0; r < roi_tensor.extent(0); ++r) {
      const std::int64_t batch = batches[static_cast<std::size_t>(r)];
      if (batch < 0 || batch >= x.extent(0)) return bad("batch index {} is outside [0, {})", batch, x.extent(0));
      const double* roi = rois.data() + r * 4;
      const std::vector<Sample> ys = samples_of(roi[1], roi[3], options.rows, height, options);
      const std::vector<Sample> xs = samples_of(roi[0], roi[2], options.columns, width, options);
      const std::size_t down = ys.size() / static_cast<std::size_t>(options.rows);
      const std::size_t along = xs.size() / static_cast<std::size_t>(options.columns);
      for (std::int64_t c = 0; c < channels; ++c) {
        const Stored* image = x.as<Stored>().data() + (batch * channels + c) * height * width;
        for (std::size_t row = 0; row < static_cast<std::size_t>(options.rows); ++row)
          for (std::size_t column = 0; column < static_cast<std::size_t>(options.columns); ++column)
            *write++ = Number::store(static_cast<typename Number::Wide>(
                pooled<Number>(image, width, std::span(ys).subspan(row * down, down),
                               std::span(xs).subspan(column * along, along), options.is_max)));
      }
    }
    return {};
  });
}

Result<void> max_roi_pool_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Tensor roi_tensor, call.tensor(1));
  HONE_TRY(const std::vector<double> rois, roi_tensor.to_doubles());
  const double scale = static_cast<double>(call.attributes.real("spatial_scale", 1));
  const Integers pooled_shape = call.attributes.integers("pooled_shape");
  if (x.rank() != 4 || roi_tensor.rank() != 2 || roi_tensor.extent(1) != 5)
    return bad("rois {} for {}", describe(roi_tensor.type(), roi_tensor.shape()), describe(x.type(), x.shape()));
  if (pooled_shape.size() != 2 || pooled_shape[0] < 1 || pooled_shape[1] < 1)
    return bad("pooled_shape [{}], allowed are two numbers from 1 on", fmt::join(pooled_shape, ", "));
  const std::int64_t channels = x.extent(1), height = x.extent(2), width = x.extent(3);
  HONE_TRY(Tensor y, call.output(0, x.type(), {roi_tensor.extent(0), channels, pooled_shape[0], pooled_shape[1]}));
  return with_number(x.type(), [&]<typename Number>(Number) -> Result<void> {
    using Stored = typename Number::Stored;
    using Wide = typename Number::Wide;
    Stored* write = y.as<Stored>().data();
    for (std::int64_t r = 0; r < roi_tensor.extent(0); ++r) {
      const double* roi = rois.data() + r * 5;
      if (!(roi[0] >= 0 && roi[0] < static_cast<double>(x.extent(0))))
        return bad("batch index {} is outside [0, {})", roi[0], x.extent(0));
      const auto batch = static_cast<std::int64_t>(roi[0]);
      constexpr double kFar = 1e9;
      const auto corner = [&](int i) { return std::round(std::clamp(roi[i] * scale, -kFar, kFar)); };
      const double left = corner(1), top = corner(2);
      const double bin_width = std::max(corner(3) - left + 1, 1.0) / static_cast<double>(pooled_shape[1]);
      const double bin_height = std::max(corner(4) - top + 1, 1.0) / static_cast<double>(pooled_shape[0]);
      const auto edge = [](double place, std::int64_t extent) {
        return static_cast<std::int64_t>(std::clamp(place, 0.0, static_cast<double>(extent)));
      };
      for (std::int64_t c = 0; c < channels; ++c) {
        const Stored* image = x.as<Stored>().data() + (batch * channels + c) * height * width;
        for (std::int64_t row = 0; row < pooled_shape[0]; ++row)
          for (std::int64_t column = 0; column < pooled_shape[1]; ++column) {
            const std::int64_t y0 = edge(std::floor(static_cast<double>(row) * bin_height) + top, height);
            const std::int64_t y1 = edge(std::ceil(static_cast<double>(row + 1) * bin_height) + top, height);
            const std::int64_t x0 = edge(std::floor(static_cast<double>(column) * bin_width) + left, width);
            const std::int64_t x1 = edge(std::ceil(static_cast<double>(column + 1) * bin_width) + left, width);
            const bool is_empty = y1 <= y0 || x1 <= x0;
            Wide most = is_empty ? Wide(0) : Number::load(image[y0 * width + x0]);
            for (std::int64_t i = y0; i < y1; ++i)
              for (std::int64_t k = x0; k < x1; ++k) most = std::max(most, Number::load(image[i * width + k]));
            *write++ = Number::store(most);
          }
      }
    }
    return {};
  });
}

}  // namespace hone::runtime
