/// Model files: a header that names the model and its features, then named sections of bytes, then a checksum.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hone/support/result.h"

namespace hone::cost {

struct Section {
  std::string name, bytes;
};

/// Which model wrote a file, from which features; another model or schema cannot make sense of the sections.
struct ModelIdentity {
  std::string model, schema;
};

/// Writes a file as a whole: whoever reads it meanwhile sees the old one or the new one.
Result<void> write_model_file(const std::filesystem::path& file, const ModelIdentity& identity,
                              const std::vector<Section>& sections);

/// The sections of a file that this model wrote. An error says what is wrong with the file, or who wrote it.
Result<std::vector<Section>> read_model_file(const std::filesystem::path& file, const ModelIdentity& identity);

/// Whether a file begins like one that write_model_file wrote.
bool is_model_file(const std::filesystem::path& file);

/// The bytes of a section, which must be there.
Result<std::string_view> find_section(const std::vector<Section>& sections, std::string_view name,
                                      const std::filesystem::path& file);

}  // namespace hone::cost
