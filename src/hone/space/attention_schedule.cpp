#include "hone/space/attention_schedule.h"

#include <algorithm>
#include <fmt/format.h>

#include "hone/schedule/primitives.h"
#include "hone/space/blocks.h"
#include "hone/space/row_steps.h"

namespace hone::space {

using namespace schedule;

namespace {

/// The blocks of an attention, by what they are.
struct Stages {
  std::string scores, attended, result;
  std::string key;  ///< the buffer that the scores read along their columns
  std::int64_t queries = 0, keys = 0, columns = 0;
  bool has_swapped_key = false, has_swapped_result = false;  ///< whether they have positions before heads
};

Result<Stages> stages_of(const Program& program) {
  const Error none{ErrorCode::IllegalStep, fmt::format("attention: '{}' is no attention", program.name), {}};
  const std::vector<Path> all = blocks(program);
  std::vector<ir::Block> products;
  std::size_t reductions = 0;
  for (const Path& path : all) {
    if (!is_reduction(path.block())) continue;
    ++reductions;
    if (reads_of(path.block()).size() == 2) products.push_back(path.block());
  }
  // Beside the products, the largest score of a row and the sum of its exponentials.
  if (products.size() != 2 || reductions != 4 || is_reduction(all.back().block())) return none;
  const ir::Block &scores = products[0], &attended = products[1], &result = all.back().block();
  const std::vector<NaiveLoop> s = naive_loops(program, scores.name), a = naive_loops(program, attended.name);
  const std::vector<NaiveLoop> y = naive_loops(program, result.name);
  if (s.size() != 5 || a.size() != 5 || y.size() != 4 || s[3].is_reduction || a[3].is_reduction) return none;
  Stages stages{.scores = scores.name, .attended = attended.name, .result = result.name};
  stages.queries = s[2].extent;
  stages.keys = s[3].extent;
  stages.columns = a[3].extent;
  if (a[4].extent != stages.keys) return none;
  for (const Read& read : reads_of(scores)) {
    if (!is_param(program, read.buffer) || read.indices.size() != 4) return none;
    if (!read.uses(s[3])) continue;
    stages.key = ir::name_of(read.buffer);
    stages.has_swapped_key = read.indices[1].is(s[3].var);
  }
  for (const Read& read : reads_of(result))
    stages.has_swapped_result |=
        read.buffer.is(written_buffers(attended)[0]) && read.indices.size() == 4 && read.indices[2].is(y[1].var);
  return stages;
}

class AttentionMaker {
 public:
  AttentionMaker(const Program& naive, Stages stages, const AttentionTile& tile, const codegen::Target& target)
      : schedule_(naive), stages_(std::move(stages)), tile_(tile), target_(target), lanes_(target.lanes(32)) {}

  Result<Schedule> make() {
    inline_blocks();
    HONE_TRY(pack_keys());
    HONE_TRY(result());
    for (const std::string& block : names())
      if (is_reduction(block_of(block)) && !is_product(block)) HONE_TRY(factor_lanes(schedule_, block, target_));
    std::vector<std::string> producers = names();
    std::erase_if(producers, [&](const std::string& block) { return block == stages_.result || block == copy_; });
    for (auto block = producers.rbegin(); block != producers.rend(); ++block)
      HONE_TRY(schedule_.apply(ComputeAt{*block, outer_.back()}));
    HONE_TRY(product(stages_.scores, tile_.key_vectors));
    HONE_TRY(product(stages_.attended, tile_.value_vectors));
    producers.push_back(stages_.result);
    for (const std::string& block : producers) {
      if (is_product(block)) continue;
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

  bool is_product(const std::string& block) const { return block == stages_.scores || block == stages_.attended; }

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
        if (is_reduction(block) || block.name == stages_.result) continue;
        const std::vector<Path> readers = schedule::readers(schedule_.program(), written_buffers(block)[0]);
        const auto is_product_of = [&](const Path& reader) { return reader.block().name == stages_.attended; };
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

  Result<void> parallelize(const std::vector<std::string>& loops) {
    return apply_all({Fuse{loops}, Parallel{fmt::format("{}", fmt::join(loops, "@"))}});
  }

  /// Register tiles of rows by vectors of columns, the reduction around them.
  Result<void> product(const std::string& block, std::int64_t vectors) {
    const std::vector<std::string> l = own_loops(schedule_.program(), block);
    const std::string &rows = l[2], &columns = l[3], &sum = l[4];
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
      const auto& shape = buffer.get<ir::Buffer>().shape;
      if (is_param(schedule_.program(), buffer) || shape.size() != 4 || !ir::is_int(shape[3], stages_.keys)) continue;
      HONE_TRY(schedule_.apply(StorageAlign{ir::name_of(buffer), 2, lanes_, 0}));
    }
    return {};
  }

  Schedule schedule_;
  Stages stages_;
  AttentionTile tile_;
  const codegen::Target& target_;
  std::int64_t lanes_;
  std::string copy_;                ///< the block that packs the keys
  std::vector<std::string> outer_;  ///< the loops over batch, heads and blocks of queries
};

}  // namespace

Result<AttentionTile> default_attention_tile(const Program& naive, const codegen::Target& target) {
  HONE_TRY(const Stages stages, stages_of(naive));
  const std::int64_t vectors = target.vector_registers >= 32 ? 4 : 2, lanes = target.lanes(32);
  const auto cut = [&](std::int64_t columns) {
    return std::clamp<std::int64_t>((columns + lanes - 1) / lanes, 1, vectors);
  };
  AttentionTile tile{.key_vectors = cut(stages.keys), .value_vectors = cut(stages.columns)};
  tile.rows = std::clamp<std::int64_t>(stages.queries, 1, 6);
  // Scores and their exponentials take a part of the second cache.
  const std::int64_t row_bytes = 2 * 4 * stages.keys;
  while (tile.queries > tile.rows && tile.queries * row_bytes > target.l2_bytes / 2) tile.queries /= 2;
  return tile;
}

Result<Schedule> schedule_attention(const Program& naive, const AttentionTile& tile, const codegen::Target& target) {
  HONE_TRY(Stages stages, stages_of(naive));
  return AttentionMaker(naive, std::move(stages), tile, target).make();
}

}  // namespace hone::space
