#include "hone/space/winograd_schedule.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "hone/schedule/prepack.h"
#include "hone/schedule/primitives.h"
#include "hone/space/winograd_stages.h"
#include "hone/support/arithmetic.h"

namespace hone::space {

using namespace schedule;

namespace {

std::string part(const std::string& loop, int number) { return fmt::format("{}.{}", loop, number); }

/// Beyond so many results in each direction, what transforms a tile is too long to be written out for each border.
constexpr std::int64_t kSmallTile = 4;

/// The tile cut to what there is.
WinogradTile within(WinogradTile tile, const WinogradStages& stages, std::int64_t lanes) {
  const auto cut = [](std::int64_t value, std::int64_t most) {
    return std::clamp<std::int64_t>(value, 1, std::max<std::int64_t>(most, 1));
  };
  tile.images = cut(tile.images, stages.images);
  tile.rows = cut(tile.rows, stages.rows);
  tile.columns = cut(tile.columns, stages.columns);
  tile.gemm_rows = cut(tile.gemm_rows, tile.images * tile.rows * tile.columns);
  const std::int64_t panel = std::max<std::int64_t>(tile.gemm_vectors, 1) * lanes;
  tile.channels = std::max<std::int64_t>(tile.channels / panel, 1) * panel;
  return tile;
}

/// Makes the schedule, one stage after the other.
class WinogradMaker {
 public:
  WinogradMaker(const Program& naive, WinogradStages stages, const WinogradTile& tile, const codegen::Target& target)
      : schedule_(naive),
        stages_(std::move(stages)),
        tile_(tile),
        lanes_(target.lanes(stages_.bits)),
        threads_(target.threads),
        is_one_block_(tile.images >= stages_.images && tile.rows == stages_.rows && tile.columns == stages_.columns) {}

  Result<Schedule> make(bool packs_weight) {
    for (const std::string& block : stages_.others) HONE_TRY(apply(ComputeInline{block}));
    HONE_TRY(weight(packs_weight));
    HONE_TRY(result());
    if (is_one_block_) HONE_TRY(share_passes());
    HONE_TRY(products());
    HONE_TRY(input());
    if (tile_.fetches_tensors && !is_one_block_) fetch_tensors();
    if (threads_ > 1) HONE_TRY(apply(Parallel{is_one_block_ ? passes_ : block_}));
    return std::move(schedule_);
  }

 private:
  Result<void> apply(const Step& step) { return schedule_.apply(step); }

  Result<void> apply_all(const Trace& steps) {
    for (const Step& step : steps) HONE_TRY(apply(step));
    return {};
  }

  /// The names of the innermost loops around a block, one for each of its variables.
  std::vector<std::string> loops(const std::string& block) const {
    std::vector<std::string> all = loops_of(schedule_.program(), block);
    const auto count = find_block(schedule_.program(), block, "winograd")->block().iters.size();
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size())));
    return all;
  }

  std::string buffer_of(const std::string& block) const {
    return ir::name_of(written_buffers(find_block(schedule_.program(), block, "winograd")->block())[0]);
  }

  /// Weights at the points, in panels as wide as the register tile of the products.
  Result<void> weight(bool packs_ahead) {
    const std::string& name = stages_.weight_points;
    const std::vector<std::string> l = loops(name);
    const std::string &a = l[0], &b = l[1], &o = l[2], &c = l[3];
    HONE_TRY(apply_all({
        Split{o, {kRest, lanes_}},
        Reorder{{part(o, 0), c, a, b, part(o, 1)}},
        Vectorize{part(o, 1)},
        Unroll{a},
        Unroll{b},
        ComputeAt{stages_.weight_rows, c},
    }));
    const std::vector<std::string> rows = loops(stages_.weight_rows);
    HONE_TRY(apply_all({
        Reorder{{rows[3], rows[0], rows[1], rows[2]}},
        Unroll{rows[0]},
        Unroll{rows[1]},
        Vectorize{rows[2]},
    }));
    if (threads_ > 1) HONE_TRY(apply(Parallel{part(o, 0)}));
    if (packs_ahead) HONE_TRY(apply(Annotate{name, std::string(kPrepack), "1"}));
    return apply(
        TransformLayout{buffer_of(name), fmt::format("(a, b, o, c) -> (o // {0}, a, b, o % {0} // {1}, c, o % {1})",
                                                     tile_.channels, tile_.gemm_vectors * lanes_)});
  }

  /// The result: by blocks of tiles and passes over out channels, then tile by tile, a vector of channels at a time.
  Result<void> result() {
    const std::vector<std::string> l = loops(stages_.result);
    const std::string &n = l[0], &o = l[1], &y = l[2], &x = l[3];
    HONE_TRY(apply_all({
        Split{n, {kRest, tile_.images}},
        Split{y, {kRest, tile_.rows, stages_.tile}},
        Split{x, {kRest, tile_.columns, stages_.tile}},
        Split{o, {kRest, tile_.channels / lanes_, lanes_}},
        Reorder{{part(n, 0), part(y, 0), part(x, 0), part(o, 0), part(o, 1), part(n, 1), part(y, 1), part(x, 1),
                 part(y, 2), part(x, 2), part(o, 2)}},
        Vectorize{part(o, 2)},
        Unroll{part(y, 2)},
        Unroll{part(x, 2)},
        ComputeAt{stages_.output_rows, part(x, 1)},
        Fuse{{part(n, 0), part(y, 0), part(x, 0)}},
    }));
    HONE_TRY(unroll_points(stages_.output_rows));
    block_ = fmt::format("{}@{}@{}", part(n, 0), part(y, 0), part(x, 0));
    pass_ = part(o, 0);
    return {};
  }

  /// Where all tiles are one block, threads share the passes over out channels.
  Result<void> share_passes() {
    const std::int64_t passes = ceil_div(stages_.out_channels, tile_.channels);
    passes_ = pass_;
    if (threads_ < 2 || passes <= threads_) return {};
    HONE_TRY(apply(Split{pass_, {kRest, ceil_div(passes, threads_)}}));
    passes_ = part(pass_, 0);
    pass_ = part(pass_, 1);
    return {};
  }

  /// Writes out the first two loops of a transform, which run over points, the second one outside: a column of points
  /// is then used up as soon as it is read. Vectors run along the last.
  Result<void> unroll_points(const std::string& block) {
    const std::vector<std::string> l = loops(block);
    return apply_all({Reorder{{l[1], l[0]}}, Unroll{l[0]}, Unroll{l[1]}, Vectorize{l.back()}});
  }

  /// The matrix product of each point: tiles by vectors of out channels in registers.
  Result<void> products() {
    const std::string& name = stages_.products;
    HONE_TRY(apply(ComputeAt{name, pass_}));
    const std::vector<std::string> l = loops(name);
    const std::string &a = l[0], &b = l[1], &o = l[5], &c = l[6];
    const std::string tiles = fmt::format("{}@{}@{}", l[2], l[3], l[4]);
    HONE_TRY(apply_all({
        Fuse{{l[2], l[3], l[4]}},
        Split{tiles, {kRest, tile_.gemm_rows}},
        Split{o, {kRest, tile_.gemm_vectors, lanes_}},
        Split{c, {kRest, lanes_}},
        Reorder{{a, b, part(o, 0), part(tiles, 0), part(c, 0), part(c, 1), part(tiles, 1), part(o, 1), part(o, 2)}},
        Fuse{{a, b, part(o, 0)}},
        Vectorize{part(o, 2)},
        Unroll{part(o, 1)},
        Unroll{part(tiles, 1)},
    }));
    channels_ = part(c, 0);
    if (tile_.fetches_weights)
      HONE_TRY(apply(
          SpreadPrefetch{buffer_of(stages_.weight_points), fmt::format("{}@{}@{}", a, b, part(o, 0)), part(c, 1), 1}));
    return gather_points(name);
  }

  /// Input at the points: a vector of channels at a time, tile by tile. Threads that share passes each transform all of
  /// it: that is little work beside the products, and what another core has just written takes long to read.
  Result<void> input() {
    const std::string& name = stages_.input_points;
    if (!is_one_block_ || threads_ > 1) HONE_TRY(apply(ComputeAt{name, is_one_block_ ? passes_ : block_}));
    const std::vector<std::string> l = loops(name);
    const std::string &a = l[0], &b = l[1], &c = l[5], &tile = l[4];
    HONE_TRY(apply_all({
        Split{c, {kRest, lanes_}},
        Reorder{{part(c, 0), l[2], l[3], tile, a, b, part(c, 1)}},
        Vectorize{part(c, 1)},
        Unroll{a},
        Unroll{b},
        ComputeAt{stages_.input_rows, tile},
    }));
    HONE_TRY(unroll_points(stages_.input_rows));
    if (!stages_.pad.empty()) HONE_TRY(stages_.tile > kSmallTile ? strip(l[3]) : patch(tile));
    return gather_points(name);
  }

  /// The padded input of one tile, channels last as the vectors run. Tiles at the borders are code of their own.
  Result<void> patch(const std::string& tile) {
    HONE_TRY(pad_at(tile));
    const std::vector<std::string> l = loops(stages_.pad);
    return apply_all({Unroll{l[1]}, Unroll{l[2]}});
  }

  /// The padded input of a row of tiles: borders are dealt with where it is copied, and all tiles are transformed by
  /// one piece of code, which is long where tiles are large.
  Result<void> strip(const std::string& row) { return pad_at(row); }

  Result<void> pad_at(const std::string& loop) {
    HONE_TRY(apply_all(
        {TransformLayout{buffer_of(stages_.pad), "(n, c, y, x) -> (n, y, x, c)"}, ComputeAt{stages_.pad, loop}}));
    const std::vector<std::string> l = loops(stages_.pad);
    return apply_all({Reorder{{l[0], l[2], l[3], l[1]}}, Vectorize{l[1]}});
  }

  /// Fetches what the next block of tiles reads and writes of the parameters while the products of this one are made,
  /// which hardly use memory. What cannot be dealt out is not fetched.
  void fetch_tensors() {
    constexpr std::int64_t kWorthFetching = 1 << 14;  // elements
    for (const ir::Expr& param : schedule_.program().params) {
      std::int64_t elements = param.is(stages_.weight) ? 0 : 1;
      for (const ir::Expr& extent : param.get<ir::Buffer>().shape) elements *= ir::as_int(extent).value_or(0);
      if (elements >= kWorthFetching) (void)apply(SpreadPrefetch{ir::name_of(param), block_, channels_, 1});
    }
  }

  /// Puts the values of a tile at all points beside each other, a vector of channels at a time, as transforms write and
  /// read them: streams for each point would be more than a core has page table entries for. Tiles stand an odd number
  /// of vectors apart, so that they fall into different cache sets.
  Result<void> gather_points(const std::string& block) {
    return apply_all({TransformLayout{buffer_of(block),
                                      fmt::format("(a, b, n, y, x, c) -> (n, y, x, c // {0}, a, b, c % {0})", lanes_)},
                      StorageAlign{buffer_of(block), 2, 2 * lanes_, lanes_}});
  }

  Schedule schedule_;
  WinogradStages stages_;
  WinogradTile tile_;
  std::int64_t lanes_;
  std::int64_t threads_;
  bool is_one_block_;
  /// The loops over blocks of tiles, out channels (and those that one thread has), and vectors of in channels.
  std::string block_, passes_, pass_, channels_;
};

}  // namespace

bool is_winograd(const Program& naive) { return find_winograd_stages(naive).has_value(); }

ir::Expr winograd_weight(const Program& naive) { return find_winograd_stages(naive)->weight; }

Result<Schedule> schedule_winograd(const Program& naive, bool packs_weight, const WinogradTile& tile,
                                   const codegen::Target& target) {
  std::optional<WinogradStages> stages = find_winograd_stages(naive);
  if (!stages) return error(ErrorCode::IllegalStep, "winograd: '{}' is not a Winograd convolution", naive.name);
  WinogradTile fitting = within(tile, *stages, target.lanes(stages->bits));
  Result<Schedule> made = WinogradMaker(naive, *stages, fitting, target).make(packs_weight);
  // Register tiles that reach over rows of tiles are not always seen to visit each tile once.
  while (!made && fitting.columns % fitting.gemm_rows != 0) {
    while (fitting.columns % --fitting.gemm_rows != 0) continue;
    made = WinogradMaker(naive, *stages, fitting, target).make(packs_weight);
  }
  return made;
}

}  // namespace hone::space
