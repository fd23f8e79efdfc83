/// Traces as JSON and as text.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
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

/// One visit function per type of field, all calling the same template.
template <typename Derived>
class EveryField : public FieldVisitor {  // NOLINT(bugprone-crtp-constructor-accessibility)
 public:
  void visit(std::string_view field, std::string& value) final { self().on(field, value); }
  void visit(std::string_view field, Names& value) final { self().on(field, value); }
  void visit(std::string_view field, Number& value) final { self().on(field, value); }
  void visit(std::string_view field, Numbers& value) final { self().on(field, value); }
  void visit(std::string_view field, std::int64_t& value) final { self().on(field, value); }
  void visit(std::string_view field, std::vector<std::int64_t>& value) final { self().on(field, value); }
  void visit(std::string_view field, ir::Scope& value) final { self().on(field, value); }
  void visit(std::string_view field, ir::ForKind& value) final { self().on(field, value); }

 protected:
  ~EveryField() = default;

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
};

/// Fills the fields of a step from an object that has exactly these fields.
class Reader final : public EveryField<Reader> {
 public:
  Reader(const json& object, std::string_view step, std::size_t position)
      : object_(object), step_(step), position_(position) {}

  template <typename T>
  void on(std::string_view field, T& target) {
    known_.emplace_back(field);
    if (failure_) return;
    const auto found = object_.find(std::string(field));
    if (found == object_.end()) {
      failure_ = error(ErrorCode::ParseError, "trace: step {} '{}' has no field '{}'", position_, step_, field);
    } else if (const Read mismatch = read(*found, target)) {
      failure_ =
          error(ErrorCode::ParseError, "trace: field '{}' of step {} '{}' is {}, allowed is {}", field, position_,
                step_, found->dump(-1, ' ', false, json::error_handler_t::replace), mismatch->allowed);
    }
  }

  /// The first thing that did not fit, fields of the object that no step field took included.
  std::optional<Error> failure() {
    for (const auto& [key, unused] : object_.items())
      if (!failure_ && std::find(known_.begin(), known_.end(), key) == known_.end())
        failure_ = error(ErrorCode::ParseError, "trace: step {} '{}' has an unknown field '{}', allowed are {}",
                         position_, step_, key, fmt::join(known_, ", "));
    return failure_;
  }

 private:
  const json& object_;
  std::string_view step_;
  std::size_t position_;
  std::vector<std::string> known_ = {"step"};
  std::optional<Error> failure_;
};

/// Writes the fields of a step into an object, in their order.
class Writer final : public EveryField<Writer> {
 public:
  explicit Writer(const Step& step) {
    object_["step"] = name_of(step);
    Step shown = step;
    show(shown, *this);
  }

  template <typename T>
  void on(std::string_view field, T& value) {
    object_[std::string(field)] = write(value);
  }

  const nlohmann::ordered_json& object() const { return object_; }

 private:
  nlohmann::ordered_json object_;
};

Result<Step> read_step(const json& object, std::size_t position) {
  if (!object.is_object())
    return error(ErrorCode::ParseError, "trace: step {} is {}, allowed is an object", position, object.type_name());
  const auto name = object.find("step");
  if (name == object.end() || !name->is_string())
    return error(ErrorCode::ParseError, "trace: step {} has no field 'step' that names a primitive", position);
  std::optional<Step> step = make_step(name->get_ref<const std::string&>());
  if (!step)
    return error(ErrorCode::ParseError, "trace: step {} is '{}', allowed are {}", position, name->get<std::string>(),
                 step_names());
  Reader reader(object, name_of(*step), position);
  show(*step, reader);
  if (std::optional<Error> failure = reader.failure()) return *std::move(failure);
  return *std::move(step);
}

}  // namespace

std::string to_json(const Trace& trace) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Step& step : trace) list.push_back(Writer(step).object());
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Trace> parse_trace(std::string_view text) {
  const json list = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (list.is_discarded()) return error(ErrorCode::ParseError, "trace: not JSON: '{}'", text.substr(0, 60));
  if (!list.is_array())
    return error(ErrorCode::ParseError, "trace: found {}, allowed is a list of steps", list.type_name());
  Trace trace;
  for (const json& object : list) {
    HONE_TRY(Step step, read_step(object, trace.size()));
    trace.push_back(std::move(step));
  }
  return trace;
}

std::string to_text(const Step& step) {
  std::string text;
  const Writer written(step);
  for (const auto& [field, value] : written.object().items())
    if (field != "step")
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", field,
                          value.is_string() ? value.get<std::string>() : value.dump());
  return fmt::format("{}({})", name_of(step), text);
}

}  // namespace hone::schedule
