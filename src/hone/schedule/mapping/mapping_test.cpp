#include "hone/schedule/mapping/mapping.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "hone/support/rng.h"

namespace hone::schedule {
namespace {

using Tasks = std::vector<Index>;

std::int64_t count(const Index& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<Tasks> all_tasks(const Mapping& mapping) {
  std::vector<Tasks> tasks;
  for (std::int64_t worker = 0; worker < mapping.workers(); ++worker) tasks.push_back(mapping.tasks_of(worker));
  return tasks;
}

/// The definition of products, word by word.
Tasks tasks_of_product(const Mapping& f, const Mapping& g, std::int64_t worker) {
  Tasks tasks;
  for (const Index& a : f.tasks_of(worker / g.workers()))
    for (const Index& b : g.tasks_of(worker % g.workers())) {
      tasks.push_back(a);
      for (std::size_t axis = 0; axis < a.size(); ++axis) tasks.back()[axis] = a[axis] * g.task_shape()[axis] + b[axis];
    }
  return tasks;
}

std::vector<std::int64_t> random_ranks(Rng& rng, std::size_t rank) {
  std::vector<std::int64_t> ranks(rank);
  std::iota(ranks.begin(), ranks.end(), 0);
  for (std::size_t i = rank; i-- > 1;)
    std::swap(ranks[i], ranks[static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(i)))]);
  return ranks;
}

Mapping random_part(Rng& rng, std::size_t rank) {
  Index shape(rank);
  for (std::int64_t& extent : shape) extent = rng.uniform(1, 3);
  const PartKind kind = rng.chance(0.5) ? PartKind::Spatial : PartKind::Repeat;
  return *make_part(kind, shape, random_ranks(rng, rank));
}

Mapping random_mapping(Rng& rng, std::size_t rank) {
  Mapping mapping = random_part(rng, rank);
  while (rng.chance(0.5) && count(mapping.grid()) < 100) mapping = mapping * random_part(rng, rank);
  return mapping;
}

Mapping limited(Rng& rng, const Mapping& mapping) {
  Index limit = mapping.task_shape();
  for (std::int64_t& extent : limit) extent = rng.uniform(0, extent);
  return *within(mapping, limit);
}

TEST(Mapping, ProductGivesEveryTaskToExactlyOneWorker) {
  const Mapping mapping = repeat({4, 1}) * spatial({2, 32});
  std::set<Index> seen;
  for (int worker = 0; worker < mapping.workers(); ++worker)
    for (const Index& task : mapping.tasks_of(worker)) EXPECT_TRUE(seen.insert(task).second);
  EXPECT_EQ(seen.size(), 8u * 32u);
}

TEST(Mapping, SpatialOutsideGivesNeighboursAndRepeatOutsideTasksApart) {
  EXPECT_EQ(all_tasks(spatial({2, 2}) * repeat({1, 2})),
            (std::vector<Tasks>{{{0, 0}, {0, 1}}, {{0, 2}, {0, 3}}, {{1, 0}, {1, 1}}, {{1, 2}, {1, 3}}}));
  EXPECT_EQ(all_tasks(repeat({1, 2}) * spatial({2, 2})),
            (std::vector<Tasks>{{{0, 0}, {0, 2}}, {{0, 1}, {0, 3}}, {{1, 0}, {1, 2}}, {{1, 1}, {1, 3}}}));
}

TEST(Mapping, WorkersLoadATileTogether) {
  const Mapping mapping = repeat({4, 1}) * spatial({16, 8});
  EXPECT_EQ(mapping.workers(), 128);
  EXPECT_EQ(mapping.task_shape(), (Index{64, 8}));
  EXPECT_EQ(mapping.tasks_of(9), (Tasks{{1, 1}, {17, 1}, {33, 1}, {49, 1}}));
}

TEST(Mapping, RanksSayWhichAxisIsFastest) {
  EXPECT_EQ(all_tasks(spatial({2, 3})),
            (std::vector<Tasks>{{{0, 0}}, {{0, 1}}, {{0, 2}}, {{1, 0}}, {{1, 1}}, {{1, 2}}}));
  EXPECT_EQ(all_tasks(spatial({2, 3}, {1, 0})),
            (std::vector<Tasks>{{{0, 0}}, {{1, 0}}, {{0, 1}}, {{1, 1}}, {{0, 2}}, {{1, 2}}}));
  EXPECT_EQ(repeat({2, 3}, {1, 0}).tasks_of(0), (Tasks{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}}));
  // Of three axes the first has place 1 in the order, the second place 2, the third is slowest.
  EXPECT_EQ(repeat({2, 2, 2}, {1, 2, 0}).tasks_of(0),
            (Tasks{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}}));
}

TEST(Mapping, RandomProductsKeepTheLaws) {
  Rng rng(/*seed=*/1);
  for (int trial = 0; trial < 100; ++trial) {
    const std::size_t rank = static_cast<std::size_t>(rng.uniform(0, 3));
    const Mapping f = random_mapping(rng, rank), g = random_mapping(rng, rank), h = random_part(rng, rank);
    const Mapping fg = f * g;
    EXPECT_EQ(fg.workers(), f.workers() * g.workers());
    for (std::size_t axis = 0; axis < rank; ++axis)
      EXPECT_EQ(fg.task_shape()[axis], f.task_shape()[axis] * g.task_shape()[axis]);

    std::set<Index> seen;
    for (std::int64_t worker = 0; worker < fg.workers(); ++worker) {
      const Tasks tasks = fg.tasks_of(worker);
      EXPECT_EQ(tasks, tasks_of_product(f, g, worker)) << to_text(f) << " times " << to_text(g);
      for (const Index& task : tasks) {
        EXPECT_TRUE(seen.insert(task).second) << to_text(fg);
        for (std::size_t axis = 0; axis < rank; ++axis) {
          EXPECT_GE(task[axis], 0);
          EXPECT_LT(task[axis], fg.task_shape()[axis]);
        }
      }
    }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), count(fg.task_shape())) << to_text(fg);

    const Mapping left = (f * g) * h, right = f * (g * h);
    EXPECT_EQ(left, right);
    const std::int64_t worker = rng.uniform(0, left.workers() - 1);
    EXPECT_EQ(left.tasks_of(worker), tasks_of_product(f, g * h, worker));
    EXPECT_EQ(left.tasks_of(worker), tasks_of_product(f * g, h, worker));
  }
}

TEST(Mapping, LimitSkipsTheTasksBeyondItAndKeepsTheOrderOfTheOthers) {
  Rng rng(/*seed=*/2);
  for (int trial = 0; trial < 100; ++trial) {
    const std::size_t rank = static_cast<std::size_t>(rng.uniform(1, 3));
    const Mapping whole = random_mapping(rng, rank), part = limited(rng, whole), inner = random_part(rng, rank);
    std::int64_t done = 0;
    for (std::int64_t worker = 0; worker < whole.workers(); ++worker) {
      Tasks expected;
      for (const Index& task : whole.tasks_of(worker)) {
        bool is_inside = true;
        for (std::size_t axis = 0; axis < rank; ++axis) is_inside &= task[axis] < part.task_shape()[axis];
        if (is_inside) expected.push_back(task);
      }
      EXPECT_EQ(part.tasks_of(worker), expected) << to_text(part);
      done += static_cast<std::int64_t>(expected.size());
    }
    EXPECT_EQ(done, count(part.task_shape()));
    const Mapping tiles = part * inner;
    for (std::int64_t worker = 0; worker < tiles.workers(); ++worker)
      EXPECT_EQ(tiles.tasks_of(worker), tasks_of_product(part, inner, worker)) << to_text(tiles);
  }
}

TEST(Mapping, TextReadsBackToAnEqualMapping) {
  EXPECT_EQ(to_text(spatial({4, 8}) * repeat({2, 2})), "spatial(4, 8) * repeat(2, 2)");
  EXPECT_EQ(to_text(spatial({4, 8}, {1, 0})), "spatial(4, 8, ranks=[1, 0])");
  EXPECT_EQ(to_text(*within(repeat({3}) * spatial({4}), {10})), "repeat(3) * spatial(4) within (10)");
  EXPECT_EQ(to_text(repeat({})), "repeat()");
  EXPECT_EQ(*parse_mapping(" spatial( 4,8 )*repeat(2,2) "), spatial({4, 8}) * repeat({2, 2}));
  Rng rng(/*seed=*/3);
  for (int trial = 0; trial < 100; ++trial) {
    Mapping mapping = random_mapping(rng, static_cast<std::size_t>(rng.uniform(0, 3)));
    if (rng.chance(0.5)) mapping = limited(rng, mapping);
    const Result<Mapping> read = parse_mapping(to_text(mapping));
    ASSERT_TRUE(read) << to_text(mapping) << ": " << read.error().message;
    EXPECT_EQ(*read, mapping) << to_text(mapping);
  }
}

TEST(Mapping, EqualMappingsHaveEqualPartsAndLimits) {
  EXPECT_EQ(spatial({4, 8}), spatial({4, 8}, {0, 1}));
  EXPECT_NE(spatial({4, 8}), spatial({4, 8}, {1, 0}));
  EXPECT_NE(spatial({4, 8}), repeat({4, 8}));
  EXPECT_NE(spatial({4, 8}), *within(spatial({4, 8}), {4, 7}));
  EXPECT_EQ(spatial({4, 8}), *within(spatial({4, 8}), {4, 8}));
}

TEST(AutoMap, GivesTheFastestAxesAsManyWorkersAsDivideThem) {
  EXPECT_EQ(*auto_map({8, 96}, 64), repeat({4, 3}) * spatial({2, 32}));
  EXPECT_EQ(*auto_map({7}, 1), repeat({7}) * spatial({1}));
  EXPECT_EQ(*auto_map({}, 1), repeat({}) * spatial({}));
}

using Cost = std::pair<std::int64_t, std::int64_t>;  // rounds, then workers

/// The least cost of any `repeat * spatial` over the shape, by trying all.
Cost cheapest(Index shape, std::int64_t workers) {
  if (shape.empty()) return {1, 1};
  const std::int64_t extent = shape.back();
  shape.pop_back();
  Cost best{INT64_MAX, INT64_MAX};
  for (std::int64_t lanes = 1; lanes <= std::min(extent, workers); ++lanes) {
    const Cost rest = cheapest(shape, workers / lanes);
    best = std::min(best, Cost{rest.first * ((extent + lanes - 1) / lanes), rest.second * lanes});
  }
  return best;
}

TEST(AutoMap, CoversEveryShapeAtTheLeastCost) {
  Rng rng(/*seed=*/4);
  for (int trial = 0; trial < 100; ++trial) {
    Index shape(static_cast<std::size_t>(rng.uniform(1, 3)));
    for (std::int64_t& extent : shape) extent = rng.uniform(1, 24);
    const std::int64_t workers = rng.uniform(1, 40);
    const Result<Mapping> mapping = auto_map(shape, workers);
    EXPECT_EQ(mapping.has_value(), count(shape) % workers == 0);
    const Mapping any = *auto_map_within(shape, workers);
    EXPECT_EQ(any.task_shape(), shape);
    EXPECT_EQ(Cost(count(any.grid()) / any.workers(), any.workers()), cheapest(shape, workers)) << to_text(any);
    if (mapping) {
      EXPECT_EQ(mapping->workers(), workers);
      EXPECT_EQ(mapping->task_shape(), shape);
      EXPECT_EQ(any, *mapping);
    }
  }
}

TEST(AutoMap, WithinALimitTakesAsFewRoundsAndThenWorkersAsItCan) {
  EXPECT_EQ(to_text(*auto_map_within({8, 96}, 65)), "repeat(4, 3) * spatial(2, 32)");
  EXPECT_EQ(to_text(*auto_map_within({2039}, 8)), "repeat(255) * spatial(8) within (2039)");
  EXPECT_EQ(to_text(*auto_map_within({3, 5}, 7)), "repeat(3, 1) * spatial(1, 5)");
  EXPECT_EQ(to_text(*auto_map_within({7, 5}, 8)), "repeat(1, 5) * spatial(7, 1)");
  EXPECT_EQ(to_text(*auto_map_within({7, 5}, 12)), "repeat(4, 1) * spatial(2, 5) within (7, 5)");
  EXPECT_EQ(to_text(*auto_map_within({std::int64_t{1} << 45}, 3)),
            "repeat(11728124029611) * spatial(3) within (35184372088832)");
  EXPECT_EQ(to_text(*auto_map_within({1, 1}, 32)), "repeat(1, 1) * spatial(1, 1)");
  EXPECT_EQ(to_text(*auto_map_within({3, 5}, 4)), "repeat(1, 5) * spatial(3, 1)");
}

TEST(Mapping, ErrorsNameTheValueFoundAndWhatIsAllowed) {
  const auto message = [](const Result<Mapping>& result) { return result ? "a mapping" : result.error().message; };
  EXPECT_EQ(message(make_part(PartKind::Spatial, {4, 0})), "spatial: extent 0 of axis 1 is outside 1..281474976710656");
  EXPECT_EQ(message(make_part(PartKind::Repeat, {-3})), "repeat: extent -3 of axis 0 is outside 1..281474976710656");
  EXPECT_EQ(message(make_part(PartKind::Repeat, {1 << 30, 1 << 30})),
            "repeat: (1073741824, 1073741824) has more than 281474976710656 tasks");
  EXPECT_EQ(message(make_part(PartKind::Spatial, {4, 8}, {0, 0})),
            "spatial: ranks [0, 0] for 2 axes, allowed are the permutations of [0, 1]");
  EXPECT_EQ(message(make_part(PartKind::Spatial, {4, 8}, {0})),
            "spatial: ranks [0] for 2 axes, allowed are the permutations of [0, 1]");
  EXPECT_EQ(message(compose(spatial({4}), repeat({2, 2}))),
            "product: 'spatial(4)' has 1 axes, 'repeat(2, 2)' has 2, both must have as many");
  EXPECT_EQ(message(compose(spatial({4}), *within(repeat({2}), {1}))),
            "product: 'repeat(2) within (1)' is limited, allowed is a limit of the first factor or all");
  EXPECT_EQ(message(compose(spatial({std::int64_t{1} << 40}), repeat({std::int64_t{1} << 40}))),
            "product: 'spatial(1099511627776)' times 'repeat(1099511627776)' has more than 281474976710656 tasks along "
            "axis 0");
  EXPECT_EQ(message(within(spatial({4}), {5})), "within: extent 5 of axis 0 is outside 0..4");
  EXPECT_EQ(message(within(spatial({4}), {-1})), "within: extent -1 of axis 0 is outside 0..4");
  EXPECT_EQ(message(within(spatial({4}), {1, 1})), "within: (1, 1) has 2 axes, 'spatial(4)' has 1");
  EXPECT_EQ(message(auto_map({8, 96}, 7)),
            "auto_map: 7 workers for the 768 tasks of (8, 96), allowed are divisors of 768");
  EXPECT_EQ(message(auto_map({8, 96}, 0)), "auto_map: 0 workers, allowed are 1..281474976710656");
  EXPECT_EQ(message(auto_map({8, 0}, 4)), "auto_map: extent 0 of axis 1 is outside 1..281474976710656");
  EXPECT_EQ(message(auto_map_within({8, 0}, 4)), "auto_map_within: extent 0 of axis 1 is outside 1..281474976710656");
}

TEST(ParseMapping, ErrorsNameTheColumnAndWhatIsAllowed) {
  const auto message = [](std::string_view text) {
    const Result<Mapping> result = parse_mapping(text);
    return result ? "a mapping" : result.error().message;
  };
  EXPECT_EQ(message(""), "column 1 of the mapping is the end, allowed is 'spatial' or 'repeat'");
  EXPECT_EQ(message("spatial(4) + repeat(2)"), "column 12 of the mapping is '+', allowed is '*', 'within' or the end");
  EXPECT_EQ(message("spatial(4) * tile(2)"), "column 14 of the mapping is 'tile', allowed is 'spatial' or 'repeat'");
  EXPECT_EQ(message("spatial 4"), "column 9 of the mapping is '4', allowed is '('");
  EXPECT_EQ(message("spatial(4, x)"), "column 12 of the mapping is 'x', allowed is a whole number");
  EXPECT_EQ(message("spatial(4, -1)"), "column 12 of the mapping is '-', allowed is a whole number");
  EXPECT_EQ(message("spatial(1.5)"), "column 9 of the mapping is '1.5', allowed is a whole number");
  EXPECT_EQ(message("spatial(99999999999999999999)"),
            "column 9 of the mapping is '99999999999999999999', allowed is a whole number");
  EXPECT_EQ(message("spatial(4 8)"), "column 11 of the mapping is '8', allowed is ',' or ')'");
  EXPECT_EQ(message("spatial(4"), "column 10 of the mapping is the end, allowed is ',' or ')'");
  EXPECT_EQ(message("spatial(4, ranks=[0)"), "column 20 of the mapping is ')', allowed is ',' or ']'");
  EXPECT_EQ(message("spatial(4) within 3"), "column 19 of the mapping is '3', allowed is '('");
  EXPECT_EQ(message("spatial(4) ?"),
            "column 12 of the mapping is the character '?', allowed is '*', 'within' or the end");
  EXPECT_EQ(message("spatial(0)"), "spatial: extent 0 of axis 0 is outside 1..281474976710656");
}

}  // namespace
}  // namespace hone::schedule
