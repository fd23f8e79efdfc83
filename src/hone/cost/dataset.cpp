#include "hone/cost/dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hone/cost/compress.h"
#include "hone/cost/dataset_lines.h"

namespace hone::cost {
namespace {

/// The first line of each file.
constexpr std::string_view kHead = R"({"format":"hone data set","version":1})";

}  // namespace

std::optional<std::size_t> Dataset::find_task(std::string_view key) const {
  const auto found = std::find_if(tasks.begin(), tasks.end(), [&](const DatasetTask& task) { return task.key == key; });
  if (found == tasks.end()) return std::nullopt;
  return static_cast<std::size_t>(found - tasks.begin());
}

std::optional<std::size_t> Dataset::find_target(std::string_view target) const {
  const auto found = std::find(targets.begin(), targets.end(), target);
  if (found == targets.end()) return std::nullopt;
  return static_cast<std::size_t>(found - targets.begin());
}

double Dataset::best_seconds(std::size_t task, std::size_t target) const {
  double best = kFailed;
  for (const std::size_t place : tasks[task].programs)
    if (const double seconds = programs[place].seconds[target]; seconds < best) best = seconds;
  return best;
}

double Dataset::label(const DatasetProgram& program, std::size_t target) const {
  const double seconds = program.seconds[target];
  if (std::isnan(seconds)) return kNotMeasured;
  return std::isfinite(seconds) ? best_seconds(program.task, target) / seconds : 0;
}

bool is_test_network(std::string_view network) {
  constexpr std::array<std::string_view, 5> kTested = {"resnet50", "mobilenet_v2", "resnext50", "bert_base",
                                                       "bert_tiny"};
  return std::find(kTested.begin(), kTested.end(), network.substr(0, network.find('@'))) != kTested.end();
}

bool is_test_task(const DatasetTask& task) {
  return std::any_of(task.networks.begin(), task.networks.end(),
                     [](const auto& network) { return is_test_network(network.first); });
}

Result<DatasetFile> DatasetFile::open(const std::filesystem::path& path) {
  Dataset data;
  std::error_code status;
  const bool is_new = !std::filesystem::exists(path, status) || std::filesystem::file_size(path, status) == 0;
  if (!is_new) {
    HONE_TRY(const DatasetText text, read_dataset_text(path));
    if (text.is_compressed)
      return error(ErrorCode::InvalidArgument, "'{}' is compressed: unpack it before adding to it", path.string());
    HONE_TRY(data, parse_dataset(text.lines, path.string()));
    // What was cut off is written over.
    std::filesystem::resize_file(path, text.lines.rfind('\n') + 1, status);
    if (status) return error(ErrorCode::InvalidArgument, "cannot write '{}': {}", path.string(), status.message());
  }
  DatasetFile file(path, std::move(data));
  file.out_.open(path, std::ios::app | std::ios::binary);
  if (!file.out_) return error(ErrorCode::InvalidArgument, "cannot write '{}'", path.string());
  if (is_new) HONE_TRY(file.write(std::string(kHead)));
  return file;
}

Result<void> DatasetFile::write(const std::string& line) {
  out_ << line << '\n';
  out_.flush();
  if (!out_) return error(ErrorCode::InvalidArgument, "cannot write '{}': the disk may be full", path_.string());
  return {};
}

Result<void> DatasetFile::note(const std::string& name, const std::string& text) {
  if (const auto found = data_.notes.find(name); found != data_.notes.end() && found->second == text) return {};
  data_.notes[name] = text;
  return write(nlohmann::json{{"note", {name, text}}}.dump());
}

Result<std::size_t> DatasetFile::add_target(const std::string& target) {
  if (const auto found = data_.find_target(target)) return *found;
  HONE_TRY(write(nlohmann::json{{"target", target}}.dump()));
  data_.targets.push_back(target);
  for (DatasetProgram& program : data_.programs) program.seconds.push_back(kNotMeasured);
  return data_.targets.size() - 1;
}

Result<std::size_t> DatasetFile::add_task(const DatasetTask& task) {
  if (const auto found = data_.find_task(task.key)) return *found;
  HONE_TRY(write(line_of(task)));
  data_.tasks.push_back(task);
  data_.tasks.back().networks.clear();
  for (const auto& [network, calls] : task.networks) HONE_TRY(add_use(data_.tasks.size() - 1, network, calls));
  return data_.tasks.size() - 1;
}

Result<std::size_t> DatasetFile::add_program(DatasetProgram program) {
  HONE_TRY(write(line_of(program)));
  program.seconds.assign(data_.targets.size(), kNotMeasured);
  const std::size_t place = data_.programs.size();
  data_.tasks[program.task].programs.push_back(place);
  data_.programs.push_back(std::move(program));
  return place;
}

Result<void> DatasetFile::add_use(std::size_t task, const std::string& network, double calls) {
  std::map<std::string, double>& networks = data_.tasks[task].networks;
  if (const auto found = networks.find(network); found != networks.end() && found->second == calls) return {};
  networks[network] = calls;
  return write(nlohmann::json{{"use", {task, network, calls}}}.dump());
}

Result<void> DatasetFile::add_label(std::size_t program, std::size_t target, double seconds, std::string_view reason) {
  data_.programs[program].seconds[target] = seconds;
  return write(line_of(Label{program, target, seconds, std::string(reason)}));
}

Result<void> DatasetFile::finish_task(std::size_t task, const std::string& why) {
  data_.tasks[task].done = why;
  return write(nlohmann::json{{"done", {task, why}}}.dump());
}

Result<Dataset> read_dataset(const std::filesystem::path& path) {
  HONE_TRY(const DatasetText text, read_dataset_text(path));
  return parse_dataset(text.lines, path.string());
}

Result<std::size_t> pack_dataset(const std::filesystem::path& from, const std::filesystem::path& to) {
  HONE_TRY(const DatasetText text, read_dataset_text(from));
  HONE_TRY(parse_dataset(text.lines, from.string()));
  HONE_TRY(const std::string bytes, compress(std::string_view(text.lines).substr(0, text.lines.rfind('\n') + 1)));
  std::ofstream out(to, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.flush();
  if (!out) return error(ErrorCode::InvalidArgument, "cannot write '{}'", to.string());
  return bytes.size();
}

}  // namespace hone::cost
