#include "hone/network_weights.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "hone/network.h"
#include "hone/shipped_network.h"

namespace hone {
namespace {

using ::testing::HasSubstr;

/// Weights of which no two are the same number.
cost::Weights counted_weights(const cost::NetworkSpec& spec) {
  cost::Weights weights;
  float next = 0;
  for (const auto& [name, shape] : cost::weight_shapes(spec)) {
    std::size_t size = 1;
    for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
    weights[name] = {shape, {}};
    for (std::size_t i = 0; i < size; ++i) weights[name].numbers.push_back(next++ / 1024);
  }
  return weights;
}

class NetworkFile : public ::testing::Test {
 protected:
  ~NetworkFile() override { std::filesystem::remove(file_); }

  void write(std::string_view bytes) const { std::ofstream(file_, std::ios::binary) << bytes; }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("hone-network-" + std::to_string(getpid()));
};

TEST_F(NetworkFile, GivesBackTheWeightsItWasWrittenWith) {
  for (const auto& [name, body] : {std::pair("tlp", "attention"),
                                   {"tlp", "lstm"},
                                   {"tlp2", "attention"},
                                   {"tlp2", "lstm"},
                                   {"tenset-mlp", "attention"}})
    for (const std::int64_t members : {1, 3}) {
      cost::NetworkSpec spec = cost::make_network_spec(name, body).value();
      spec.targets = {"cpu -threads=1", "cpu -threads=2"};
      spec.members = members;
      spec.layers = {32, 16};
      spec.head = {8};
      const cost::Weights weights = counted_weights(spec);
      write(write_network(spec, weights).value());
      const auto read = read_network(file_);
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(cost::to_json(read->first), cost::to_json(spec));
      ASSERT_EQ(read->second.size(), weights.size());
      for (const auto& [weight, content] : weights)
        EXPECT_EQ(read->second.at(weight).numbers, content.numbers) << name << ", " << weight;
    }
}

TEST_F(NetworkFile, MayBeWhatTrainingLeft) {
  cost::NetworkSpec spec = cost::make_network_spec("tlp2").value();
  spec.targets = {"cpu"};
  const cost::Weights weights = counted_weights(spec);
  ASSERT_TRUE(cost::write_weights(file_, spec, weights));
  const auto [read, found] = read_network(file_).value();
  EXPECT_EQ(cost::to_json(read), cost::to_json(spec));
  EXPECT_EQ(found.at("positions").numbers, weights.at("positions").numbers);
}

TEST_F(NetworkFile, ThatComesWithHoneCanBeGoneOnWith) {
  write(shipped_network());
  const auto [before, weights] = read_network(file_).value();
  cost::NetworkSpec spec = cost::make_network_spec("tlp2").value();
  spec.targets = {"cpu -mcpu=skylake-avx512 -threads=1"};
  const auto first = cost::weights_to_begin_with(spec, before, weights, unit_of);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(cost::check_weights(spec, first->weights));
}

TEST_F(NetworkFile, IsRefusedWhereItIsNone) {
  EXPECT_THAT(read_network("nowhere.onnx").error().message, HasSubstr("nowhere.onnx"));
  write("text");
  EXPECT_THAT(read_network(file_).error().message, HasSubstr(file_.string()));
}

TEST(UnitOf, IsKnownOfTargetsOfHone) {
  EXPECT_EQ(unit_of("cpu -mcpu=sapphirerapids -threads=3")->lanes, 16);
  EXPECT_EQ(unit_of("cpu -mcpu=sapphirerapids -threads=3")->threads, 3);
  EXPECT_FALSE(unit_of("llvm -mcpu=a"));
}

}  // namespace
}  // namespace hone
