/// The trained network that comes with hone: data/network.onnx, which is part of the library.
#pragma once

#include <string_view>

namespace hone {

/// The bytes of the ONNX model. They are mapped with the program, and read from disk when somebody looks at them.
std::string_view shipped_network();

}  // namespace hone
