#include "hone/cost/dataset.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>

#include "hone/cost/compress.h"
#include "hone/cost/dataset_lines.h"

namespace hone::cost {
namespace {

/// The first line of each file.
constexpr std::string_view kHead = R"({"format":"hone data set","version":1})";

/// Opens a file to write to; whoever holds what comes back is the only one. `flags` of open(2) say whether to make it.
Result<FileDescriptor> lock_dataset(const std::filesystem::path& path, int flags) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | flags, 0666));
  if (file && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno == EWOULDBLOCK || errno == EEXIST)
    return error(ErrorCode::InvalidArgument,
                 "data set '{}' is being written to already: wait for that to end, or write to another file",
                 path.string());
  return error(ErrorCode::InvalidArgument, "cannot write '{}': {}", path.string(), std::strerror(errno));
}

/// The words of a network's name in lower case: "ResNet50-v1.5" is resnet50, v1 and 5.
std::vector<std::string> words_of(std::string_view network) {
  std::vector<std::string> words(1);
  for (const char c : network) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) == 0)
      words.emplace_back();
    else
      words.back() += static_cast<char>(std::tolower(letter));
  }
  std::erase(words, "");
  return words;
}

/// The name without a version at its end: "resnet50v2" is resnet50.
std::string_view without_version(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const bool is_version = digits > 0 && digits < name.size() && name[digits - 1] == 'v';
  return is_version ? name.substr(0, digits - 1) : name;
}

}  // namespace

std::optional<std::size_t> Dataset::find_target(std::string_view target) const {
  const auto found = std::find(targets.begin(), targets.end(), target);
  if (found == targets.end()) return std::nullopt;
  return static_cast<std::size_t>(found - targets.begin());
}

Result<std::vector<std::size_t>> Dataset::find_targets(const std::vector<std::string>& texts) const {
  std::vector<std::size_t> places;
  for (const std::string& text : texts) {
    std::vector<std::size_t> found;
    for (std::size_t t = 0; t < targets.size(); ++t)
      if (targets[t].find(text) != std::string::npos) found.push_back(t);
    if (const std::optional<std::size_t> exact = find_target(text)) found = {*exact};
    if (found.size() != 1)
      return error(ErrorCode::NotFound, "target '{}' is in {} targets of the data set, expected one of: {}", text,
                   found.size(), fmt::join(targets, "; "));
    if (std::find(places.begin(), places.end(), found[0]) != places.end())
      return error(ErrorCode::InvalidArgument, "target '{}' is given twice", targets[found[0]]);
    places.push_back(found[0]);
  }
  if (texts.empty())
    for (std::size_t t = 0; t < targets.size(); ++t) places.push_back(t);
  return places;
}

double Dataset::best_seconds(std::size_t task, std::size_t target) const {
  double best = kFailed;
  for (const std::size_t place : tasks[task].programs)
    if (const double seconds = programs[place].seconds[target]; seconds < best) best = seconds;
  return best;
}

bool Dataset::has_run(std::size_t task) const {
  for (std::size_t t = 0; t < targets.size(); ++t)
    if (std::isfinite(best_seconds(task, t))) return true;
  return false;
}

double Dataset::label(const DatasetProgram& program, std::size_t target) const {
  const double seconds = program.seconds[target];
  if (std::isnan(seconds)) return kNotMeasured;
  return std::isfinite(seconds) ? best_seconds(program.task, target) / seconds : 0;
}

bool is_test_network(std::string_view network) {
  constexpr std::array<std::string_view, 5> kTested = {"resnet50", "mobilenetv2", "resnext50", "bertbase", "berttiny"};
  const auto is_tested = [&](std::string_view name) {
    return std::find(kTested.begin(), kTested.end(), name) != kTested.end();
  };
  std::string name;
  for (const std::string& word : words_of(network.substr(0, network.find('@')))) {
    name += word;
    if (is_tested(name) || is_tested(without_version(name))) return true;
  }
  return false;
}

bool is_test_task(const DatasetTask& task) {
  return std::any_of(task.networks.begin(), task.networks.end(),
                     [](const auto& network) { return is_test_network(network.first); });
}

DatasetFile::DatasetFile(std::filesystem::path path, FileDescriptor lock, Dataset data)
    : path_(std::move(path)), lock_(std::move(lock)), data_(std::move(data)) {
  for (std::size_t i = 0; i < data_.tasks.size(); ++i) tasks_.emplace(data_.tasks[i].key, i);
}

Result<DatasetFile> DatasetFile::open(const std::filesystem::path& path) {
  std::error_code status;
  if (!std::filesystem::exists(path, status)) return DatasetFile(path, {}, {});
  HONE_TRY(FileDescriptor lock, lock_dataset(path, /*flags=*/0));
  if (std::filesystem::file_size(path, status) == 0) return DatasetFile(path, std::move(lock), {});
  HONE_TRY(const DatasetText text, read_dataset_text(path));
  if (text.is_compressed)
    return error(ErrorCode::InvalidArgument, "'{}' is compressed: unpack it before adding to it", path.string());
  HONE_TRY(Dataset data, parse_dataset(text.lines, path.string()));
  // What was cut off is written over.
  std::filesystem::resize_file(path, text.lines.rfind('\n') + 1, status);
  if (status) return error(ErrorCode::InvalidArgument, "cannot write '{}': {}", path.string(), status.message());
  return DatasetFile(path, std::move(lock), std::move(data));
}

Result<void> DatasetFile::begin_writing() {
  // What a file holds that somebody else made meanwhile is not known here.
  if (!lock_) { HONE_TRY(lock_, lock_dataset(path_, O_CREAT | O_EXCL)); }
  out_.open(path_, std::ios::app | std::ios::binary);
  std::error_code status;
  if (out_ && std::filesystem::is_empty(path_, status)) out_ << kHead << '\n';
  if (!out_) return error(ErrorCode::InvalidArgument, "cannot write '{}'", path_.string());
  return {};
}

Result<void> DatasetFile::write(const std::string& line) {
  if (!out_.is_open()) HONE_TRY(begin_writing());
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
  if (const auto found = tasks_.find(task.key); found != tasks_.end()) return found->second;
  HONE_TRY(write(line_of(task)));
  const std::size_t place = data_.tasks.size();
  tasks_.emplace(task.key, place);
  // The rest stands in lines of its own.
  DatasetTask& added = data_.tasks.emplace_back(task);
  added.networks.clear();
  added.programs.clear();
  added.done.clear();
  for (const auto& [network, calls] : task.networks) HONE_TRY(add_use(place, network, calls));
  return place;
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
  if (std::isfinite(seconds))
    data_.reasons.erase({program, target});
  else
    data_.reasons[{program, target}] = reason;
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
  HONE_TRY(const FileDescriptor lock, lock_dataset(to, O_CREAT));
  std::ofstream out(to, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.flush();
  if (!out) return error(ErrorCode::InvalidArgument, "cannot write '{}'", to.string());
  return bytes.size();
}

}  // namespace hone::cost
