/// Runs one test case in the form of the ONNX suite: a folder with a model and the values it is to be fed and to give.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hone::conformance {

/// How a case ended.
enum class Outcome { Pass, Fail, Unsupported };

/// The outcome with a reason in words (none for a pass).
struct Report {
  Outcome outcome;
  std::string reason;
};

/// All folders below `folder` (or itself) that have a model.onnx, sorted.
std::vector<std::filesystem::path> find_cases(const std::filesystem::path& folder);

/// The operator that a case is about, as operator.txt in its folder says.
std::string operator_of(const std::filesystem::path& folder);

/// What runs the model: the reference evaluator, or a session with compiled kernels.
enum class Engine { Reference, Compiled };

/// Imports the model, runs it on each data set and compares what comes out.
Report run_case(const std::filesystem::path& folder, Engine engine);

/// The same in a process of its own: a crash, or more seconds than these, is a failure.
Report run_case_apart(const std::filesystem::path& folder, int seconds, Engine engine);

}  // namespace hone::conformance
