#include "hone/schedule/sample.h"

#include <algorithm>

#include "hone/schedule/primitives.h"

namespace hone::schedule {

using namespace ir;

namespace {

Result<std::int64_t> extent_of(const Program& program, const SampleTile& step) {
  HONE_TRY(const Path path, find_loop(program, step.loop, "sample_tile"));
  if (const std::optional<std::int64_t> extent = as_int(path.loop().extent)) return *extent;
  return error(ErrorCode::IllegalStep, "sample_tile: the extent of loop '{}' is not constant", step.loop);
}

Result<void> check_parts(const SampleTile& step) {
  if (step.parts < 1 || step.parts > 16)
    return error(ErrorCode::IllegalStep, "sample_tile: parts {} of loop '{}' is outside 1..16", step.parts, step.loop);
  if (step.max_innermost < 1)
    return error(ErrorCode::IllegalStep, "sample_tile: max_innermost {} of loop '{}' is below 1", step.max_innermost,
                 step.loop);
  return {};
}

std::vector<std::int64_t> prime_factors(std::int64_t n) {
  std::vector<std::int64_t> primes;
  for (std::int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) primes.push_back(p);
  if (n > 1) primes.push_back(n);
  return primes;
}

/// Gives `count` equal items to `parts` owners, every distribution equally likely (stars and bars).
std::vector<std::int64_t> distribute(std::int64_t count, std::int64_t parts, Rng& rng) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(count + parts - 1));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(parts); ++i)
    std::swap(places[i], places[static_cast<std::size_t>(
                             rng.uniform(static_cast<std::int64_t>(i), static_cast<std::int64_t>(places.size()) - 1))]);
  std::vector<std::int64_t> bars(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(parts - 1));
  std::sort(bars.begin(), bars.end());
  std::vector<std::int64_t> shares;
  std::int64_t last = -1;
  for (const std::int64_t bar : bars) {
    shares.push_back(bar - last - 1);
    last = bar;
  }
  shares.push_back(count + parts - 1 - last - 1);
  return shares;
}

/// Factors whose product is the extent, every such tuple equally likely.
std::vector<std::int64_t> random_tile(std::int64_t extent, std::int64_t parts, Rng& rng) {
  std::vector<std::int64_t> tile(static_cast<std::size_t>(parts), 1);
  const std::vector<std::int64_t> primes = prime_factors(extent);
  for (std::size_t begin = 0; begin < primes.size();) {
    std::size_t end = begin;
    while (end < primes.size() && primes[end] == primes[begin]) ++end;
    const std::vector<std::int64_t> shares = distribute(static_cast<std::int64_t>(end - begin), parts, rng);
    for (std::size_t part = 0; part < tile.size(); ++part)
      for (std::int64_t i = 0; i < shares[part]; ++i) tile[part] *= primes[begin];
    begin = end;
  }
  return tile;
}

Result<Step> sample_tile(const Program& program, SampleTile step, Rng& rng) {
  HONE_TRY(const std::int64_t extent, extent_of(program, step));
  HONE_TRY(check_parts(step));
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    step.decision = random_tile(std::max<std::int64_t>(extent, 1), step.parts, rng);
    if (step.decision.back() <= step.max_innermost) return step;
  }
  step.decision.assign(static_cast<std::size_t>(step.parts), 1);  // one part alone, or a tail-guarded outermost factor
  step.decision.back() = step.parts == 1 ? extent : 1;
  if (step.parts > 1) step.decision.front() = extent;
  HONE_TRY(check_tile(program, step));
  return step;
}

Result<Step> sample_location(const Program& program, SampleLocation step, Rng& rng) {
  HONE_TRY(find_block(program, step.block, "sample_location"));
  std::vector<std::int64_t> legal = {0};
  const std::vector<std::string> loops = locations(program, step.block);
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (compute_at(program, step.block, loops[i])) legal.push_back(static_cast<std::int64_t>(i) + 1);
  step.decision = {rng.choose(legal)};
  return step;
}

}  // namespace

Result<void> check_tile(const Program& program, const SampleTile& step) {
  HONE_TRY(const std::int64_t extent, extent_of(program, step));
  HONE_TRY(check_parts(step));
  if (static_cast<std::int64_t>(step.decision.size()) != step.parts)
    return error(ErrorCode::IllegalStep, "sample_tile: the decision on loop '{}' has {} factors, {} are needed",
                 step.loop, step.decision.size(), step.parts);
  constexpr std::int64_t kMaxProduct = std::int64_t{1} << 48;
  std::int64_t product = 1;
  for (const std::int64_t factor : step.decision) {
    if (factor < 1 || factor > kMaxProduct / product)
      return error(ErrorCode::IllegalStep, "sample_tile: factor {} of loop '{}' is outside 1..{}", factor, step.loop,
                   kMaxProduct / product);
    product *= factor;
  }
  if (product < extent)
    return error(ErrorCode::IllegalStep, "sample_tile: factors of loop '{}' multiply to {}, at least {} is needed",
                 step.loop, product, extent);
  if (step.decision.back() > step.max_innermost)
    return error(ErrorCode::IllegalStep, "sample_tile: the innermost factor {} of loop '{}' is outside 1..{}",
                 step.decision.back(), step.loop, step.max_innermost);
  return {};
}

Result<std::int64_t> chosen_option(const SampleChoice& step) {
  const auto count = static_cast<std::int64_t>(step.options.size());
  if (step.decision.size() != 1 || step.decision[0] < 0 || step.decision[0] >= count)
    return error(ErrorCode::IllegalStep, "sample_choice: decision '{}' must be one position in 0..{}, found {}",
                 step.name, count - 1, step.decision.empty() ? "none" : fmt::format("{}", step.decision[0]));
  return step.options[static_cast<std::size_t>(step.decision[0])];
}

Result<std::string> chosen_location(const Program& program, const SampleLocation& step) {
  HONE_TRY(find_block(program, step.block, "sample_location"));
  const std::vector<std::string> loops = locations(program, step.block);
  const auto count = static_cast<std::int64_t>(loops.size());
  if (step.decision.size() != 1 || step.decision[0] < 0 || step.decision[0] > count)
    return error(ErrorCode::IllegalStep, "sample_location: decision '{}' must be one position in 0..{}, found {}",
                 step.name, count, step.decision.empty() ? "none" : fmt::format("{}", step.decision[0]));
  return step.decision[0] == 0 ? std::string() : loops[static_cast<std::size_t>(step.decision[0] - 1)];
}

std::vector<std::string> locations(const Program& program, std::string_view block) {
  const Result<Path> path = find_block(program, block, "locations");
  if (!path) return {};
  std::vector<Stmt> common;
  bool is_first = true;
  for (const Expr& buffer : written_buffers(path->block()))
    for (const Path& reader : readers(program, buffer)) {
      const std::vector<Stmt> loops = reader.loops();
      if (is_first) common = loops;
      is_first = false;
      const auto [end, unused] = std::mismatch(common.begin(), common.end(), loops.begin(), loops.end(),
                                               [](const Stmt& a, const Stmt& b) { return a.is(b); });
      common.erase(end, common.end());
    }
  std::vector<std::string> names;
  for (const Stmt& loop : common) names.push_back(ir::name_of(loop.get<For>().var));
  return names;
}

Result<Step> sample(const Program& program, const Step& step, Rng& rng) {
  if (const SampleTile* s = std::get_if<SampleTile>(&step)) return sample_tile(program, *s, rng);
  if (const SampleLocation* s = std::get_if<SampleLocation>(&step)) return sample_location(program, *s, rng);
  if (const SampleChoice* s = std::get_if<SampleChoice>(&step)) {
    if (s->options.empty()) return error(ErrorCode::IllegalStep, "sample_choice: '{}' has no options", s->name);
    SampleChoice decided = *s;
    decided.decision = {rng.uniform(0, static_cast<std::int64_t>(s->options.size()) - 1)};
    return decided;
  }
  return step;
}

}  // namespace hone::schedule
