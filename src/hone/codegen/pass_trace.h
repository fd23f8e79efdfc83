/// PassTrace: watches a pipeline of passes, verifying, timing and showing the program after each.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// What a pipeline does beside its passes.
struct PassOptions {
  /// Checks the program after each pass; a broken one is a mistake of that pass.
  bool verify = false;
  /// Called after each pass with its name, the program, and the nanoseconds it took.
  std::function<void(std::string_view pass, const ir::Function& program, std::int64_t time_ns)> after_pass = {};
};

/// Passes programs on, from one pass to the next. Messages go to the log under the pipeline's name: at level info the
/// times, at level debug the programs too.
class PassTrace {
 public:
  PassTrace(std::string_view pipeline, const PassOptions& options);

  /// To be called with each pass' result as it comes: the time since the last call is the pass' own.
  ir::Function operator()(std::string_view pass, ir::Function program);
  Result<ir::Function> operator()(std::string_view pass, Result<ir::Function> program);

 private:
  std::string pipeline_;
  const PassOptions& options_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace hone::codegen
