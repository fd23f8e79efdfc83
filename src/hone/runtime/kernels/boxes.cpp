#include "hone/runtime/kernels/boxes.h"

#include <algorithm>
#include <limits>

#include "hone/runtime/kernels/elements.h"

namespace hone::runtime {
namespace {

struct Rectangle {
  float top, left, bottom, right;

  float area() const { return (bottom - top) * (right - left); }
};

Rectangle corner_box(std::span<const float> numbers) {
  return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]), std::max(numbers[0], numbers[2]),
          std::max(numbers[1], numbers[3])};
}

Rectangle center_box(std::span<const float> numbers) {
  const float half_width = numbers[2] / 2, half_height = numbers[3] / 2;
  return {numbers[1] - half_height, numbers[0] - half_width, numbers[1] + half_height, numbers[0] + half_width};
}

bool overlap_too_much(const Rectangle& a, const Rectangle& b, float threshold) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0) || !(width > 0)) return false;
  const float common = height * width, either = a.area() + b.area() - common;
  return a.area() > 0 && b.area() > 0 && either > 0 && common / either > threshold;
}

/// An optional input that is one number.
Result<double> number_or(const HostCall& call, std::size_t input, std::string_view what, double fallback) {
  if (!call.has(input)) return fallback;
  HONE_TRY(const Tensor tensor, call.tensor(input));
  if (tensor.size() != 1)
    return error(ErrorCode::InvalidArgument, "{} must be one number, found {}", what,
                 describe(tensor.type(), tensor.shape()));
  HONE_TRY(const std::vector<double> numbers, tensor.to_doubles());
  return numbers[0];
}

/// The boxes of one batch and class that stay, best first.
std::vector<std::int64_t> select_boxes(std::span<const Rectangle> boxes, std::span<const float> scores,
                                       float iou_threshold, float score_threshold, std::int64_t limit) {
  std::vector<std::int64_t> candidates;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > score_threshold) candidates.push_back(static_cast<std::int64_t>(i));
  const auto score = [&](std::int64_t i) { return scores[static_cast<std::size_t>(i)]; };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](std::int64_t a, std::int64_t b) { return score(a) > score(b); });
  std::vector<std::int64_t> selected;
  for (const std::int64_t candidate : candidates) {
    if (static_cast<std::int64_t>(selected.size()) >= limit) break;
    const Rectangle& box = boxes[static_cast<std::size_t>(candidate)];
    if (std::none_of(selected.begin(), selected.end(), [&](std::int64_t better) {
          return overlap_too_much(box, boxes[static_cast<std::size_t>(better)], iou_threshold);
        }))
      selected.push_back(candidate);
  }
  return selected;
}

}  // namespace

Result<void> non_max_suppression(HostCall& call) {
  HONE_TRY(const Tensor boxes, call.tensor(0));
  HONE_TRY(const Tensor scores, call.tensor(1));
  if (boxes.rank() != 3 || boxes.extent(2) != 4 || scores.rank() != 3 || boxes.extent(0) != scores.extent(0) ||
      boxes.extent(1) != scores.extent(2) || boxes.type() != ElementType::F32 || scores.type() != ElementType::F32)
    return error(ErrorCode::InvalidArgument,
                 "boxes must be float[batches, boxes, 4] and scores float[batches, classes, boxes], found {} and {}",
                 describe(boxes.type(), boxes.shape()), describe(scores.type(), scores.shape()));
  HONE_TRY(const double limit, number_or(call, 2, "max_output_boxes_per_class", 0));
  HONE_TRY(const double iou_threshold, number_or(call, 3, "iou_threshold", 0));
  HONE_TRY(const double score_threshold,
           number_or(call, 4, "score_threshold", -std::numeric_limits<double>::infinity()));
  const bool is_center = call.attributes.integer("center_point_box", 0) != 0;

  const std::int64_t batches = scores.extent(0), classes = scores.extent(1), count = scores.extent(2);
  const auto per_class = static_cast<std::int64_t>(std::clamp<double>(limit, 0, static_cast<double>(count)));
  std::vector<std::int64_t> rows;
  std::vector<Rectangle> of_batch(static_cast<std::size_t>(count));
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::size_t i = 0; i < of_batch.size(); ++i) {
      const auto numbers = boxes.as<float>().subspan((static_cast<std::size_t>(batch * count) + i) * 4, 4);
      of_batch[i] = is_center ? center_box(numbers) : corner_box(numbers);
    }
    for (std::int64_t c = 0; c < classes; ++c) {
      const auto of_class = scores.as<float>().subspan(static_cast<std::size_t>((batch * classes + c) * count),
                                                       static_cast<std::size_t>(count));
      for (const std::int64_t box : select_boxes(of_batch, of_class, static_cast<float>(iou_threshold),
                                                 static_cast<float>(score_threshold), per_class))
        rows.insert(rows.end(), {batch, c, box});
    }
  }
  HONE_TRY(Tensor output, call.output(0, ElementType::I64, {static_cast<std::int64_t>(rows.size() / 3), 3}));
  std::copy(rows.begin(), rows.end(), output.as<std::int64_t>().begin());
  return {};
}

}  // namespace hone::runtime
