#include "sentences.h"

#include <fmt/core.h>

#include "figure.h"

#include "hone/cost/sentence.h"

namespace hone::bench {

Result<void> time_sentences(const schedule::Program& naive, const schedule::Trace& trace) {
  constexpr std::size_t kCandidates = 10'000, kDrawn = 500;
  Rng rng(/*seed=*/1);
  std::vector<schedule::Trace> traces;
  for (std::size_t i = 0; i < kDrawn; ++i) {
    schedule::Trace drawn;
    for (const schedule::Step& step : trace) {
      drawn.push_back(step);
      if (std::holds_alternative<schedule::SampleTile>(step)) {
        HONE_TRY(drawn.back(), schedule::sample(naive, step, rng));
      }
    }
    traces.push_back(std::move(drawn));
  }
  HONE_TRY(const cost::NaiveBlocks blocks, cost::naive_blocks(naive));
  for (const char* language : {"tlp", "tlp2"}) {
    HONE_TRY(const std::unique_ptr<cost::SentenceWriter> writer, cost::make_sentence_writer(language));
    std::vector<float> sentences(kCandidates * writer->shape().size());
    std::size_t rows = 0;
    const Figure figure = time(5, [&] {
      rows = 0;
      for (std::size_t i = 0; i < kCandidates; ++i)
        rows += writer->write(blocks, traces[i % kDrawn],
                              std::span(sentences).subspan(i * writer->shape().size(), writer->shape().size()));
    });
    print(fmt::format("{} sentences of '{}', one thread", kCandidates, language), figure,
          fmt::format("bar: 500000 µs; {} rows each", rows / kCandidates));
  }
  return {};
}

}  // namespace hone::bench
