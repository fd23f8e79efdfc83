#include "hone/cost/dataset_lines.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "hone/cost/compress.h"

namespace hone::cost {
namespace {

using Json = nlohmann::json;

constexpr double kNsPerSecond = 1e9;

/// Nanoseconds with as many digits as count.
double rounded_ns(double seconds) {
  const double ns = seconds * kNsPerSecond;
  return ns >= 1000 ? std::round(ns) : std::round(ns * 10) / 10;
}

/// The element of a list that a line means by its place.
template <typename Item>
Item& at_place(std::vector<Item>& items, const Json& place, std::string_view what) {
  const auto found = place.get<std::size_t>();
  if (found >= items.size())
    throw std::runtime_error(fmt::format("{} {} is meant, there are {} up to here", what, found, items.size()));
  return items[found];
}

/// Reads the lines of a file one after the other. What they are made of is checked by the accessors of the JSON
/// library, whose exceptions become errors in parse_dataset.
class LineReader {
 public:
  void read(std::string_view line) {
    const Json item = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (item.is_discarded()) throw_no_json(line);
    if (!is_headed_) return read_head(item);
    if (!item.is_object() || item.size() != 1) throw std::runtime_error("an object with one field is expected");
    const auto field = item.begin();
    if (field.key() == "label") return read_label(*field);
    if (field.key() == "program") return read_program(*field);
    if (field.key() == "task") return read_task(*field);
    if (field.key() == "use") {
      task((*field).at(0)).networks[(*field).at(1).get<std::string>()] = (*field).at(2).get<double>();
    } else if (field.key() == "done") {
      task((*field).at(0)).done = (*field).at(1).get<std::string>();
    } else if (field.key() == "target") {
      data_.targets.push_back(field->get<std::string>());
      for (DatasetProgram& program : data_.programs) program.seconds.push_back(kNotMeasured);
    } else if (field.key() == "note") {
      data_.notes[(*field).at(0).get<std::string>()] = (*field).at(1).get<std::string>();
    } else {
      throw std::runtime_error(
          fmt::format("'{}' is not known, expected note, target, task, use, program, label or done", field.key()));
    }
  }

  bool is_headed() const { return is_headed_; }
  Dataset take() { return std::move(data_); }

 private:
  /// Labels that are no numbers, such as nan, are no JSON either.
  [[noreturn]] static void throw_no_json(std::string_view line) {
    constexpr std::string_view kLabel = R"({"label":[)";
    if (!line.starts_with(kLabel)) throw std::runtime_error("the line is no JSON");
    throw_no_label(line.substr(kLabel.size() - 1, line.rfind(']') - kLabel.size() + 2));
  }
  [[noreturn]] static void throw_no_label(std::string_view label) {
    throw std::runtime_error(fmt::format(
        "label {} is wrong, expected [program, target, nanoseconds above 0 or a text that says why it failed]", label));
  }

  void read_head(const Json& item) {
    if (!item.is_object() || item.value("format", "") != "hone data set")
      throw std::runtime_error("this is not a data set of hone");
    constexpr int kVersion = 1;
    if (const int version = item.at("version").get<int>(); version != kVersion)
      throw std::runtime_error(fmt::format("the data set has version {}, this hone reads {}", version, kVersion));
    is_headed_ = true;
  }

  DatasetTask& task(const Json& place) { return at_place(data_.tasks, place, "task"); }

  void read_task(const Json& item) {
    DatasetTask task;
    task.key = item.at("key").get<std::string>();
    if (!keys_.insert(task.key).second) throw std::runtime_error(fmt::format("task {} stands there twice", task.key));
    task.family = item.at("family").get<std::string>();
    task.name = item.at("name").get<std::string>();
    task.flops = item.at("flops").get<double>();
    task.constants = item.at("constants").get<std::vector<std::size_t>>();
    for (const Json& one : item.at("algorithms"))
      task.algorithms.push_back({one.at(0).get<std::string>(), one.at(1).get<std::string>()});
    data_.tasks.push_back(std::move(task));
  }

  void read_program(const Json& item) {
    DatasetProgram program;
    program.task = item.at("task").get<std::size_t>();
    program.algorithm = item.at("algorithm").get<std::size_t>();
    if (std::vector<DatasetTask::Algorithm>& all = task(item.at("task")).algorithms; !all.empty())
      at_place(all, item.at("algorithm"), "algorithm");
    program.hash = item.at("hash").get<std::string>();
    at_place(data_.targets, item.at("for"), "target");
    program.drawn_for = item.at("for").get<std::size_t>();
    program.candidate = item.at("candidate").dump();
    program.trace = item.at("trace").dump();
    program.seconds.assign(data_.targets.size(), kNotMeasured);
    data_.tasks[program.task].programs.push_back(data_.programs.size());
    data_.programs.push_back(std::move(program));
  }

  void read_label(const Json& item) {
    DatasetProgram& program = at_place(data_.programs, item.at(0), "program");
    double& seconds = at_place(program.seconds, item.at(1), "target");
    const Json& found = item.at(2);
    const auto place = std::pair(item.at(0).get<std::size_t>(), item.at(1).get<std::size_t>());
    if (found.is_string()) {
      seconds = kFailed;
      data_.reasons[place] = found.get<std::string>();
      return;
    }
    const double ns = found.is_number() ? found.get<double>() : 0;
    if (!(ns > 0) || !std::isfinite(ns)) throw_no_label(item.dump());
    seconds = ns / kNsPerSecond;
    data_.reasons.erase(place);
  }

  Dataset data_;
  std::set<std::string> keys_;
  bool is_headed_ = false;
};

}  // namespace

std::string line_of(const DatasetTask& task) {
  Json algorithms = Json::array();
  for (const DatasetTask::Algorithm& algorithm : task.algorithms)
    algorithms.push_back(Json::array({algorithm.name, algorithm.text}));
  return Json{{"task",
               {{"key", task.key},
                {"family", task.family},
                {"name", task.name},
                {"flops", task.flops},
                {"constants", task.constants},
                {"algorithms", std::move(algorithms)}}}}
      .dump();
}

std::string line_of(const DatasetProgram& program) {
  // Candidate and trace are JSON already.
  return fmt::format(R"({{"program":{{"task":{},"algorithm":{},"hash":"{}","for":{},"candidate":{},"trace":{}}}}})",
                     program.task, program.algorithm, program.hash, program.drawn_for, program.candidate,
                     program.trace);
}

std::string line_of(const Label& label) {
  if (!std::isfinite(label.seconds)) return Json{{"label", {label.program, label.target, label.reason}}}.dump();
  return fmt::format(R"({{"label":[{},{},{}]}})", label.program, label.target, rounded_ns(label.seconds));
}

Result<DatasetText> read_dataset_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::error_code status;
  if (!in || std::filesystem::is_directory(file, status))
    return error(ErrorCode::NotFound, "cannot read the data set '{}'", file.string());
  std::ostringstream bytes;
  bytes << in.rdbuf();
  DatasetText text{std::move(bytes).str()};
  if (!is_compressed(text.lines)) return text;
  Result<std::string> lines = decompress(text.lines);
  if (!lines) return error(lines.error().code, "data set '{}': {}", file.string(), lines.error().message);
  return DatasetText{*std::move(lines), /*is_compressed=*/true};
}

Result<Dataset> parse_dataset(std::string_view lines, const std::string& file) {
  LineReader reader;
  std::size_t number = 0;
  for (std::size_t begin = 0, end = 0; (end = lines.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    ++number;
    try {
      reader.read(lines.substr(begin, end - begin));
    } catch (const std::exception& problem) {
      return error(ErrorCode::ParseError, "data set '{}', line {}: {}", file, number, problem.what());
    }
  }
  if (!reader.is_headed()) return error(ErrorCode::ParseError, "data set '{}' has no whole line", file);
  return reader.take();
}

}  // namespace hone::cost
