#include <cmath>

#include "hone/graph/testing.h"
#include "hone/support/rng.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;
using Numbers = std::vector<float>;

Tensor random_halves(Rng& rng, const Shape& shape) {
  Numbers numbers(static_cast<std::size_t>(*runtime::element_count(shape)));
  for (float& number : numbers) number = static_cast<float>(rng.unit() - 0.5);
  return floats(shape, numbers);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A recurrent layer of one direction, written down from the equations.
struct Layer {
  std::string op;
  std::int64_t steps, batch, input, hidden, gates;
  bool is_reverse, linear_before_reset;
  Tensor x, w, r, b, lengths, h, c;

  double at(const Tensor& tensor, std::int64_t i) const { return tensor.as<float>()[static_cast<std::size_t>(i)]; }

  /// x · Wᵀ of one gate's unit, with its bias, and the same of a hidden state.
  double from_input(std::int64_t t, std::int64_t n, std::int64_t unit) const {
    double sum = at(b, unit);
    for (std::int64_t k = 0; k < input; ++k) sum += at(x, (t * batch + n) * input + k) * at(w, unit * input + k);
    return sum;
  }
  double from_hidden(const std::vector<double>& state, std::int64_t unit) const {
    double sum = at(b, gates * hidden + unit);
    for (std::int64_t k = 0; k < hidden; ++k) sum += state[static_cast<std::size_t>(k)] * at(r, unit * hidden + k);
    return sum;
  }

  /// Y[step, 0, n, unit] of one batch entry, and the last state.
  std::pair<std::vector<std::vector<double>>, std::vector<double>> run(std::int64_t n) const {
    std::vector<double> state, cell;
    for (std::int64_t k = 0; k < hidden; ++k) state.push_back(at(h, n * hidden + k));
    for (std::int64_t k = 0; k < hidden && op == "LSTM"; ++k) cell.push_back(at(c, n * hidden + k));
    const std::int64_t length = lengths.as<std::int32_t>()[static_cast<std::size_t>(n)];
    std::vector<std::vector<double>> y(static_cast<std::size_t>(steps), std::vector<double>(state.size(), 0));
    for (std::int64_t step = 0; step < length; ++step) {
      const std::int64_t t = is_reverse ? length - 1 - step : step;
      const std::vector<double> old = state;
      const auto sum = [&](std::int64_t gate, std::int64_t k) {
        return from_input(t, n, gate * hidden + k) + from_hidden(old, gate * hidden + k);
      };
      std::vector<double> reset = old;
      for (std::int64_t k = 0; k < hidden && op == "GRU"; ++k) reset[static_cast<std::size_t>(k)] *= sigmoid(sum(1, k));
      for (std::int64_t k = 0; k < hidden; ++k) {
        const auto i = static_cast<std::size_t>(k);
        if (op == "RNN") state[i] = std::tanh(sum(0, k));
        if (op == "LSTM") {
          cell[i] = sigmoid(sum(2, k)) * cell[i] + sigmoid(sum(0, k)) * std::tanh(sum(3, k));
          state[i] = sigmoid(sum(1, k)) * std::tanh(cell[i]);
        }
        if (op == "GRU") {
          const std::int64_t unit = 2 * hidden + k;
          const double recurrent =
              linear_before_reset ? sigmoid(sum(1, k)) * from_hidden(old, unit) : from_hidden(reset, unit);
          const double z = sigmoid(sum(0, k));
          state[i] = (1 - z) * std::tanh(from_input(t, n, unit) + recurrent) + z * old[i];
        }
      }
      y[static_cast<std::size_t>(t)] = state;
    }
    return {y, state};
  }
};

void expect_layer(Layer layer, Rng& rng) {
  const std::int64_t gates = layer.gates * layer.hidden;
  layer.x = random_halves(rng, {layer.steps, layer.batch, layer.input});
  layer.w = random_halves(rng, {1, gates, layer.input});
  layer.r = random_halves(rng, {1, gates, layer.hidden});
  layer.b = random_halves(rng, {1, 2 * gates});
  layer.h = random_halves(rng, {1, layer.batch, layer.hidden});
  layer.c = random_halves(rng, {1, layer.batch, layer.hidden});
  std::vector<std::int32_t> lengths;
  for (std::int64_t n = 0; n < layer.batch; ++n) lengths.push_back(static_cast<std::int32_t>(layer.steps - n % 3));
  layer.lengths = Tensor::of<std::int32_t>({layer.batch}, lengths);
  std::vector<runtime::Value> inputs = {layer.x, layer.w, layer.r, layer.b, layer.lengths, layer.h};
  if (layer.op == "LSTM") inputs.push_back(layer.c);
  Attributes attributes_ =
      attributes({{"hidden_size", layer.hidden}, {"direction", std::string(layer.is_reverse ? "reverse" : "forward")}});
  if (layer.linear_before_reset) attributes_.set("linear_before_reset", std::int64_t{1});
  const auto results = apply(layer.op, inputs, attributes_, 2);
  ASSERT_TRUE(results) << results.error().message;

  Numbers y(static_cast<std::size_t>(layer.steps * layer.batch * layer.hidden)), last;
  for (std::int64_t n = 0; n < layer.batch; ++n) {
    const auto [rows, state] = layer.run(n);
    for (std::int64_t t = 0; t < layer.steps; ++t)
      for (std::int64_t k = 0; k < layer.hidden; ++k)
        y[static_cast<std::size_t>((t * layer.batch + n) * layer.hidden + k)] =
            static_cast<float>(rows[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)]);
    for (const double number : state) last.push_back(static_cast<float>(number));
  }
  expect_tensor(*results->at(0).tensor(), floats({layer.steps, 1, layer.batch, layer.hidden}, y), 1e-5);
  expect_tensor(*results->at(1).tensor(), floats({1, layer.batch, layer.hidden}, last), 1e-5);
}

TEST(Recurrent, LayersFollowTheirEquations) {
  Rng rng(/*seed=*/1);
  for (const auto& [op, gates] : {std::pair<std::string, std::int64_t>{"RNN", 1}, {"LSTM", 4}, {"GRU", 3}})
    for (const std::int64_t hidden : {1, 5, 37})
      for (const std::int64_t batch : {1, 4, 7})
        for (const bool is_reverse : {false, true})
          expect_layer({.op = op,
                        .steps = 5,
                        .batch = batch,
                        .input = 3,
                        .hidden = hidden,
                        .gates = gates,
                        .is_reverse = is_reverse,
                        .linear_before_reset = op == "GRU" && batch == 4},
                       rng);
}

TEST(Recurrent, BatchFirstLayoutOnlyExchangesAxes) {
  Rng rng(/*seed=*/2);
  const Tensor x = random_halves(rng, {1, 3, 2}), w = random_halves(rng, {2, 8, 2}), r = random_halves(rng, {2, 8, 2});
  const auto direction = std::pair<std::string, Attribute>{"direction", std::string("bidirectional")};
  const auto usual = apply("LSTM", {x.reshaped({3, 1, 2}), w, r}, attributes({direction}), 3);
  const auto exchanged = apply("LSTM", {x, w, r}, attributes({direction, {"layout", std::int64_t{1}}}), 3);
  ASSERT_TRUE(usual && exchanged);
  expect_tensor(*exchanged->at(0).tensor(), usual->at(0).tensor()->reshaped({1, 3, 2, 2}));
  expect_tensor(*exchanged->at(2).tensor(), usual->at(2).tensor()->reshaped({1, 2, 2}));
}

TEST(Recurrent, SequencesOfNoStepsEndInZeros) {
  Rng rng(/*seed=*/3);
  const auto results =
      apply("GRU",
            {random_halves(rng, {2, 1, 2}), random_halves(rng, {1, 3, 2}), random_halves(rng, {1, 3, 1}),
             runtime::Value(), Tensor::of<std::int32_t>({1}, {0}), floats({1, 1, 1}, {5})},
            {}, 2);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({2, 1, 1, 1}, {0, 0}));
  expect_tensor(*results->at(1).tensor(), floats({1, 1, 1}, {0}));
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  EXPECT_EQ(message_of("LSTM", {iota({2, 1, 2}), iota({1, 4, 3}), iota({1, 4, 1})}),
            "LSTM: input 1 has shape [1, 4, 3], allowed is [1, 4, 2]");
  EXPECT_EQ(message_of("RNN", {iota({2, 1, 2}), iota({1, 1, 2}), iota({1, 1, 1})},
                       attributes({{"activations", std::vector<std::string>{"Sine"}}})),
            "Recurrence: activation 'Sine' is not known");
}

}  // namespace
}  // namespace hone::graph
