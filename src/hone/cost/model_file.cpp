#include "hone/cost/model_file.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace hone::cost {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "hone cost model 1\n";
constexpr std::size_t kChecksumBytes = 8;

/// FNV-1a: enough to notice what a disk or an editor did to a file.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return hash;
}

std::string to_bytes(std::uint64_t value) {
  std::string bytes(kChecksumBytes, '\0');
  std::memcpy(bytes.data(), &value, kChecksumBytes);
  return bytes;
}

Result<std::string> read_all(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return error(ErrorCode::NotFound, "model file '{}' cannot be opened: {}", file.string(), strerror(errno));
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return error(ErrorCode::NotFound, "model file '{}' cannot be read", file.string());
  return text;
}

/// The header's fields, checked.
struct Header {
  ModelIdentity identity;
  std::vector<std::pair<std::string, std::size_t>> sections;
};

std::optional<Header> parse_header(std::string_view line) {
  const Json fields = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!fields.is_object() || !fields.contains("model") || !fields.contains("schema") || !fields.contains("sections") ||
      !fields["model"].is_string() || !fields["schema"].is_string() || !fields["sections"].is_array())
    return std::nullopt;
  Header header{.identity = {fields["model"].get<std::string>(), fields["schema"].get<std::string>()}, .sections = {}};
  for (const Json& entry : fields["sections"]) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number_unsigned())
      return std::nullopt;
    header.sections.emplace_back(entry[0].get<std::string>(), entry[1].get<std::size_t>());
  }
  return header;
}

}  // namespace

Result<void> write_model_file(const std::filesystem::path& file, const ModelIdentity& identity,
                              const std::vector<Section>& sections) {
  Json sizes = Json::array();
  for (const Section& section : sections) sizes.push_back({section.name, section.bytes.size()});
  std::string text(kMagic);
  text += Json{{"model", identity.model}, {"schema", identity.schema}, {"sections", sizes}}.dump() + "\n";
  for (const Section& section : sections) text += section.bytes;
  text += to_bytes(checksum(text));

  std::filesystem::path unfinished = file;
  unfinished += fmt::format(".{}", ::getpid());
  std::ofstream out(unfinished, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  std::error_code code;
  if (out) std::filesystem::rename(unfinished, file, code);
  if (out && !code) return {};
  const std::string reason = code ? code.message() : strerror(errno);
  std::filesystem::remove(unfinished, code);
  return error(ErrorCode::NotFound, "model file '{}' cannot be written: {}", file.string(), reason);
}

Result<std::vector<Section>> read_model_file(const std::filesystem::path& file, const ModelIdentity& identity) {
  HONE_TRY(const std::string text, read_all(file));
  if (!std::string_view(text).starts_with(kMagic))
    return error(ErrorCode::ParseError, "file '{}' is not a model file: it does not begin with \"hone cost model 1\"",
                 file.string());
  const std::size_t line_end = text.find('\n', kMagic.size());
  if (line_end == std::string::npos)
    return error(ErrorCode::ParseError, "model file '{}' ends inside its header", file.string());
  const std::optional<Header> header =
      parse_header(std::string_view(text).substr(kMagic.size(), line_end - kMagic.size()));
  if (!header) return error(ErrorCode::ParseError, "model file '{}' has a header that cannot be read", file.string());
  if (header->identity.model != identity.model)
    return error(ErrorCode::InvalidArgument, "model file '{}' was written by the model '{}', not by '{}'",
                 file.string(), header->identity.model, identity.model);
  if (header->identity.schema != identity.schema)
    return error(ErrorCode::InvalidArgument, "model file '{}' has features of the schema '{}', this model reads '{}'",
                 file.string(), header->identity.schema, identity.schema);

  const std::size_t found = text.size() - line_end - 1;
  std::size_t expected = kChecksumBytes;
  for (const auto& [name, size] : header->sections) {
    if (size > found) expected = 0;  // sizes that cannot be summed are as wrong as a sum that does not fit
    if (expected) expected += size;
  }
  if (expected != found)
    return error(ErrorCode::ParseError, "model file '{}' has {} bytes after its header, which announces {}",
                 file.string(), found, expected ? std::to_string(expected) : "more");
  const std::string_view content = std::string_view(text).substr(0, text.size() - kChecksumBytes);
  if (to_bytes(checksum(content)) != text.substr(content.size()))
    return error(ErrorCode::ParseError, "model file '{}' is damaged: its checksum does not match", file.string());

  std::vector<Section> sections;
  std::size_t position = line_end + 1;
  for (const auto& [name, size] : header->sections) {
    sections.push_back({name, text.substr(position, size)});
    position += size;
  }
  return sections;
}

bool is_model_file(const std::filesystem::path& file) {
  std::string begin(kMagic.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kMagic;
}

Result<std::string_view> find_section(const std::vector<Section>& sections, std::string_view name,
                                      const std::filesystem::path& file) {
  for (const Section& section : sections)
    if (section.name == name) return std::string_view(section.bytes);
  return error(ErrorCode::ParseError, "model file '{}' has no section '{}'", file.string(), name);
}

}  // namespace hone::cost
