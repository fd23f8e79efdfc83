/// The interpreter's own form of programs: closures over numbered slots. For interpret*.cpp alone.
///
/// A program is translated once, so that running it looks nothing up by name: a variable is a place in Frame::slots, a
/// buffer is a place in Frame::memories, an expression is a Code and a statement an Action.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hone/ir/stmt.h"
#include "hone/ir/value.h"

namespace hone::ir {

/// Thrown to leave a running program, caught by interpret() alone.
struct Stop {
  Error error;
};

/// A buffer while the program runs.
struct Memory {
  std::string name;
  DType element;
  std::vector<std::int64_t> shape;
  std::byte* data = nullptr;
  std::vector<std::byte> storage = {};  ///< of allocated buffers; parameters lie in the caller's arrays
  std::vector<bool> written = {};       ///< which elements were stored; empty for parameters, which hold values at once
};

/// All that changes while a program runs.
struct Frame {
  std::vector<Number> slots;
  std::vector<Memory> memories;
};

/// Computes one lane of an expression. Scalars give the same value for every lane.
using Code = std::function<Number(Frame&, int lane)>;
/// Runs a statement.
using Action = std::function<void(Frame&)>;

/// Knows the slots of variables and buffers while a program is translated.
class Translator {
 public:
  /// Gives a variable as many new slots as it has lanes, and a buffer one new place.
  int define_variable(const Expr& var);
  int define_memory(const Expr& buffer);
  bool has_variable(const Expr& var) const { return variables_.contains(var.id()); }
  int variable(const Expr& var) const;
  int memory(const Expr& buffer) const;

  Code translate(const Expr& e) const;
  Action translate(const Stmt& s);

  /// A frame with room for everything defined so far.
  Frame new_frame() const;

 private:
  Code translate_call(const Expr& e) const;
  Code translate_select(const Expr& e) const;
  Code translate_load(const Expr& e) const;
  std::vector<Code> translate_all(const std::vector<Expr>& list) const;
  std::vector<Code> translate_indices(const Expr& buffer, const std::vector<Expr>& indices) const;
  Action translate_for(const For& loop);
  Action translate_block(const Block& block);
  Action translate_store(const Store& node);
  Action translate_allocate(const Allocate& node);

  std::unordered_map<const void*, int> variables_, memories_;  // looked up, never iterated
  std::vector<Expr> buffers_;
  int slot_count_ = 0;
};

/// The flat place of an element; outside the buffer it throws Stop, naming the access ("load" or "store").
std::int64_t element_offset(Frame& frame, const Memory& memory, const std::vector<Code>& indices, int lane,
                            std::string_view access);

/// Addition, multiplication, minimum and maximum of two numbers of one type, as the nodes of expr.h define them.
Number add(DType type, Number a, Number b);
Number multiply(DType type, Number a, Number b);
Number minimum(DType type, Number a, Number b);
Number maximum(DType type, Number a, Number b);

}  // namespace hone::ir
