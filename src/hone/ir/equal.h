/// Structural equality and hashing: two programs are equal if they differ at most in names.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "hone/ir/stmt.h"

namespace hone::ir {

/// Whether both compute the same by the same steps. Variables bound inside correspond by position; free variables and
/// buffers must be one node.
bool equal(const Expr& a, const Expr& b);
bool equal(const Stmt& a, const Stmt& b);
bool equal(const Function& a, const Function& b);

/// 128 bits, stable over runs, machines and names.
struct Hash128 {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const Hash128&) const = default;
};

/// 32 hexadecimal digits.
std::string to_string(const Hash128& hash);

/// Equal functions have equal hashes.
Hash128 structural_hash(const Function& function);

}  // namespace hone::ir
