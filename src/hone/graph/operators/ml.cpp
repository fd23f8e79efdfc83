#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/runtime/kernels/features.h"
#include "hone/runtime/kernels/labels.h"
#include "hone/runtime/kernels/linear.h"
#include "hone/runtime/kernels/maps.h"
#include "hone/runtime/kernels/support_vectors.h"

namespace hone::graph {
namespace {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

Result<std::vector<Tensor>> define_binarizer(const Application& op) {
  const Tensor& x = op.tensor(0);
  const Expr threshold = ir::constant(ir::kF64, op.real("threshold", 0));
  return std::vector<Tensor>{tensor::compute("binarized", tensor::axes_of(x.shape()), [&](const Indices& i) {
    return ir::cast(x.type(), ir::select(ir::cast(ir::kF64, x(i)) > threshold, ir::constant(ir::kI32, std::int64_t{1}),
                                         ir::constant(ir::kI32, std::int64_t{0})));
  })};
}

/// Each row divided by its largest element, or by its L1 or L2 norm, unless that is 0.
Result<std::vector<Tensor>> define_normalizer(const Application& op) {
  const std::string norm = op.text("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") return op.fail("norm is '{}', allowed are MAX, L1 and L2", norm);
  if (op.rank(0) != 1 && op.rank(0) != 2) return op.fail("an input of {} axes, allowed are 1 and 2", op.rank(0));
  const Tensor x = converted(op.tensor(0), ir::kF32);
  const ReducePlan plan(x.shape(), {op.rank(0) - 1}, /*keep=*/true);
  const auto magnitude = [&](const Expr& e) {
    return norm == "L2" ? e * e : ir::select(e < real_constant(ir::kF32, 0), -e, e);
  };
  const Tensor sum = tensor::compute("norm", tensor::axes_of(plan.kept()), [&](const Indices& i) {
    const auto source = [&](const Indices& r) { return x(plan.element(i, r)); };
    if (norm == "MAX") return tensor::reduce_max(plan.reduced(), source);
    return tensor::reduce_sum(plan.reduced(), [&](const Indices& r) { return magnitude(source(r)); });
  });
  return std::vector<Tensor>{tensor::compute("normalized", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr total = sum(plan.row(i));
    const Expr divisor = norm == "L2" ? ir::call(ir::Intrinsic::Sqrt, {total}) : total;
    return ir::select(ir::eq(total, real_constant(ir::kF32, 0)), x(i), x(i) / divisor);
  })};
}

/// (x - offset) · scale, in f32.
Result<std::vector<ValueId>> expand_scaler(const Application& op, Builder& builder) {
  const std::int64_t features = op.rank(0) == 0 ? 1 : op.shape(0).back();
  ValueId x = op.id(0);
  if (op.type(0) != ElementType::F32) {
    Attributes to;
    to.set("to", static_cast<std::int64_t>(ElementType::F32));
    x = builder.add("Cast", {x}, to);
  }
  for (const auto& [name, apply] : {std::pair("offset", "Sub"), std::pair("scale", "Mul")}) {
    const std::vector<float> numbers = op.attributes().reals(name);
    if (numbers.empty()) continue;
    if (numbers.size() != 1 && static_cast<std::int64_t>(numbers.size()) != features)
      return op.fail("{} has {} entries, allowed are 1 and {}", name, numbers.size(), features);
    x = builder.add(apply, {x, builder.constant(runtime::Tensor::of<float>({std::ssize(numbers)}, numbers))});
  }
  if (x == op.id(0)) x = builder.add("Identity", {x});
  return std::vector<ValueId>{x};
}

}  // namespace

std::span<const Operator> ml_operators() {
  static constexpr std::string_view kDomain = "ai.onnx.ml";
  static const Operator entries[] = {
      {.name = "ArrayFeatureExtractor",
       .domain = kDomain,
       .schema = "X: T, Y: int64 -> Z: T",
       .host = runtime::array_feature_extractor},
      {.name = "Binarizer",
       .domain = kDomain,
       .schema = "X: T -> Y: T; threshold; T: float32|double|index",
       .define = define_binarizer},
      {.name = "CastMap", .domain = kDomain, .schema = "X -> Y; cast_to, map_form, max_map", .host = runtime::cast_map},
      {.name = "CategoryMapper",
       .domain = kDomain,
       .schema = "X: string|int64 -> Y; cats_int64s, cats_strings, default_int64, default_string",
       .host = runtime::category_mapper},
      {.name = "DictVectorizer",
       .domain = kDomain,
       .schema = "X -> Y; int64_vocabulary, string_vocabulary",
       .host = runtime::dict_vectorizer},
      {.name = "FeatureVectorizer",
       .domain = kDomain,
       .schema = "X...: float32|double|index -> Y; inputdimensions",
       .host = runtime::feature_vectorizer},
      {.name = "Imputer",
       .domain = kDomain,
       .schema = "X: T -> Y: T; imputed_value_floats, imputed_value_int64s, replaced_value_float, "
                 "replaced_value_int64; T: float32|double|index",
       .host = runtime::imputer},
      // classes_strings is that of version 1
      {.name = "LabelEncoder",
       .domain = kDomain,
       .schema = "X -> Y; classes_strings, default_float, default_int64, default_string, default_tensor, keys_floats, "
                 "keys_int64s, keys_strings, keys_tensor, values_floats, values_int64s, values_strings, values_tensor",
       .host = runtime::label_encoder},
      {.name = "LinearClassifier",
       .domain = kDomain,
       .schema = "X: float32|double|index -> Y, Z?; classlabels_ints, classlabels_strings, coefficients, intercepts, "
                 "multi_class, post_transform",
       .host = runtime::linear_classifier},
      {.name = "LinearRegressor",
       .domain = kDomain,
       .schema = "X: float32|double|index -> Y; coefficients, intercepts, post_transform, targets",
       .host = runtime::linear_regressor},
      {.name = "Normalizer",
       .domain = kDomain,
       .schema = "X: float32|double|index -> Y; norm",
       .define = define_normalizer},
      {.name = "OneHotEncoder",
       .domain = kDomain,
       .schema = "X: string|float32|double|index -> Y; cats_int64s, cats_strings, zeros",
       .host = runtime::one_hot_encoder},
      {.name = "Scaler",
       .domain = kDomain,
       .schema = "X: float32|double|index -> Y; offset, scale",
       .expand = expand_scaler},
      {.name = "SVMClassifier",
       .domain = kDomain,
       .schema = "X: float32|double|index -> Y, Z?; classlabels_ints, classlabels_strings, coefficients, "
                 "kernel_params, kernel_type, post_transform, prob_a, prob_b, rho, support_vectors, vectors_per_class",
       .host = runtime::svm_classifier},
      {.name = "SVMRegressor",
       .domain = kDomain,
       .schema = "X: float32|double|index -> Y; coefficients, kernel_params, kernel_type, n_supports, one_class, "
                 "post_transform, rho, support_vectors",
       .host = runtime::svm_regressor},
      {.name = "ZipMap",
       .domain = kDomain,
       .schema = "X: float32 -> Z; classlabels_int64s, classlabels_strings",
       .host = runtime::zip_map},
  };
  return entries;
}

}  // namespace hone::graph
