#include "hone/measure/records/record.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "hone/measure/statistics.h"

namespace hone::measure {
namespace {

using Json = nlohmann::ordered_json;

Json parse_or_null(const std::string& text) { return Json::parse(text, nullptr, /*allow_exceptions=*/false); }

/// Takes fields out of a JSON object, and remembers the first that is missing or of another type.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  template <typename T>
  void get(const char* name, T& value) {
    const auto found = object_.find(name);
    if (found == object_.end()) return fail(name, "missing");
    try {
      found->get_to(value);
    } catch (const nlohmann::json::exception&) { fail(name, found->dump()); }
  }
  /// A field that holds JSON and is kept as its text.
  void get_json(const char* name, std::string& text) {
    const auto found = object_.find(name);
    if (found == object_.end()) return fail(name, "missing");
    text = found->dump();
  }
  /// A field that is one of a few words.
  template <typename Enum>
  void get_word(const char* name, Enum& value, std::optional<Enum> (*find)(std::string_view)) {
    std::string word;
    get(name, word);
    if (const std::optional<Enum> known = find(word)) {
      value = *known;
    } else {
      fail(name, "'" + word + "'");
    }
  }

  Result<void> result() const {
    if (problem_.empty()) return {};
    return error(ErrorCode::ParseError, "{}", problem_);
  }

 private:
  void fail(const std::string& name, const std::string& found) {
    if (problem_.empty()) problem_ = "field '" + name + "' of a record line is " + found;
  }

  const Json& object_;
  std::string problem_;
};

Result<JsonLine> read_task(const Json& object) {
  JsonLine line{.is_task = true, .task = {}, .record = {}};
  Fields fields(object);
  fields.get("task", line.task.key);
  fields.get("family", line.task.family);
  fields.get("text", line.task.text);
  fields.get("shapes", line.task.shapes);
  fields.get("constants", line.task.constants);
  HONE_TRY(fields.result());
  return line;
}

Result<JsonLine> read_record(const Json& object) {
  JsonLine line;
  Record& record = line.record;
  Fields fields(object);
  fields.get("uid", record.uid);
  fields.get("task", record.task.key);
  fields.get("target", record.target);
  fields.get_json("candidate", record.candidate);
  fields.get_json("trace", record.trace);
  fields.get_word("status", record.status, &find_trial_status);
  fields.get("samples_ns", record.samples_ns);
  fields.get_word("cache", record.cache, &find_cache_state);
  fields.get("checked", record.is_checked);
  fields.get("compile_ms", record.compile_ms);
  fields.get("message", record.message);
  fields.get_json("tags", record.tags);
  fields.get("version", record.version);
  fields.get("time_ms", record.time_ms);
  HONE_TRY(fields.result());
  return line;
}

}  // namespace

double Record::min_ns() const { return minimum(samples_ns); }
double Record::median_ns() const { return median(samples_ns); }

Record make_record(TaskKey task, std::string target, std::string candidate, std::string trace,
                   const MeasureResult& result) {
  Record record;
  record.task = std::move(task);
  record.target = std::move(target);
  record.candidate = std::move(candidate);
  record.trace = std::move(trace);
  record.status = result.status;
  record.samples_ns = result.samples_ns;
  record.cache = result.cache;
  record.is_checked = result.is_checked;
  record.compile_ms = result.compile_ms;
  record.message = result.message;
  return record;
}

std::string adopted_tags(const Adoption& adoption) {
  Json tags = {{"adopted", true}};
  if (std::isfinite(adoption.first_ns)) tags["first_ns"] = adoption.first_ns;
  if (!adoption.first.empty()) tags["first"] = parse_or_null(adoption.first);
  if (adoption.in_model) tags["in_model"] = true;
  return tags.dump();
}

std::optional<Adoption> find_adoption(const Record& record) {
  if (record.tags == "{}") return std::nullopt;  // as most are
  const Json tags = parse_or_null(record.tags);
  if (!tags.is_object() || tags.value("adopted", Json()) != true) return std::nullopt;
  const auto ns = tags.find("first_ns"), first = tags.find("first");
  Adoption adoption{std::numeric_limits<double>::infinity()};
  if (ns != tags.end() && ns->is_number()) adoption.first_ns = ns->get<double>();
  if (first != tags.end()) adoption.first = first->dump();
  adoption.in_model = tags.value("in_model", Json()) == true;
  return adoption;
}

std::string to_json_line(const TaskKey& task) {
  return Json{{"schema", kSchemaVersion}, {"kind", "task"},        {"task", task.key},
              {"family", task.family},    {"shapes", task.shapes}, {"constants", task.constants},
              {"text", task.text}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_json_line(const Record& record) {
  return Json{{"schema", kSchemaVersion},
              {"kind", "record"},
              {"uid", record.uid},
              {"task", record.task.key},
              {"target", record.target},
              {"candidate", parse_or_null(record.candidate)},
              {"trace", parse_or_null(record.trace)},
              {"status", to_string(record.status)},
              {"samples_ns", record.samples_ns},
              {"cache", to_string(record.cache)},
              {"checked", record.is_checked},
              {"compile_ms", record.compile_ms},
              {"message", record.message},
              {"tags", parse_or_null(record.tags)},
              {"version", record.version},
              {"time_ms", record.time_ms}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<JsonLine> parse_json_line(std::string_view text) {
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return error(ErrorCode::ParseError, "a record line is no JSON object");
  const auto schema = object.find("schema");
  if (schema == object.end() || !schema->is_number_integer())
    return error(ErrorCode::ParseError, "a record line has no number 'schema', allowed are 1..{}", kSchemaVersion);
  if (*schema < 1 || *schema > kSchemaVersion)
    return error(ErrorCode::Unsupported, "a record line has schema {}, this hone reads 1..{}", schema->dump(),
                 kSchemaVersion);
  const Json kind = object.value("kind", Json());
  if (kind == "task") return read_task(object);
  if (kind == "record") return read_record(object);
  return error(ErrorCode::ParseError, "a record line is of kind {}, allowed are \"task\" and \"record\"", kind.dump());
}

}  // namespace hone::measure
