/// The knobs of a block that is tiled for a GPU.
#include <algorithm>
#include <cstdlib>

#include "hone/space/sketch/gpu_tiling.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

/// Of tiles that divide extents, which nobody chose for the machine.
constexpr double kDivisorCost = 10;

/// The largest tiles of hardware tiles: along an axis, and in all.
constexpr std::int64_t kMostInner = 8, kMostTile = 64, kMostOuter = 4;

std::int64_t product_of(const Factors& factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) product *= factor;
  return product;
}

std::int64_t power_above(std::int64_t number) {
  std::int64_t power = 1;
  while (power < number) power *= 2;
  return power;
}

int log2_of(std::int64_t power) {
  int log = 0;
  for (; power > 1; power /= 2) ++log;
  return log;
}

/// All lists of powers of two, each at most its limit, whose product is in [least, most].
std::vector<Factors> power_options(const Factors& limits, std::int64_t least, std::int64_t most) {
  std::vector<Factors> options = {{}};
  for (const std::int64_t limit : limits) {
    std::vector<Factors> longer;
    for (const Factors& option : options)
      for (std::int64_t power = 1; power <= limit && product_of(option) * power <= most; power *= 2) {
        longer.push_back(option);
        longer.back().push_back(power);
      }
    options = std::move(longer);
  }
  std::erase_if(options, [&](const Factors& option) { return product_of(option) < least; });
  return options;
}

/// The place of the option that is most like another list of powers of two.
std::size_t nearest_place(const std::vector<Factors>& options, const Factors& wanted) {
  const auto distance = [&](const Factors& option) {
    int sum = 0;
    for (std::size_t i = 0; i < option.size(); ++i) sum += std::abs(log2_of(option[i]) - log2_of(wanted[i]));
    return sum;
  };
  return static_cast<std::size_t>(
      std::min_element(options.begin(), options.end(),
                       [&](const Factors& a, const Factors& b) { return distance(a) < distance(b); }) -
      options.begin());
}

void add_limited(Knobs& knobs, const std::string& name, std::vector<Factors> options) {
  const std::size_t all = options.size();
  options = thinned(std::move(options));
  knobs.leave_out(all - options.size(), name, fmt::format("this knob has {} options at most", kMostOptions));
  knobs.add(name, std::move(options));
}

void add_hardware_knobs(const GpuTiling& tiling, Knobs& knobs) {
  const codegen::GpuLimits& gpu = tiling.target.gpu;
  const auto limits = [&](std::int64_t most) {
    Factors all;
    for (const NaiveLoop& axis : tiling.axes) all.push_back(std::min(most, power_above(axis.extent)));
    return all;
  };
  std::vector<Factors> threads = power_options(limits(gpu.max_threads), 1, gpu.max_threads);
  if (tiling.needs_warps())
    knobs.leave_out(std::erase_if(threads, [&](const Factors& f) { return product_of(f) < gpu.warp; }),
                    tiling.knob("threads"), fmt::format("a warp has {} threads", gpu.warp));
  add_limited(knobs, tiling.knob("threads"), std::move(threads));
  add_limited(knobs, tiling.knob("vthreads"), power_options(limits(gpu.max_vthreads()), 1, gpu.max_vthreads()));
  add_limited(knobs, tiling.knob("outer"), power_options(limits(kMostOuter), 1, kMostOuter));
  add_limited(knobs, tiling.knob("tile"),
              power_options(limits(kMostInner), 1, std::min(kMostTile, gpu.registers / tiling.words)));
}

void add_divisor_knobs(const GpuTiling& tiling, Knobs& knobs) {
  const codegen::GpuLimits& gpu = tiling.target.gpu;
  for (const NaiveLoop& axis : tiling.axes) {
    std::vector<Factors> options = factorizations(axis.extent, kGpuSpatialLevels);
    const std::string name = tiling.knob(axis.name);
    const auto limit = [&](auto is_too_large, std::string reason) {
      knobs.leave_out(std::erase_if(options, is_too_large), name, std::move(reason));
    };
    limit([&](const Factors& f) { return f[kVirtual] > gpu.max_vthreads(); },
          fmt::format("they have more than {} virtual threads", gpu.max_vthreads()));
    limit([&](const Factors& f) { return f[kThread] > gpu.max_threads; },
          fmt::format("they have more than {} threads", gpu.max_threads));
    limit([&](const Factors& f) { return f[kVirtual] * f[kOuter] * f[kInner] * tiling.words > gpu.registers; },
          fmt::format("they need more than {} registers", gpu.registers));
    add_limited(knobs, name, std::move(options));
  }
}

/// What is worth choosing when nothing is known: at most so many threads in all and along an axis, so many elements
/// along an axis in a thread, and so many steps of the reduction in shared memory.
struct Wish {
  std::int64_t threads, along, inner, steps;
};

/// Only two axes of a tile are worth keeping in registers.
std::int64_t inner_of(const GpuTiling& tiling, const Wish& wish, std::size_t axis) {
  return axis + 2 >= tiling.axes.size() ? wish.inner : 1;
}

void choose_hardware(const GpuTiling& tiling, const Knobs& knobs, Wish wish, std::vector<std::size_t>& choices) {
  Factors threads(tiling.axes.size(), 1), tile = threads;
  for (std::size_t i = tiling.axes.size(); i-- > 0;) {
    while (2 * threads[i] <= std::min({wish.threads, wish.along, power_above(tiling.axes[i].extent)})) threads[i] *= 2;
    wish.threads /= threads[i];
    tile[i] = std::min(inner_of(tiling, wish, i), power_above(ceil_div(tiling.axes[i].extent, threads[i])));
  }
  choices[0] = nearest_place(knobs.knobs[0].options, threads);
  choices[3] = nearest_place(knobs.knobs[3].options, tile);
}

void choose_divisors(const GpuTiling& tiling, const Knobs& knobs, Wish wish, std::vector<std::size_t>& choices) {
  for (std::size_t i = tiling.axes.size(); i-- > 0;) {
    const std::vector<Factors>& options = knobs.knobs[i].options;
    Factors reached = {0, 0};  // threads, then elements
    for (std::size_t k = 0; k < options.size(); ++k) {
      const Factors& option = options[k];
      if (option[kVirtual] > 1 || option[kOuter] > 1 || option[kThread] > std::min(wish.threads, wish.along) ||
          option[kInner] > inner_of(tiling, wish, i) || Factors{option[kThread], option[kInner]} <= reached)
        continue;
      reached = {option[kThread], option[kInner]};
      choices[i] = k;
    }
    wish.threads /= options[choices[i]][kThread];
  }
}

std::vector<std::size_t> choices_for(const GpuTiling& tiling, const Knobs& knobs, Wish wish) {
  std::vector<std::size_t> choices(knobs.knobs.size(), 0);
  if (tiling.tiles == Tiles::Hardware)
    choose_hardware(tiling, knobs, wish, choices);
  else
    choose_divisors(tiling, knobs, wish, choices);
  for (std::size_t i = tiling.reduced.size(); i-- > 0;) {
    const std::size_t place = knobs.knobs.size() - 1 - tiling.reduced.size() + i;  // the last is about unrolling
    const std::vector<Factors>& options = knobs.knobs[place].options;
    std::size_t& choice = choices[place];
    for (std::size_t k = 0; k < options.size(); ++k)
      if (options[k][0] == 1 && options[k][1] <= wish.steps && options[k][1] > options[choice][1]) choice = k;
    wish.steps /= options[choice][1];
  }
  return choices;
}

}  // namespace

Knobs gpu_knobs_of(const GpuTiling& tiling) {
  constexpr std::int64_t kMostSteps = 16;
  Knobs knobs;
  const bool is_hardware = tiling.tiles == Tiles::Hardware;
  if (is_hardware)
    add_hardware_knobs(tiling, knobs);
  else
    add_divisor_knobs(tiling, knobs);
  for (const NaiveLoop& loop : tiling.reduced) {
    const std::int64_t most = std::min(kMostSteps, power_above(loop.extent));
    add_limited(knobs, tiling.knob(loop.name),
                is_hardware ? power_options({most, most}, 1, std::min(4 * kMostSteps, power_above(loop.extent)))
                            : factorizations(loop.extent, kGpuReductionLevels));
  }
  knobs.add(tiling.knob("unroll"), {{0}, {16}, {64}, {512}, {1024}});
  const std::int64_t most = tiling.target.gpu.max_threads;
  knobs.first = choices_for(tiling, knobs, {std::min<std::int64_t>(256, most), 16, 4, 16});
  knobs.others = {choices_for(tiling, knobs, {most, most, 1, 1}), choices_for(tiling, knobs, {most, most, 2, 8})};
  knobs.cost = is_hardware ? 1 : kDivisorCost;
  return knobs;
}

Factors gpu_factors_of(const GpuTiling& tiling, std::size_t axis, const Building& building) {
  if (tiling.tiles == Tiles::Divisor) return building.decided(tiling.knob(tiling.axes[axis].name));
  Factors factors(kGpuSpatialLevels, 1);
  std::int64_t left = tiling.axes[axis].extent;
  // Threads come first: what is left for the others may be less than was decided.
  const auto take = [&](GpuLevel level, std::string_view knob) {
    factors[level] = std::min(building.decided(tiling.knob(knob))[axis], power_above(left));
    left = ceil_div(left, factors[level]);
  };
  take(kThread, "threads");
  take(kInner, "tile");
  take(kOuter, "outer");
  take(kVirtual, "vthreads");
  return factors;
}

}  // namespace hone::space
