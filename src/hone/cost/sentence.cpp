#include "hone/cost/sentence.h"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <optional>

#include "hone/cost/tlp2_sentence.h"

namespace hone::cost {
namespace {

constexpr std::size_t kTlpWords = 11;

/// Words and unroll limits in the order in which the publication numbers them.
struct TlpVocabulary {
  std::array<AnsorTag, kTlpWords> words;
  std::array<std::string_view, kTlpWords> names;
  std::array<double, 5> unroll_limits;  ///< the place, from 1 on, stands for the limit
  SentenceShape shape;
};

constexpr TlpVocabulary kTlpCpu = {{AnsorTag::CI, AnsorTag::RE, AnsorTag::AN, AnsorTag::RF, AnsorTag::CHW, AnsorTag::SP,
                                    AnsorTag::CR, AnsorTag::CA, AnsorTag::FU, AnsorTag::FSP, AnsorTag::PR},
                                   {"CI", "RE", "AN", "RF", "CHW", "SP", "CR", "CA", "FU", "FSP", "PR"},
                                   {16, 0, 512, 64, -1},
                                   {25, 22}};
constexpr TlpVocabulary kTlpGpu = {
    {AnsorTag::AN, AnsorTag::CHR, AnsorTag::CHW, AnsorTag::CI, AnsorTag::CA, AnsorTag::FFSP, AnsorTag::SP, AnsorTag::FU,
     AnsorTag::RE, AnsorTag::PR, AnsorTag::FSP},
    {"AN", "CHR", "CHW", "CI", "CA", "FFSP", "SP", "FU", "RE", "PR", "FSP"},
    {0, 16, 64, 1024, 512},
    {40, 20}};

const TlpVocabulary& vocabulary_of(TlpPlatform platform) { return platform == TlpPlatform::Cpu ? kTlpCpu : kTlpGpu; }

/// What stands for a number of a step.
double tlp_number(const TlpVocabulary& vocabulary, const AnsorStep& step, std::size_t place) {
  const double number = step.numbers[place];
  constexpr double kShared = 2;
  if (step.tag == AnsorTag::CHR && place == 1) return number == kShared ? 1 : number;
  if (step.tag != AnsorTag::PR || place + 1 != step.numbers.size()) return number;
  const auto known = std::find(vocabulary.unroll_limits.begin(), vocabulary.unroll_limits.end(), number);
  if (known == vocabulary.unroll_limits.end()) return 0;
  return static_cast<double>(known - vocabulary.unroll_limits.begin() + 1);
}

class TlpWriter : public SentenceWriter {
 public:
  explicit TlpWriter(TlpPlatform platform) : platform_(platform) {}

  SentenceShape shape() const override { return tlp_shape(platform_); }
  std::string schema() const override {
    return fmt::format("{}/1 {}x{} {}", platform_ == TlpPlatform::Cpu ? "tlp" : "tlp-gpu", shape().rows,
                       shape().columns, fmt::join(vocabulary_of(platform_).names, ","));
  }
  std::size_t write(const NaiveBlocks& naive, const schedule::Trace& trace, std::span<float> sentence) override {
    return write_tlp_sentence(steps_.write(naive, trace), platform_, sentence);
  }

 private:
  TlpPlatform platform_;
  AnsorWriter steps_;
};

}  // namespace

SentenceShape tlp_shape(TlpPlatform platform) { return vocabulary_of(platform).shape; }

std::size_t write_tlp_sentence(std::span<const AnsorStep> steps, TlpPlatform platform, std::span<float> sentence) {
  const TlpVocabulary& vocabulary = vocabulary_of(platform);
  const auto [rows, columns] = vocabulary.shape;
  HONE_CHECK(sentence.size() == rows * columns, "a sentence of {} numbers", sentence.size());
  std::fill(sentence.begin(), sentence.end(), 0.0F);
  std::size_t used = 0;
  for (const AnsorStep& step : steps) {
    const auto word = std::find(vocabulary.words.begin(), vocabulary.words.end(), step.tag);
    if (word == vocabulary.words.end()) continue;
    if (used++ >= rows) continue;
    const std::span<float> row = sentence.subspan((used - 1) * columns, columns);
    row[static_cast<std::size_t>(word - vocabulary.words.begin())] = 1;
    for (std::size_t i = 0; i < step.numbers.size() && kTlpWords + i < columns; ++i)
      row[kTlpWords + i] = static_cast<float>(tlp_number(vocabulary, step, i));
  }
  return used;
}

std::size_t target_rows(std::string_view language) { return language == "tlp2" ? 1 : 0; }

Result<std::unique_ptr<SentenceWriter>> make_sentence_writer(std::string_view language, const ComputeUnit& unit) {
  if (language == "tlp") return std::make_unique<TlpWriter>(TlpPlatform::Cpu);
  if (language == "tlp-gpu") return std::make_unique<TlpWriter>(TlpPlatform::Gpu);
  if (language == "tlp2") return make_tlp2_writer(unit);
  return error(ErrorCode::NotFound, "there is no language '{}' of sentences, only: tlp, tlp-gpu, tlp2", language);
}

}  // namespace hone::cost
