#include "case_runner.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare_values.h"

#include "hone/frontend/import.h"
#include "hone/graph/evaluate.h"
#include "hone/session.h"

namespace hone::conformance {
namespace {

namespace fs = std::filesystem;
using runtime::Value;

std::vector<char> read_bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The input as its type declares it: numpy has no bfloat16, so that some files hold its bits as uint16.
Value as_declared(Value value, const graph::Type& type) {
  if (const runtime::Tensor* tensor = value.tensor())
    if (tensor->type() == runtime::ElementType::U16 && type.element == runtime::ElementType::BF16)
      return tensor->reinterpreted(type.element);
  return value;
}

/// Reads input_0.pb, input_1.pb, … of a data set; `values` are those of the graph, whose types say how to read them.
Result<std::vector<Value>> read_values(const fs::path& folder, std::string_view what, const graph::Graph& graph,
                                       const std::vector<graph::ValueId>& ids) {
  std::vector<Value> values;
  for (std::size_t i = 0;; ++i) {
    const fs::path file = folder / fmt::format("{}_{}.pb", what, i);
    if (!fs::exists(file)) return values;
    if (i >= ids.size())
      return error(ErrorCode::InvalidArgument, "{} has more files than the model has {}s ({})", folder.string(), what,
                   ids.size());
    const std::vector<char> bytes = read_bytes(file);
    const graph::Type& type = graph.values[static_cast<std::size_t>(ids[i])].type;
    HONE_TRY(Value value, frontend::read_value(std::as_bytes(std::span(bytes)), type));
    values.push_back(what == "input" ? as_declared(std::move(value), type) : std::move(value));
  }
}

Tolerance tolerance_of(const fs::path& folder) {
  Tolerance tolerance;
  if (std::ifstream stream(folder / "tolerance.txt"); stream) stream >> tolerance.relative >> tolerance.absolute;
  return tolerance;
}

Report failure(const Error& error) {
  return {error.code == ErrorCode::Unsupported ? Outcome::Unsupported : Outcome::Fail, error.message};
}

/// Runs the model on one value per input.
using Run = std::function<Result<std::vector<Value>>(const std::vector<Value>& inputs)>;

Report run_data_set(const graph::Graph& graph, const Run& run, const fs::path& folder, const Tolerance& tolerance) {
  auto inputs = read_values(folder, "input", graph, graph.inputs);
  if (!inputs) return {Outcome::Fail, inputs.error().message};
  auto expected = read_values(folder, "output", graph, graph.outputs);
  if (!expected) return {Outcome::Fail, expected.error().message};
  if (inputs->size() > graph.inputs.size()) inputs->resize(graph.inputs.size());
  if (inputs->size() != graph.inputs.size())
    return {Outcome::Fail, fmt::format("{} inputs for a model of {}", inputs->size(), graph.inputs.size())};
  const auto found = run(*inputs);
  if (!found) return failure(found.error());
  for (std::size_t i = 0; i < expected->size(); ++i)
    if (const auto differs = difference((*found)[i], (*expected)[i], tolerance))
      return {Outcome::Fail, fmt::format("output '{}': {}", graph.name_of(graph.outputs[i]), *differs)};
  return {Outcome::Pass, ""};
}

}  // namespace

std::vector<fs::path> find_cases(const fs::path& folder) {
  if (fs::exists(folder / "model.onnx")) return {folder};
  std::vector<fs::path> cases;
  if (!fs::is_directory(folder)) return cases;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().filename() == "model.onnx") cases.push_back(entry.path().parent_path());
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::string operator_of(const fs::path& folder) {
  std::string name;
  if (std::ifstream stream(folder / "operator.txt"); stream) stream >> name;
  return name.empty() ? folder.parent_path().filename().string() : name;
}

Report run_case(const fs::path& folder, Engine engine) {
  try {
    const auto graph = frontend::import_onnx(folder / "model.onnx");
    if (!graph) return failure(graph.error());
    Run run = [&](const std::vector<Value>& inputs) { return graph::evaluate(*graph, inputs); };
    std::optional<Session> session;
    if (engine == Engine::Compiled) {
      auto loaded = Session::load(folder / "model.onnx");
      if (!loaded) return failure(loaded.error());
      session = *std::move(loaded);
      run = [&](const std::vector<Value>& inputs) { return session->run(inputs); };
    }
    const Tolerance tolerance = tolerance_of(folder);
    for (int i = 0;; ++i) {
      const fs::path data = folder / fmt::format("test_data_set_{}", i);
      if (!fs::exists(data)) return i > 0 ? Report{Outcome::Pass, ""} : Report{Outcome::Fail, "no data set"};
      const Report report = run_data_set(*graph, run, data, tolerance);
      if (report.outcome != Outcome::Pass) return report;
    }
  } catch (const std::exception& thrown) { return {Outcome::Fail, fmt::format("threw: {}", thrown.what())}; }
}

Report run_case_apart(const fs::path& folder, int seconds, Engine engine) {
  int ends[2];
  if (::pipe(ends) != 0) return {Outcome::Fail, "no pipe"};
  const pid_t child = ::fork();
  if (child < 0) return {Outcome::Fail, "no process"};
  if (child == 0) {
    constexpr rlim_t kMaxBytes = rlim_t{8} << 30;
    const rlimit memory{kMaxBytes, kMaxBytes};
    ::setrlimit(RLIMIT_AS, &memory);
    const Report report = run_case(folder, engine);
    const std::string text = fmt::format("{}{}", static_cast<int>(report.outcome), report.reason);
    [[maybe_unused]] const auto written = ::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  pollfd waited{.fd = ends[0], .events = POLLIN, .revents = 0};
  bool is_late = false;
  for (char buffer[4096];;) {
    if (::poll(&waited, 1, seconds * 1000) <= 0) {
      is_late = true;
      ::kill(child, SIGKILL);
      break;
    }
    const ssize_t count = ::read(ends[0], buffer, sizeof(buffer));
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (is_late) return {Outcome::Fail, fmt::format("not done after {} s", seconds)};
  if (text.empty())
    return {Outcome::Fail, WIFSIGNALED(status) ? fmt::format("crashed: {}", ::strsignal(WTERMSIG(status)))
                                               : std::string("ended without a result")};
  return {static_cast<Outcome>(text[0] - '0'), text.substr(1)};
}

}  // namespace hone::conformance
