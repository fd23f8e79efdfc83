/// Lowering: writes tensor expressions as naive loops over blocks.
#pragma once

#include <string>
#include <vector>

#include "hone/ir/stmt.h"
#include "hone/tensor/tensor.h"

namespace hone::tensor {

/// A function that computes `outputs` from `inputs`: its parameters are the inputs, then the outputs.
///
/// Each compute between them becomes one block, named after its (first) tensor, in a nest of serial loops; the nests
/// stand in a sequence, producers first. Tensors that are neither input nor output are allocated around the sequence,
/// in global memory. A reduction is one block with an init; of several outputs, the new values are let-bound before the
/// first is stored. A reduction over no axes, or over an empty one, has no block with an init: it is a plain compute of
/// the source or of the identity.
///
/// Names follow from the definition alone. Loops have the names of their axes (i, j, k, … where none is given), block
/// variables have a "v" before that; a name that is taken gets the first free number: i_1, i_2. Tensors of equal names
/// are told apart in the same way. An input may be a compute: then it is not computed here.
ir::Function lower(std::string name, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs);

}  // namespace hone::tensor
