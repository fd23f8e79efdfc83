#include <cmath>
#include <numbers>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/runtime/kernels/fourier.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

namespace {

Result<std::int64_t> whole_number(const Application& op, std::size_t input) {
  HONE_TRY(const std::vector<std::int64_t> numbers, op.ints(input));
  if (numbers.size() != 1) return op.fail("input {} has {} elements, allowed is 1", input, numbers.size());
  return numbers[0];
}

// Transforms are products with a matrix of sines and cosines, or a fast algorithm where that matrix would be large.

/// One transform: how many numbers go in and come out, each of one part (real) or two.
struct Transform {
  std::int64_t length;           ///< N of the formula
  std::int64_t inputs, outputs;  ///< entries read (the others count as 0) and entries given
  std::int64_t in_parts, out_parts;
  bool is_inverse, is_one_sided;
};

constexpr std::int64_t kLargestMatrix = 1 << 21, kLongest = 1 << 26;

/// The matrix [inputs · in_parts, outputs · out_parts] of a transform.
runtime::Tensor transform_matrix(const Transform& t) {
  const std::int64_t rows = t.inputs * t.in_parts, columns = t.outputs * t.out_parts;
  std::vector<float> entries(static_cast<std::size_t>(rows * columns));
  const double sign = t.is_inverse ? 1 : -1, factor = t.is_inverse ? 1 / static_cast<double>(t.length) : 1;
  for (std::int64_t n = 0; n < t.inputs; ++n) {
    // of a one-sided spectrum each entry stands for its mirror image as well, but for the first and the middle one
    const bool is_mirrored = t.is_inverse && t.is_one_sided && n != 0 && 2 * n != t.length;
    const double weight = is_mirrored ? 2 * factor : factor;
    for (std::int64_t k = 0; k < t.outputs; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(n * k % t.length) / static_cast<double>(t.length);
      const double real = weight * std::cos(angle), imaginary = weight * sign * std::sin(angle);
      const auto set = [&](std::int64_t in_part, std::int64_t out_part, double value) {
        const std::int64_t at = (n * t.in_parts + in_part) * columns + k * t.out_parts + out_part;
        entries[static_cast<std::size_t>(at)] = static_cast<float>(value);
      };
      set(0, 0, real);
      if (t.out_parts == 2) set(0, 1, imaginary);
      if (t.in_parts == 2) set(1, 0, -imaginary);
      if (t.in_parts == 2 && t.out_parts == 2) set(1, 1, real);
    }
  }
  return runtime::Tensor::of<float>({rows, columns}, entries);
}

/// x[..., inputs, parts] of f32 or f64 transformed along the axis before the last.
Shaped transformed(Parts& parts, const Shaped& x, ElementType type, const Transform& t) {
  Shape flat(x.shape.begin(), x.shape.end() - 2), result = flat;
  result.insert(result.end(), {t.outputs, t.out_parts});
  if (type == ElementType::F64 || t.inputs * t.in_parts * t.outputs * t.out_parts > kLargestMatrix) {
    const auto made = parts.builder().add_node("hone", "Fourier", {x.id}, 1,
                                               attributes_of({{"length", t.length},
                                                              {"outputs", t.outputs},
                                                              {"inverse", std::int64_t{t.is_inverse}},
                                                              {"onesided", std::int64_t{t.is_one_sided}}}));
    return {made[0], result};
  }
  flat.push_back(t.inputs * t.in_parts);
  const Shaped rows = parts.reshape(x, flat);
  flat.back() = t.outputs * t.out_parts;
  return parts.reshape({parts.builder().add("MatMul", {rows.id, parts.builder().constant(transform_matrix(t))}), flat},
                       result);
}

/// Narrow floats are transformed as f32.
ElementType wide_type(ElementType type) { return runtime::bytes_of(type) == 2 ? ElementType::F32 : type; }

Result<Transform> transform_of(const Application& op, std::int64_t extent, std::int64_t in_parts) {
  Transform t{};
  t.is_inverse = op.integer("inverse", 0) != 0;
  t.is_one_sided = op.integer("onesided", 0) != 0;
  t.in_parts = in_parts;
  if (in_parts != 1 && in_parts != 2) return op.fail("a last axis of {}, allowed are 1 and 2", in_parts);
  if (t.is_one_sided && !t.is_inverse && in_parts != 1)
    return op.fail("onesided with a complex input, allowed are real ones");
  const bool is_real_result = t.is_inverse && t.is_one_sided;
  t.length = is_real_result ? 2 * (extent - 1) : extent;
  if (op.has(1)) { HONE_TRY(t.length, whole_number(op, 1)); }
  if (t.length < 1 || t.length > kLongest) return op.fail("dft_length {}, allowed are 1..{}", t.length, kLongest);
  t.inputs = std::min(extent, is_real_result ? t.length / 2 + 1 : t.length);
  t.outputs = t.is_one_sided && !t.is_inverse ? t.length / 2 + 1 : t.length;
  t.out_parts = is_real_result ? 1 : 2;
  return t;
}

/// input, dft_length?, axis?
Result<std::vector<ValueId>> expand_dft(const Application& op, Builder& builder) {
  const std::int64_t rank = op.rank(0);
  if (rank < 2) return op.fail("an input of {} axes, allowed is 2 and more", rank);
  std::int64_t axis = op.integer("axis", op.opset() < 20 ? 1 : -2);
  if (op.has(2)) { HONE_TRY(axis, whole_number(op, 2)); }
  HONE_TRY(axis, op.axis(axis, rank));
  if (axis == rank - 1) return op.fail("axis {} holds the parts of numbers, allowed are those before it", axis);
  Parts parts(op, builder);
  Shaped x = parts.input(0);
  HONE_TRY(const Transform t, transform_of(op, x.shape[static_cast<std::size_t>(axis)], x.shape.back()));
  const ElementType type = wide_type(op.type(0));
  if (type != op.type(0)) x = parts.cast(x, type);
  if (t.inputs != x.shape[static_cast<std::size_t>(axis)]) x = parts.slice(x, axis, 0, t.inputs);
  std::vector<std::int64_t> exchange = axes_from(0, rank);
  std::swap(exchange[static_cast<std::size_t>(axis)], exchange[static_cast<std::size_t>(rank - 2)]);
  if (axis != rank - 2) x = parts.transpose(x, exchange);
  Shaped y = transformed(parts, x, type, t);
  if (axis != rank - 2) y = parts.transpose(y, exchange);
  return std::vector{type != op.type(0) ? parts.cast(y, op.type(0)).id : y.id};
}

/// signal, frame_step, window?, frame_length?
Result<std::vector<ValueId>> expand_stft(const Application& op, Builder& builder) {
  Parts parts(op, builder);
  Shaped signal = parts.input(0);
  if (signal.shape.size() == 2) signal = parts.reshape(signal, {signal.shape[0], signal.shape[1], 1});
  if (signal.shape.size() != 3) return op.fail("a signal of {} axes, allowed are 3", signal.shape.size());
  HONE_TRY(const std::int64_t step, whole_number(op, 1));
  std::int64_t length = signal.shape[1];
  if (op.has(2) && op.rank(2) != 1) return op.fail("a window of {} axes, allowed is 1", op.rank(2));
  if (op.has(2)) length = op.shape(2)[0];
  if (op.has(3)) { HONE_TRY(length, whole_number(op, 3)); }
  if (op.has(2) && op.shape(2)[0] != length)
    return op.fail("a window of {} for frames of {}, they must be equal", op.shape(2)[0], length);
  if (step < 1 || length < 1 || length > signal.shape[1])
    return op.fail("frames of {} every {} in a signal of {}", length, step, signal.shape[1]);
  const std::int64_t in_parts = signal.shape[2], frames = (signal.shape[1] - length) / step + 1;
  if (in_parts != 1 && in_parts != 2) return op.fail("a last axis of {}, allowed are 1 and 2", in_parts);
  const bool is_one_sided = op.integer("onesided", 1) != 0 && in_parts == 1;
  const ElementType type = wide_type(op.type(0));
  if (type != op.type(0)) signal = parts.cast(signal, type);
  ValueId window = kAbsent;
  if (op.has(2)) window = type != op.type(0) ? parts.cast(parts.input(2), type).id : op.id(2);
  const ValueId cut = builder.add_node("hone", "Frames", {signal.id, window}, 1,
                                       attributes_of({{"length", length}, {"step", step}}))[0];
  const Transform t{.length = length,
                    .inputs = length,
                    .outputs = is_one_sided ? length / 2 + 1 : length,
                    .in_parts = in_parts,
                    .out_parts = 2,
                    .is_inverse = false,
                    .is_one_sided = is_one_sided};
  const Shaped y = transformed(parts, {cut, {signal.shape[0], frames, length, in_parts}}, type, t);
  return std::vector{type != op.type(0) ? parts.cast(y, op.type(0)).id : y.id};
}

/// signal, window? -> [batch, frame, length, part], each frame by the window.
Result<std::vector<Tensor>> define_frames(const Application& op) {
  const Tensor& x = op.tensor(0);
  const std::int64_t length = op.integer("length", 1), step = op.integer("step", 1);
  if (x.rank() != 3 || step < 1 || length < 1 || length > x.extent(1) ||
      (op.has(1) && op.shape(1) != tensor::Shape{length}))
    return op.fail("frames of {} every {}", length, step);
  const std::int64_t frames = (x.extent(1) - length) / step + 1;
  return std::vector<Tensor>{
      tensor::compute("frames", {x.extent(0), frames, length, x.extent(2)}, [&](const Indices& i) {
        const Expr sample = x(i[0], i[1] * step + i[2], i[3]);
        return op.has(1) ? sample * op.tensor(1)(i[2]) : sample;
      })};
}

Result<std::vector<OutputSpec>> infer_fourier(const Application& op) {
  Shape shape = op.shape(0);
  if (shape.size() < 2) return op.fail("an input of {} axes, allowed is 2 and more", shape.size());
  const bool is_real = op.integer("inverse", 0) != 0 && op.integer("onesided", 0) != 0;
  shape[shape.size() - 2] = op.integer("outputs", 1);
  shape.back() = is_real ? 1 : 2;
  return std::vector<OutputSpec>{{op.type(0), shape}};
}

// Constants that depend on sizes alone.

/// The numbers as a tensor of the type that output_datatype names.
Result<std::vector<ValueId>> constant_of(const Application& op, Builder& builder, const Shape& shape,
                                         const std::vector<double>& numbers) {
  const std::int64_t type = op.integer("output_datatype", 1);
  return std::vector{builder.add("Cast", {builder.constant(runtime::Tensor::of<double>(shape, numbers))},
                                 attributes_of({{"to", type}}))};
}

/// first - second · cos(x) + third · cos(2x), where x goes from 0 to 2π.
Result<std::vector<ValueId>> expand_window(const Application& op, Builder& builder, double first, double second,
                                           double third) {
  HONE_TRY(const std::int64_t size, whole_number(op, 0));
  if (size < 0 || size > kLongest) return op.fail("size {}, allowed are 0..{}", size, kLongest);
  const std::int64_t period = op.integer("periodic", 1) != 0 ? size : size - 1;
  std::vector<double> numbers;
  for (std::int64_t n = 0; n < size; ++n) {
    const double x = 2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(period);
    numbers.push_back(first - second * std::cos(x) + third * std::cos(2 * x));
  }
  return constant_of(op, builder, {size}, numbers);
}

Result<std::vector<ValueId>> expand_hann(const Application& op, Builder& builder) {
  return expand_window(op, builder, 0.5, 0.5, 0);
}
Result<std::vector<ValueId>> expand_hamming(const Application& op, Builder& builder) {
  return expand_window(op, builder, 25.0 / 46.0, 21.0 / 46.0, 0);
}
Result<std::vector<ValueId>> expand_blackman(const Application& op, Builder& builder) {
  return expand_window(op, builder, 0.42, 0.5, 0.08);
}

/// num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz: triangles between bins that are equally
/// far apart on the mel scale.
Result<std::vector<ValueId>> expand_mel_weights(const Application& op, Builder& builder) {
  HONE_TRY(const std::int64_t bands, whole_number(op, 0));
  HONE_TRY(const std::int64_t length, whole_number(op, 1));
  HONE_TRY(const std::int64_t rate, whole_number(op, 2));
  HONE_TRY(const std::vector<double> lower, op.reals(3));
  HONE_TRY(const std::vector<double> upper, op.reals(4));
  if (bands < 0 || length < 0 || rate < 1 || lower.size() != 1 || upper.size() != 1)
    return op.fail("{} bands of a transform of {} at rate {}", bands, length, rate);
  const std::int64_t bins = length / 2 + 1;
  if (bands > kLongest || length > kLongest)
    return op.fail("{} bands of {}, allowed are up to {}", bands, length, kLongest);
  HONE_TRY(const std::int64_t count, runtime::element_count({bins, bands}));
  if (count > kLongest) return op.fail("{} weights, allowed are up to {}", count, kLongest);
  const auto to_mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = to_mel(lower[0]), spacing = (to_mel(upper[0]) - low) / static_cast<double>(bands + 2);
  std::vector<std::int64_t> edges;
  for (std::int64_t n = 0; n < bands + 2; ++n) {
    const double hertz = 700 * (std::pow(10.0, (static_cast<double>(n) * spacing + low) / 2595) - 1);
    edges.push_back(
        static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
    if (edges.back() < 0 || edges.back() >= bins)
      return op.fail("a band edge at {} Hz, beyond half of rate {}", hertz, rate);
  }
  std::vector<double> weights(static_cast<std::size_t>(count), 0);
  for (std::int64_t band = 0; band < bands; ++band) {
    const auto n = static_cast<std::size_t>(band);
    const std::int64_t left = edges[n], center = edges[n + 1], right = edges[n + 2];
    const auto weight = [&](std::int64_t bin) -> double& {
      return weights[static_cast<std::size_t>(bin * bands + band)];
    };
    if (center == left) weight(center) = 1;
    for (std::int64_t bin = left; bin <= center && center > left; ++bin)
      weight(bin) = static_cast<double>(bin - left) / static_cast<double>(center - left);
    for (std::int64_t bin = center; bin < right; ++bin)
      weight(bin) = static_cast<double>(right - bin) / static_cast<double>(right - center);
  }
  return constant_of(op, builder, {bins, bands}, weights);
}

constexpr std::string_view kWindow = "size: index -> output; output_datatype, periodic";

}  // namespace

std::span<const Operator> signal_operators() {
  static const Operator entries[] = {
      {.name = "DFT",
       .schema = "input: T, dft_length?: index, axis?: index -> output: T; axis, inverse, onesided; T: float",
       .expand = expand_dft},
      {.name = "STFT",
       .schema = "signal: T, frame_step: index, window?: T, frame_length?: index -> output: T; onesided; T: float",
       .expand = expand_stft},
      {.name = "Frames",
       .domain = "hone",
       .schema = "signal: T, window?: T -> frames: T; length, step; T: float",
       .define = define_frames},
      {.name = "Fourier",
       .domain = "hone",
       .schema = "x: T -> y: T; inverse, length, onesided, outputs; T: float32|double",
       .host = runtime::run_fourier,
       .infer = infer_fourier},
      {.name = "HannWindow", .schema = kWindow, .expand = expand_hann},
      {.name = "HammingWindow", .schema = kWindow, .expand = expand_hamming},
      {.name = "BlackmanWindow", .schema = kWindow, .expand = expand_blackman},
      {.name = "MelWeightMatrix",
       .schema =
           "num_mel_bins: index, dft_length: index, sample_rate: index, lower_edge_hertz: float, upper_edge_hertz: "
           "float -> output; output_datatype",
       .expand = expand_mel_weights},
  };
  return entries;
}

}  // namespace hone::graph
