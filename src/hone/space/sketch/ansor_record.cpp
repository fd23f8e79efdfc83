#include "hone/space/sketch/ansor_record.h"

#include <nlohmann/json.hpp>

namespace hone::space::ansor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShortTask = 2;  ///< fields of a task that every line has

/// Reads what is there into a value; an error says what it is and what it should be.
template <typename T>
Result<void> read(const Json& json, T& value, const char* what, const char* expected) {
  try {
    json.get_to(value);
    return {};
  } catch (const nlohmann::json::exception&) {
    return error(ErrorCode::ParseError, "ansor: the {} is {}, expected {}", what, json.dump(), expected);
  }
}

Result<void> read_task(const Json& task, Record& record) {
  if (!task.is_array() || task.size() < kShortTask)
    return error(ErrorCode::ParseError, "ansor: the task is {}, expected a list of workload, target and more",
                 task.dump());
  HONE_TRY(read(task[0], record.workload, "workload", "a text"));
  HONE_TRY(read(task[1], record.target, "target", "a text"));
  if (task.size() > 2) HONE_TRY(read(task[2], record.hardware, "hardware", "a list of whole numbers"));
  if (task.size() > 3) HONE_TRY(read(task[3], record.host, "target of the host", "a text"));
  if (task.size() > 4) {
    std::int64_t rewrite = 0;
    HONE_TRY(read(task[4], rewrite, "layout rewrite", "a whole number"));
    if (rewrite < 0 || rewrite > static_cast<std::int64_t>(LayoutRewrite::PreTransformed))
      return error(ErrorCode::ParseError, "ansor: the layout rewrite is {}, expected 0, 1 or 2", rewrite);
    record.rewrite = static_cast<LayoutRewrite>(rewrite);
  }
  if (task.size() > 5) HONE_TRY(read(task[5], record.inputs, "list of inputs", "a list of texts"));
  return {};
}

Result<void> read_result(const Json& result, Record& record) {
  if (!result.is_array() || result.size() != 4)
    return error(ErrorCode::ParseError, "ansor: the result is {}, expected a list of four", result.dump());
  HONE_TRY(read(result[0], record.costs_s, "list of costs", "a list of numbers"));
  HONE_TRY(read(result[1], record.error, "error", "a whole number"));
  HONE_TRY(read(result[2], record.all_cost_s, "cost in all", "a number"));
  return read(result[3], record.time_s, "time", "a whole number");
}

void collect(const Json& json, Ids& numbers) {
  if (json.is_number_integer()) numbers.push_back(json.get<std::int64_t>());
  if (json.is_array())
    for (const Json& item : json) collect(item, numbers);
}

}  // namespace

Result<Record> parse_record(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("i") || !json.contains("r"))
    return error(ErrorCode::ParseError, "ansor: the line is no JSON object with 'i' and 'r'");
  const Json& input = json["i"];
  if (!input.is_array() || input.size() != 2 || !input[1].is_array() || input[1].size() != 2)
    return error(ErrorCode::ParseError, "ansor: 'i' is {}, expected the task and [[], [steps]]", input.dump());
  Record record;
  HONE_TRY(read_task(input[0], record));
  HONE_TRY(record.steps, parse_steps(input[1][1].dump()));
  HONE_TRY(read_result(json["r"], record));
  if (json.contains("v")) HONE_TRY(read(json["v"], record.version, "version", "a text"));
  return record;
}

std::string to_json(const Record& record) {
  Json task = Json::array({record.workload, record.target});
  if (!record.hardware.empty()) {
    task.push_back(record.hardware);
    task.push_back(record.host);
    task.push_back(static_cast<int>(record.rewrite));
    task.push_back(record.inputs);
  }
  const Json state = Json::array({Json::array(), Json::parse(to_json(record.steps))});
  const Json result = Json::array({record.costs_s, record.error, record.all_cost_s, record.time_s});
  return Json{{"i", Json::array({task, state})}, {"r", result}, {"v", record.version}}.dump();
}

std::string name_of(std::string_view workload) {
  const Json json = Json::parse(workload, nullptr, /*allow_exceptions=*/false);
  const bool has_name = json.is_array() && !json.empty() && json[0].is_string();
  return has_name ? json[0].get<std::string>() : std::string();
}

Ids numbers_of(std::string_view workload) {
  Ids numbers;
  collect(Json::parse(workload, nullptr, /*allow_exceptions=*/false), numbers);
  return numbers;
}

}  // namespace hone::space::ansor
