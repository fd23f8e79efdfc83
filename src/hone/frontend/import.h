/// Reads ONNX models, and the values that ONNX stores in files of their own, into our graph and values.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "hone/graph/graph.h"

namespace hone::frontend {

/// The oldest and the newest version of the file format that is read.
inline constexpr std::int64_t kOldestIrVersion = 3;
inline constexpr std::int64_t kNewestIrVersion = 14;

/// Reads a model: functions of the file are inlined, old operators have their newest form, constants hold their
/// content, and all operators and attributes are known to the table. The error names everything that is not supported.
Result<graph::Graph> import_onnx(const std::filesystem::path& file);

/// The same from memory. External data is looked for in `folder`; without one it is an error.
Result<graph::Graph> import_onnx(std::span<const std::byte> bytes, const std::filesystem::path& folder = {});

/// Reads a serialized TensorProto.
Result<runtime::Tensor> read_tensor(std::span<const std::byte> bytes);

/// Reads a serialized TensorProto, SequenceProto, MapProto or OptionalProto, whichever holds values of this type.
Result<runtime::Value> read_value(std::span<const std::byte> bytes, const graph::Type& type);

}  // namespace hone::frontend
