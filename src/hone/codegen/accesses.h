/// The loads and stores of a loop's body, in order.
#pragma once

#include <vector>

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// One load or store of a flat buffer.
struct Access {
  ir::Expr buffer, index, mask;
  bool is_store;
  bool is_certain;  ///< happens whenever the statements collected run
};

/// Everything that statements access, and the variables and buffers they define.
struct Accesses {
  std::vector<Access> all;
  std::vector<ir::Expr> defined;
  bool is_plain = true;  ///< serial loops only, and no barriers

  /// Adds what `s` accesses, in the order of evaluation.
  void collect(const ir::Stmt& s, bool is_certain = true);

  /// The buffers that are stored to, each once, in the order of their first store.
  std::vector<ir::Expr> stored() const;

 private:
  void collect(const ir::Expr& e, bool is_certain);
};

}  // namespace hone::codegen
