#include "hone/frontend/large_tensors.h"

#include <cstdint>

namespace hone::frontend {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 18;

// Of ModelProto, GraphProto and TensorProto.
constexpr std::uint64_t kModelGraph = 7, kGraphInitializer = 5, kTensorRawData = 9;

/// A field of a message in protobuf's encoding.
struct Field {
  std::uint64_t number = 0;
  bool has_content = false;                   ///< whether it is bytes, text or a message
  std::span<const std::byte> whole, content;  ///< all of it, and what is inside
};

/// Reads the fields of a message one by one.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> message) : rest_(message) {}

  bool is_at_end() const { return rest_.empty(); }

  /// The next field; nothing if there is none, or what comes is no field.
  std::optional<Field> next() {
    const std::span<const std::byte> begin = rest_;
    const std::optional<std::uint64_t> key = varint();
    if (!key) return std::nullopt;
    Field field{.number = *key >> 3};
    switch (*key & 7) {
      case 0:
        if (!varint()) return std::nullopt;
        break;
      case 1:
        if (!skip(8)) return std::nullopt;
        break;
      case 2: {
        const std::optional<std::uint64_t> size = varint();
        if (!size || *size > rest_.size()) return std::nullopt;
        field.has_content = true;
        field.content = rest_.first(*size);
        skip(*size);
        break;
      }
      case 5:
        if (!skip(4)) return std::nullopt;
        break;
      default:  // groups: nobody writes them
        return std::nullopt;
    }
    field.whole = begin.first(begin.size() - rest_.size());
    return field;
  }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return std::nullopt;
      const auto byte = std::to_integer<std::uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    return std::nullopt;
  }

  bool skip(std::uint64_t count) {
    if (count > rest_.size()) return false;
    rest_ = rest_.subspan(count);
    return true;
  }

  std::span<const std::byte> rest_;
};

void append(std::string& to, std::span<const std::byte> bytes) {
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 128; value >>= 7) to.push_back(static_cast<char>(value % 128 + 128));
  to.push_back(static_cast<char>(value));
}

void append_message(std::string& to, std::uint64_t number, const std::string& content) {
  append_varint(to, number << 3 | 2);
  append_varint(to, content.size());
  to += content;
}

/// A tensor without its raw data, and that; nothing if it has none or little, or more than once.
std::optional<std::pair<std::string, std::span<const std::byte>>> split(std::span<const std::byte> tensor) {
  std::string rest;
  std::optional<std::span<const std::byte>> content;
  FieldReader fields(tensor);
  while (const std::optional<Field> field = fields.next()) {
    const bool is_raw_data = field->number == kTensorRawData && field->has_content;
    if (is_raw_data && content) return std::nullopt;
    if (is_raw_data) {
      content = field->content;
    } else {
      append(rest, field->whole);
    }
  }
  if (!fields.is_at_end() || !content || content->size() < kLarge) return std::nullopt;
  return std::pair(std::move(rest), *content);
}

/// The graph without its large tensors; nothing if it is no message.
std::optional<std::string> light_graph(std::span<const std::byte> graph, std::vector<LargeTensor>& large) {
  std::string light;
  int initializers = 0;
  FieldReader fields(graph);
  while (const std::optional<Field> field = fields.next()) {
    const bool is_initializer = field->number == kGraphInitializer && field->has_content;
    auto parts = is_initializer && field->content.size() >= kLarge ? split(field->content) : std::nullopt;
    if (parts) {
      large.push_back({initializers, parts->second});
      append_message(light, kGraphInitializer, parts->first);
    } else {
      append(light, field->whole);
    }
    initializers += is_initializer ? 1 : 0;
  }
  if (!fields.is_at_end()) return std::nullopt;
  return light;
}

}  // namespace

std::optional<LightModel> set_large_tensors_aside(std::span<const std::byte> model) {
  if (model.size() < kLarge) return std::nullopt;
  LightModel light;
  bool has_graph = false;
  FieldReader fields(model);
  while (const std::optional<Field> field = fields.next()) {
    if (field->number != kModelGraph || !field->has_content) {
      append(light.bytes, field->whole);
      continue;
    }
    if (has_graph) return std::nullopt;  // protobuf would merge them
    has_graph = true;
    const std::optional<std::string> graph = light_graph(field->content, light.large);
    if (!graph) return std::nullopt;
    append_message(light.bytes, kModelGraph, *graph);
  }
  if (!fields.is_at_end() || light.large.empty()) return std::nullopt;
  return light;
}

}  // namespace hone::frontend
