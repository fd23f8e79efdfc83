#include "hone/space/make_space.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/space/candidate.h"
#include "hone/space/mapping_space.h"
#include "hone/space/sketch/sketch_space.h"
#include "hone/space/template/template_space.h"
#include "hone/space/union_space.h"

namespace hone::space {
namespace {

Result<std::unique_ptr<Space>> make_auto_space(const Task& task, const codegen::Target& target) {
  if (target.is_gpu()) return make_sketch_space(task, target);
  std::vector<std::unique_ptr<Space>> parts;
  parts.push_back(make_mapping_space(task, target));
  if (size_of(*parts[0]) > 1) return std::move(parts[0]);
  HONE_TRY(std::unique_ptr<Space> sketches, make_sketch_space(task, target));
  parts.push_back(std::move(sketches));
  return make_union_space("auto", std::move(parts));
}

}  // namespace

std::span<const std::string_view> space_names() {
  static constexpr std::string_view kNames[] = {"auto", "mapping", "sketch", "ansor", "template"};
  return kNames;
}

Result<std::unique_ptr<Space>> make_space(std::string_view name, const Task& task, const codegen::Target& target) {
  if (name == "auto") return make_auto_space(task, target);
  if (name == "mapping" && target.is_gpu())
    return error(ErrorCode::Unsupported,
                 "space 'mapping' is for CPUs, for target '{}' there are: auto, sketch, ansor, template",
                 codegen::to_string(target));
  if (name == "mapping") return make_mapping_space(task, target);
  if (name == "sketch") return make_sketch_space(task, target);
  if (name == "ansor") return make_sketch_space(task, target, {.is_published = true});
  if (name == "template") return make_template_space(task, target);
  return error(ErrorCode::InvalidArgument, "there is no space '{}', only: {}", name, fmt::join(space_names(), ", "));
}

std::string space_of(std::string_view candidate) {
  const auto parsed = nlohmann::json::parse(candidate, nullptr, /*allow_exceptions=*/false);
  const bool has_name = parsed.is_object() && parsed.contains("space") && parsed["space"].is_string();
  return has_name ? parsed["space"].get<std::string>() : std::string();
}

}  // namespace hone::space
