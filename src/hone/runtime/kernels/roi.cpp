#include "hone/runtime/kernels/roi.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "hone/runtime/kernels/number.h"
#include "hone/runtime/kernels/shape_rules.h"

namespace hone::runtime {
namespace {

template <typename... Args>
Error bad(fmt::format_string<Args...> format, Args&&... args) {
  return error(ErrorCode::InvalidArgument, "{}", fmt::format(format, std::forward<Args>(args)...));
}

/// Four neighbours of a point in an image and their weights.
struct Sample {
  std::int64_t at[4] = {0, 0, 0, 0};
  double weight[4] = {0, 0, 0, 0};
};

/// The neighbours of a point for bilinear interpolation; all weights are 0 far outside the image.
Sample sample_at(double y, double x, std::int64_t height, std::int64_t width) {
  Sample sample;
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width))) return sample;
  const auto neighbours = [](double place, std::int64_t extent, std::int64_t& low, std::int64_t& high) {
    const double clamped = std::max(place, 0.0);
    low = std::min(static_cast<std::int64_t>(clamped), extent - 1);
    high = std::min(low + 1, extent - 1);
    return low >= extent - 1 ? 0.0 : clamped - static_cast<double>(low);
  };
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
  const double down = neighbours(y, height, top, bottom), along = neighbours(x, width, left, right);
  return {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
          {(1 - down) * (1 - along), (1 - down) * along, down * (1 - along), down * along}};
}

struct RoiOptions {
  double scale = 1;
  bool is_half_pixel = true, is_max = false;
  std::int64_t samples = 0, rows = 1, columns = 1;
};

/// The samples of all bins of one region, `per_bin` of them for each.
std::vector<Sample> samples_of(const double* roi, const RoiOptions& options, std::int64_t height, std::int64_t width,
                               std::int64_t& per_bin) {
  const double offset = options.is_half_pixel ? 0.5 : 0.0;
  const double left = roi[0] * options.scale - offset, top = roi[1] * options.scale - offset;
  double roi_width = roi[2] * options.scale - offset - left, roi_height = roi[3] * options.scale - offset - top;
  if (!options.is_half_pixel) {
    roi_width = std::max(roi_width, 1.0);
    roi_height = std::max(roi_height, 1.0);
  }
  const double bin_height = roi_height / static_cast<double>(options.rows);
  const double bin_width = roi_width / static_cast<double>(options.columns);
  constexpr double kMost = 4096;  // samples along one side of a bin; only broken data asks for more
  const auto count = [&](double size) {
    if (options.samples > 0) return options.samples;
    return static_cast<std::int64_t>(std::isfinite(size) ? std::clamp(std::ceil(size), 0.0, kMost) : 0.0);
  };
  const std::int64_t down = count(bin_height), along = count(bin_width);
  per_bin = down * along;
  std::vector<Sample> samples;
  samples.reserve(static_cast<std::size_t>(per_bin * options.rows * options.columns));
  for (std::int64_t row = 0; row < options.rows; ++row)
    for (std::int64_t column = 0; column < options.columns; ++column)
      for (std::int64_t i = 0; i < down; ++i)
        for (std::int64_t k = 0; k < along; ++k)
          samples.push_back(sample_at(
              top +
                  (static_cast<double>(row) + (static_cast<double>(i) + 0.5) / static_cast<double>(down)) * bin_height,
              left + (static_cast<double>(column) + (static_cast<double>(k) + 0.5) / static_cast<double>(along)) *
                         bin_width,
              height, width));
  return samples;
}

/// The mean of the samples, or the largest of all weighted neighbours.
template <typename Number>
double pooled(const typename Number::Stored* image, const Sample* samples, std::int64_t count, bool is_max) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i)
    for (int k = 0; k < 4; ++k) {
      const double value = samples[i].weight[k] * static_cast<double>(Number::load(image[samples[i].at[k]]));
      sum = !is_max ? sum + value : i == 0 && k == 0 ? value : std::max(sum, value);
    }
  return is_max ? sum : sum / static_cast<double>(std::max<std::int64_t>(count, 1));
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
      std::int64_t per_bin = 0;
      const std::vector<Sample> samples = samples_of(rois.data() + r * 4, options, height, width, per_bin);
      for (std::int64_t c = 0; c < channels; ++c) {
        const Stored* image = x.as<Stored>().data() + (batch * channels + c) * height * width;
        for (std::int64_t bin = 0; bin < options.rows * options.columns; ++bin)
          *write++ = Number::store(static_cast<typename Number::Wide>(
              pooled<Number>(image, samples.data() + bin * per_bin, per_bin, options.is_max)));
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
