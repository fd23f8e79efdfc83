#include "hone/graph/operators/families.h"
#include "hone/runtime/kernels/strings.h"
#include "hone/runtime/kernels/tfidf.h"

namespace hone::graph {

std::span<const Operator> text_operators() {
  static const Operator entries[] = {
      {.name = "StringConcat", .schema = "X: string, Y: string -> Z", .host = runtime::string_concat},
      {.name = "StringSplit", .schema = "X: string -> Y, Z?; delimiter, maxsplit", .host = runtime::string_split},
      {.name = "StringNormalizer",
       .schema = "X: string -> Y; case_change_action, is_case_sensitive, locale, stopwords",
       .host = runtime::string_normalizer},
      {.name = "RegexFullMatch", .schema = "X: string -> Y; pattern", .host = runtime::regex_full_match},
      {.name = "TfIdfVectorizer",
       .schema = "X: string|index -> Y; max_gram_length, max_skip_count, min_gram_length, mode, ngram_counts, "
                 "ngram_indexes, pool_int64s, pool_strings, weights",
       .host = runtime::tfidf_vectorizer},
  };
  return entries;
}

}  // namespace hone::graph
