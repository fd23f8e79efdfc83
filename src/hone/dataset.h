/// Data sets of models: which tasks they have, handed to what collects programs of them.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "hone/model_tasks.h"
#include "hone/search/collect.h"

namespace hone {

/// The tasks of model files, each once, with the networks that call it; a network is called as its file, with "@" and
/// the name of the shape for other shapes than the usual one. `variations` are shapes that all networks but those for
/// testing are looked at in as well. `note` is told of models and shapes that give nothing, and goes on.
Result<std::vector<search::CollectTask>> gather_tasks(const std::vector<std::filesystem::path>& files,
                                                      const std::vector<ModelShape>& variations,
                                                      const codegen::Target& target,
                                                      const std::function<void(const std::string&)>& note);

}  // namespace hone
