/// The knobs of a tiled block.
#include "hone/ir/rewrite.h"
#include "hone/space/sketch/register_tile.h"
#include "hone/space/sketch/tiling.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

std::int64_t bytes_of(const Read& read) { return read.elements() * read.buffer.type().bits() / 8; }

/// Of tiles that were not chosen for anything but dividing.
constexpr double kUnknownCost = 10;

/// Factors of the levels between the outermost and the register tile, for tiles of `inner` elements at least.
std::vector<Factors> middle_options(std::int64_t extent, std::int64_t inner, std::size_t levels) {
  const std::int64_t count = ceil_div(extent, inner);
  std::vector<Factors> options;
  if (levels == 0) return {Factors()};
  for (const std::int64_t outer : block_sizes(count)) {
    if (levels == 1) {
      options.push_back({outer});
      continue;
    }
    for (const std::int64_t middle : block_sizes(count))
      if (outer * middle <= count) options.push_back({outer, middle});
  }
  return options;
}

/// At most `most` of the options.
std::vector<Factors> limited(Knobs& knobs, const std::string& knob, std::vector<Factors> options, std::size_t most) {
  const std::size_t all = options.size();
  options = thinned(std::move(options), most);
  knobs.leave_out(all - options.size(), knob, fmt::format("this knob has {} options at most", most));
  return options;
}

void add_hardware_knobs(const Tiling& tiling, const codegen::Target& target, int bits, Knobs& knobs) {
  RegisterTiles tiles = register_tiles(tiling.axes, tiling.vector_axis, tiling.reads, target, bits);
  knobs.leave_out(tiles.too_large, tiling.knob("tile"),
                  fmt::format("they need more than the {} vector registers", target.vector_registers));
  knobs.leave_out(tiles.too_slow, tiling.knob("tile"), "they waste or load far more than the best");
  std::vector<std::int64_t> smallest(tiling.axes.size(), 1 << 30);
  for (const Factors& tile : tiles.options)
    for (std::size_t i = 0; i < tile.size(); ++i) smallest[i] = std::min(smallest[i], tile[i]);
  knobs.add(tiling.knob("tile"), std::move(tiles.options), tiles.best);
  knobs.cost = tiles.cost;
  if (tiling.spatial_levels() < 3) return;
  constexpr std::size_t kMostMiddles = 200;
  for (std::size_t i = 0; i < tiling.axes.size(); ++i) {
    const std::string name = tiling.knob(tiling.axes[i].name);
    std::vector<Factors> options = middle_options(tiling.axes[i].extent, smallest[i], tiling.spatial_levels() - 2);
    knobs.add(name, limited(knobs, name, std::move(options), kMostMiddles));
  }
}

void add_divisor_knobs(const Tiling& tiling, const codegen::Target& target, int bits, Knobs& knobs) {
  knobs.cost = kUnknownCost;
  for (std::size_t i = 0; i < tiling.axes.size(); ++i) {
    std::vector<Factors> options = factorizations(tiling.axes[i].extent, tiling.spatial_levels() - 1, kMaxInnermost);
    const auto is_narrow = [&](const Factors& factors) { return factors.back() < target.lanes(bits); };
    const std::string name = tiling.knob(tiling.axes[i].name);
    if (i == tiling.vector_axis && !std::all_of(options.begin(), options.end(), is_narrow))
      knobs.leave_out(std::erase_if(options, is_narrow), name,
                      fmt::format("they are narrower than a vector of {} lanes", target.lanes(bits)));
    options = limited(knobs, name, std::move(options), kMostOptions);
    std::size_t best = 0;  // a vector in the vector axis, single iterations elsewhere
    for (std::size_t k = 0; k < options.size(); ++k)
      if (i == tiling.vector_axis && options[k].back() <= target.lanes(bits) && options[k].front() == 1 &&
          options[k].back() > options[best].back())
        best = k;
    knobs.add(name, std::move(options), best);
  }
}

/// Inner parts of a reduction: all of it, or a part that is worth keeping sums in registers for. Short loops, such as
/// those over a kernel, are split off one iteration at a time or not at all.
std::vector<Factors> reduction_options(std::int64_t extent) {
  constexpr std::int64_t kFewest = 16, kLargestKernel = 8;
  if (extent < kLargestKernel) return {{1}, {extent}};
  if (extent <= 2 * kFewest) return {{extent}};
  std::vector<Factors> options;
  const Factors exact = divisors(extent);
  const bool has_divisors = exact.size() > 2 || extent <= kMaxInnermost;
  for (const std::int64_t size : has_divisors ? exact : block_sizes(extent))
    if (size >= kFewest) options.push_back({size});
  return options;
}

/// The orders within a level that differ: what comes to the same as the natural one is left out.
Factors orders_of(const Tiling& tiling) {
  Factors orders = {kNatural};
  const auto side = [&](std::size_t i) -> bool { return tiling.is_vector_side[i]; };
  bool is_sorted_first = true, is_sorted_last = true;
  for (std::size_t i = 0; i + 1 < tiling.axes.size(); ++i) {
    is_sorted_first &= !(side(i + 1) && !side(i));
    is_sorted_last &= !(side(i) && !side(i + 1));
  }
  if (!is_sorted_first) orders.push_back(kVectorsOutside);
  if (!is_sorted_last) orders.push_back(kVectorsInside);
  return orders;
}

/// The place of two orders, of the outer levels and the inner one, among the options of the knob.
std::size_t order_place(const Factors& orders, Order outer, Order inner) {
  const auto place = [&](Order order) {
    const auto found = std::find(orders.begin(), orders.end(), order);
    return found == orders.end() ? 0 : static_cast<std::size_t>(found - orders.begin());
  };
  return place(outer) * orders.size() + place(inner);
}

void add_order_knob(const Tiling& tiling, const codegen::Target& target, Knobs& knobs) {
  const Factors orders = orders_of(tiling);
  std::vector<Factors> options;
  for (const std::int64_t outer : orders)
    for (const std::int64_t inner : orders) options.push_back({outer, inner});
  // The larger operand is walked by the outer loops, so that the other one's tiles stay in the cache. Of equals what is
  // read in vectors had better stay, if it can: its rows are farther apart.
  std::int64_t vector_bytes = 0, other_bytes = 0;
  for (const Read& read : tiling.reads)
    (read.uses(tiling.axes[tiling.vector_axis]) ? vector_bytes : other_bytes) += bytes_of(read);
  const bool is_outside =
      vector_bytes > other_bytes || (vector_bytes == other_bytes && vector_bytes > target.l2_bytes / 2);
  const Order wanted = is_outside ? kVectorsOutside : kVectorsInside;
  knobs.add(tiling.knob("order"), std::move(options),
            tiling.is_product() ? order_place(orders, wanted, wanted) : std::size_t{0});
}

/// The first choices, changed knob by knob.
class Changed {
 public:
  Changed(const Tiling& tiling, const Knobs& knobs) : tiling_(tiling), knobs_(knobs), choices_(knobs.first) {}

  /// Chooses the last option of a knob that is wanted; leaves the knob alone if there is none.
  template <typename IsWanted>
  void choose(std::string_view what, IsWanted is_wanted) {
    for (std::size_t i = 0; i < knobs_.knobs.size(); ++i)
      for (std::size_t k = 0; k < knobs_.knobs[i].options.size(); ++k)
        if (knobs_.knobs[i].name == tiling_.knob(what) && is_wanted(knobs_.knobs[i].options[k])) choices_[i] = k;
  }
  const std::vector<std::size_t>& choices() const { return choices_; }

 private:
  const Tiling& tiling_;
  const Knobs& knobs_;
  std::vector<std::size_t> choices_;
};

/// A block of an operand that is read in vectors is copied to where its elements stand as they are read, and used for
/// all rows (Goto and van de Geijn, Anatomy of high-performance matrix multiplication). The block is a part of the L2.
std::vector<std::size_t> copied_in_blocks(const Tiling& tiling, const Knobs& knobs, const Read& read,
                                          const codegen::Target& target) {
  Changed changed(tiling, knobs);
  const Factors& tile = knobs.knobs.front().options[knobs.first.front()];
  std::int64_t budget = target.l2_bytes / 4 * 8 / read.buffer.type().bits();
  for (std::size_t i = 0; i < tiling.axes.size(); ++i)
    if (read.uses(tiling.axes[i])) budget /= tile[i];
  for (const NaiveLoop& loop : tiling.reduced) {
    if (!read.uses(loop)) continue;
    std::int64_t steps = 1;
    changed.choose(loop.name, [&](const Factors& option) {
      const bool fits = option[0] <= std::max<std::int64_t>(budget, 1);
      if (fits) steps = option[0];
      return fits;
    });
    budget /= steps;
  }
  if (target.threads > 1) {  // each has some blocks
    const std::size_t lanes = tiling.vector_axis;
    budget = std::min(budget, ceil_div(tiling.axes[lanes].extent, tile[lanes]) / (2 * target.threads));
  }
  for (std::size_t i = 0; i < tiling.axes.size(); ++i) {
    const std::int64_t most = !read.uses(tiling.axes[i]) ? tiling.axes[i].extent
                              : i == tiling.vector_axis  ? std::max<std::int64_t>(budget, 1)
                                                         : 1;
    changed.choose(tiling.axes[i].name, [&](const Factors& option) { return option[0] == 1 && option[1] <= most; });
  }
  changed.choose("order", [&](const Factors& option) {
    return option == Factors{kVectorsOutside, kVectorsInside} || option == Factors{kVectorsOutside, kNatural} ||
           option == Factors{kNatural, kVectorsInside};
  });
  changed.choose("copy " + ir::name_of(read.buffer), [](const Factors& option) { return option[0] == kAtLevel + 2; });
  return changed.choices();
}

/// Adds what is worth a look before anything is known: the operands walked the other way round, and blocks of what is
/// read in vectors copied. Where that is more than stays in the cache, and is used for many rows, it comes first.
void add_others(const Tiling& tiling, const codegen::Target& target, Knobs& knobs) {
  constexpr std::int64_t kFewestTiles = 4;  // of rows that a copy is used for
  if (tiling.tiles != Tiles::Hardware || tiling.spatial_levels() < 3 || !tiling.is_product()) return;
  const Factors& tile = knobs.knobs.front().options[knobs.first.front()];
  if (tiling.axes.size() > 1) {
    const Factors orders = orders_of(tiling);
    const std::size_t outside = order_place(orders, kVectorsOutside, kVectorsOutside);
    const std::size_t inside = order_place(orders, kVectorsInside, kVectorsInside);
    for (std::size_t i = 0; i < knobs.knobs.size(); ++i)
      if (knobs.knobs[i].name == tiling.knob("order")) {
        std::vector<std::size_t> choices = knobs.first;
        choices[i] = choices[i] == outside ? inside : outside;
        if (choices != knobs.first) knobs.others.push_back(std::move(choices));
      }
  }
  for (const Read& read : tiling.reads) {
    const bool is_copied =
        std::find(tiling.copied.begin(), tiling.copied.end(), ir::name_of(read.buffer)) != tiling.copied.end();
    if (!is_copied || !read.uses(tiling.axes[tiling.vector_axis])) continue;
    std::int64_t uses = 1;
    for (std::size_t i = 0; i < tiling.axes.size(); ++i)
      if (!read.uses(tiling.axes[i])) uses *= ceil_div(tiling.axes[i].extent, tile[i]);
    if (uses < kFewestTiles) continue;
    knobs.others.push_back(copied_in_blocks(tiling, knobs, read, target));
    if (bytes_of(read) > target.l2_bytes / 2) std::swap(knobs.others.back(), knobs.first);
    return;
  }
}

}  // namespace

Knobs knobs_of(const Tiling& tiling, const codegen::Target& target) {
  int bits = 32;
  for (const Read& read : tiling.reads) bits = std::max(bits, read.buffer.type().bits());
  Knobs knobs;
  if (tiling.tiles == Tiles::Hardware)
    add_hardware_knobs(tiling, target, bits, knobs);
  else
    add_divisor_knobs(tiling, target, bits, knobs);
  if (tiling.reduction_levels() > 1)
    for (const NaiveLoop& loop : tiling.reduced) {
      std::vector<Factors> options = tiling.tiles == Tiles::Hardware ? reduction_options(loop.extent)
                                                                     : factorizations(loop.extent, 1, kMaxInnermost);
      const std::size_t last = options.size() - 1;
      knobs.add(tiling.knob(loop.name), std::move(options), last);
    }
  if (tiling.axes.size() > 1 && tiling.spatial_levels() > 2) add_order_knob(tiling, target, knobs);
  if (tiling.plan.consumer && tiling.spatial_levels() > 2) knobs.add(tiling.knob("fuse"), {{0}, {1}, {2}}, 2);
  // In statements. A hardware tile is written out in any case; with it loops over a kernel may be.
  if (tiling.tiles == Tiles::Hardware)
    knobs.add(tiling.knob("unroll"), {{0}, {64}, {256}}, tiling.is_product() ? 0 : 2);
  else
    knobs.add(tiling.knob("unroll"), {{0}, {16}, {64}, {512}});
  if (tiling.runs_parallel) {
    std::vector<Factors> counts;
    for (std::size_t i = 1; i <= tiling.axes.size(); ++i) counts.push_back({static_cast<std::int64_t>(i)});
    const std::size_t last = counts.size() - 1;
    knobs.add(tiling.knob("parallel"), std::move(counts), last);
  }
  for (const std::string& operand : tiling.copied) {
    const NaiveLoop& lanes = tiling.axes[tiling.vector_axis];
    bool is_in_rows = true, is_in_lanes = false;
    for (const Read& read : tiling.reads) {
      if (ir::name_of(read.buffer) != operand) continue;
      is_in_rows &= read.is_strided_in(lanes);
      is_in_lanes |= read.uses(lanes);
    }
    // The levels are the spatial ones and a reduction's. What is not read in vectors is worth a copy around many tiles.
    std::vector<Factors> options;
    if (is_in_rows) options.push_back({kNoCopy});
    if (is_in_lanes)
      options.insert(options.end(), {{kBefore}, {kAtLevel}, {kAtLevel + 1}, {kAtLevel + 2}});
    else
      options.push_back({kAtLevel + 1});
    knobs.add(tiling.knob("copy " + operand), std::move(options));
  }
  add_others(tiling, target, knobs);
  return knobs;
}

}  // namespace hone::space
