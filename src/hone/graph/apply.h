/// Applying an operator to inputs of which type and shape are known: what the evaluator and the compiler both start
/// with.
#pragma once

#include <span>
#include <vector>

#include "hone/graph/operator.h"

namespace hone::graph {

/// Which of its meanings an operator has for given inputs.
enum class Meaning { Expression, Expansion, Host };

/// The meaning of an entry for these inputs: host kernels serve what is no tensor of numbers.
Result<Meaning> meaning_of(const Application& op, const Operator& entry);

/// What is known of an input whose content is known, or only its type and shape.
Application::Input known_input(ValueId id, const std::string& name, const runtime::Value& value);
Application::Input shaped_input(ValueId id, const std::string& name, const OutputSpec& spec);

/// The outputs as tensors of the expression, at least as many as the node has. Before: the meaning is Expression.
Result<std::vector<tensor::Tensor>> define(const Application& op, const Operator& entry);

/// The placeholders that the tensors read, directly or through others; each once.
std::vector<tensor::Tensor> placeholders_of(std::span<const tensor::Tensor> tensors);

/// Types and shapes of the outputs that these tensors are.
std::vector<OutputSpec> specs_of(const Application& op, const Operator& entry,
                                 const std::vector<tensor::Tensor>& tensors);

}  // namespace hone::graph
