#include "hone/space/attention_schedule.h"

#include <algorithm>
#include <fmt/format.h>
#include <ranges>

#include "hone/schedule/primitives.h"
#include "hone/space/attention_stages.h"
#include "hone/space/blocks.h"
#include "hone/space/row_steps.h"

namespace hone::space {

using namespace schedule;

namespace {

class AttentionMaker {
 public:
  AttentionMaker(const Program& naive, AttentionStages stages, const AttentionTile& tile, const codegen::Target& target)
      : schedule_(naive), stages_(std::move(stages)), tile_(tile), target_(target), lanes_(target.lanes(32)) {}

  Result<Schedule> make() {
    inline_blocks();
    HONE_TRY(pack_keys());
    HONE_TRY(result());
    for (const std::string& block : names())
      if (is_reduction(block_of(block)) && !is_product(block)) HONE_TRY(factor_lanes(schedule_, block, target_));
    const std::vector<std::string> producers = names();
    HONE_TRY(place(producers));
    HONE_TRY(product(stages_.scores, tile_.key_vectors));
    HONE_TRY(product(stages_.attended, tile_.value_vectors));
    if (stages_.has_key_blocks()) HONE_TRY(product(stages_.combined, tile_.value_vectors));
    for (const std::string& block : producers) {
      if (is_product(block) || block == copy_) continue;
      HONE_TRY(is_reduction(block_of(block)) ? reduce_in_vectors(schedule_, block)
                                             : compute_in_vectors(schedule_, block, target_));
    }
    HONE_TRY(align_rows());
    if (target_.threads > 1) HONE_TRY(parallelize(outer_));
    return std::move(schedule_);
  }

 private:
  Result<void> apply_all(const Trace& steps) {
    for (const Step& step : steps) HONE_TRY(schedule_.apply(step));
    return {};
  }

  static std::string part(const std::string& loop, int number) { return fmt::format("{}.{}", loop, number); }

  bool is_product(const std::string& block) const {
    return block == stages_.scores || block == stages_.attended || block == stages_.combined;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const Path& path : blocks(schedule_.program())) found.push_back(path.block().name);
    return found;
  }

  ir::Block block_of(const std::string& name) const {
    return find_block(schedule_.program(), name, "attention")->block();
  }

  /// Whether a block has an element for each score, not one for each row of them.
  bool is_along_row(const ir::Block& block) const {
    return !block.iters.empty() && ir::as_int(block.iters.back().extent).value_or(1) > 1;
  }

  /// Scores with their masks are computed where they are read, which is twice, and exponentials once.
  void inline_blocks() {
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (const Path& path : blocks(schedule_.program())) {
        const ir::Block& block = path.block();
        if (is_reduction(block) || block.name == stages_.result || block.name == stages_.parts) continue;
        const std::vector<Path> readers = schedule::readers(schedule_.program(), written_buffers(block)[0]);
        const auto is_product_of = [&](const Path& reader) { return is_product(reader.block().name); };
        if (std::any_of(readers.begin(), readers.end(), is_product_of)) continue;
        const bool is_wasteful = !is_along_row(block) && is_along_row(readers[0].block()) && !is_copy(block);
        if (is_wasteful || !schedule_.apply(ComputeInline{block.name})) continue;
        is_changed = true;
        break;
      }
    }
  }

  static bool is_copy(const ir::Block& block) {
    const ir::Store* store = block.body.as<ir::Store>();
    return store && store->value.as<ir::Load>();
  }

  /// Keys side by side in panels, as wide as the register tile of the scores; a vector of them is copied at a time.
  Result<void> pack_keys() {
    copy_ = stages_.key + ".global";
    HONE_TRY(schedule_.apply(CacheRead{stages_.scores, stages_.key, ir::Scope::Global}));
    HONE_TRY(schedule_.apply(TransformLayout{
        copy_, fmt::format("({0}, e) -> (b, h, n // {1}, e, n % {1})", stages_.has_swapped_key ? "b, n, h" : "b, h, n",
                           tile_.key_vectors * lanes_)}));
    const std::vector<std::string> l = own_loops(schedule_.program(), copy_);
    const std::string &heads = l[stages_.has_swapped_key ? 2 : 1], &keys = l[stages_.has_swapped_key ? 1 : 2];
    HONE_TRY(apply_all({
        Split{keys, {kRest, lanes_}},
        Reorder{{l[0], heads, part(keys, 0), l[3], part(keys, 1)}},
        Vectorize{part(keys, 1)},
    }));
    return target_.threads > 1 ? parallelize({l[0], heads}) : Result<void>();
  }

  /// The result: by heads and blocks of queries, under which all else is computed.
  Result<void> result() {
    const std::vector<std::string> l = own_loops(schedule_.program(), stages_.result);
    const std::string &heads = l[stages_.has_swapped_result ? 2 : 1], &queries = l[stages_.has_swapped_result ? 1 : 2];
    HONE_TRY(apply_all({
        Split{queries, {kRest, tile_.queries}},
        Reorder{{l[0], heads, part(queries, 0), part(queries, 1), l[3]}},
    }));
    outer_ = {l[0], heads, part(queries, 0)};
    return {};
  }

  /// Computes everything below the loops of the result, and what makes the parts below the loop over blocks of keys.
  Result<void> place(const std::vector<std::string>& producers) {
    std::string loop = outer_.back();
    for (const std::string& block : std::views::reverse(producers)) {
      if (block == stages_.result || block == copy_) continue;
      HONE_TRY(schedule_.apply(ComputeAt{block, loop}));
      if (block != stages_.parts) continue;
      const std::vector<std::string> l = own_loops(schedule_.program(), stages_.parts);
      HONE_TRY(schedule_.apply(Reorder{{l[0], l[1], l[3], l[2], l[4]}}));
      loop = l[3];
    }
    return {};
  }

  Result<void> parallelize(const std::vector<std::string>& loops) {
    return apply_all({Fuse{loops}, Parallel{fmt::format("{}", fmt::join(loops, "@"))}});
  }

  /// Register tiles of rows by vectors of columns, the reduction around them.
  Result<void> product(const std::string& block, std::int64_t vectors) {
    const std::vector<std::string> l = own_loops(schedule_.program(), block);
    const std::string &rows = l[2], &columns = l[l.size() - 2], &sum = l.back();
    return apply_all({
        Split{rows, {kRest, tile_.rows}},
        Split{columns, {kRest, vectors, lanes_}},
        Reorder{{part(columns, 0), part(rows, 0), sum, part(rows, 1), part(columns, 1), part(columns, 2)}},
        Vectorize{part(columns, 2)},
        Unroll{part(columns, 1)},
        Unroll{part(rows, 1)},
    });
  }

  /// Rows of scores and of what is made of them begin at the start of a vector.
  Result<void> align_rows() {
    for (const Path& path : blocks(schedule_.program())) {
      const ir::Expr buffer = written_buffers(path.block())[0];
      if (is_param(schedule_.program(), buffer) || !has_rows(path.block().name, buffer.get<ir::Buffer>().shape))
        continue;
      const auto axis = static_cast<std::int64_t>(buffer.get<ir::Buffer>().shape.size()) - 2;
      HONE_TRY(schedule_.apply(StorageAlign{ir::name_of(buffer), axis, lanes_, 0}));
    }
    return {};
  }

  bool has_rows(const std::string& block, const std::vector<ir::Expr>& shape) const {
    if (shape.size() == 4) return ir::is_int(shape[3], stages_.keys);
    if (!stages_.has_key_blocks() || shape.size() != 5 || block == copy_) return false;
    return block == stages_.parts || ir::is_int(shape[4], stages_.key_block);
  }

  Schedule schedule_;
  AttentionStages stages_;
  AttentionTile tile_;
  const codegen::Target& target_;
  std::int64_t lanes_;
  std::string copy_;                ///< the block that packs the keys
  std::vector<std::string> outer_;  ///< the loops over batch, heads and blocks of queries
};

}  // namespace

Result<Schedule> schedule_attention(const Program& naive, const AttentionTile& tile, const codegen::Target& target) {
  HONE_TRY(AttentionStages stages, find_attention_stages(naive));
  return AttentionMaker(naive, std::move(stages), tile, target).make();
}

}  // namespace hone::space
