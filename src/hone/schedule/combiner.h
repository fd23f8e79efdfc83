/// Recognising how a reduction block combines what it has with what comes next.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hone/schedule/program.h"

namespace hone::schedule {

/// A reduction block taken apart: each output is updated from its old value and a source, by an associative and
/// commutative operation.
struct Combiner {
  std::vector<ir::Expr> buffers;
  std::vector<std::vector<ir::Expr>> indices;  ///< where each buffer is updated
  std::vector<ir::Expr> sources;               ///< what each buffer is updated with
  std::vector<ir::Expr> identities;            ///< what each buffer may be updated with, any number of times, in vain
};

/// Understands sum, product, minimum, maximum, and, or of one output, and selections such as argmax of one or several:
/// every output becomes its source under one condition, and stays itself otherwise.
Result<Combiner> find_combiner(const ir::Block& block, std::string_view step);

/// Where a combiner's update is to work instead.
struct Replacement {
  std::vector<ir::Expr> buffers;   ///< in place of the combiner's
  std::vector<ir::Expr> sources;   ///< in place of the combiner's
  std::vector<ir::Expr> new_axes;  ///< indices put before the old ones in accesses of the buffers
};

/// `stmt`, the init or the body of the block, with buffers and sources replaced, and variables that it defines made
/// new.
ir::Stmt rewrite_update(const ir::Stmt& stmt, const Combiner& combiner, const Replacement& replacement);

}  // namespace hone::schedule
