#include "hone/network.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "hone/frontend/export.h"
#include "hone/frontend/import.h"
#include "hone/network_model.h"
#include "hone/support/rng.h"

namespace hone {
namespace {

using ::testing::HasSubstr;

/// Rows of numbers.
using Rows = std::vector<std::vector<double>>;

cost::Weights random_weights(const cost::NetworkSpec& spec, std::uint64_t seed) {
  Rng rng(seed);
  cost::Weights weights;
  for (const auto& [name, shape] : cost::weight_shapes(spec)) {
    const auto size = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    const double bound = 1 / std::sqrt(static_cast<double>(shape.size() == 1 ? 16 : shape[shape.size() - 2]));
    cost::Weight& weight = weights[name];
    weight.shape = shape;
    for (std::int64_t i = 0; i < size; ++i) weight.numbers.push_back(static_cast<float>((2 * rng.unit() - 1) * bound));
  }
  return weights;
}

/// The network written out plainly, one sentence at a time.
class Plain {
 public:
  Plain(const cost::NetworkSpec& spec, const cost::Weights& weights) : spec_(spec), weights_(weights) {}

  double score(std::span<const float> sentence, std::size_t head) const {
    Rows x;
    std::vector<bool> counts;
    for (std::size_t r = 0; r < spec_.shape.rows; ++r) {
      const auto row = sentence.subspan(r * spec_.shape.columns, spec_.shape.columns);
      x.emplace_back(row.begin(), row.end());
      counts.push_back(!spec_.is_masked || row[0] != 0);
      if (spec_.body == "sum")
        for (std::size_t c = 0; c < x[r].size(); ++c) x[r][c] *= at("scale", c);
    }
    for (std::size_t i = 0; i < spec_.layers.size(); ++i) x = relu(linear(x, "row." + std::to_string(i)));
    if (spec_.has_positions)
      for (std::size_t r = 0; r < x.size(); ++r)
        for (std::size_t c = 0; c < x[r].size(); ++c) x[r][c] += at("positions", r * x[r].size() + c);
    if (spec_.body == "attention") x = add(attend(x, counts), x);
    if (spec_.body == "lstm") x = {last_state(x)};
    if (spec_.body == "sum") x = {sum(x, counts)};
    if (spec_.body == "attention" && !spec_.direct.empty()) x = {mean(x, counts)};
    for (std::int64_t i = 0; i < cost::kResidualLayers; ++i)
      x = add(relu(linear(x, "residual." + std::to_string(i))), x);
    if (!spec_.direct.empty()) {
      const auto row = sentence.first(spec_.shape.columns);
      Rows first = {{row.begin(), row.end()}};
      for (std::size_t i = 0; i < spec_.direct.size(); ++i) first = relu(linear(first, "direct." + std::to_string(i)));
      x[0].insert(x[0].end(), first[0].begin(), first[0].end());
    }
    for (std::size_t i = 0; i <= spec_.head.size(); ++i) {
      x = linear(x, "head." + std::to_string(head) + "." + std::to_string(i));
      if (i < spec_.head.size()) x = relu(x);
    }
    return x.size() == 1 ? x[0][0] : sum(x, counts)[0];
  }

 private:
  double at(const std::string& name, std::size_t i) const { return static_cast<double>(weights_.at(name).numbers[i]); }

  Rows linear(const Rows& x, const std::string& name) const {
    const cost::Weight &weight = weights_.at(name + ".weight"), &bias = weights_.at(name + ".bias");
    const auto out = static_cast<std::size_t>(weight.shape[1]);
    Rows y;
    for (const std::vector<double>& row : x) {
      std::vector<double>& made = y.emplace_back(out);
      for (std::size_t o = 0; o < out; ++o) {
        made[o] = static_cast<double>(bias.numbers[o]);
        for (std::size_t i = 0; i < row.size(); ++i)
          made[o] += row[i] * static_cast<double>(weight.numbers[i * out + o]);
      }
    }
    return y;
  }
  static Rows relu(Rows x) {
    for (auto& row : x)
      for (double& number : row) number = std::max(0.0, number);
    return x;
  }
  static Rows add(Rows x, const Rows& y) {
    for (std::size_t r = 0; r < x.size(); ++r)
      for (std::size_t c = 0; c < x[r].size(); ++c) x[r][c] += y[r][c];
    return x;
  }
  static std::vector<double> sum(const Rows& x, const std::vector<bool>& counts) {
    std::vector<double> all(x[0].size());
    for (std::size_t r = 0; r < x.size(); ++r)
      for (std::size_t c = 0; counts[r] && c < all.size(); ++c) all[c] += x[r][c];
    return all;
  }

  static std::vector<double> mean(const Rows& x, const std::vector<bool>& counts) {
    std::vector<double> all = sum(x, counts);
    for (double& number : all) number /= static_cast<double>(std::count(counts.begin(), counts.end(), true));
    return all;
  }

  Rows attend(const Rows& x, const std::vector<bool>& counts) const {
    const Rows query = linear(x, "attention.query"), key = linear(x, "attention.key"),
               value = linear(x, "attention.value");
    const std::size_t width = query[0].size(), depth = width / cost::kAttentionHeads;
    Rows mixed(x.size(), std::vector<double>(width));
    for (std::size_t h = 0; h < cost::kAttentionHeads; ++h)
      for (std::size_t r = 0; r < x.size(); ++r) {
        std::vector<double> share(x.size());
        double total = 0;
        for (std::size_t s = 0; s < x.size(); ++s) {
          if (!counts[s]) continue;
          double score = 0;
          for (std::size_t d = h * depth; d < (h + 1) * depth; ++d) score += query[r][d] * key[s][d];
          share[s] = std::exp(score / std::sqrt(static_cast<double>(depth)));
          total += share[s];
        }
        for (std::size_t s = 0; s < x.size(); ++s)
          for (std::size_t d = h * depth; d < (h + 1) * depth; ++d) mixed[r][d] += share[s] / total * value[s][d];
      }
    return linear(mixed, "attention.out");
  }

  /// Gates in ONNX's order: input, output, forget, cell.
  std::vector<double> last_state(const Rows& x) const {
    const std::size_t width = x[0].size();
    const std::vector<float>&input = weights_.at("lstm.input").numbers, &recurrent = weights_.at("lstm.state").numbers;
    std::vector<double> state(width), cell(width);
    for (const std::vector<double>& row : x) {
      std::vector<double> gates(4 * width);
      for (std::size_t g = 0; g < gates.size(); ++g) {
        gates[g] = at("lstm.bias", g) + at("lstm.bias", 4 * width + g);
        for (std::size_t i = 0; i < width; ++i)
          gates[g] += row[i] * static_cast<double>(input[g * width + i]) +
                      state[i] * static_cast<double>(recurrent[g * width + i]);
      }
      const auto sigmoid = [](double number) { return 1 / (1 + std::exp(-number)); };
      for (std::size_t i = 0; i < width; ++i) {
        cell[i] = sigmoid(gates[2 * width + i]) * cell[i] + sigmoid(gates[i]) * std::tanh(gates[3 * width + i]);
        state[i] = sigmoid(gates[width + i]) * std::tanh(cell[i]);
      }
    }
    return state;
  }

  const cost::NetworkSpec& spec_;
  const cost::Weights& weights_;
};

/// Sentences of different lengths, filled up with zeros.
std::vector<float> random_sentences(const cost::NetworkSpec& spec, std::size_t count) {
  Rng rng(/*seed=*/5);
  std::vector<float> all(count * spec.shape.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto rows = static_cast<std::size_t>(rng.uniform(1, static_cast<std::int64_t>(spec.shape.rows)));
    for (std::size_t n = 0; n < rows * spec.shape.columns; ++n)
      all[i * spec.shape.size() + n] = n % spec.shape.columns == 0 ? 1 : static_cast<float>(rng.unit());
  }
  return all;
}

TEST(Network, ScoresAsItsDefinitionSays) {
  for (const char* name : {"tlp", "tlp2", "tenset-mlp"})
    for (const char* body : {"attention", "lstm"}) {
      cost::NetworkSpec spec = cost::make_network_spec(name).value();
      if (spec.body == "sum" && std::string_view(body) == "lstm") continue;
      if (spec.body != "sum") spec.body = body;
      if (spec.body == "lstm") spec.is_masked = spec.has_positions = false;
      spec.layers = {32, 16};  // small, so that the plain one is quick
      spec.head = {16, 8};
      if (!spec.direct.empty()) spec.direct = {24, 12};
      spec.targets = {"cpu -threads=1", "cpu -threads=2"};
      const cost::Weights weights = random_weights(spec, /*seed=*/2);
      Network network = Network::parse(write_network(spec, weights).value(), "test").value();
      EXPECT_EQ(cost::to_json(network.spec()), cost::to_json(spec));
      const std::vector<float> sentences = random_sentences(spec, 70);  // more than one batch
      const Plain plain(spec, weights);
      for (const std::size_t head : {std::size_t{1}, std::size_t{0}}) {
        const Result<std::vector<double>> scores = network.predict(sentences, head, /*threads=*/2);
        ASSERT_TRUE(scores) << scores.error().message;
        ASSERT_EQ(scores->size(), 70u);
        for (const std::size_t i : {0, 1, 63, 64, 69}) {
          const double expected = plain.score(std::span(sentences).subspan(i * spec.shape.size(), spec.shape.size()),
                                              spec.has_one_head ? 0 : head);
          EXPECT_NEAR((*scores)[i], expected, 1e-4 * std::max(1.0, std::abs(expected)))
              << name << ", " << spec.body << ", sentence " << i << ", head " << head;
        }
      }
    }
}

TEST(Network, OfSeveralMembersScoresAsTheyDoOnAverage) {
  cost::NetworkSpec spec = cost::make_network_spec("tlp2").value();
  spec.layers = {16};
  spec.direct = {8};
  spec.head = {8};
  spec.has_one_head = false;
  spec.targets = {"cpu -threads=1", "cpu -threads=2"};
  const std::vector<float> sentences = random_sentences(spec, 9);
  std::vector<std::pair<cost::NetworkSpec, cost::Weights>> members;
  std::vector<double> sums(9);
  for (const std::uint64_t seed : {1, 2, 3}) {
    members.emplace_back(spec, random_weights(spec, seed));
    const Plain plain(spec, members.back().second);
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += plain.score(std::span(sentences).subspan(i * spec.shape.size(), spec.shape.size()), /*head=*/1);
  }
  const auto joined = cost::join_networks(members).value();
  Network network = Network::parse(write_network(joined.first, joined.second).value(), "test").value();
  EXPECT_EQ(network.spec().members, 3);
  const std::vector<double> scores = network.predict(sentences, /*head=*/1).value();
  ASSERT_EQ(scores.size(), sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    EXPECT_NEAR(scores[i], sums[i] / 3, 1e-4 * std::max(1.0, std::abs(sums[i]))) << i;
}

TEST(Network, IsRefusedWhereItIsNoneOrOfAnotherVersion) {
  cost::NetworkSpec spec = cost::make_network_spec("tlp2").value();
  spec.targets = {"cpu"};
  const std::string bytes = write_network(spec, random_weights(spec, 1)).value();
  Network network = Network::parse(bytes, "good.onnx").value();
  EXPECT_THAT(network.check_schema("tlp3/1").error().message,
              ::testing::AllOf(HasSubstr("good.onnx"), HasSubstr("tlp2/4"), HasSubstr("tlp3/1")));
  spec.schema = "tlp2/1 64x64 split,fuse";  // as networks of old read them
  const auto model = make_network_model(
      "tlp", Network::parse(write_network(spec, random_weights(spec, 1)).value(), "old.onnx").value(),
      codegen::host_target());
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, ::testing::AllOf(HasSubstr("old.onnx"), HasSubstr("tlp2/1"), HasSubstr("tlp2/4")));
  cost::NetworkSpec stores = cost::make_network_spec("tenset-mlp").value();
  stores.targets = {"cpu"};
  EXPECT_THAT(
      make_network_model("tlp",
                         Network::parse(write_network(stores, random_weights(stores, 1)).value(), "mlp.onnx").value(),
                         codegen::host_target())
          .error()
          .message,
      HasSubstr("cost model 'mlp.onnx' (tenset-mlp) reads features of built programs and cannot be tuned with"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{20}, bytes.size() / 2, bytes.size() - 1})
    EXPECT_FALSE(Network::parse(bytes.substr(0, size), "half.onnx")) << size;
  EXPECT_THAT(Network::parse("text", "text.onnx").error().message, HasSubstr("text.onnx"));
  EXPECT_THAT(Network::load("nowhere.onnx").error().message, HasSubstr("nowhere.onnx"));
  EXPECT_EQ(network.predict(std::span<const float>(), 0)->size(), 0u);
}

/// A small network as a model, after something was done to it.
template <typename Change>
Result<Network> changed(const cost::NetworkSpec& spec, Change change) {
  const std::string bytes = write_network(spec, random_weights(spec, 1)).value();
  graph::Graph graph = frontend::import_onnx(std::as_bytes(std::span(bytes))).value();
  change(graph);
  return Network::parse(frontend::export_onnx(graph).value(), "odd.onnx");
}

cost::NetworkSpec small_spec(const char* name, std::vector<std::string> targets) {
  cost::NetworkSpec spec = cost::make_network_spec(name).value();
  spec.layers = {16};
  if (!spec.direct.empty()) spec.direct = {8};
  spec.head = {8};
  spec.targets = std::move(targets);
  return spec;
}

TEST(Network, WithAWeightThatIsNoNumberIsRefused) {
  for (const float odd : {std::nanf(""), INFINITY}) {
    const Result<Network> network = changed(small_spec("tlp2", {"cpu"}), [&](graph::Graph& graph) {
      for (auto& [id, value] : graph.constants) {
        if (!graph.name_of(id).starts_with("residual.1.bias")) continue;
        std::vector<float> numbers(static_cast<std::size_t>(value.tensor()->size()), 1);
        numbers[3] = odd;
        value = runtime::Value(runtime::Tensor::of<float>(value.tensor()->shape(), numbers));
      }
    });
    ASSERT_FALSE(network);
    EXPECT_THAT(
        network.error().message,
        ::testing::MatchesRegex("cost model 'odd.onnx' has a weight 'residual.1.bias.*' that holds what is no number"));
  }
}

TEST(Network, WhoseScoresAreNoNumbersSaysSo) {
  const cost::NetworkSpec spec = small_spec("tlp2", {"cpu"});
  cost::Weights weights = random_weights(spec, 1);
  weights.at("head.0.1.bias").numbers[0] = 3e38F;
  std::fill(weights.at("head.0.1.weight").numbers.begin(), weights.at("head.0.1.weight").numbers.end(), 3e38F);
  std::fill(weights.at("head.0.0.bias").numbers.begin(), weights.at("head.0.0.bias").numbers.end(), 100.0F);
  Network network = Network::parse(write_network(spec, weights).value(), "huge.onnx").value();
  const Result<std::vector<double>> scores = network.predict(random_sentences(spec, 2), 0);
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().message, "cost model 'huge.onnx' scores a sentence as inf");
}

TEST(Network, ThatIsNotAsItIsDescribedIsRefused) {
  const auto described_as = [](auto change) {
    cost::NetworkSpec spec = small_spec("tlp2", {"cpu"});
    return changed(spec,
                   [&](graph::Graph& graph) {
                     change(spec);
                     graph.metadata["hone.network"] = cost::to_json(spec);
                   })
        .error()
        .message;
  };
  const cost::NetworkSpec tlp = cost::make_network_spec("tlp").value();
  EXPECT_THAT(described_as([](cost::NetworkSpec& spec) { spec.shape.rows = 8; }),
              HasSubstr("'odd.onnx' says that it reads sentences of 8 x 97, those of its schema 'tlp2/4"));
  EXPECT_THAT(described_as([&](cost::NetworkSpec& spec) { spec.schema = tlp.schema; }),
              HasSubstr("says that it reads sentences of 32 x 97, those of its schema 'tlp/"));
  EXPECT_THAT(described_as([&](cost::NetworkSpec& spec) { spec.schema = tlp.schema, spec.shape = tlp.shape; }),
              ::testing::AllOf(HasSubstr("cost model 'odd.onnx' reads tensor(float)["),
                               HasSubstr("expected any number of sentences of 25 x 22, as it is described")));
  EXPECT_THAT(described_as([](cost::NetworkSpec& spec) { spec.targets = {"a", "b"}, spec.has_one_head = false; }),
              HasSubstr("'odd.onnx' has 1 heads, 2 are described"));
}

constexpr const char *kWide = "cpu -mcpu=znver4 -threads=1", *kWideOnTwo = "cpu -mcpu=znver4 -threads=2",
                     *kNarrow = "cpu -mcpu=x86-64-v3 -threads=1";

TEST(Network, HeadsAreForTheirTargetsOrThoseLikeThem) {
  if (codegen::host_target().arch != codegen::Arch::X86_64) GTEST_SKIP() << "the targets are x86";
  const cost::NetworkSpec spec = small_spec("tlp", {"llvm -mcpu=a", kWide, kWideOnTwo, kNarrow});
  const auto head = [&](const char* target) { return head_for(spec, codegen::parse_target(target).value()); };
  EXPECT_EQ(head(kWide), 1u);
  EXPECT_EQ(head(kNarrow), 3u);
  EXPECT_EQ(head("cpu -mcpu=skylake-avx512 -threads=1"), 1u) << "as wide vectors";
  EXPECT_EQ(head("cpu -mcpu=skylake-avx512 -threads=8"), 2u) << "and several threads";
  EXPECT_EQ(head("cpu -mcpu=haswell -threads=1"), 3u);
  EXPECT_EQ(head("cpu -mcpu=haswell -threads=4"), 3u) << "the width counts for more than the threads";
  EXPECT_EQ(head("cpu -mcpu=x86-64 -threads=4"), 2u) << "no width is like it";
}

TEST(Network, TargetsOfADataSetAreScoredByTheHeadsThatFitThem) {
  if (codegen::host_target().arch != codegen::Arch::X86_64) GTEST_SKIP() << "the targets are x86";
  cost::Dataset data;
  data.targets = {kNarrow, "llvm -mcpu=a", "cpu -mcpu=haswell -threads=1", kWide};
  const auto heads = [&](const cost::NetworkSpec& spec, const std::vector<std::size_t>& targets) {
    cost::TrainingSet samples{.shape = spec.shape, .schema = spec.schema, .targets = data.targets.size()};
    samples.first_rows = {0, 0};  // a sentence without rows
    samples.tasks = {0};
    Network network = Network::parse(write_network(spec, random_weights(spec, 1)).value(), "some.onnx").value();
    const Result<std::vector<HeadScores>> scored = score_targets(network, data, samples, targets);
    std::string text;
    if (!scored) return scored.error().message;
    for (const HeadScores& one : *scored) text += fmt::format("{} by {}, ", one.target, one.head);
    return text;
  };
  EXPECT_EQ(heads(small_spec("tlp", {kWide, kNarrow}), {0, 1, 2, 3}), "0 by 1, 2 by 1, 3 by 0, ")
      << "one that is none of hone's has no head";
  EXPECT_EQ(heads(small_spec("tlp", {kWide, kNarrow}), {2}), "2 by 1, ");
  EXPECT_EQ(heads(small_spec("tlp", {kWideOnTwo}), {0, 1, 3}), "0 by 0, 1 by 0, 3 by 0, ") << "there is one head";
  EXPECT_EQ(heads(small_spec("tlp", {"llvm -mcpu=b", "llvm -mcpu=a"}), {0, 1}), "1 by 1, ");
  EXPECT_EQ(heads(small_spec("tlp", {"llvm -mcpu=b", "llvm -mcpu=c"}), {0, 1}),
            "cost model 'some.onnx' has no head for 'cpu -mcpu=x86-64-v3 -threads=1', 'llvm -mcpu=a', only for: "
            "llvm -mcpu=b; llvm -mcpu=c");
}

}  // namespace
}  // namespace hone
