/// Traces as JSON and as text.
#include <charconv>
#include <nlohmann/json.hpp>

#include "hone/schedule/trace.h"

namespace hone::schedule {

using nlohmann::json;

namespace {

/// "$tile[2]"
std::string reference(const Number& number) { return fmt::format("${}[{}]", number.decision, number.element); }

json write(const std::string& text) { return text; }
json write(const Names& names) { return names; }
json write(std::int64_t number) { return number; }
json write(const std::vector<std::int64_t>& numbers) { return numbers; }
json write(ir::Scope scope) { return to_string(scope); }
json write(ir::ForKind index) { return to_string(index); }
json write(const Number& number) {
  if (number.decision.empty()) return number.value;
  return reference(number);
}
json write(const Numbers& numbers) {
  json list = json::array();
  for (const Number& number : numbers) list.push_back(write(number));
  return list;
}

/// Why a JSON value does not fit a field; filled in by the readers below.
struct Mismatch {
  std::string allowed;
};
using Read = std::optional<Mismatch>;

Read read(const json& value, std::string& text) {
  if (!value.is_string()) return Mismatch{"a string"};
  text = value.get<std::string>();
  return {};
}

Read read(const json& value, std::int64_t& number) {
  if (!value.is_number_integer()) return Mismatch{"a whole number"};
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    return Mismatch{"a whole number of 64 bits"};
  number = value.get<std::int64_t>();
  return {};
}

Read read(const json& value, Number& number) {
  if (!value.is_string()) {
    const Read mismatch = read(value, number.value);
    return mismatch ? Mismatch{"a whole number or \"$decision[element]\""} : mismatch;
  }
  const std::string& text = value.get_ref<const std::string&>();
  const std::size_t open = text.find('[');
  std::int64_t element = 0;
  if (text.size() < 5 || text[0] != '$' || open == std::string::npos || open < 2 || text.back() != ']')
    return Mismatch{"a whole number or \"$decision[element]\""};
  const char* end = text.data() + text.size() - 1;
  const auto [stop, status] = std::from_chars(text.data() + open + 1, end, element);
  if (status != std::errc() || stop != end) return Mismatch{"a whole number or \"$decision[element]\""};
  number = Number::from(text.substr(1, open - 1), element);
  return {};
}

template <typename T>
Read read(const json& value, std::vector<T>& list) {
  if (!value.is_array()) return Mismatch{"a list"};
  for (const json& item : value) {
    T element{};
    if (const Read mismatch = read(item, element)) return Mismatch{"a list of which each is " + mismatch->allowed};
    list.push_back(std::move(element));
  }
  return {};
}

Read read(const json& value, ir::Scope& scope) {
  const auto found = value.is_string() ? ir::find_scope(value.get<std::string>()) : std::nullopt;
  if (!found) return Mismatch{"\"global\", \"shared\", \"local\" or \"register\""};
  scope = *found;
  return {};
}

Read read(const json& value, ir::ForKind& index) {
  const auto found = value.is_string() ? ir::find_for_kind(value.get<std::string>()) : std::nullopt;
  if (!found) return Mismatch{"a GPU index such as \"block_x\", \"thread_y\" or \"vthread\""};
  index = *found;
  return {};
}

/// Fills the fields of a step from an object that has exactly these fields.
template <typename S>
Result<Step> read_step(const json& object, std::size_t position) {
  S step{};
  std::optional<Error> failure;
  std::string allowed = "step";
  std::size_t known = 1;
  S::fields(step, [&](std::string_view field, auto& target) {
    allowed += ", " + std::string(field);
    if (failure) return;
    const auto found = object.find(std::string(field));
    if (found == object.end()) {
      failure = error(ErrorCode::ParseError, "trace: step {} '{}' has no field '{}'", position, S::kName, field);
      return;
    }
    ++known;
    if (const Read mismatch = read(*found, target))
      failure = error(ErrorCode::ParseError, "trace: field '{}' of step {} '{}' is {}, allowed is {}", field, position,
                      S::kName, found->dump(-1, ' ', false, json::error_handler_t::replace), mismatch->allowed);
  });
  if (!failure && object.size() != known)
    for (const auto& [key, unused] : object.items())
      if ((", " + allowed + ",").find(", " + key + ",") == std::string::npos)
        failure = error(ErrorCode::ParseError, "trace: step {} '{}' has an unknown field '{}', allowed are {}",
                        position, S::kName, key, allowed);
  if (failure) return *std::move(failure);
  return Step(std::move(step));
}

/// Tries each alternative of Step in turn; `names` collects them for the error.
template <std::size_t kIndex = 0>
Result<Step> read_named(const std::string& name, const json& object, std::size_t position, std::string names = {}) {
  if constexpr (kIndex == std::variant_size_v<Step>) {
    return error(ErrorCode::ParseError, "trace: step {} is '{}', allowed are {}", position, name, names);
  } else {
    using S = std::variant_alternative_t<kIndex, Step>;
    if (name == S::kName) return read_step<S>(object, position);
    return read_named<kIndex + 1>(name, object, position,
                                  std::move(names) + (kIndex == 0 ? "" : ", ") + std::string(S::kName));
  }
}

}  // namespace

std::string_view name_of(const Step& step) {
  return std::visit([](const auto& s) { return s.kName; }, step);
}

const std::vector<std::int64_t>* decision_of(const Step& step) { return decision_of(const_cast<Step&>(step)); }

std::vector<std::int64_t>* decision_of(Step& step) {
  return std::visit(
      [](auto& s) -> std::vector<std::int64_t>* {
        if constexpr (requires { s.decision; }) {
          return &s.decision;
        } else {
          return nullptr;
        }
      },
      step);
}

std::string to_json(const Trace& trace) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Step& step : trace) {
    nlohmann::ordered_json object;
    object["step"] = name_of(step);
    std::visit(
        [&](const auto& s) {
          s.fields(s, [&](std::string_view field, const auto& value) { object[std::string(field)] = write(value); });
        },
        step);
    list.push_back(std::move(object));
  }
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Trace> parse_trace(std::string_view text) {
  const json list = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (list.is_discarded()) return error(ErrorCode::ParseError, "trace: not JSON: '{}'", text.substr(0, 60));
  if (!list.is_array())
    return error(ErrorCode::ParseError, "trace: found {}, allowed is a list of steps", list.type_name());
  Trace trace;
  for (const json& object : list) {
    const std::size_t position = trace.size();
    if (!object.is_object())
      return error(ErrorCode::ParseError, "trace: step {} is {}, allowed is an object", position, object.type_name());
    const auto name = object.find("step");
    if (name == object.end() || !name->is_string())
      return error(ErrorCode::ParseError, "trace: step {} has no field 'step' that names a primitive", position);
    HONE_TRY(Step step, read_named<>(name->get<std::string>(), object, position));
    trace.push_back(std::move(step));
  }
  return trace;
}

std::string to_text(const Step& step) {
  std::string text(name_of(step));
  text += '(';
  bool is_first = true;
  const auto visit = [&](std::string_view field, const auto& value) {
    const json written = write(value);
    text += fmt::format("{}{}={}", is_first ? "" : ", ", field,
                        written.is_string() ? written.template get<std::string>() : written.dump());
    is_first = false;
  };
  std::visit([&](const auto& s) { s.fields(s, visit); }, step);
  return text + ')';
}

}  // namespace hone::schedule
