/// The tasks of a model file at shapes of the caller's choice, without compiling its kernels.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/runtime/value.h"
#include "hone/tasks.h"

namespace hone {

/// At which shapes a model is looked at.
struct ModelShape {
  std::string name;                          ///< for people: "batch=4"; empty: the usual one
  std::map<std::string, std::int64_t> dims;  ///< for symbolic extents; others are 1
  std::int64_t image = 0;                    ///< the height and width of what is [N, C, H, W]; 0: as the model says
};

/// "batch=4", "sequence=32", "image=160", or several of them with commas.
Result<ModelShape> parse_model_shape(const std::string& text);

/// What the kernels of the model compute on this target at one shape after the other, each task once. Shapes that a
/// model cannot take give an error of their own; that of the file as a whole comes back at once. Kernels behind a shape
/// that only a run can tell are not among them.
Result<std::vector<Result<std::vector<TaskUse>>>> model_tasks(const std::filesystem::path& file,
                                                              const codegen::Target& target,
                                                              const std::vector<ModelShape>& shapes);
/// The same at the shapes of these inputs, of which there must be as many as the model has.
Result<std::vector<TaskUse>> model_tasks(const std::filesystem::path& file, const codegen::Target& target,
                                         std::span<const runtime::Value> inputs);

}  // namespace hone
