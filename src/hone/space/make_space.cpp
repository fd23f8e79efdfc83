#include "hone/space/make_space.h"

#include <nlohmann/json.hpp>

#include "hone/space/mapping_space.h"
#include "hone/space/sketch/sketch_space.h"

namespace hone::space {

Result<std::unique_ptr<Space>> make_space(std::string_view name, const Task& task, const codegen::Target& target) {
  if (name == "mapping") return make_mapping_space(task, target);
  if (name == "sketch") return make_sketch_space(task, target);
  return error(ErrorCode::InvalidArgument, "there is no space '{}', only: mapping, sketch", name);
}

std::string space_of(std::string_view candidate) {
  const auto parsed = nlohmann::json::parse(candidate, nullptr, /*allow_exceptions=*/false);
  const bool has_name = parsed.is_object() && parsed.contains("space") && parsed["space"].is_string();
  return has_name ? parsed["space"].get<std::string>() : std::string();
}

}  // namespace hone::space
