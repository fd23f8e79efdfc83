/// Schedules of matrix products with times that a formula gives, for models to learn.
#pragma once

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <vector>

#include "hone/cost/cost_model.h"
#include "hone/cost/metrics.h"
#include "hone/cost/testing_test.h"
#include "hone/schedule/primitives.h"
#include "hone/support/rng.h"

namespace hone::cost {

/// A schedule and what it is said to take.
struct Candidate {
  schedule::Program program;
  schedule::Trace trace;
  std::vector<double> knobs;
  double seconds;
};

inline std::int64_t power_of_two(Rng& rng, std::int64_t most) { return std::int64_t{1} << rng.uniform(0, most); }

/// Tiles of i, j and k, vectors along j, rows unrolled, outer rows in parallel.
struct Tiles {
  std::int64_t rows = 1, lanes = 1, depth = 1;
  bool is_parallel = false;

  schedule::Trace trace() const {
    using namespace schedule;
    Trace steps = {Split{"i", {kRest, rows}},  Split{"j", {kRest, lanes}},
                   Split{"k", {kRest, depth}}, Reorder{{"i.0", "j.0", "k.0", "k.1", "i.1", "j.1"}},
                   Vectorize{"j.1"},           Unroll{"i.1"}};
    if (is_parallel) steps.push_back(Parallel{"i.0"});
    return steps;
  }

  /// What vectors, caches and registers make of such tiles: wide vectors help up to 16, tiles should fill 32 KiB, and 8
  /// rows are best unrolled.
  double seconds(std::int64_t size) const {
    const double vector_cost = 16.0 / static_cast<double>(std::min<std::int64_t>(lanes, 16)) + (lanes > 16 ? 0.5 : 0);
    const double row_cost = 1 + 0.4 * std::abs(std::log2(static_cast<double>(rows) / 8));
    const double cache_cost = 1 + 0.1 * std::abs(std::log2(static_cast<double>(depth * lanes) / 128));
    return 1e-9 * std::pow(static_cast<double>(size), 3) * vector_cost * row_cost * cache_cost /
           (is_parallel ? 1.9 : 1.0);
  }
};

inline Candidate make_candidate(std::int64_t size, Rng& rng) {
  Tiles tiles;
  tiles.rows = power_of_two(rng, 4);
  tiles.lanes = power_of_two(rng, 5);
  tiles.depth = power_of_two(rng, 5);
  tiles.is_parallel = rng.chance(0.5);
  Candidate candidate{.program = {},
                      .trace = tiles.trace(),
                      .knobs = {static_cast<double>(tiles.rows), static_cast<double>(tiles.lanes),
                                static_cast<double>(tiles.depth), tiles.is_parallel ? 1.0 : 0.0},
                      .seconds = tiles.seconds(size)};
  candidate.program = schedule::replay(matmul(size, size, size), candidate.trace).value();
  return candidate;
}

struct Data {
  std::vector<Candidate> candidates;
  std::vector<Subject> subjects;
  std::vector<double> seconds, throughput;
};

inline Data make_data(std::int64_t size, std::size_t count, std::uint64_t seed) {
  Data data;
  Rng rng(seed);
  for (std::size_t i = 0; i < count; ++i) data.candidates.push_back(make_candidate(size, rng));
  for (const Candidate& candidate : data.candidates) {
    data.subjects.push_back({.task = fmt::format("matmul {}", size),
                             .family = "matmul",
                             .program = &candidate.program,
                             .trace = &candidate.trace,
                             .knobs = candidate.knobs});
    data.seconds.push_back(candidate.seconds);
    data.throughput.push_back(1 / candidate.seconds);
  }
  return data;
}

/// How many pairs of candidates a model puts in the right order.
inline double accuracy(CostModel& model, const Data& data) {
  return pairwise_accuracy(model.predict(data.subjects).value(), data.throughput);
}

}  // namespace hone::cost
