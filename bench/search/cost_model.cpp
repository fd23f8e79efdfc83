#include "cost_model.h"

#include <cmath>
#include <fmt/core.h>

#include "figure.h"

#include "hone/cost/cost_model.h"
#include "hone/cost/metrics.h"
#include "hone/cost/store_features.h"
#include "hone/support/rng.h"

namespace hone::bench {

namespace {

using namespace schedule;

constexpr std::size_t kPopulation = 2048;

struct Candidate {
  Program program;
  Trace trace;
};

/// The trace with its decisions drawn at random; nothing if a step then is illegal.
std::optional<Candidate> draw(const Program& naive, const Trace& trace, Rng& rng) {
  Schedule schedule(naive);
  for (Step step : trace) {
    if (std::vector<std::int64_t>* decision = decision_of(step)) decision->clear();
    if (!schedule.apply(step, rng)) return std::nullopt;
  }
  return Candidate{schedule.program(), schedule.trace()};
}

/// Made-up seconds that follow from the decisions: the sum of the logarithms of the factors, by their places.
double pretend(const Trace& trace) {
  double sum = 0;
  std::size_t place = 0;
  for (const Step& step : trace)
    if (const std::vector<std::int64_t>* decision = decision_of(step))
      for (const std::int64_t factor : *decision)
        sum += std::sin(static_cast<double>(place++)) * std::log2(static_cast<double>(factor) + 1);
  return 1e-3 * std::exp2(sum / 4);
}

}  // namespace

Result<void> time_cost_model(const Program& naive, const Trace& trace) {
  Rng rng(/*seed=*/1);
  std::vector<Candidate> candidates;
  for (int tries = 0; candidates.size() < 2 * kPopulation && tries < 100000; ++tries)
    if (std::optional<Candidate> candidate = draw(naive, trace, rng)) candidates.push_back(*std::move(candidate));
  if (candidates.size() < 2 * kPopulation)
    return error(ErrorCode::IllegalStep, "only {} candidates are legal", candidates.size());
  std::vector<cost::Subject> subjects;
  std::vector<double> seconds, speed;
  for (const Candidate& candidate : candidates) {
    subjects.push_back({.task = "conv", .program = &candidate.program, .trace = &candidate.trace});
    seconds.push_back(pretend(candidate.trace));
    speed.push_back(1 / seconds.back());
  }
  const std::span<const cost::Subject> all(subjects);
  const auto population = all.first(kPopulation), others = all.subspan(kPopulation);

  cost::StoreFeatures features;
  std::vector<float> rows;
  const Figure extraction = time(10, [&] {
    rows.clear();
    for (const cost::Subject& subject : population) features.extract(*subject.program, rows).value();
  });
  print(fmt::format("features of {} programs, one thread", kPopulation), extraction,
        fmt::format("{} rows", rows.size() / cost::kStoreFeatures));
  HONE_TRY(const std::unique_ptr<cost::CostModel> model, cost::make_cost_model("ansor", {.seed = 1}));
  for (const std::size_t count : {64, 1024}) {
    const Figure learning = time(3, [&] {
      const std::unique_ptr<cost::CostModel> fresh = cost::make_cost_model("ansor", {.seed = 1}).value();
      fresh->update(population.first(count), std::span(seconds).first(count)).value();
    });
    print(fmt::format("learning from {} programs", count), learning, "");
  }
  HONE_TRY(model->update(population, std::span(seconds).first(kPopulation)));
  std::vector<double> scores;
  print(fmt::format("features and scores of {} programs", kPopulation),
        time(10, [&] { scores = model->predict(others).value(); }), "bar: 1000000 µs");
  fmt::print(stderr, "pairs in the right order: {:.3f}\n",
             cost::pairwise_accuracy(scores, std::span(speed).subspan(kPopulation)));
  return {};
}

}  // namespace hone::bench
