/// Elementary functions as expressions: polynomials that every back end and vector width computes inline.
#pragma once

#include <span>

#include "hone/ir/expr.h"

namespace hone::codegen {

/// Functions that the target has instructions for, so that expansions may call them.
struct MathUnits {
  bool ldexp = false;                ///< Ldexp
  bool reciprocal_estimate = false;  ///< ReciprocalEstimate
  bool fast_division = false;        ///< division, in less time than an estimate of the reciprocal is refined
};

/// An expression of `args` that computes the function to within 4 units in the last place, from arithmetic, bit
/// operations, selects, square roots and what `units` names alone; null if there is none for this type and the C
/// library must be called. Arguments should be variables: the result uses them many times, and shares its own parts, so
/// walk it with a memory.
ir::Expr expand_math(ir::Intrinsic function, std::span<const ir::Expr> args, const MathUnits& units = {});

/// weight * sigmoid(x) as one quotient, weight / (1 + e^-x); null if that saves nothing with these units. It is within
/// 8 units in the last place for x > -20; below, the relative error grows to 2e-6, and what is too small for a normal
/// number is 0.
ir::Expr expand_weighted_sigmoid(const ir::Expr& weight, const ir::Expr& x, const MathUnits& units);

}  // namespace hone::codegen
