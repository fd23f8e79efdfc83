#include "hone/runtime/kernels/tfidf.h"

#include <algorithm>
#include <map>

#include "hone/runtime/kernels/elements.h"
#include "hone/runtime/kernels/move.h"

namespace hone::runtime {
namespace {

/// A tree of words: the path from the root is an n-gram, with its number in the pool if it stands there.
template <typename Word>
struct Trie {
  std::map<Word, Trie> next;
  std::int64_t gram = -1;
};

/// What the attributes say.
struct Grams {
  std::int64_t shortest = 1, longest = 1, skips = 0;
  std::vector<std::int64_t> columns;  ///< per gram of the pool
  std::vector<float> weights;         ///< per gram; may be empty
  std::string mode;
  std::int64_t width = 0;
};

Result<Grams> grams_of(const HostCall& call) {
  Grams grams;
  grams.shortest = call.attributes.integer("min_gram_length", 1);
  grams.longest = call.attributes.integer("max_gram_length", 1);
  grams.skips = call.attributes.integer("max_skip_count", 0);
  grams.columns = call.attributes.integers("ngram_indexes");
  grams.weights = call.attributes.reals("weights");
  grams.mode = call.attributes.text("mode", "");
  if (grams.shortest < 1 || grams.longest < grams.shortest || grams.skips < 0)
    return error(ErrorCode::InvalidArgument, "grams of {} to {} words with up to {} skipped", grams.shortest,
                 grams.longest, grams.skips);
  if (grams.mode != "TF" && grams.mode != "IDF" && grams.mode != "TFIDF")
    return error(ErrorCode::InvalidArgument, "mode is '{}', allowed are TF, IDF and TFIDF", grams.mode);
  constexpr std::int64_t kLastColumn = std::int64_t{1} << 32;
  if (grams.columns.empty() || std::any_of(grams.columns.begin(), grams.columns.end(),
                                           [](std::int64_t column) { return column < 0 || column > kLastColumn; }))
    return error(ErrorCode::InvalidArgument, "ngram_indexes must be there, and in 0..{}", kLastColumn);
  if (!grams.weights.empty() && grams.weights.size() != grams.columns.size())
    return error(ErrorCode::InvalidArgument, "{} weights for {} n-grams", grams.weights.size(), grams.columns.size());
  grams.width = *std::max_element(grams.columns.begin(), grams.columns.end()) + 1;
  return grams;
}

/// Reads the pool: all grams of one word, then all of two, …, the parts beginning where `ngram_counts` says.
template <typename Word>
Result<Trie<Word>> read_pool(const HostCall& call, const Grams& grams, const std::vector<Word>& pool) {
  const std::vector<std::int64_t> begins = call.attributes.integers("ngram_counts");
  Trie<Word> root;
  std::int64_t gram = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const auto size = static_cast<std::int64_t>(i) + 1;
    const std::int64_t begin = begins[i];
    const std::int64_t end = i + 1 < begins.size() ? begins[i + 1] : static_cast<std::int64_t>(pool.size());
    if (begin < 0 || end < begin || end > static_cast<std::int64_t>(pool.size()) || (end - begin) % size != 0)
      return error(ErrorCode::InvalidArgument, "the pool of {} words has no n-grams of {} words from {} to {}",
                   pool.size(), size, begin, end);
    for (std::int64_t at = begin; at < end; at += size, ++gram) {
      if (gram >= static_cast<std::int64_t>(grams.columns.size()))
        return error(ErrorCode::InvalidArgument, "the pool has more n-grams than ngram_indexes, which has {}",
                     grams.columns.size());
      if (size < grams.shortest || size > grams.longest) continue;
      Trie<Word>* node = &root;
      for (std::int64_t k = 0; k < size; ++k) node = &node->next[pool[static_cast<std::size_t>(at + k)]];
      node->gram = gram;
    }
  }
  return root;
}

/// Counts the grams that begin at each word and take every `distance`-th.
template <typename Word>
void count_row(const Trie<Word>& root, const Grams& grams, std::span<const Word> row,
               std::vector<std::int64_t>& counts) {
  const auto words = static_cast<std::int64_t>(row.size());
  // more skipping than there are words finds no further gram
  const std::int64_t last_distance = std::min(grams.skips, words) + 1;
  for (std::int64_t distance = 1; distance <= last_distance; ++distance)
    for (std::int64_t begin = 0; begin < words; ++begin) {
      const Trie<Word>* node = &root;
      std::int64_t size = 1;
      for (std::int64_t at = begin; at < words && size <= grams.longest; at += distance, ++size) {
        const auto found = node->next.find(row[static_cast<std::size_t>(at)]);
        if (found == node->next.end()) break;
        node = &found->second;
        // single words are the same at every distance
        const bool counts_here = size >= grams.shortest && (size > 1 || distance == 1);
        if (node->gram >= 0 && counts_here) ++counts[static_cast<std::size_t>(node->gram)];
      }
    }
}

template <typename Word>
Result<void> vectorize(HostCall& call, const Grams& grams, const std::vector<Word>& pool, std::span<const Word> words,
                       const Shape& shape) {
  HONE_TRY(const Trie<Word> root, read_pool(call, grams, pool));
  const bool is_batch = shape.size() == 2;
  const std::int64_t rows = is_batch ? shape[0] : 1;
  HONE_TRY(Tensor output, call.output(0, ElementType::F32, is_batch ? Shape{rows, grams.width} : Shape{grams.width}));
  fill_zero(output);
  const std::size_t row_words = rows == 0 ? 0 : words.size() / static_cast<std::size_t>(rows);
  std::vector<std::int64_t> counts;
  for (std::int64_t row = 0; row < rows; ++row) {
    counts.assign(grams.columns.size(), 0);
    count_row(root, grams, words.subspan(static_cast<std::size_t>(row) * row_words, row_words), counts);
    for (std::size_t gram = 0; gram < counts.size(); ++gram) {
      if (counts[gram] == 0) continue;
      const float weight = grams.mode == "TF" || grams.weights.empty() ? 1.0F : grams.weights[gram];
      float& target = output.as<float>()[static_cast<std::size_t>(row * grams.width + grams.columns[gram])];
      if (grams.mode == "IDF")
        target = weight;
      else
        target += weight * static_cast<float>(counts[gram]);
    }
  }
  return {};
}

}  // namespace

Result<void> tfidf_vectorizer(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const Grams grams, grams_of(call));
  if (input.rank() > 2)
    return error(ErrorCode::InvalidArgument, "the input must be [words] or [rows, words], found {}",
                 describe(input.type(), input.shape()));
  if (input.type() == ElementType::String)
    return vectorize<std::string>(call, grams, call.attributes.texts("pool_strings"), input.strings(), input.shape());
  HONE_TRY(const std::vector<std::int64_t> words, input.to_ints());
  return vectorize<std::int64_t>(call, grams, call.attributes.integers("pool_int64s"), words, input.shape());
}

}  // namespace hone::runtime
