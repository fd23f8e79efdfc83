#include "hone/graph/operators/resize_table.h"
#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Tensor;
using runtime::Value;

Tensor scales(const std::vector<float>& numbers) {
  return floats({static_cast<std::int64_t>(numbers.size())}, numbers);
}

TEST(ResizeOperators, NearestRepeatsElements) {
  expect_tensor(apply_one("Resize", {floats({1, 1, 2, 2}, {1, 2, 3, 4}), Value(), scales({1, 1, 2, 3})}),
                floats({1, 1, 4, 6}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}));
  expect_tensor(apply_one("Resize", {iota({5}), floats({0}, {}), floats({0}, {}), ints({3})}), floats({3}, {0, 2, 4}));
  expect_tensor(apply_one("Resize", {iota({5}), Value(), scales({1})}), iota({5}));
}

TEST(ResizeOperators, LinearAndCubicInterpolate) {
  const Tensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  expect_tensor(apply_one("Resize", {x, Value(), scales({1, 1, 2, 2})}, attributes({{"mode", "linear"}})),
                floats({1, 1, 4, 4}, {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4}),
                1e-6);
  // the triangle of antialiasing spans 1 / 0.6 elements on each side
  expect_tensor(apply_one("Resize", {floats({4}, {1, 2, 3, 4}), Value(), scales({0.6F})},
                          attributes({{"mode", "linear"}, {"antialias", 1}})),
                floats({2}, {1.375F, 3}), 1e-6);
  // the middle of a straight line stays on it
  expect_tensor(apply_one("Resize", {iota({8}), Value(), Value(), ints({15})},
                          attributes({{"mode", "cubic"}, {"coordinate_transformation_mode", "align_corners"}})),
                floats({15}, {0, 0.40625, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.59375, 7}), 1e-5);
}

TEST(ResizeOperators, PoliciesAndAxesSetExtents) {
  const Tensor x = iota({1, 1, 4, 6});
  const std::vector<std::int64_t> last{2, 3};
  expect_tensor(
      apply_one("Shape", {apply_one("Resize", {x, Value(), Value(), ints({2, 6})},
                                    attributes({{"axes", last}, {"keep_aspect_ratio_policy", "not_larger"}}))}),
      ints({1, 1, 2, 3}));
  EXPECT_EQ(message_of("Resize", {x}), "Resize: either scales or sizes must be given");
  EXPECT_EQ(message_of("Resize", {x, Value(), scales({1})}), "Resize: 1 scales for 4 axes");
  EXPECT_EQ(message_of("Resize", {x, Value(), scales({1, 1, 1, -1})}), "Resize: scale -1 at axis 3");
  EXPECT_EQ(message_of("Resize", {x, Value(), scales({1, 1, 1, 2})}, attributes({{"mode", "area"}})),
            "Resize: mode 'area', allowed are nearest, linear, cubic");
}

TEST(ResizeOperators, CropAndResizeFillsTheOutside) {
  // roi from -1 to 1 of an axis of 3: places -2, 0, 2
  expect_tensor(apply_one("Resize", {floats({3}, {1, 2, 3}), floats({2}, {-1, 1}), Value(), ints({3})},
                          attributes({{"mode", "linear"},
                                      {"coordinate_transformation_mode", "tf_crop_and_resize"},
                                      {"extrapolation_value", 10.0F}})),
                floats({3}, {10, 1, 3}));
}

TEST(ResizeTable, WeightsSumToOneInEveryMode) {
  for (const char* mode : {"linear", "cubic"})
    for (const char* transform :
         {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"})
      for (const bool is_antialiased : {false, true})
        for (const std::int64_t to : {1, 2, 5, 7, 31}) {
          ResizeOptions options;
          options.mode = mode;
          options.transform = transform;
          options.is_antialiased = is_antialiased;
          const ResizeTable table = resize_table({7, to, static_cast<float>(to) / 7}, options);
          ASSERT_EQ(static_cast<std::int64_t>(table.weights.size()), to * table.taps);
          for (std::int64_t i = 0; i < to; ++i) {
            double sum = 0;
            for (std::int64_t k = 0; k < table.taps; ++k) {
              sum += table.weights[static_cast<std::size_t>(i * table.taps + k)];
              const std::int64_t index = table.indices[static_cast<std::size_t>(i * table.taps + k)];
              EXPECT_TRUE(index >= 0 && index < 7);
            }
            EXPECT_NEAR(sum, 1, 1e-6) << mode << " " << transform << " " << to;
          }
        }
}

TEST(SampleOperators, GridSampleOfTheIdentityGridIsTheImage) {
  const Tensor theta = floats({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  const Tensor grid = apply_one("AffineGrid", {theta, ints({1, 2, 3, 5})});
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      expect_tensor(
          apply_one("GridSample", {iota({1, 2, 3, 5}), grid}, attributes({{"mode", mode}, {"padding_mode", padding}})),
          iota({1, 2, 3, 5}), 1e-4);
}

TEST(SampleOperators, GridSampleTreatsTheOutsideAsTold) {
  const Tensor x = floats({1, 1, 1, 3}, {1, 2, 3});
  // place 3, one beyond the end
  const Tensor grid = floats({1, 1, 1, 2}, {4.0F / 3, 0});
  const auto sample = [&](const char* mode, const char* padding, float expected) {
    expect_tensor(apply_one("GridSample", {x, grid}, attributes({{"mode", mode}, {"padding_mode", padding}})),
                  floats({1, 1, 1, 1}, {expected}), 1e-5);
  };
  sample("linear", "zeros", 0);
  sample("linear", "border", 3);
  sample("linear", "reflection", 3);
  const Tensor wild = floats({1, 1, 1, 2}, {std::numeric_limits<float>::quiet_NaN(), 1e30F});
  EXPECT_TRUE(apply("GridSample", {x, wild}));
}

TEST(SampleOperators, RegionsArePooled) {
  const Tensor image = iota({1, 1, 4, 4});
  expect_tensor(apply_one("MaxRoiPool", {image, floats({1, 5}, {0, 0, 0, 3, 3})},
                          attributes({{"pooled_shape", std::vector<std::int64_t>{2, 2}}})),
                floats({1, 1, 2, 2}, {5, 7, 13, 15}));
  // the middle of the image, one sample per bin
  expect_tensor(apply_one("RoiAlign", {image, floats({1, 4}, {0, 0, 4, 4}), ints({0})},
                          attributes({{"output_height", 2}, {"output_width", 2}, {"sampling_ratio", 2}})),
                floats({1, 1, 2, 2}, {2.5, 4.5, 10.5, 12.5}), 1e-5);
  EXPECT_EQ(message_of("RoiAlign", {image, floats({1, 4}, {0, 0, 4, 4}), ints({1})}),
            "RoiAlign: batch index 1 is outside [0, 1)");
}

}  // namespace
}  // namespace hone::graph::testing
