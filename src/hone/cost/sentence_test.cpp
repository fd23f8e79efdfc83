#include "hone/cost/sentence.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/schedule/trace.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::cost {
namespace {

using schedule::Trace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A product with a bias behind it: blocks `matmul` (i, j, k) and `Z`.
schedule::Program product_with_bias() {
  const tensor::Tensor a = tensor::placeholder("A", {64, 32}), b = tensor::placeholder("B", {32, 48});
  const tensor::Tensor bias = tensor::placeholder("bias", {48});
  const tensor::Tensor y = tensor::compute("Y", {{"i", 64}, {"j", 48}}, [&](const tensor::Indices& at) {
    return tensor::reduce_sum({{"k", 32}},
                              [&](const tensor::Indices& sum) { return a(at[0], sum[0]) * b(sum[0], at[1]); });
  });
  const tensor::Tensor z =
      tensor::compute("Z", {{"zi", 64}, {"zj", 48}}, [&](const tensor::Indices& at) { return y(at) + bias(at[1]); });
  return tensor::lower("product", {a, b, bias}, {z});
}

const Trace kTiled = {
    schedule::Split{"i", {0, 4}},
    schedule::Split{"j", {0, 16}},
    schedule::Reorder{{"i.0", "j.0", "k", "i.1", "j.1"}},
    schedule::Fuse{{"i.0", "j.0"}},
    schedule::Parallel{"i.0@j.0"},
    schedule::Vectorize{"j.1"},
    schedule::Unroll{"i.1"},
    schedule::Annotate{"k", "unroll", "64"},
    schedule::ReverseComputeAt{"Z", "i.0@j.0"},
};

std::vector<float> row(std::span<const float> sentence, const SentenceShape& shape, std::size_t number) {
  const std::span<const float> part = sentence.subspan(number * shape.columns, shape.columns);
  return {part.begin(), part.end()};
}

TEST(NaiveBlocks, KnowWhatMovesWithWhichLoop) {
  const NaiveBlocks naive = naive_blocks(product_with_bias()).value();
  EXPECT_THAT(naive.params, ElementsAre("A", "B", "bias", "Z"));
  ASSERT_EQ(naive.blocks.size(), 2u);
  const NaiveBlock& product = naive.blocks[naive.main];
  EXPECT_EQ(product.name, "Y");
  EXPECT_TRUE(product.is_reduction);
  EXPECT_EQ(product.points, 64 * 48 * 32);
  ASSERT_EQ(product.axes.size(), 3u);
  EXPECT_THAT(product.axes[0].strides, ElementsAre(48, 32, 0, 0));  // Y, A, B
  EXPECT_THAT(product.axes[1].strides, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(product.axes[2].strides, ElementsAre(0, 1, 48, 0));
  EXPECT_TRUE(product.axes[2].is_reduction);
}

TEST(AnsorSteps, AreWhatARecordOfAnsorSays) {
  const schedule::Program naive = product_with_bias();
  ASSERT_TRUE(schedule::replay(naive, kTiled)) << "the trace is legal";
  // Stages: A, B, bias, Z as parameters, then the blocks Y (4) and Z (5).
  const std::vector<AnsorStep> steps = AnsorWriter().write(naive_blocks(naive).value(), kTiled);
  EXPECT_EQ(steps, parse_ansor_steps(R"([
      ["SP", 4, 0, 64, [4], 1],
      ["SP", 4, 2, 48, [16], 1],
      ["RE", 4, [0, 2, 4, 1, 3]],
      ["FU", 4, [0, 1]],
      ["AN", 4, 0, 3],
      ["AN", 4, 3, 2],
      ["AN", 4, 2, 1],
      ["PR", 4, 1, "auto_unroll_max_step$64"],
      ["CA", 5, 4, 0]])")
                       .value());
}

TEST(AnsorSteps, OfBadRecordsAreErrorsThatNameTheStep) {
  const auto message = [](const char* text) {
    const auto steps = parse_ansor_steps(text);
    return steps ? std::string() : steps.error().message;
  };
  EXPECT_THAT(message("{"), HasSubstr("no list"));
  EXPECT_THAT(message(R"([["CI", 1], 5])"), HasSubstr("step 1 is 5"));
  EXPECT_THAT(message(R"([["XX", 1]])"), HasSubstr("'XX', allowed are AN, FU"));
  EXPECT_THAT(message(R"([["PR", 1, 0, "auto_unroll_max_step$x"]])"), HasSubstr("auto_unroll_max_step$x"));
  EXPECT_THAT(message(R"([["SP", 1, {}]])"), HasSubstr("SP has a field that is no number"));
}

TEST(TlpSentence, IsAsPublished) {
  const std::vector<AnsorStep> steps =
      parse_ansor_steps(R"([["CI", 3], ["SP", 2, 0, 512, [8, 1, 16], 1], ["CHW", 2, "local"],
                            ["PR", 2, 0, "auto_unroll_max_step$512"], ["AN", 2, 0, 3],
                            ["RE", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7, 10, 11, 12]]])")
          .value();
  const SentenceShape shape = tlp_shape(TlpPlatform::Cpu);
  EXPECT_EQ(shape, (SentenceShape{25, 22}));
  std::vector<float> sentence(shape.size(), 7);
  EXPECT_EQ(write_tlp_sentence(steps, TlpPlatform::Cpu, sentence), 6u);
  EXPECT_THAT(row(sentence, shape, 0), ElementsAre(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(row(sentence, shape, 1),
              ElementsAre(0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 512, 8, 1, 16, 1, 0, 0, 0, 0));
  EXPECT_THAT(row(sentence, shape, 2), ElementsAre(0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(row(sentence, shape, 3), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(row(sentence, shape, 4), ElementsAre(0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(row(sentence, shape, 5), ElementsAre(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 4, 1, 5, 8, 2, 6, 9, 3, 7))
      << "what does not fit is cut off";
  EXPECT_THAT(row(sentence, shape, 6), ::testing::Each(0));

  const SentenceShape gpu = tlp_shape(TlpPlatform::Gpu);
  EXPECT_EQ(gpu, (SentenceShape{40, 20}));
  std::vector<float> other(gpu.size());
  const std::vector<AnsorStep> on_gpu =
      parse_ansor_steps(R"([["CHR", 1, "shared", [3]], ["RF", 1, 0, 0], ["PR", 2, 0, "auto_unroll_max_step$512"]])")
          .value();
  EXPECT_EQ(write_tlp_sentence(on_gpu, TlpPlatform::Gpu, other), 2u) << "RF is not in the vocabulary of GPUs";
  EXPECT_THAT(row(other, gpu, 0), ElementsAre(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 3, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(row(other, gpu, 1), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 5, 0, 0, 0, 0, 0, 0));
}

TEST(TlpSentence, LongOnesAreCutToTheirFirstRows) {
  const SentenceShape shape = tlp_shape(TlpPlatform::Cpu);
  std::vector<AnsorStep> steps;
  for (int i = 0; i < 30; ++i) steps.push_back({AnsorTag::CI, {static_cast<double>(i)}});
  std::vector<float> sentence(shape.size());
  EXPECT_EQ(write_tlp_sentence(steps, TlpPlatform::Cpu, sentence), 30u);
  EXPECT_EQ(row(sentence, shape, 24)[11], 24);
}

class Tlp2Sentence : public ::testing::Test {
 protected:
  std::vector<float> write(const Trace& trace) {
    std::vector<float> sentence(writer_->shape().size(), 7);
    used_ = writer_->write(naive_, trace, sentence);
    for (const float number : sentence) EXPECT_TRUE(std::isfinite(number));
    return sentence;
  }

  const std::unique_ptr<SentenceWriter> writer_ = make_sentence_writer("tlp2").value();
  const NaiveBlocks naive_ = naive_blocks(product_with_bias()).value();
  std::size_t used_ = 0;
};

TEST_F(Tlp2Sentence, BeginsWithWhatIsComputed) {
  const std::vector<float> sentence = write({});
  EXPECT_EQ(used_, 6u) << "the innermost loops, the block Y, its three axes, and the block Z";
  EXPECT_EQ(row(sentence, writer_->shape(), 2)[33], static_cast<float>(std::log2(65.0) / 8)) << "axis i";
  EXPECT_EQ(row(sentence, writer_->shape(), 6)[0], 0) << "the rest does not count";
}

TEST_F(Tlp2Sentence, IsTheSameForAllTargetsButForItsFirstRow) {
  const auto wide = make_sentence_writer("tlp2", {.lanes = 16, .registers = 32}).value();
  const SentenceShape shape = wide->shape();
  std::vector<float> other(shape.size());
  wide->write(naive_, kTiled, other);
  const std::vector<float> sentence = write(kTiled);
  EXPECT_NE(row(sentence, shape, 0), row(other, shape, 0));
  ASSERT_EQ(target_rows("tlp2"), 1u);
  EXPECT_TRUE(std::equal(sentence.begin() + static_cast<std::ptrdiff_t>(shape.columns), sentence.end(),
                         other.begin() + static_cast<std::ptrdiff_t>(shape.columns)));
}

TEST_F(Tlp2Sentence, SaysOfEachLoopHowLongItIsAndWhatItBecomes) {
  const std::vector<float> sentence = write(kTiled);
  // innermost loops, task 5, two splits, two that are fused, a mark, a limit, a place; the first row tells the order
  EXPECT_EQ(used_, 1u + 5 + 2 + 2 + 1 + 1 + 1);
  const std::vector<float> split = row(sentence, writer_->shape(), 6);
  EXPECT_EQ(split[53], static_cast<float>(std::log2(17.0) / 8)) << "64 / 4 iterations outside";
  EXPECT_EQ(split[54], static_cast<float>(std::log2(5.0) / 8));
  const std::vector<float> fused = row(sentence, writer_->shape(), 10);
  EXPECT_EQ(fused[33], static_cast<float>(std::log2(49.0) / 8)) << "16 rows of tiles, 3 tiles each";
  EXPECT_EQ(fused[39], 1) << "it is parallel";
  EXPECT_EQ(fused[40], 0);
}

TEST_F(Tlp2Sentence, DiffersWhereTracesDo) {
  Trace other = kTiled;
  other[0] = schedule::Split{"i", {0, 8}};
  EXPECT_NE(write(kTiled), write(other));
  EXPECT_EQ(write(kTiled), write(kTiled));
}

TEST_F(Tlp2Sentence, WritesStepsOfLoopsItHasNotMet) {
  const Trace strange = {schedule::Vectorize{"nowhere"},
                         schedule::Split{"ax0", {0, 4}},
                         schedule::Fuse{{}},
                         schedule::Reorder{{"x", "y"}},
                         schedule::CacheRead{"Y", "A", ir::Scope::Local},
                         schedule::TransformLayout{"B", "(d0, d1) -> (d1 // 16, d0, d1 % 16)"}};
  write(strange);
  EXPECT_GT(used_, 6u);
  std::vector<float> tlp(tlp_shape(TlpPlatform::Cpu).size());
  EXPECT_EQ(make_sentence_writer("tlp").value()->write(naive_, strange, tlp), 0u);
}

TEST(SentenceWriter, NamesItsVocabulary) {
  EXPECT_EQ(make_sentence_writer("tlp").value()->schema(), "tlp/1 25x22 CI,RE,AN,RF,CHW,SP,CR,CA,FU,FSP,PR");
  EXPECT_THAT(make_sentence_writer("tlp2").value()->schema(), HasSubstr("tlp2/4 32x97 split,fuse,"));
  const auto none = make_sentence_writer("latin");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("'latin' of sentences, only: tlp, tlp-gpu, tlp2"));
}

TEST(Tlp2Vocabulary, HasAWordForEachPrimitive) {
  const std::string schema = make_sentence_writer("tlp2").value()->schema();
  std::string names = schedule::step_names();
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(", ", begin), names.size());
    EXPECT_THAT("," + schema.substr(schema.rfind(' ') + 1) + ",",
                HasSubstr("," + names.substr(begin, end - begin) + ","));
    begin = end + 2;
  }
}

}  // namespace
}  // namespace hone::cost
