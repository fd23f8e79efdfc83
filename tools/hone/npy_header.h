/// The header of .npy files: a Python dict of type, order and shape as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/session.h"

namespace hone::command {

/// What a header says of the elements after it.
struct NpyHeader {
  char order = '|';           ///< '<' or '>' of numbers of several bytes, '|' where it does not matter
  char kind = 'f';            ///< of the numbers: numpy's letters b, i, u, f, c, V, S, U
  std::size_t item_size = 0;  ///< bytes of an element
  bool is_fortran = false;
  Shape shape;

  bool operator==(const NpyHeader&) const = default;
};

/// Reads the dict. The error says what is wrong with it.
Result<NpyHeader> parse_npy_dict(std::string_view text);

/// The dict as numpy writes it: sorted keys, a comma after each value.
std::string npy_dict(const NpyHeader& header);

}  // namespace hone::command
