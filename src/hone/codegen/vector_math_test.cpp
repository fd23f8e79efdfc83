// Elementary functions of generated code against the C library's long double.

#include "hone/codegen/vector_math.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>

#include "hone/codegen/kernel_test.h"

namespace hone::codegen {
namespace {

using namespace ir;

using Wide = long double;
constexpr double kMaxUlp = 4;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int kLanes = 16;

/// The distance between two neighbouring floats at `x`.
Wide ulp(Wide x) {
  const int exponent = x == 0 ? -126 : std::max(std::ilogb(x), -126);
  return std::ldexp(Wide{1}, exponent - 23);
}

/// How far `actual` is from the exact value, in units of the last place.
double ulp_error(float actual, Wide exact) {
  if (std::isnan(exact) || std::isnan(actual)) return std::isnan(exact) && std::isnan(actual) ? 0 : 1e30;
  const Wide largest = std::numeric_limits<float>::max();
  // Beyond the largest float both infinity and the neighbourhood of the largest are judged by their distance.
  const Wide held = std::clamp<Wide>(exact, -largest - 2 * ulp(largest), largest + 2 * ulp(largest));
  const Wide is = std::isinf(actual) ? std::copysign(largest + ulp(largest), actual) : Wide{actual};
  return static_cast<double>(std::abs(is - held) / ulp(held));
}

struct Unary {
  Intrinsic function;
  Wide (*exact)(Wide);
};

const std::vector<Unary>& unary_functions() {
  static const std::vector<Unary> list = {
      {Intrinsic::Exp, std::exp},
      {Intrinsic::Exp2, std::exp2},
      {Intrinsic::Log, std::log},
      {Intrinsic::Log2, std::log2},
      {Intrinsic::Log10, std::log10},
      {Intrinsic::Log1p, std::log1p},
      {Intrinsic::Expm1, std::expm1},
      {Intrinsic::Sqrt, std::sqrt},
      {Intrinsic::Rsqrt, [](Wide x) { return 1 / std::sqrt(x); }},
      {Intrinsic::Cbrt, std::cbrt},
      {Intrinsic::Sin, std::sin},
      {Intrinsic::Cos, std::cos},
      {Intrinsic::Tan, std::tan},
      {Intrinsic::Asin, std::asin},
      {Intrinsic::Acos, std::acos},
      {Intrinsic::Atan, std::atan},
      {Intrinsic::Sinh, std::sinh},
      {Intrinsic::Cosh, std::cosh},
      {Intrinsic::Tanh, std::tanh},
      {Intrinsic::Asinh, std::asinh},
      {Intrinsic::Acosh, std::acosh},
      {Intrinsic::Atanh, std::atanh},
      {Intrinsic::Erf, std::erf},
      {Intrinsic::Sigmoid, [](Wide x) { return 1 / (1 + std::exp(-x)); }},
      {Intrinsic::Floor, std::floor},
      {Intrinsic::Ceil, std::ceil},
      {Intrinsic::Round, std::nearbyint},
      {Intrinsic::Trunc, std::trunc},
  };
  return list;
}

/// Every `stride`-th bit pattern, and the values where things happen.
std::vector<float> sweep(std::uint32_t stride) {
  std::vector<float> values = {0.0F, -0.0F, 1.0F, -1.0F, kInf, -kInf, std::numeric_limits<float>::quiet_NaN()};
  for (const float edge :
       {1e-45F,    1.1754944e-38F, 3.4028235e38F, 0.5F,      2.0F,       0.625F,    0.70710678F, 1.4142135F, 4.0F,
        88.72283F, 87.33654F,      103.97208F,    89.41599F, 16.635532F, 9.010913F, 126.0F,      127.99999F, 149.0F,
        150.0F,    1.5707964F,     3.1415927F,    11.0F,     33.0F,      355.0F,    8192.0F,     1048576.0F, 1e10F})
    for (float near : {edge, std::nextafter(edge, 0.0F), std::nextafter(edge, kInf)}) {
      values.push_back(near);
      values.push_back(-near);
    }
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  while (values.size() % kLanes != 0) values.push_back(1.0F);
  return values;
}

/// Prime, so that all exponents and mantissas are met; HONE_MATH_STRIDE=997 sweeps closer.
std::uint32_t stride() {
  const char* chosen = std::getenv("HONE_MATH_STRIDE");
  return chosen ? static_cast<std::uint32_t>(std::atoi(chosen)) : std::getenv("HONE_SHORT_TESTS") ? 999983 : 19937;
}

/// Not the bare name, which belongs to the C library.
std::string name_of(Intrinsic function) { return "apply_" + std::string(to_string(function)); }

/// out[i] = function(a[i], …), `lanes` at a time.
Function apply(Intrinsic function, DType type, std::int64_t size, int lanes) {
  const Expr i = var("i"), at = lanes == 1 ? i : ramp(i * lanes, lanes), out = flat_buffer("out", type, size);
  std::vector<Expr> params, args;
  for (int k = 0; k < arity(function); ++k) {
    params.push_back(flat_buffer(k == 0 ? "a" : "b", type, size));
    args.push_back(load(params.back(), {at}));
  }
  params.push_back(out);
  return {name_of(function), params, loop(i, size / lanes, store(out, {at}, call(function, args)))};
}

Module apply_all(std::int64_t size, int lanes) {
  Module module;
  for (const Unary& unary : unary_functions()) module.functions.push_back(apply(unary.function, kF32, size, lanes));
  return module;
}

TEST(VectorMath, EveryFunctionIsWithinFourUlpOverTheWholeRange) {
  const std::vector<float> values = sweep(stride());
  const auto size = static_cast<std::int64_t>(values.size());
  std::vector<CompiledModule> modules;
  const std::vector<Target> targets = runnable_targets();
  for (const Target& target : targets)
    modules.push_back(compile(apply_all(size, kLanes), target, test_options()).value());

  for (const Unary& unary : unary_functions()) {
    std::vector<Wide> exact;
    for (const float x : values) exact.push_back(unary.exact(x));
    for (std::size_t t = 0; t < targets.size(); ++t) {
      std::vector<float> in = values, out(values.size());
      const std::vector<void*> args = {in.data(), out.data()};
      ASSERT_TRUE(modules[t].find(name_of(unary.function)).value()(args));
      double worst = 0;
      float where = 0;
      for (std::size_t i = 0; i < values.size(); ++i)
        if (const double error = ulp_error(out[i], exact[i]); error > worst) {
          worst = error;
          where = values[i];
        }
      EXPECT_LE(worst, kMaxUlp) << to_string(unary.function) << " at " << fmt::format("{:a} = {}", where, where)
                                << ", target " << to_string(targets[t]);
      RecordProperty(fmt::format("{}_{}", to_string(unary.function), t), fmt::format("{:.2f}", worst));
    }
  }
}

/// out[i] = a[i] * sigmoid(b[i]), `lanes` at a time.
Function weighted_sigmoids(std::int64_t size, int lanes) {
  const Expr i = var("i"), at = lanes == 1 ? i : ramp(i * lanes, lanes);
  const Expr a = flat_buffer("a", kF32, size), b = flat_buffer("b", kF32, size), out = flat_buffer("out", kF32, size);
  const Expr product = load(a, {at}) * call(Intrinsic::Sigmoid, {load(b, {at})});
  return {"weigh", {a, b, out}, loop(i, size / lanes, store(out, {at}, product))};
}

TEST(VectorMath, WeightedSigmoidsAreAsExactAsTheirSizeMatters) {
  std::vector<float> x = sweep(stride());
  std::vector<float> weights;
  for (std::size_t i = 0; i < x.size(); ++i) weights.push_back(i % 2 == 0 ? 3.0F : x[i]);
  const auto size = static_cast<std::int64_t>(x.size());
  for (const Target& target : runnable_targets())
    for (const int lanes : {1, 3, 4, 16}) {
      const auto module = compile(Module{{weighted_sigmoids(size / lanes * lanes, lanes)}}, target, test_options());
      ASSERT_TRUE(module) << module.error().message;
      std::vector<float> out(x.size());
      const std::vector<void*> args = {weights.data(), x.data(), out.data()};
      ASSERT_TRUE(module->find("weigh").value()(args));
      for (std::size_t i = 0; i < x.size() / static_cast<std::size_t>(lanes) * static_cast<std::size_t>(lanes); ++i) {
        const Wide exact = Wide{weights[i]} / (1 + std::exp(-Wide{x[i]}));
        const std::string where = fmt::format("{} sigmoid({}) gave {}, target {}, {} lanes", weights[i], x[i], out[i],
                                              to_string(target), lanes);
        const Wide smallest = std::abs(Wide{weights[i]}) * std::numeric_limits<float>::min();
        if (x[i] > -20 || std::isnan(x[i])) {
          ASSERT_LE(ulp_error(out[i], exact), 2 * kMaxUlp) << where;
        } else if (!std::isinf(x[i])) {
          ASSERT_LE(std::abs(out[i] - exact), std::max(2e-6L * std::abs(exact), smallest)) << where;
        } else if (weights[i] == 3) {
          ASSERT_EQ(out[i], 0) << where;
        }
      }
    }
}

TEST(VectorMath, ScalarsAndOddWidthsAgreeWithTheInterpreter) {
  const auto draw = [](const Function& function) {
    std::vector<Array> arrays = draw_values(function);
    for (std::int64_t i = 0; i < arrays[0].size(); ++i) arrays[0].set(i, arrays[0].float_at(i) * 5);
    arrays[0].set(0, 3e7);  // so that one lane takes the slow way of sine and cosine
    return arrays;
  };
  for (const Target& target : {runnable_targets().front(), host_target()})
    for (const int lanes : {1, 3}) expect_as_interpreted(apply_all(24, lanes), target, draw, 2e-6);
}

TEST(VectorMath, PowIsWithinFourUlp) {
  Rng rng(/*seed=*/5);
  std::vector<float> x, y;
  const std::vector<float> corners = {
      0.0F,        -0.0F,      1.0F,       -1.0F,  kInf, -kInf,       std::numeric_limits<float>::quiet_NaN(),
      0.5F,        -0.5F,      2.0F,       -2.0F,  3.0F, -3.0F,       1e-45F,
      -1e-45F,     3.4e38F,    1e30F,      -1e30F, 0.3F, 16777216.0F, 16777217.0F,
      33554431.0F, 1.0000001F, 0.99999994F};
  for (const float a : corners)
    for (const float b : corners) {
      x.push_back(a);
      y.push_back(b);
    }
  const int samples = std::getenv("HONE_SHORT_TESTS") ? 5'000 : 60'000;
  for (int i = 0; i < samples; ++i) {  // any bits, then pairs whose power is an ordinary number
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng.next())));
    y.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng.next())));
    x.push_back(static_cast<float>(std::exp((rng.unit() - 0.5) * (i % 3 == 0 ? 0.01 : 20))));
    y.push_back(static_cast<float>((rng.unit() - 0.5) * 200 / std::max(0.1F, std::abs(std::log(x.back())))));
    x.push_back(static_cast<float>(rng.uniform(-50, 50)));
    y.push_back(static_cast<float>(rng.uniform(-30, 30)));
  }
  while (x.size() % kLanes != 0) {
    x.push_back(1);
    y.push_back(1);
  }
  for (const Target& target : runnable_targets()) {
    const auto module = compile(Module{{apply(Intrinsic::Pow, kF32, static_cast<std::int64_t>(x.size()), kLanes)}},
                                target, test_options());
    ASSERT_TRUE(module) << module.error().message;
    std::vector<float> out(x.size());
    const std::vector<void*> args = {x.data(), y.data(), out.data()};
    ASSERT_TRUE(module->find("apply_pow").value()(args));
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ulp_error(out[i], std::pow(Wide{x[i]}, Wide{y[i]})), kMaxUlp)
          << x[i] << " ^ " << y[i] << " gave " << out[i] << ", target " << to_string(target);
  }
}

TEST(VectorMath, Atan2AndFmodAreWithinFourUlp) {
  Rng rng(/*seed=*/6);
  std::vector<float> y, x;
  const std::vector<float> corners = {
      0.0F,   -0.0F, 1.0F,  -1.0F,  kInf,    -kInf,    std::numeric_limits<float>::quiet_NaN(),
      1e-45F, 2.5F,  -2.5F, 1e-38F, 3.4e38F, -3.4e38F, 1.7e38F};
  for (const float a : corners)
    for (const float b : corners) {
      y.push_back(a);
      x.push_back(b);
    }
  for (int i = 0; i < 50'000; ++i) {
    y.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng.next())));
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng.next())));
    y.push_back(static_cast<float>(rng.unit() - 0.5));
    x.push_back(static_cast<float>(rng.unit() - 0.5));
  }
  while (x.size() % kLanes != 0) {
    x.push_back(1);
    y.push_back(1);
  }
  const auto size = static_cast<std::int64_t>(x.size());
  for (const Target& target : runnable_targets()) {
    const auto module =
        compile(Module{{apply(Intrinsic::Atan2, kF32, size, kLanes), apply(Intrinsic::Fmod, kF32, size, kLanes)}},
                target, test_options());
    ASSERT_TRUE(module) << module.error().message;
    std::vector<float> angle(x.size()), rest(x.size());
    const std::vector<void*> angle_args = {y.data(), x.data(), angle.data()};
    const std::vector<void*> rest_args = {y.data(), x.data(), rest.data()};
    ASSERT_TRUE(module->find("apply_atan2").value()(angle_args));
    ASSERT_TRUE(module->find("apply_fmod").value()(rest_args));
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulp_error(angle[i], std::atan2(Wide{y[i]}, Wide{x[i]})), kMaxUlp)
          << "atan2(" << y[i] << ", " << x[i] << ") gave " << angle[i] << ", target " << to_string(target);
      ASSERT_LE(ulp_error(rest[i], std::fmod(Wide{y[i]}, Wide{x[i]})), 0)
          << "fmod(" << y[i] << ", " << x[i] << ") gave " << rest[i] << ", target " << to_string(target);
    }
  }
}

TEST(VectorMath, LdexpIsExactAndTheReciprocalIsAnEstimate) {
  std::vector<float> a, b;
  for (const float value : {1.0F, -1.5F, 1.9999999F, 1.1754944e-38F, 1e-45F, 3.4028235e38F, 0.0F, kInf})
    for (float exponent = -252; exponent <= 254; exponent += 0.5F) {
      a.push_back(value);
      b.push_back(exponent);
    }
  while (a.size() % kLanes != 0) {
    a.push_back(1);
    b.push_back(0);
  }
  const auto size = static_cast<std::int64_t>(a.size());
  for (const Target& target : runnable_targets())
    for (const int lanes : {1, 4, 8, 16}) {
      const auto module = compile(
          Module{{apply(Intrinsic::Ldexp, kF32, size, lanes), apply(Intrinsic::ReciprocalEstimate, kF32, size, lanes)}},
          target, test_options());
      ASSERT_TRUE(module) << module.error().message;
      std::vector<float> scaled(a.size()), reciprocal(a.size());
      const std::vector<void*> scaled_args = {a.data(), b.data(), scaled.data()};
      const std::vector<void*> reciprocal_args = {b.data(), reciprocal.data()};
      ASSERT_TRUE(module->find("apply_ldexp").value()(scaled_args));
      ASSERT_TRUE(module->find("apply_reciprocal_estimate").value()(reciprocal_args));
      for (std::size_t i = 0; i < a.size(); ++i) {
        // Two roundings where the result has no normal exponent.
        ASSERT_LE(ulp_error(scaled[i], std::ldexp(Wide{a[i]}, static_cast<int>(std::floor(b[i])))), 1)
            << a[i] << " 2^" << b[i] << ", target " << to_string(target);
        ASSERT_NEAR(b[i] == 0 ? 1 : reciprocal[i] * b[i], 1, 0x1p-13) << b[i] << ", target " << to_string(target);
      }
    }
}

TEST(VectorMath, DoublesAndHalvesAgreeWithTheInterpreter) {
  for (const DType type : {kF64, kF16, kBF16}) {
    Module module;
    for (const Unary& unary : unary_functions()) module.functions.push_back(apply(unary.function, type, 16, 4));
    for (const Intrinsic function : {Intrinsic::Pow, Intrinsic::Atan2, Intrinsic::Fmod})
      module.functions.push_back(apply(function, type, 16, 4));
    // A 16-bit result may fall on the other side of a rounding boundary.
    const double tolerance = type == kF64 ? 1e-14 : type == kF16 ? 0x1p-10 : 0x1p-7;
    for (const Target& target : {runnable_targets().front(), host_target()})
      expect_as_interpreted(module, target, draw_values, tolerance);
  }
}

}  // namespace
}  // namespace hone::codegen
