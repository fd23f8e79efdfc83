#include "hone/graph/schema.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <mutex>

#include "hone/graph/operator.h"

namespace hone::graph {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The parts of a list, without the spaces around them; none for an empty text.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<Formal> parse_formals(std::string_view text) {
  std::vector<Formal> formals;
  for (std::string_view part : parts_of(trimmed(text), ',')) {
    Formal formal;
    if (const std::size_t colon = part.find(':'); colon != std::string_view::npos) {
      formal.type = trimmed(part.substr(colon + 1));
      part = trimmed(part.substr(0, colon));
    }
    if (part.ends_with("...")) {
      formal.is_variadic = true;
      part.remove_suffix(3);
    }
    if (part.ends_with('?')) {
      formal.is_optional = true;
      part.remove_suffix(1);
    }
    HONE_CHECK(!part.empty(), "a formal without a name in the schema '{}'", text);
    formal.name = part;
    formals.push_back(std::move(formal));
  }
  return formals;
}

Schema parse(std::string_view text) {
  const std::vector<std::string_view> sections = parts_of(text, ';');
  HONE_CHECK(!sections.empty() && sections.size() <= 3, "a schema of {} parts: '{}'", sections.size(), text);
  const std::size_t arrow = sections[0].find("->");
  HONE_CHECK(arrow != std::string_view::npos, "a schema without outputs: '{}'", text);
  Schema schema;
  schema.inputs = parse_formals(sections[0].substr(0, arrow));
  schema.outputs = parse_formals(sections[0].substr(arrow + 2));
  if (sections.size() > 1)
    for (const std::string_view name : parts_of(sections[1], ',')) schema.attributes.emplace_back(name);
  if (sections.size() > 2)
    for (const std::string_view part : parts_of(sections[2], ',')) {
      const std::size_t colon = part.find(':');
      HONE_CHECK(colon != std::string_view::npos, "a type variable without a set in the schema '{}'", text);
      schema.variables.emplace_back(trimmed(part.substr(0, colon)), trimmed(part.substr(colon + 1)));
    }
  return schema;
}

bool is_variable(std::string_view type) {
  return !type.empty() && type.size() <= 2 && std::isupper(static_cast<unsigned char>(type[0])) &&
         (type.size() == 1 || std::isdigit(static_cast<unsigned char>(type[1])));
}

std::string_view set_of(const Schema& schema, std::string_view type) {
  if (!is_variable(type)) return type.empty() ? "any" : type;
  for (const auto& [name, set] : schema.variables)
    if (name == type) return set;
  return "any";
}

/// Optional values, and lists of any kind of value, as those that a Loop carries. A list of tensors is of one at least.
bool may_be_absent(const Formal& formal) { return formal.is_optional || (formal.is_variadic && formal.type.empty()); }

std::size_t required_count(const std::vector<Formal>& formals) {
  std::size_t count = formals.size();
  while (count > 0 && may_be_absent(formals[count - 1])) --count;
  return count;
}

Result<void> check_count(const std::string& node, std::string_view what, std::size_t count,
                         const std::vector<Formal>& formals) {
  const std::size_t least = required_count(formals);
  const bool is_open = !formals.empty() && formals.back().is_variadic;
  if (count >= least && (is_open || count <= formals.size())) return {};
  if (is_open) return error(ErrorCode::InvalidArgument, "{}: {} {}, at least {} needed", node, count, what, least);
  return error(ErrorCode::InvalidArgument, "{}: {} {}, allowed are {} to {}", node, count, what, least, formals.size());
}

}  // namespace

const Formal* Schema::formal_at(const std::vector<Formal>& formals, std::size_t i) {
  if (i < formals.size()) return &formals[i];
  return !formals.empty() && formals.back().is_variadic ? &formals.back() : nullptr;
}

const Schema& schema_of(const Operator& entry) {
  static std::mutex mutex;
  static std::map<const Operator*, Schema> parsed;
  const std::scoped_lock lock(mutex);
  const auto found = parsed.find(&entry);
  return found != parsed.end() ? found->second : parsed.emplace(&entry, parse(entry.schema)).first->second;
}

bool is_in_set(std::string_view set, ElementType type) {
  using runtime::is_float, runtime::is_integer;
  for (const std::string_view part : parts_of(set, '|')) {
    if (part == "any") return true;
    if (part == "number" && (is_float(type) || is_integer(type))) return true;
    if (part == "float" && is_float(type)) return true;
    if (part == "int" && is_integer(type)) return true;
    if (part == "index" && (type == ElementType::I32 || type == ElementType::I64)) return true;
    // "float" is a set here; f32 alone is written "float32"
    if (part == "float32" && type == ElementType::F32) return true;
    if (part != "float" && runtime::element_type_named(part) == type) return true;
  }
  return false;
}

Result<void> check_node(const Graph& graph, const Node& node, const Operator& entry,
                        std::span<const ElementType> types) {
  const Schema& schema = schema_of(entry);
  const std::string who = describe(graph, node);
  HONE_TRY(check_count(who, "inputs", node.inputs.size(), schema.inputs));
  HONE_TRY(check_count(who, "outputs", node.outputs.size(), schema.outputs));
  const auto check_attribute = [&](const std::string& name) -> Result<void> {
    if (std::find(schema.attributes.begin(), schema.attributes.end(), name) != schema.attributes.end()) return {};
    return error(ErrorCode::Unsupported, "{}: attribute '{}' is not supported, known are: {}", who, name,
                 fmt::join(schema.attributes, ", "));
  };
  for (const auto& [name, value] : node.attributes.entries()) HONE_TRY(check_attribute(name));
  for (const auto& [name, subgraph] : node.subgraphs) HONE_TRY(check_attribute(name));
  std::map<std::string, ElementType, std::less<>> bound;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Formal& formal = *Schema::formal_at(schema.inputs, i);
    if (node.inputs[i] == kAbsent && !may_be_absent(formal))
      return error(ErrorCode::InvalidArgument, "{}: input {} ('{}') is missing", who, i, formal.name);
    const ElementType type = i < types.size() ? types[i] : ElementType::Undefined;
    if (type == ElementType::Undefined) continue;
    const std::string_view set = set_of(schema, formal.type);
    if (!is_in_set(set, type))
      return error(ErrorCode::Unsupported, "{}: input {} ('{}') has type {}, allowed: {}", who, i, formal.name,
                   runtime::name_of(type), set);
    if (!is_variable(formal.type)) continue;
    const auto [entry_of, is_new] = bound.emplace(formal.type, type);
    if (!is_new && entry_of->second != type)
      return error(ErrorCode::InvalidArgument, "{}: input {} ('{}') has type {}, but another input of type {} has {}",
                   who, i, formal.name, runtime::name_of(type), formal.type, runtime::name_of(entry_of->second));
  }
  return {};
}

ElementType output_type(const Schema& schema, std::size_t output, std::span<const ElementType> input_types) {
  const Formal* formal = Schema::formal_at(schema.outputs, output);
  if (!formal || !is_variable(formal->type)) return ElementType::Undefined;
  for (std::size_t i = 0; i < input_types.size(); ++i) {
    const Formal* input = Schema::formal_at(schema.inputs, i);
    if (input && input->type == formal->type && input_types[i] != ElementType::Undefined) return input_types[i];
  }
  return ElementType::Undefined;
}

}  // namespace hone::graph
