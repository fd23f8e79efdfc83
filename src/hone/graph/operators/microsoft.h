/// Entries of the table for operators of com.microsoft, the domain of what ONNX Runtime adds.
#pragma once

#include "hone/graph/operator.h"

namespace hone::graph {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

constexpr Operator microsoft(std::string_view name, std::string_view schema, Define define) {
  return {.name = name, .domain = kMicrosoft, .schema = schema, .define = define};
}
constexpr Operator microsoft(std::string_view name, std::string_view schema, Expand expand) {
  return {.name = name, .domain = kMicrosoft, .schema = schema, .expand = expand};
}

}  // namespace hone::graph
