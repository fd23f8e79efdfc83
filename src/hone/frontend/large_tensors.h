/// Setting large initializers aside before a model is parsed: protobuf would copy their bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hone::frontend {

/// The raw data of an initializer of the main graph, where it stands in the model.
struct LargeTensor {
  int initializer;  ///< its number
  std::span<const std::byte> content;
};

/// A model without the raw data of its large initializers.
struct LightModel {
  std::string bytes;
  std::vector<LargeTensor> large;
};

/// Nothing if the model has no large initializers, or is not written as models are: whoever parses it says what is
/// wrong.
std::optional<LightModel> set_large_tensors_aside(std::span<const std::byte> model);

}  // namespace hone::frontend
