#include "hone/runtime/kernels/linear_attention.h"

#include <algorithm>
#include <cmath>

#include "hone/runtime/thread_pool.h"

namespace hone::runtime {
namespace {

struct Problem {
  std::int64_t batch, steps, heads, groups, key_size, value_size;
  std::int64_t decay_size;  ///< per group: 1 or key_size; 0 without decay
  std::int64_t beta_count;  ///< per token: 1 or one per group; 0 without beta
  float scale;
  const float *query, *key, *value, *past, *decay, *beta;
  float *output, *state;
};

/// All tokens of one batch entry and one group of heads; `change` has room for one value.
void run_group(const Problem& p, std::int64_t batch, std::int64_t group, float* change) {
  const std::int64_t n = p.key_size, m = p.value_size, shared = p.heads / p.groups;
  float* state = p.state + (batch * p.groups + group) * n * m;
  if (p.past)
    std::copy_n(p.past + (batch * p.groups + group) * n * m, n * m, state);
  else
    std::fill_n(state, n * m, 0.0F);
  for (std::int64_t step = 0; step < p.steps; ++step) {
    const std::int64_t token = batch * p.steps + step;
    const float* key = p.key + (token * p.groups + group) * n;
    std::copy_n(p.value + (token * p.groups + group) * m, m, change);
    for (std::int64_t k = 0; k < n && p.decay_size > 0; ++k) {
      const float gate = std::exp(p.decay[(token * p.groups + group) * p.decay_size + (p.decay_size == 1 ? 0 : k)]);
      for (std::int64_t j = 0; j < m; ++j) state[k * m + j] *= gate;
    }
    if (p.beta_count > 0) {
      const float rate = p.beta[token * p.beta_count + (p.beta_count == 1 ? 0 : group)];
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < m; ++j) change[j] -= state[k * m + j] * key[k];
      for (std::int64_t j = 0; j < m; ++j) change[j] *= rate;
    }
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t j = 0; j < m; ++j) state[k * m + j] += key[k] * change[j];
    for (std::int64_t head = group * shared; head < (group + 1) * shared; ++head) {
      const float* query = p.query + (token * p.heads + head) * n;
      float* output = p.output + (token * p.heads + head) * m;
      std::fill_n(output, m, 0.0F);
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < m; ++j) output[j] += query[k] * state[k * m + j];
      for (std::int64_t j = 0; j < m; ++j) output[j] *= p.scale;
    }
  }
}

Result<const float*> input_of(const HostCall& call, std::size_t i, const Shape& shape) {
  HONE_TRY(const Tensor tensor, call.tensor(i));
  if (tensor.type() != ElementType::F32 || tensor.shape() != shape)
    return error(ErrorCode::InvalidArgument, "input {} is {}, allowed is {}", i,
                 describe(tensor.type(), tensor.shape()), describe(ElementType::F32, shape));
  return tensor.as<float>().data();
}

/// Whether the rule has decay and beta.
struct Rule {
  bool decays, corrects;
};

Result<Rule> rule_of(const HostCall& call) {
  const std::string name = call.attributes.text("update_rule", "gated_delta");
  if (name != "linear" && name != "gated" && name != "delta" && name != "gated_delta")
    return error(ErrorCode::InvalidArgument, "update_rule '{}', allowed are linear, gated, delta and gated_delta",
                 name);
  const Rule rule{name == "gated" || name == "gated_delta", name == "delta" || name == "gated_delta"};
  if (rule.decays != call.has(4) || rule.corrects != call.has(5))
    return error(ErrorCode::InvalidArgument, "update_rule '{}' with{} decay and with{} beta", name,
                 call.has(4) ? "" : "out", call.has(5) ? "" : "out");
  return rule;
}

}  // namespace

Result<void> run_linear_attention(HostCall& call) {
  HONE_TRY(const Rule rule, rule_of(call));
  HONE_TRY(const Tensor query, call.tensor(0));
  HONE_TRY(const Tensor value, call.tensor(2));
  Problem p{};
  p.heads = call.attributes.integer("q_num_heads", 0);
  p.groups = call.attributes.integer("kv_num_heads", 0);
  if (p.groups < 1 || p.heads < 1 || p.heads % p.groups != 0 || query.rank() != 3 || value.rank() != 3 ||
      query.extent(2) % p.heads != 0 || value.extent(2) % p.groups != 0)
    return error(ErrorCode::InvalidArgument, "{} and {} heads of {} and {}", p.heads, p.groups,
                 describe(query.type(), query.shape()), describe(value.type(), value.shape()));
  p.batch = query.extent(0);
  p.steps = query.extent(1);
  p.key_size = query.extent(2) / p.heads;
  p.value_size = value.extent(2) / p.groups;
  HONE_TRY(p.query, input_of(call, 0, {p.batch, p.steps, p.heads * p.key_size}));
  HONE_TRY(p.key, input_of(call, 1, {p.batch, p.steps, p.groups * p.key_size}));
  HONE_TRY(p.value, input_of(call, 2, {p.batch, p.steps, p.groups * p.value_size}));
  if (call.has(3)) { HONE_TRY(p.past, input_of(call, 3, {p.batch, p.groups, p.key_size, p.value_size})); }
  if (rule.decays) {
    HONE_TRY(const Tensor decay, call.tensor(4));
    p.decay_size = decay.rank() == 3 && decay.extent(2) == p.groups ? 1 : p.key_size;
    HONE_TRY(p.decay, input_of(call, 4, {p.batch, p.steps, p.groups * p.decay_size}));
  }
  if (rule.corrects) {
    HONE_TRY(const Tensor beta, call.tensor(5));
    p.beta_count = beta.rank() == 3 && beta.extent(2) == 1 ? 1 : p.groups;
    HONE_TRY(p.beta, input_of(call, 5, {p.batch, p.steps, p.beta_count}));
  }
  const float stated = call.attributes.real("scale", 0);
  p.scale = stated != 0 ? stated : 1 / std::sqrt(static_cast<float>(p.key_size));
  HONE_TRY(Tensor output, call.output(0, ElementType::F32, {p.batch, p.steps, p.heads * p.value_size}));
  HONE_TRY(Tensor state, call.output(1, ElementType::F32, {p.batch, p.groups, p.key_size, p.value_size}));
  p.output = output.as<float>().data();
  p.state = state.as<float>().data();

  const std::int64_t count = p.batch * p.groups;
  std::vector<float> changes(static_cast<std::size_t>(count * p.value_size));
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n)
      run_group(p, n / p.groups, n % p.groups, changes.data() + n * p.value_size);
  };
  if (call.pool)
    call.pool->parallel_for(count, run);
  else
    run(0, count);
  return {};
}

}  // namespace hone::runtime
