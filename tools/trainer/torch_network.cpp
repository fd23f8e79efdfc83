#include "torch_network.h"

#include <cmath>
#include <fmt/format.h>

namespace hone::trainer {
namespace {

using torch::Tensor;

/// Where torch's gates of an LSTM (input, forget, cell, output) stand in ONNX (input, output, forget, cell).
constexpr std::int64_t kGateOrder[] = {0, 3, 1, 2};

/// The rows of the four gates in ONNX's order.
Tensor to_onnx_gates(const Tensor& gates) {
  const std::vector<Tensor> parts = gates.chunk(4);
  std::vector<Tensor> ordered;
  for (const std::int64_t gate : kGateOrder) ordered.push_back(parts[static_cast<std::size_t>(gate)]);
  return torch::cat(ordered);
}

Tensor from_onnx_gates(const Tensor& gates) {
  const std::vector<Tensor> parts = gates.chunk(4);
  std::vector<Tensor> ordered(4);
  for (std::size_t i = 0; i < 4; ++i) ordered[static_cast<std::size_t>(kGateOrder[i])] = parts[i];
  return torch::cat(ordered);
}

Tensor uniform(const std::vector<std::int64_t>& shape, double bound) {
  return torch::empty(shape).uniform_(-bound, bound);
}

cost::Weight to_weight(const Tensor& tensor, const std::vector<std::int64_t>& shape) {
  const Tensor flat = tensor.detach().contiguous();
  const auto* data = flat.data_ptr<float>();
  return {shape, std::vector<float>(data, data + flat.numel())};
}

Tensor to_tensor(const cost::Weight& weight) { return torch::tensor(weight.numbers).reshape(weight.shape).clone(); }

}  // namespace

TorchNetwork::TorchNetwork(cost::NetworkSpec spec) : spec_(std::move(spec)) {
  const std::int64_t width = spec_.width();
  for (const auto& [name, shape] : cost::weight_shapes(spec_)) {
    if (name.starts_with("lstm.")) continue;
    if (name == "scale") {
      parameters_[name] = torch::ones(shape);
    } else if (name == "positions") {
      constexpr double kSmall = 0.02;
      parameters_[name] = torch::randn(shape) * kSmall;
    } else if (name.starts_with("attention.") && !name.starts_with("attention.out")) {
      const double bound = std::sqrt(6.0 / static_cast<double>(4 * width));  // of the three matrices as one
      parameters_[name] = shape.size() == 2 ? uniform(shape, bound) : torch::zeros(shape);
    } else {
      const std::string matrix = name.substr(0, name.rfind('.')) + ".weight";
      const auto in = static_cast<double>(cost::weight_shapes(spec_).at(matrix)[0]);
      parameters_[name] = name == "attention.out.bias" ? torch::zeros(shape) : uniform(shape, 1 / std::sqrt(in));
    }
  }
  if (spec_.body == "lstm") {
    const double bound = 1 / std::sqrt(static_cast<double>(width));
    for (const char* name : {"lstm.w_ih", "lstm.w_hh"}) parameters_[name] = uniform({4 * width, width}, bound);
    for (const char* name : {"lstm.b_ih", "lstm.b_hh"}) parameters_[name] = uniform({4 * width}, bound);
  }
  for (auto& [name, parameter] : parameters_)
    if (name != "scale") parameter.requires_grad_(true);
}

Tensor TorchNetwork::linear(const Tensor& x, const std::string& name) const {
  return torch::matmul(x, parameters_.at(name + ".weight")) + parameters_.at(name + ".bias");
}

Tensor TorchNetwork::attention(const Tensor& x, const Tensor& counts) const {
  const std::int64_t batch = x.size(0), rows = x.size(1), depth = spec_.width() / cost::kAttentionHeads;
  const auto heads = [&](const char* name) {
    return linear(x, name).reshape({batch, rows, cost::kAttentionHeads, depth}).transpose(1, 2);
  };
  const Tensor query = heads("attention.query") / std::sqrt(static_cast<double>(depth));
  Tensor scores = torch::matmul(query, heads("attention.key").transpose(2, 3));
  constexpr double kFar = 1e4;
  if (counts.defined()) scores = scores + ((counts - 1) * kFar).reshape({batch, 1, 1, rows});
  const Tensor mixed = torch::matmul(torch::softmax(scores, -1), heads("attention.value"));
  return linear(mixed.transpose(1, 2).reshape({batch, rows, spec_.width()}), "attention.out");
}

Tensor TorchNetwork::lstm(const Tensor& x) const {
  const Tensor start = torch::zeros({1, x.size(0), spec_.width()});
  const std::vector<Tensor> weights = {parameters_.at("lstm.w_ih"), parameters_.at("lstm.w_hh"),
                                       parameters_.at("lstm.b_ih"), parameters_.at("lstm.b_hh")};
  const auto [states, last, cell] = torch::lstm(x, {start, start}, weights, /*has_biases=*/true, /*num_layers=*/1,
                                                /*dropout=*/0.0, /*train=*/true, /*bidirectional=*/false,
                                                /*batch_first=*/true);
  return last[0];
}

Tensor TorchNetwork::forward(const Tensor& sentences) const {
  const Tensor counts = spec_.is_masked ? sentences.slice(2, 0, 1) : Tensor();
  Tensor x = spec_.body == "sum" ? sentences * parameters_.at("scale") : sentences;
  for (std::size_t i = 0; i < spec_.layers.size(); ++i) x = torch::relu(linear(x, fmt::format("row.{}", i)));
  if (spec_.has_positions) x = x + parameters_.at("positions").slice(0, 0, x.size(1));
  if (spec_.body == "attention") x = attention(x, counts) + x;
  if (spec_.body == "lstm") x = lstm(x);
  if (spec_.body == "sum") x = (counts.defined() ? x * counts : x).sum(1);
  if (spec_.body == "attention" && !spec_.scores_rows())
    x = counts.defined() ? (x * counts).sum(1) / counts.sum(1).clamp_min(1) : x.mean(1);
  for (std::int64_t i = 0; i < cost::kResidualLayers; ++i)
    x = torch::relu(linear(x, fmt::format("residual.{}", i))) + x;
  if (!spec_.direct.empty()) {
    Tensor first = sentences.select(1, 0);
    for (std::size_t i = 0; i < spec_.direct.size(); ++i)
      first = torch::relu(linear(first, fmt::format("direct.{}", i)));
    x = torch::cat({x, first}, 1);
  }
  std::vector<Tensor> scores;
  for (std::size_t h = 0; h < spec_.heads(); ++h) {
    Tensor y = x;
    for (std::size_t i = 0; i <= spec_.head.size(); ++i) {
      y = linear(y, fmt::format("head.{}.{}", h, i));
      if (i < spec_.head.size()) y = torch::relu(y);
    }
    if (spec_.scores_rows()) y = (counts.defined() ? y * counts : y).sum(1);
    scores.push_back(y);
  }
  return torch::cat(scores, 1);
}

std::vector<Tensor> TorchNetwork::parameters() const {
  std::vector<Tensor> all;
  for (const auto& [name, parameter] : parameters_)
    if (name != "scale") all.push_back(parameter);
  return all;
}

cost::Weights TorchNetwork::weights() const {
  cost::Weights weights;
  for (const auto& [name, shape] : cost::weight_shapes(spec_)) {
    if (name == "lstm.input")
      weights[name] = to_weight(to_onnx_gates(parameters_.at("lstm.w_ih")), shape);
    else if (name == "lstm.state")
      weights[name] = to_weight(to_onnx_gates(parameters_.at("lstm.w_hh")), shape);
    else if (name == "lstm.bias")
      weights[name] = to_weight(
          torch::cat({to_onnx_gates(parameters_.at("lstm.b_ih")), to_onnx_gates(parameters_.at("lstm.b_hh"))}), shape);
    else
      weights[name] = to_weight(parameters_.at(name), shape);
  }
  return weights;
}

void TorchNetwork::set_weights(const cost::Weights& weights) {
  const torch::NoGradGuard guard;
  const auto set = [&](const std::string& name, const Tensor& value) { parameters_.at(name).copy_(value); };
  for (const auto& [name, weight] : weights) {
    const Tensor value = to_tensor(weight);
    if (name == "lstm.input") {
      set("lstm.w_ih", from_onnx_gates(value[0]));
    } else if (name == "lstm.state") {
      set("lstm.w_hh", from_onnx_gates(value[0]));
    } else if (name == "lstm.bias") {
      const std::vector<Tensor> halves = value[0].chunk(2);
      set("lstm.b_ih", from_onnx_gates(halves[0]));
      set("lstm.b_hh", from_onnx_gates(halves[1]));
    } else {
      set(name, value);
    }
  }
}

}  // namespace hone::trainer
