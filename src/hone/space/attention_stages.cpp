#include "hone/space/attention_stages.h"

#include <algorithm>
#include <fmt/format.h>

#include "hone/space/blocks.h"
#include "hone/tensor/key_blocks.h"

namespace hone::space {

using namespace schedule;

namespace {

/// The reductions of a program, and those among them that multiply two buffers.
struct Reductions {
  std::size_t count = 0;
  std::vector<ir::Block> products;
};

Reductions reductions_of(const std::vector<Path>& all) {
  Reductions found;
  for (const Path& path : all) {
    if (!is_reduction(path.block())) continue;
    ++found.count;
    if (reads_of(path.block()).size() == 2) found.products.push_back(path.block());
  }
  return found;
}

bool has_block(const std::vector<Path>& all, std::string_view name) {
  return std::any_of(all.begin(), all.end(), [&](const Path& path) { return path.block().name == name; });
}

/// Names the blocks; false if there are not those of an attention.
bool name_blocks(const std::vector<Path>& all, AttentionStages& stages) {
  const auto [count, products] = reductions_of(all);
  if (products.empty() || is_reduction(all.back().block())) return false;
  stages.scores = products[0].name;
  stages.result = all.back().block().name;
  if (!has_block(all, tensor::kKeyBlockParts)) {
    // Beside the products, the largest score of a row and the sum of its exponentials.
    if (products.size() != 2 || count != 4) return false;
    stages.attended = products[1].name;
    return true;
  }
  // The same for each block of keys, then the largest score, and two sums over all blocks.
  if (products.size() != 4 || count != 7 || !has_block(all, tensor::kKeyBlockSums)) return false;
  stages.attended = products[1].name;
  stages.parts = tensor::kKeyBlockParts;
  stages.combined = tensor::kKeyBlockSums;
  return true;
}

}  // namespace

Result<AttentionStages> find_attention_stages(const Program& naive) {
  const Error none{ErrorCode::IllegalStep, fmt::format("attention: '{}' is no attention", naive.name), {}};
  const std::vector<Path> all = blocks(naive);
  AttentionStages stages;
  if (!name_blocks(all, stages)) return none;
  const std::vector<NaiveLoop> s = naive_loops(naive, stages.scores), a = naive_loops(naive, stages.attended);
  const std::vector<NaiveLoop> y = naive_loops(naive, stages.result);
  const std::size_t column = stages.has_key_blocks() ? 4 : 3;  // after the loop over blocks of keys
  if (s.size() != 5 || a.size() != column + 2 || y.size() != 4 || s[3].is_reduction || a[column].is_reduction)
    return none;
  stages.heads = s[0].extent * s[1].extent;
  stages.queries = s[2].extent;
  stages.keys = s[3].extent;
  stages.columns = a[column].extent;
  stages.key_block = a[column + 1].extent;
  if (!stages.has_key_blocks() && stages.key_block != stages.keys) return none;
  const ir::Block scores = find_block(naive, stages.scores, "attention")->block();
  stages.has_f32_scores = written_buffers(scores)[0].type() == ir::kF32;
  for (const Read& read : reads_of(scores)) {
    if (!is_param(naive, read.buffer) || read.indices.size() != 4) return none;
    if (!read.uses(s[3])) continue;
    stages.key = ir::name_of(read.buffer);
    stages.has_swapped_key = read.indices[1].is(s[3].var);
  }
  const std::string& last = stages.has_key_blocks() ? stages.combined : stages.attended;
  const ir::Block attended = find_block(naive, last, "attention")->block();
  for (const Read& read : reads_of(all.back().block()))
    stages.has_swapped_result |=
        read.buffer.is(written_buffers(attended)[0]) && read.indices.size() == 4 && read.indices[2].is(y[1].var);
  return stages;
}

}  // namespace hone::space
