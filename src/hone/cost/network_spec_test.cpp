#include "hone/cost/network_spec.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <numeric>
#include <unistd.h>

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

std::int64_t count_weights(const NetworkSpec& spec) {
  std::int64_t count = 0;
  for (const auto& [name, shape] : weight_shapes(spec))
    count += std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  return count;
}

Weights zeros(const NetworkSpec& spec) {
  Weights weights;
  for (const auto& [name, shape] : weight_shapes(spec)) {
    const auto size = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    weights[name] = {shape, std::vector<float>(static_cast<std::size_t>(size))};
  }
  return weights;
}

TEST(NetworkSpec, TlpHasAsManyWeightsAsPublished) {
  NetworkSpec spec = make_network_spec("tlp").value();
  spec.targets = {"cpu"};
  EXPECT_EQ(count_weights(spec), 610'369);
}

TEST(NetworkSpec, IsItsJson) {
  for (const char* name : {"tlp", "tlp-gpu", "tlp2", "tenset-mlp"}) {
    NetworkSpec spec = make_network_spec(name).value();
    spec.targets = {"a", "b"};
    spec.notes["seed"] = "1";
    const NetworkSpec read = parse_network_spec(to_json(spec)).value();
    EXPECT_EQ(to_json(read), to_json(spec));
  }
  EXPECT_EQ(language_of(make_network_spec("tlp").value()), "tlp");
  EXPECT_EQ(language_of(make_network_spec("tlp-gpu").value()), "tlp-gpu");
  EXPECT_EQ(language_of(make_network_spec("tlp2").value()), "tlp2");
  EXPECT_EQ(language_of(make_network_spec("tenset-mlp").value()), "stores");
  EXPECT_THAT(make_network_spec("bert").error().message, HasSubstr("'bert', only: tlp, tlp-gpu, tlp2, tenset-mlp"));
  EXPECT_THAT(parse_network_spec("{}").error().message, HasSubstr("cannot be read"));
  EXPECT_THAT(parse_network_spec(R"({"version":9})").error().message, HasSubstr("version 9, this hone reads 1 to 2"));
}

TEST(NetworkSpec, OfAnLstmHasNeitherMaskNorPositions) {
  const NetworkSpec spec = make_network_spec("tlp2", "lstm").value();
  EXPECT_EQ(spec.body, "lstm");
  EXPECT_FALSE(spec.is_masked || spec.has_positions);
  EXPECT_TRUE(make_network_spec("tlp2", "attention").value().is_masked);
  EXPECT_EQ(make_network_spec("tenset-mlp", "lstm").value().body, "sum") << "it has no choice";
  EXPECT_THAT(make_network_spec("tlp2", "gru").error().message, HasSubstr("body 'gru', only: attention, lstm"));
}

TEST(NetworkSpec, OfTheFirstVersionHasNoDirectPath) {
  NetworkSpec spec = make_network_spec("tlp2").value();
  spec.targets = {"a"};
  std::string old = to_json(spec);
  for (const auto& [now, before] : {std::pair<std::string, std::string>("\"direct\":[128,64],", ""),
                                    std::pair<std::string, std::string>("\"members\":1,", ""),
                                    std::pair<std::string, std::string>("\"version\":2", "\"version\":1")}) {
    const std::size_t place = old.find(now);
    ASSERT_NE(place, std::string::npos) << old;
    old.replace(place, now.size(), before);
  }
  const NetworkSpec read = parse_network_spec(old).value();
  EXPECT_TRUE(read.direct.empty());
  EXPECT_EQ(read.members, 1);
  EXPECT_TRUE(read.scores_rows());
  EXPECT_EQ(weight_shapes(read).at("head.0.0.weight"), (std::vector<std::int64_t>{64, 64}));
  EXPECT_FALSE(weight_shapes(read).contains("direct.0.weight"));
  EXPECT_FALSE(spec.scores_rows());
  EXPECT_EQ(weight_shapes(spec).at("head.0.0.weight"), (std::vector<std::int64_t>{128, 64}));
}

TEST(NetworkSpec, OfSeveralMembersHasTheWeightsOfEach) {
  NetworkSpec spec = make_network_spec("tlp2").value();
  spec.targets = {"a"};
  Weights weights;
  for (const auto& [name, shape] : weight_shapes(spec)) {
    std::size_t size = 1;
    for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
    weights[name] = {shape, std::vector<float>(size, 0.5F)};
  }
  const auto [joined, all] = join_networks({{spec, weights}, {spec, weights}}).value();
  EXPECT_EQ(joined.members, 2);
  EXPECT_EQ(all.size(), 2 * weights.size());
  EXPECT_TRUE(check_weights(joined, all));
  EXPECT_EQ(parse_network_spec(to_json(joined)).value().members, 2);
  EXPECT_THAT(check_weights(joined, weights).error().message, HasSubstr("no weight 'member.0."));

  NetworkSpec other = spec;
  other.targets = {"b"};
  EXPECT_THAT(join_networks({{spec, weights}, {other, weights}}).error().message, HasSubstr("cannot be joined"));
  EXPECT_THAT(join_networks({{joined, all}, {joined, all}}).error().message, HasSubstr("cannot be joined"));
}

TEST(NetworkSpec, OfSeveralMembersNotesWhatEachOfThemDoes) {
  NetworkSpec spec = make_network_spec("tlp2").value();
  spec.targets = {"a"};
  std::vector<std::pair<NetworkSpec, Weights>> members;
  for (const char* seed : {"1", "2", "3"}) {
    spec.notes = {{"loss", "rank"}, {"seed", seed}};
    members.emplace_back(spec, Weights());
  }
  const NetworkSpec joined = join_networks(members).value().first;
  EXPECT_EQ(joined.notes, (std::map<std::string, std::string>{{"loss", "rank"}, {"seed", "1, 2, 3"}}));
}

TEST(NetworkSpec, IsRefusedWithMembersOrWidthsThatCannotBe) {
  NetworkSpec whole = make_network_spec("tlp2").value();
  whole.targets = {"a"};
  whole.members = kMostMembers;
  ASSERT_TRUE(parse_network_spec(to_json(whole)));
  for (const std::int64_t members : {std::int64_t{-1}, std::int64_t{0}, kMostMembers + 1, std::int64_t{1} << 60}) {
    NetworkSpec spec = whole;
    spec.members = members;
    EXPECT_THAT(parse_network_spec(to_json(spec)).error().message,
                HasSubstr("has " + std::to_string(members) + " members, expected 1 to 16"));
  }
  for (const auto& [name, widths] :
       {std::pair("layers", &NetworkSpec::layers), {"direct", &NetworkSpec::direct}, {"head", &NetworkSpec::head}})
    for (const std::int64_t width : {0, -64}) {
      NetworkSpec spec = whole;
      (spec.*widths).back() = width;
      EXPECT_THAT(
          parse_network_spec(to_json(spec)).error().message,
          HasSubstr("'" + std::string(name) + "' has a width of " + std::to_string(width) + ", expected at least 1"));
    }
}

class WeightsFile : public ::testing::Test {
 protected:
  WeightsFile() { spec_.targets = {"cpu"}; }
  ~WeightsFile() override { std::filesystem::remove(file_); }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("hone-weights-" + std::to_string(getpid()));
  NetworkSpec spec_ = make_network_spec("tlp2").value();
};

TEST_F(WeightsFile, ComesBackAsItWas) {
  Weights weights = zeros(spec_);
  weights.at("head.0.0.bias").numbers[3] = 2.5F;
  ASSERT_TRUE(write_weights(file_, spec_, weights));
  const auto [spec, read] = read_weights(file_).value();
  EXPECT_EQ(to_json(spec), to_json(spec_));
  EXPECT_EQ(read.at("head.0.0.bias").numbers, weights.at("head.0.0.bias").numbers);
  EXPECT_EQ(read.size(), weights.size());
}

TEST_F(WeightsFile, IsRefusedWhereItIsNotWhole) {
  Weights weights = zeros(spec_);
  weights.at("row.0.bias").numbers[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(write_weights(file_, spec_, weights).error().message, HasSubstr("'row.0.bias' holds what is no number"));
  weights = zeros(spec_);
  weights.at("row.0.bias").shape = {7};
  EXPECT_THAT(write_weights(file_, spec_, weights).error().message, HasSubstr("'row.0.bias' is [7], expected [64]"));
  weights = zeros(spec_);
  weights.erase("positions");
  EXPECT_THAT(write_weights(file_, spec_, weights).error().message, HasSubstr("no weight 'positions'"));
  ASSERT_TRUE(write_weights(file_, spec_, zeros(spec_)));
  std::ifstream in(file_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(file_, std::ios::binary) << whole.substr(0, size);
    EXPECT_THAT(read_weights(file_).error().message, HasSubstr(file_.string())) << size;
  }
}

}  // namespace
}  // namespace hone::cost
