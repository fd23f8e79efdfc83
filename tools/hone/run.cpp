// hone run: runs a model once.
#include <CLI/Option.hpp>
#include <cctype>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "command.h"
#include "describe.h"
#include "model.h"
#include "npy.h"

namespace hone::command {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
  ModelOptions model;
  bool is_random = false;
  std::string output_dir;
};

/// Writes tensors into a folder, under names that every file system takes.
class OutputFolder {
 public:
  explicit OutputFolder(fs::path folder) : folder_(std::move(folder)) {}

  Result<void> create() const {
    std::error_code failure;
    fs::create_directories(folder_, failure);
    if (!failure && fs::is_directory(folder_)) return {};
    return error(ErrorCode::InvalidArgument, "cannot make the folder '{}': {}", folder_.string(),
                 failure ? failure.message() : std::strerror(ENOTDIR));
  }

  Result<fs::path> write(const std::string& name, const Tensor& tensor) {
    std::string stem;
    for (const char c : name) stem += std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._-", c) ? c : '_';
    if (stem.empty() || stem[0] == '.') stem.insert(0, "_");
    std::string free = stem;
    for (int number = 1; !taken_.insert(free).second; ++number) free = fmt::format("{}.{}", stem, number);
    fs::path file = folder_ / (free + ".npy");
    HONE_TRY(write_npy(file, tensor));
    return file;
  }

 private:
  fs::path folder_;
  std::set<std::string> taken_;
};

/// Prints a value, and what it consists of below it; writes its tensors.
Result<void> show(const std::string& name, const Value& value, OutputFolder* folder, int depth) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  const Tensor* tensor = value.tensor();
  const std::string summary = tensor ? summarize(*tensor) : "";
  fmt::print("{}{}: {}{}{}\n", indent, name, value.describe(), summary.empty() ? "" : "  ", summary);
  if (tensor && folder) {
    HONE_TRY(const fs::path file, folder->write(name, *tensor));
    fmt::print("{}  written to {}\n", indent, file.string());
  }
  if (const runtime::Sequence* sequence = value.sequence())
    for (std::size_t i = 0; i < sequence->size(); ++i)
      HONE_TRY(show(fmt::format("{}.{}", name, i), (*sequence)[i], folder, depth + 1));
  if (const runtime::Map* map = value.map())
    for (std::size_t i = 0; i < map->values.size(); ++i) {
      const std::string key = std::visit([&](const auto& keys) { return fmt::format("{}", keys[i]); }, map->keys);
      HONE_TRY(show(fmt::format("{}.{}", name, key), map->values[i], folder, depth + 1));
    }
  return {};
}

Result<void> run(const RunOptions& options) {
  HONE_TRY(const Session session, load_model(options.model));
  HONE_TRY(const std::vector<Value> inputs,
           make_inputs(session, options.model, options.is_random ? Missing::Random : Missing::Error));
  OutputFolder folder(options.output_dir);
  if (!options.output_dir.empty()) HONE_TRY(folder.create());
  HONE_TRY(const std::vector<Value> outputs, session.run(inputs));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    HONE_TRY(show(session.outputs()[i].name, outputs[i], options.output_dir.empty() ? nullptr : &folder, 0));
  return {};
}

}  // namespace

Action add_run(CLI::App& parser) {
  const auto options = std::make_shared<RunOptions>();
  options->model.add_to(parser);
  parser.add_flag("--random", options->is_random, "draw inputs that no file is given for at random");
  add_text(parser, "--output-dir", options->output_dir, "DIR", "write each output into this folder, as NAME.npy");
  return [options] { return run(*options); };
}

}  // namespace hone::command
