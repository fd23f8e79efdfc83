#include "hone/tensor/catalogue.h"

#include <array>
#include <functional>

#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::tensor {

namespace {

/// An extent of 1..8, mostly a prime, and sometimes 0.
std::int64_t extent(Rng& rng) {
  constexpr auto kExtents = std::to_array<std::int64_t>({0, 1, 2, 3, 5, 7, 2, 3, 4, 5, 6, 7, 8, 3, 5, 7});
  return rng.choose(kExtents);
}

/// As above, but never 0.
std::int64_t some(Rng& rng) {
  const std::int64_t drawn = extent(rng);
  return drawn == 0 ? 1 : drawn;
}

/// A larger extent, so that tiles have several iterations and tails.
std::int64_t large(Rng& rng) {
  constexpr auto kExtents = std::to_array<std::int64_t>({1, 8, 11, 13, 16, 17});
  return rng.choose(kExtents);
}

Shape extents(Rng& rng, std::size_t rank) {
  Shape shape;
  for (std::size_t axis = 0; axis < rank; ++axis) shape.push_back(extent(rng));
  return shape;
}

using Make = std::function<ir::Function(Rng&)>;

/// The name of an entry and how to draw it.
struct Entry {
  std::string name;
  Make make;
};

ir::Function finish(const std::vector<Tensor>& inputs, const Result<Tensor>& output) {
  return lower(output.value().operation()->name, inputs, {*output});
}

/// Programs of one input of a random shape.
Make of_one(std::size_t rank, ir::DType type, std::function<Result<Tensor>(const Tensor&)> define) {
  return [=](Rng& rng) {
    const Tensor x = placeholder("X", extents(rng, rank), type);
    return finish({x}, define(x));
  };
}

Make a_matmul(const MatmulOptions& options, ir::DType type) {
  return [=](Rng& rng) {
    const std::int64_t m = large(rng), n = large(rng), k = extent(rng);
    const Tensor a = placeholder("A", options.transpose_a ? Shape{k, m} : Shape{m, k}, type);
    const Tensor b = placeholder("B", options.transpose_b ? Shape{n, k} : Shape{k, n}, type);
    return finish({a, b}, matmul(a, b, options));
  };
}

ir::Function batched_matmul(Rng& rng) {
  const std::int64_t batch = extent(rng), m = some(rng), n = some(rng), k = extent(rng);
  const Tensor a = placeholder("A", {batch, m, k}), b = placeholder("B", {rng.chance(0.5) ? 1 : batch, k, n});
  return finish({a, b}, matmul(a, b));
}

/// A product with its usual epilogue.
ir::Function matmul_bias_relu(Rng& rng) {
  const std::int64_t m = large(rng), n = large(rng), k = some(rng);
  const Tensor a = placeholder("A", {m, k}), b = placeholder("B", {k, n}), bias = placeholder("bias", {n});
  return finish({a, b, bias}, relu(add(matmul(a, b).value(), bias).value()));
}

/// A product of a product: a reduction that reads a reduction.
ir::Function two_matmuls(Rng& rng) {
  const std::int64_t m = some(rng), k = some(rng), n = some(rng), p = some(rng);
  const Tensor a = placeholder("A", {m, k}), b = placeholder("B", {k, n}), c = placeholder("C", {n, p});
  return finish({a, b, c}, matmul(matmul(a, b).value(), c));
}

/// Whether any or all elements of each row hold.
Make a_row_test(Reduction (*reduction)(std::vector<Axis>, Source)) {
  return of_one(2, ir::kBool, [=](const Tensor& x) {
    return compute("row_test", {x.extent(0)}, [&](const Indices& i) {
      return reduction({x.extent(1)}, [&](const Indices& r) { return x(i[0], r[0]); });
    });
  });
}

/// Window options of `rank` axes for inputs of 4 to 7 elements an axis.
ConvOptions conv_options(Rng& rng, std::size_t rank) {
  ConvOptions options;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    options.strides.push_back(rng.uniform(1, 3));
    options.padding_before.push_back(rng.uniform(0, 2));
    options.padding_after.push_back(rng.uniform(0, 1));
    options.dilations.push_back(rng.uniform(1, 2));
  }
  return options;
}

/// leading axes, then `rank` axes of low..high.
Shape with_spatial(Rng& rng, Shape leading, std::size_t rank, std::int64_t low, std::int64_t high) {
  for (std::size_t axis = 0; axis < rank; ++axis) leading.push_back(rng.uniform(low, high));
  return leading;
}

Make a_conv(std::size_t rank, ir::DType type, ir::DType result) {
  return [=](Rng& rng) {
    ConvOptions options = conv_options(rng, rank);
    options.groups = rng.uniform(1, 2);
    options.result = result;
    const std::int64_t in = rng.uniform(0, 3), out = rng.uniform(1, 3);  // in each group
    const std::int64_t largest_kernel = rank == 3 ? 2 : 3;
    const Shape input =
        with_spatial(rng, {rng.uniform(1, 2), in * options.groups}, rank, rank == 3 ? 3 : 5, rank == 3 ? 4 : 7);
    const Tensor x = placeholder("X", input, type);
    const Tensor weight =
        placeholder("W", with_spatial(rng, {out * options.groups, in}, rank, 1, largest_kernel), type);
    return finish({x, weight}, conv(x, weight, options));
  };
}

ir::Function depthwise(Rng& rng) {
  const std::int64_t channels = some(rng), multiplier = rng.uniform(1, 2);
  const Tensor x = placeholder("X", with_spatial(rng, {1, channels}, 2, 5, 7));
  const Tensor weight = placeholder("W", with_spatial(rng, {channels * multiplier, 1}, 2, 1, 3));
  return finish({x, weight}, depthwise_conv(x, weight, conv_options(rng, 2)));
}

Make a_conv_transpose(std::size_t rank) {
  return [=](Rng& rng) {
    ConvOptions options = conv_options(rng, rank);
    options.groups = rng.uniform(1, 2);
    options.output_padding.assign(rank, rng.uniform(0, 1));
    const std::int64_t in = rng.uniform(1, 2), out = rng.uniform(1, 2);  // in each group
    const Tensor x = placeholder("X", with_spatial(rng, {1, in * options.groups}, rank, 3, 5));
    const Tensor weight = placeholder("W", with_spatial(rng, {in * options.groups, out}, rank, 1, 3));
    return finish({x, weight}, conv_transpose(x, weight, options));
  };
}

ir::Function conv_chain(Rng& rng) {
  const std::int64_t in = some(rng), out = rng.uniform(1, 5), size = rng.uniform(4, 6);
  const Tensor x = placeholder("X", {1, in, size, size}), weight = placeholder("W", {out, in, 3, 3});
  const Tensor bias = placeholder("bias", {out}), residual = placeholder("residual", {1, out, size, size});
  const ConvOptions same{.padding_before = {1, 1}, .padding_after = {1, 1}};
  return finish({x, weight, bias, residual}, conv_bias_residual_relu(x, weight, bias, residual, same));
}

/// Tiles of two, whose transforms are exact on whole numbers.
ir::Function winograd(Rng& rng) {
  const std::int64_t in = rng.uniform(0, 3), out = rng.uniform(1, 3);
  const Tensor x = placeholder("X", with_spatial(rng, {rng.uniform(1, 2), in}, 2, 3, 5));
  const Tensor weight = placeholder("W", {out, in, 3, 3});
  const ConvOptions options{.padding_before = {rng.uniform(0, 1), 1}, .padding_after = {1, rng.uniform(0, 1)}};
  return finish({x, weight}, winograd_conv(x, weight, options, 2));
}

PoolOptions pool_options(Rng& rng, std::size_t rank, PadCount pad_count) {
  const ConvOptions drawn = conv_options(rng, rank);
  PoolOptions options{.strides = drawn.strides,
                      .padding_before = drawn.padding_before,
                      .padding_after = drawn.padding_after,
                      .dilations = drawn.dilations,
                      .pad_count = pad_count};
  for (std::size_t axis = 0; axis < rank; ++axis) options.kernel.push_back(rng.uniform(1, 3));
  return options;
}

Make a_max_pool(std::size_t rank, ir::DType type) {
  return [=](Rng& rng) {
    const Tensor x = placeholder("X", with_spatial(rng, {extent(rng), some(rng)}, rank, 5, 7), type);
    return finish({x}, max_pool(x, pool_options(rng, rank, PadCount::Excluded)));
  };
}

Make an_average_pool(PadCount pad_count) {
  return [=](Rng& rng) {
    const Tensor x = placeholder("X", with_spatial(rng, {some(rng), extent(rng)}, 2, 5, 7));
    return finish({x}, average_pool(x, pool_options(rng, 2, pad_count)));
  };
}

ir::Function a_broadcast_add(Rng& rng) {
  Shape a = extents(rng, 3), b = a;
  a[static_cast<std::size_t>(rng.uniform(0, 2))] = 1;
  b[static_cast<std::size_t>(rng.uniform(0, 2))] = 1;
  if (rng.chance(0.5)) b.erase(b.begin());
  const Tensor x = placeholder("A", a), y = placeholder("B", b);
  return finish({x, y}, add(x, y));
}

ir::Function a_transpose(Rng& rng) {
  std::vector<int> permutation = {0, 1, 2};
  for (std::size_t axis = 2; axis > 0; --axis)
    std::swap(permutation[axis],
              permutation[static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(axis)))]);
  const Tensor x = placeholder("X", extents(rng, 3));
  return finish({x}, transpose(x, permutation));
}

Make a_reduction(ReduceKind kind, ir::DType type) {
  return [=](Rng& rng) {
    std::vector<int> axes;
    for (int axis = 0; axis < 3; ++axis)
      if (rng.chance(0.5)) axes.push_back(axis);
    const Tensor x = placeholder("X", kind == ReduceKind::Prod ? Shape{2, 3, 3} : extents(rng, 3), type);
    return finish({x}, reduce_axes(x, kind, axes, rng.chance(0.5) ? KeepAxes::Yes : KeepAxes::No));
  };
}

Make an_argument(bool is_max, ir::DType type) {
  return [=](Rng& rng) {
    const Tensor x = placeholder("X", {some(rng), some(rng), large(rng)}, type);
    const int axis = static_cast<int>(rng.uniform(0, 2));
    return lower(is_max ? "argmax" : "argmin", {x}, (is_max ? argmax(x, axis) : argmin(x, axis)).value());
  };
}

ir::Function a_layer_norm(Rng& rng) {
  const Tensor x = placeholder("X", {some(rng), some(rng), some(rng)});
  const int first = static_cast<int>(rng.uniform(1, 2));
  const Shape inner(x.shape().begin() + first, x.shape().end());
  const Tensor scale = placeholder("scale", inner), bias = placeholder("bias", inner);
  return finish({x, scale, bias}, layer_norm(x, scale, bias, first));
}

ir::Function a_gather(Rng& rng) {
  Shape shape = extents(rng, 2);
  const auto axis = static_cast<std::size_t>(rng.uniform(0, 1));
  shape[axis] = rng.uniform(5, 11);  // whole numbers of -4..4 are then indices inside the axis
  const Tensor x = placeholder("X", shape);
  const ir::DType index_type = rng.chance(0.5) ? ir::kI32 : ir::kI64;
  const Tensor indices = placeholder("indices", extents(rng, 2), index_type);
  return finish({x, indices}, gather(x, indices, static_cast<int>(axis)));
}

Make a_pad(PadMode mode) {
  return [=](Rng& rng) {
    const Tensor x = placeholder("X", {rng.uniform(3, 7), rng.uniform(3, 5)});
    std::vector<std::int64_t> before = {rng.uniform(0, 2), rng.uniform(0, 2)}, after = {rng.uniform(0, 2), 0};
    return finish({x}, pad(x, before, after, mode, 3));
  };
}

ir::Function a_concat(Rng& rng) {
  const auto axis = static_cast<std::size_t>(rng.uniform(0, 1));
  Shape shape = extents(rng, 2);
  std::vector<Tensor> parts;
  for (const char* name : {"A", "B", "C"}) {
    shape[axis] = extent(rng);
    parts.push_back(placeholder(name, shape));
  }
  return finish(parts, concat(parts, static_cast<int>(axis)));
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> list = {
      {"chain", of_one(2, ir::kF32, elementwise_chain)},
      {"chain f64", of_one(3, ir::kF64, elementwise_chain)},
      {"relu i8", of_one(1, ir::kI8, relu)},
      {"relu scalar", of_one(0, ir::kF32, relu)},
      {"broadcast add", a_broadcast_add},
      {"transpose", a_transpose},
      {"matmul", a_matmul({}, ir::kF32)},
      {"matmul transpose_a", a_matmul({.transpose_a = true}, ir::kF32)},
      {"matmul transpose_b", a_matmul({.transpose_b = true}, ir::kF32)},
      {"matmul transpose_a transpose_b", a_matmul({.transpose_a = true, .transpose_b = true}, ir::kF32)},
      {"matmul f64", a_matmul({}, ir::kF64)},
      {"matmul i32", a_matmul({}, ir::kI32)},
      {"matmul i8 to i32", a_matmul({.transpose_b = true, .result = ir::kI32}, ir::kI8)},
      {"matmul f16", a_matmul({}, ir::kF16)},
      {"matmul bf16 to f32", a_matmul({.result = ir::kF32}, ir::kBF16)},
      {"batched matmul", batched_matmul},
      {"matmul bias relu", matmul_bias_relu},
      {"two matmuls", two_matmuls},
      {"conv1d", a_conv(1, ir::kF32, ir::kVoid)},
      {"conv2d", a_conv(2, ir::kF32, ir::kVoid)},
      {"conv3d", a_conv(3, ir::kF32, ir::kVoid)},
      {"conv2d i8 to i32", a_conv(2, ir::kI8, ir::kI32)},
      {"depthwise conv", depthwise},
      {"transposed conv1d", a_conv_transpose(1)},
      {"transposed conv2d", a_conv_transpose(2)},
      {"conv bias residual relu", conv_chain},
      {"winograd conv", winograd},
      {"max pool 1d i8", a_max_pool(1, ir::kI8)},
      {"max pool 2d", a_max_pool(2, ir::kF32)},
      {"average pool", an_average_pool(PadCount::Excluded)},
      {"average pool with padding", an_average_pool(PadCount::Included)},
      {"softmax", of_one(2, ir::kF32, [](const Tensor& x) { return softmax(x, -1); })},
      {"softmax outer f64", of_one(2, ir::kF64, [](const Tensor& x) { return softmax(x, 0); })},
      {"layer norm", a_layer_norm},
      {"sum", a_reduction(ReduceKind::Sum, ir::kF32)},
      {"sum i32", a_reduction(ReduceKind::Sum, ir::kI32)},
      {"mean", a_reduction(ReduceKind::Mean, ir::kF32)},
      {"max", a_reduction(ReduceKind::Max, ir::kF32)},
      {"min i8", a_reduction(ReduceKind::Min, ir::kI8)},
      {"prod i64", a_reduction(ReduceKind::Prod, ir::kI64)},
      {"any", a_row_test(reduce_any)},
      {"all", a_row_test(reduce_all)},
      {"argmax", an_argument(true, ir::kF32)},
      {"argmin i32", an_argument(false, ir::kI32)},
      {"gather", a_gather},
      {"pad", a_pad(PadMode::Constant)},
      {"pad edge", a_pad(PadMode::Edge)},
      {"pad reflect", a_pad(PadMode::Reflect)},
      {"concat", a_concat},
  };
  return list;
}

}  // namespace

std::size_t catalogue_size() { return entries().size(); }

NamedProgram catalogue_entry(std::size_t index, Rng& rng) {
  HONE_CHECK(index < entries().size(), "entry {} of a catalogue of {}", index, entries().size());
  const Entry& entry = entries()[index];
  return {entry.name, entry.make(rng)};
}

std::vector<NamedProgram> catalogue(Rng& rng) {
  std::vector<NamedProgram> programs;
  for (std::size_t index = 0; index < catalogue_size(); ++index) programs.push_back(catalogue_entry(index, rng));
  return programs;
}

}  // namespace hone::tensor
