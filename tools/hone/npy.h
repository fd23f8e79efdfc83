/// Files of one tensor in numpy's format .npy, versions 1 to 3.
#pragma once

#include <filesystem>

#include "hone/session.h"

namespace hone::command {

/// Reads a file. Big-endian numbers and Fortran order become what hone uses. Types that the format cannot name
/// (bfloat16 and those below 16 bits) are stored as their bits: a file of integers or raw bytes of the size of `wanted`
/// is read as that type. The error names the file, what it has, and what is allowed.
Result<Tensor> read_npy(const std::filesystem::path& file, ElementType wanted = ElementType::Undefined);

/// Writes a file, little-endian and in C order. Types that the format cannot name are written as integers that hold
/// their bits.
Result<void> write_npy(const std::filesystem::path& file, const Tensor& tensor);

}  // namespace hone::command
