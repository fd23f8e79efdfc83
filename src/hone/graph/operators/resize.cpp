#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/indexing.h"
#include "hone/graph/operators/resize_table.h"

namespace hone::graph {
namespace {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

/// Resizing is separable: Resize becomes one operator per axis that reads neighbours and weights from tables, or, if
/// it takes nearest elements, one for all axes. The tables are constants.
constexpr std::string_view kDomain = "hone";

template <std::size_t kCount>
Result<std::string> one_of(const Application& op, std::string_view attribute, const char* const (&allowed)[kCount]) {
  const std::string found = op.text(attribute, allowed[0]);
  for (const char* const name : allowed)
    if (found == name) return found;
  return op.fail("{} '{}', allowed are {}", attribute, found, fmt::join(allowed, ", "));
}

Result<ResizeOptions> resize_options(const Application& op) {
  ResizeOptions options;
  HONE_TRY(options.mode, one_of(op, "mode", {"nearest", "linear", "cubic"}));
  HONE_TRY(options.transform, one_of(op, "coordinate_transformation_mode",
                                     {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                      "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}));
  // "simple" is what Resize of opset 10 and Upsample did: up when shrinking, down otherwise
  HONE_TRY(options.nearest,
           one_of(op, "nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"}));
  options.cubic_coefficient = static_cast<float>(op.real("cubic_coeff_a", -0.75));
  options.is_antialiased = op.integer("antialias", 0) != 0;
  options.excludes_outside = op.integer("exclude_outside", 0) != 0;
  if (options.is_antialiased && options.mode == "nearest") return op.fail("antialias does not go with mode nearest");
  return options;
}

/// An optional input that counts as absent if it has no elements.
bool is_given(const Application& op, std::size_t i) {
  return op.has(i) && runtime::element_count(op.shape(i)).value_or(0) > 0;
}

Result<void> set_scales(const Application& op, const Integers& axes, std::vector<ResizeAxis>& plan) {
  HONE_TRY(const std::vector<double> scales, op.reals(2));
  if (scales.size() != axes.size()) return op.fail("{} scales for {} axes", scales.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = plan[static_cast<std::size_t>(axes[i])];
    axis.scale = static_cast<float>(scales[i]);
    const float extent = std::floor(axis.scale * static_cast<float>(axis.from));
    constexpr float kMost = 1e9F;
    if (!(axis.scale > 0) || !(extent < kMost)) return op.fail("scale {} at axis {}", scales[i], axes[i]);
    axis.to = static_cast<std::int64_t>(extent);
  }
  return {};
}

Result<void> set_sizes(const Application& op, const Integers& axes, std::vector<ResizeAxis>& plan) {
  HONE_TRY(const Integers sizes, op.ints(3));
  if (sizes.size() != axes.size()) return op.fail("{} sizes for {} axes", sizes.size(), axes.size());
  HONE_TRY(const std::string policy, one_of(op, "keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}));
  std::vector<float> scales;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = plan[static_cast<std::size_t>(axes[i])];
    constexpr std::int64_t kMost = 1'000'000'000;
    if (sizes[i] < 0 || sizes[i] > kMost) return op.fail("size {} at axis {}", sizes[i], axes[i]);
    axis.to = sizes[i];
    axis.scale = axis.from == 0 ? 1 : static_cast<float>(axis.to) / static_cast<float>(axis.from);
    scales.push_back(axis.scale);
  }
  if (policy == "stretch" || scales.empty()) return {};
  const float scale = policy == "not_larger" ? *std::min_element(scales.begin(), scales.end())
                                             : *std::max_element(scales.begin(), scales.end());
  for (const std::int64_t i : axes) {
    ResizeAxis& axis = plan[static_cast<std::size_t>(i)];
    axis.scale = scale;
    axis.to = static_cast<std::int64_t>(scale * static_cast<float>(axis.from) + 0.5F);
  }
  return {};
}

Result<void> set_roi(const Application& op, const Integers& axes, std::vector<ResizeAxis>& plan) {
  HONE_TRY(const std::vector<double> roi, op.reals(1));
  if (roi.size() != 2 * axes.size()) return op.fail("{} numbers of roi for {} axes", roi.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = plan[static_cast<std::size_t>(axes[i])];
    axis.roi_start = static_cast<float>(roi[i]);
    axis.roi_end = static_cast<float>(roi[axes.size() + i]);
  }
  return {};
}

/// What happens to each axis of the input.
Result<std::vector<ResizeAxis>> plan_of(const Application& op, const ResizeOptions& options) {
  std::vector<ResizeAxis> plan;
  for (const std::int64_t extent : op.shape(0)) plan.push_back({extent, extent, 1});
  Integers all(plan.size());
  std::iota(all.begin(), all.end(), 0);
  HONE_TRY(const Integers axes,
           checked(op, runtime::normalize_axes(optional_integers(op, "axes").value_or(all), plan.size())));
  if (is_given(op, 2) == is_given(op, 3)) return op.fail("either scales or sizes must be given");
  if (is_given(op, 2)) {
    HONE_TRY(set_scales(op, axes, plan));
  } else {
    HONE_TRY(set_sizes(op, axes, plan));
  }
  if (options.transform == "tf_crop_and_resize") {
    if (!is_given(op, 1)) return op.fail("tf_crop_and_resize needs roi");
    HONE_TRY(set_roi(op, axes, plan));
  }
  Shape shape;
  for (const ResizeAxis& axis : plan) shape.push_back(axis.to);
  HONE_TRY(runtime::element_count(shape));
  constexpr std::int64_t kMost = std::int64_t{1} << 26;  // what tables may reasonably hold
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (plan[i].from == 0 && plan[i].to != 0) return op.fail("axis {} has no elements", i);
    if (std::max(plan[i].from, plan[i].to) > kMost && (plan[i].from != plan[i].to || plan[i].scale != 1))
      return op.fail("axis {} from extent {} to {}, allowed are extents up to {}", i, plan[i].from, plan[i].to, kMost);
  }
  return plan;
}

bool is_unchanged(const ResizeTable& table, std::int64_t from) {
  if (static_cast<std::int64_t>(table.indices.size()) != from * table.taps || !table.is_outside.empty()) return false;
  for (std::size_t i = 0; i < table.indices.size(); ++i)
    if (table.weights[i] != 0 && table.indices[i] != static_cast<std::int64_t>(i) / table.taps) return false;
  return true;
}

ValueId add_index_table(Builder& builder, const ResizeTable& table) {
  const auto rows = static_cast<std::int64_t>(table.indices.size()) / table.taps;
  return builder.constant(runtime::Tensor::of<std::int64_t>({rows, table.taps}, table.indices));
}

ValueId add_weight_table(Builder& builder, const ResizeTable& table, bool is_double) {
  const auto rows = static_cast<std::int64_t>(table.weights.size()) / table.taps;
  if (is_double) return builder.constant(runtime::Tensor::of<double>({rows, table.taps}, table.weights));
  return builder.constant(
      runtime::Tensor::of<float>({rows, table.taps}, std::vector<float>(table.weights.begin(), table.weights.end())));
}

/// Puts the extrapolation value where any axis was read from outside.
Result<ValueId> extrapolate(const Application& op, Builder& builder, ValueId y,
                            const std::vector<ResizeTable>& tables) {
  Shape shape;
  bool has_outside = false;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    shape.push_back(tables[i].is_outside.empty() ? 1 : static_cast<std::int64_t>(tables[i].is_outside.size()));
    has_outside = has_outside || !tables[i].is_outside.empty();
  }
  if (!has_outside) return y;
  HONE_TRY(const std::int64_t count, runtime::element_count(shape));
  std::vector<bool> is_inside(static_cast<std::size_t>(count), true);
  std::int64_t inner = 1;
  for (std::size_t axis = tables.size(); axis-- > 0;) {
    const std::vector<bool>& is_outside = tables[axis].is_outside;
    for (std::size_t i = 0; i < is_inside.size() && !is_outside.empty(); ++i)
      if (is_outside[i / static_cast<std::size_t>(inner) % is_outside.size()]) is_inside[i] = false;
    inner *= shape[axis];
  }
  Attributes to;
  to.set("to", static_cast<std::int64_t>(op.type(0)));
  const ValueId value = builder.add("Cast", {builder.scalar(ElementType::F32, op.real("extrapolation_value", 0))}, to);
  return builder.add("Where", {builder.constant(runtime::Tensor::of<bool>(shape, is_inside)), y, value});
}

Result<std::vector<ValueId>> expand_resize(const Application& op, Builder& builder) {
  HONE_TRY(const ResizeOptions options, resize_options(op));
  HONE_TRY(const std::vector<ResizeAxis> plan, plan_of(op, options));
  std::vector<ResizeTable> tables(plan.size());
  Integers axes;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const bool is_same =
        plan[i].from == plan[i].to && plan[i].scale == 1 && plan[i].roi_start == 0 && plan[i].roi_end == 1;
    if (is_same || plan[i].from == 0) continue;
    tables[i] = resize_table(plan[i], options);
    if (!is_unchanged(tables[i], plan[i].from)) axes.push_back(static_cast<std::int64_t>(i));
  }
  ValueId y = op.id(0);
  if (options.mode == "nearest" && !axes.empty()) {
    std::vector<ValueId> inputs{y};
    for (const std::int64_t axis : axes)
      inputs.push_back(add_index_table(builder, tables[static_cast<std::size_t>(axis)]));
    Attributes attributes;
    attributes.set("axes", axes);
    y = builder.add_node(std::string(kDomain), "TakeNearest", inputs, 1, attributes)[0];
  } else if (!axes.empty()) {
    // what shrinks most comes first, so that the others have less to do
    std::stable_sort(axes.begin(), axes.end(), [&](std::int64_t a, std::int64_t b) {
      return plan[static_cast<std::size_t>(a)].scale < plan[static_cast<std::size_t>(b)].scale;
    });
    const ElementType wide = op.type(0) == ElementType::F64 ? ElementType::F64 : ElementType::F32;
    for (const std::int64_t axis : axes) {
      const ResizeTable& table = tables[static_cast<std::size_t>(axis)];
      Attributes attributes;
      attributes.set("axis", axis);
      attributes.set("to", static_cast<std::int64_t>(axis == axes.back() ? op.type(0) : wide));
      y = builder.add_node(
          std::string(kDomain), "Interpolate",
          {y, add_index_table(builder, table), add_weight_table(builder, table, wide == ElementType::F64)}, 1,
          attributes)[0];
    }
  }
  HONE_TRY(y, extrapolate(op, builder, y, tables));
  if (y == op.id(0)) y = builder.add("Identity", {y});
  return std::vector{y};
}

/// The place that table entry `i` names, as arithmetic if the table is regular and as a load from it otherwise.
Expr table_index(const Tensor& table, const Integers& entries, const Expr& i) {
  const auto count = static_cast<std::int64_t>(entries.size());
  const auto follows = [&](auto rule) {
    for (std::int64_t k = 0; k < count; ++k)
      if (entries[static_cast<std::size_t>(k)] != rule(k)) return false;
    return true;
  };
  if (count > 1) {
    const std::int64_t start = entries[0], step = entries[1] - entries[0];
    if (follows([&](std::int64_t k) { return start + k * step; })) return i * step + start;
  }
  // the number of equal entries at the start is the factor of a whole-numbered enlargement
  const auto repeats = static_cast<std::int64_t>(
      std::find_if(entries.begin(), entries.end(), [&](std::int64_t e) { return e != entries[0]; }) - entries.begin());
  if (repeats > 0 && entries[0] == 0 && follows([&](std::int64_t k) { return k / repeats; }))
    return ir::floor_div(i, repeats);
  return table(i, ir::imm(0));
}

/// Entries of a table that was checked to lie inside an axis.
Result<Integers> checked_entries(const Application& op, std::size_t input, std::int64_t extent) {
  HONE_TRY(Integers entries, op.ints(input));
  for (const std::int64_t entry : entries)
    if (entry < 0 || entry >= extent) return op.fail("entry {} of a table is outside [0, {})", entry, extent);
  return entries;
}

Result<std::vector<Tensor>> define_take_nearest(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const Integers axes, checked(op, runtime::normalize_axes(op.integers("axes"), x.rank())));
  if (op.input_count() != axes.size() + 1) return op.fail("{} tables for {} axes", op.input_count() - 1, axes.size());
  Shape shape = x.shape();
  std::vector<Integers> entries;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    HONE_TRY(Integers table, checked_entries(op, i + 1, x.extent(axis)));
    if (op.rank(i + 1) != 2 || op.shape(i + 1)[1] != 1) return op.fail("table {} is no column", i);
    shape[axis] = static_cast<std::int64_t>(table.size());
    entries.push_back(std::move(table));
  }
  return std::vector{tensor::compute("resize", tensor::axes_of(shape), [&](const Indices& i) {
    Indices from = i;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const auto axis = static_cast<std::size_t>(axes[k]);
      if (!entries[k].empty()) from[axis] = table_index(op.tensor(k + 1), entries[k], i[axis]);
    }
    return x(from);
  })};
}

Result<std::vector<Tensor>> define_interpolate(const Application& op) {
  const Tensor &x = op.tensor(0), &indices = op.tensor(1), &weights = op.tensor(2);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", 0), op.rank(0)));
  const auto at = static_cast<std::size_t>(axis);
  HONE_TRY(checked_entries(op, 1, x.extent(at)));
  if (indices.rank() != 2 || indices.shape() != weights.shape()) return op.fail("tables of different shapes");
  const std::int64_t taps = indices.extent(1);
  const std::optional<ir::DType> to = ir_type(static_cast<ElementType>(op.integer("to", 1)));
  if (!to || to->is_bool()) return op.fail("type {} cannot be interpolated", op.integer("to", 1));
  Shape shape = x.shape();
  shape[at] = indices.extent(0);
  const auto term = [&](const Indices& i, const Expr& tap) {
    Indices from = i;
    from[at] = indices(i[at], tap);
    return weights(i[at], tap) * ir::cast(weights.type(), x(from));
  };
  constexpr std::int64_t kMostUnrolled = 4;
  if (taps <= kMostUnrolled) {
    return std::vector{tensor::compute("resize", tensor::axes_of(shape), [&](const Indices& i) {
      Expr sum = term(i, ir::imm(0));
      for (std::int64_t tap = 1; tap < taps; ++tap) sum = sum + term(i, ir::imm(tap));
      return ir::cast(*to, sum);
    })};
  }
  const Tensor sum = tensor::compute("resize", tensor::axes_of(shape), [&](const Indices& i) {
    return tensor::reduce_sum({taps}, [&](const Indices& k) { return term(i, k[0]); });
  });
  if (sum.type() == *to) return std::vector{sum};
  return std::vector{
      tensor::compute("resize_cast", tensor::axes_of(shape), [&](const Indices& i) { return ir::cast(*to, sum(i)); })};
}

}  // namespace

std::span<const Operator> resize_operators() {
  static const Operator operators[] = {
      {.name = "Resize",
       .schema = "X: T, roi?: float, scales?: float32, sizes?: int64 -> Y: T; antialias, axes, "
                 "coordinate_transformation_mode, cubic_coeff_a, exclude_outside, extrapolation_value, "
                 "keep_aspect_ratio_policy, mode, nearest_mode; T: any",
       .expand = expand_resize},
      {.name = "TakeNearest",
       .domain = kDomain,
       .schema = "X: T, tables...: int64 -> Y: T; axes",
       .define = define_take_nearest},
      {.name = "Interpolate",
       .domain = kDomain,
       .schema = "X: T, indices: int64, weights: W -> Y; axis, to; T: number, W: float32|double",
       .define = define_interpolate},
  };
  return operators;
}

}  // namespace hone::graph
