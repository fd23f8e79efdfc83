/// The networks of cost models in libtorch, to be trained; hone runs what comes out of it without libtorch.
#pragma once

#include <map>
#include <string>
#include <torch/torch.h>
#include <vector>

#include "hone/cost/network_spec.h"

namespace hone::trainer {

/// A network of a spec. Its parameters have the names of the weights, but for those of an LSTM, which are torch's.
class TorchNetwork {
 public:
  /// With weights drawn from torch's generator, as its own modules would draw them.
  explicit TorchNetwork(cost::NetworkSpec spec);

  const cost::NetworkSpec& spec() const { return spec_; }

  /// [batch, rows, columns] → [batch, heads], one head if targets share it. Where rows that fill up sentences do not
  /// count, there may be fewer rows than the spec says.
  torch::Tensor forward(const torch::Tensor& sentences) const;

  /// What an optimizer changes.
  std::vector<torch::Tensor> parameters() const;
  /// Sets the factors by which features are brought to one scale; they are not trained.
  void set_scale(const torch::Tensor& scale) { parameters_.at("scale") = scale; }

  cost::Weights weights() const;
  void set_weights(const cost::Weights& weights);

 private:
  torch::Tensor linear(const torch::Tensor& x, const std::string& name) const;
  torch::Tensor attention(const torch::Tensor& x, const torch::Tensor& counts) const;
  torch::Tensor lstm(const torch::Tensor& x) const;

  cost::NetworkSpec spec_;
  std::map<std::string, torch::Tensor> parameters_;
};

}  // namespace hone::trainer
