#include "hone/runtime/kernels/random.h"

#include "hone/graph/operators/families.h"

namespace hone::graph {
namespace {

/// An output of the type that `dtype` names, or of the fallback.
Result<std::vector<OutputSpec>> spec_of(const Application& op, ElementType fallback, const Shape& shape) {
  const std::int64_t number = op.integer("dtype", static_cast<std::int64_t>(fallback));
  const std::optional<ElementType> type = runtime::element_type_numbered(number);
  if (!type) return op.fail("dtype is {}, which is no type", number);
  if (const auto count = runtime::element_count(shape); !count) return op.fail("{}", count.error().message);
  return std::vector<OutputSpec>{{*type, shape}};
}

Result<std::vector<OutputSpec>> infer_from_shape(const Application& op) {
  if (!op.attributes().has("shape")) return op.fail("attribute 'shape' is missing");
  return spec_of(op, ElementType::F32, op.integers("shape"));
}

Result<std::vector<OutputSpec>> infer_like(const Application& op) { return spec_of(op, op.type(0), op.shape(0)); }

Result<std::vector<OutputSpec>> infer_multinomial(const Application& op) {
  const std::int64_t samples = op.integer("sample_size", 1);
  if (op.rank(0) != 2) return op.fail("the input must be [batch, classes], found {} axes", op.rank(0));
  if (samples < 1) return op.fail("sample_size is {}, at least 1 is allowed", samples);
  return spec_of(op, ElementType::I32, {op.shape(0)[0], samples});
}

}  // namespace

std::span<const Operator> random_operators() {
  static const Operator entries[] = {
      {.name = "RandomNormal",
       .schema = "-> output; dtype, mean, scale, seed, shape",
       .host = runtime::random_normal,
       .infer = infer_from_shape,
       .is_random = true},
      {.name = "RandomUniform",
       .schema = "-> output; dtype, high, low, seed, shape",
       .host = runtime::random_uniform,
       .infer = infer_from_shape,
       .is_random = true},
      {.name = "RandomNormalLike",
       .schema = "input -> output; dtype, mean, scale, seed",
       .host = runtime::random_normal_like,
       .infer = infer_like,
       .is_random = true},
      {.name = "RandomUniformLike",
       .schema = "input -> output; dtype, high, low, seed",
       .host = runtime::random_uniform_like,
       .infer = infer_like,
       .is_random = true},
      {.name = "Bernoulli",
       .schema = "input: float -> output; dtype, seed",
       .host = runtime::bernoulli,
       .infer = infer_like,
       .is_random = true},
      {.name = "Multinomial",
       .schema = "input: float -> output; dtype, sample_size, seed",
       .host = runtime::multinomial,
       .infer = infer_multinomial,
       .is_random = true},
  };
  return entries;
}

}  // namespace hone::graph
