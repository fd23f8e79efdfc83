/// Sentences: a trace as a table of numbers, a row for each step, which TLP's networks read (arXiv 2211.03578).
///
/// Nothing is replayed or lowered for it, so thousands of candidates are written in the time of building a few. There
/// are two languages:
///
/// - "tlp" as published: Ansor's steps (see ansor_steps.h), the tag as one of eleven words, its numbers as they are,
///   cut to 25 rows of 22 ("tlp-gpu": 40 of 20, with a vocabulary of its own);
/// - "tlp2", ours: all primitives of hone, numbers as logarithms, loops described by what they are (extent, strides of
///   what is read along them, marks), and rows that say what is computed before those that say how. Its first row is
///   what the innermost loops come to on the vectors of a target (see loop_nest.h); the others are the same for all.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/cost/ansor_steps.h"
#include "hone/cost/loop_nest.h"
#include "hone/cost/naive_blocks.h"
#include "hone/schedule/step.h"

namespace hone::cost {

/// The size of a sentence: what is longer is cut off, what is shorter is filled up with zeros.
struct SentenceShape {
  std::size_t rows = 0, columns = 0;

  std::size_t size() const { return rows * columns; }
  bool operator==(const SentenceShape&) const = default;
};

/// Writes sentences of one language. One thread at a time.
class SentenceWriter {
 public:
  virtual ~SentenceWriter() = default;

  virtual SentenceShape shape() const = 0;
  /// The language, its version, and its words in their order: networks trained on another one cannot read the
  /// sentences.
  virtual std::string schema() const = 0;
  /// Fills `sentence`, of as many numbers as the shape says, row by row, with what a trace does to a naive program;
  /// says how many rows that took, those that were cut off included.
  virtual std::size_t write(const NaiveBlocks& naive, const schedule::Trace& trace, std::span<float> sentence) = 0;
};

/// The writer of a language: "tlp", "tlp-gpu" or "tlp2", for programs that run on such vectors. An error lists the
/// languages.
Result<std::unique_ptr<SentenceWriter>> make_sentence_writer(std::string_view language, const ComputeUnit& unit = {});
/// How many rows at the beginning of a sentence are about the target; the others are the same for all.
std::size_t target_rows(std::string_view language);

/// TLP's vocabulary of a platform.
enum class TlpPlatform { Cpu, Gpu };

/// The sentence of steps as published. A step that is not in the vocabulary of the platform is left out.
std::size_t write_tlp_sentence(std::span<const AnsorStep> steps, TlpPlatform platform, std::span<float> sentence);
SentenceShape tlp_shape(TlpPlatform platform);

}  // namespace hone::cost
