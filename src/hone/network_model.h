/// Cost models that are networks, trained ahead of time: they rank candidates before anything is measured.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hone/codegen/target.h"
#include "hone/cost/cost_model.h"
#include "hone/network.h"

namespace hone {

/// A network as a cost model. It does not learn from what is measured. The error names the schema of its sentences, if
/// this hone writes others.
Result<std::unique_ptr<cost::CostModel>> make_network_model(std::string_view name, Network network,
                                                            const codegen::Target& target,
                                                            const cost::ModelOptions& options = {});

/// The network of a file; of an empty name the one that HONE_COST_MODEL names, or else the one that comes with hone.
Result<Network> load_network(const std::string& file = {});

/// What make_any_cost_model knows, those that it adds to cost/ first.
std::span<const std::string_view> any_cost_model_names();

/// Cost models by name: "tlp" and "mtl" (two names of a network alone, by the head for the target; see head_for),
/// "auto" (a network whose scores boosted trees correct as soon as something is measured), "gbt" (the trees alone), and
/// those of cost/. `file` is the network to use; see load_network.
Result<std::unique_ptr<cost::CostModel>> make_any_cost_model(std::string_view name, const cost::ModelOptions& options,
                                                             const codegen::Target& target, const std::string& file);

}  // namespace hone
