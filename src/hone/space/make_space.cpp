#include "hone/space/make_space.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/ir/equal.h"
#include "hone/space/candidate.h"
#include "hone/space/mapping_space.h"
#include "hone/space/sketch/sketch_space.h"
#include "hone/space/template/template_space.h"
#include "hone/space/union_space.h"
#include "hone/support/rng.h"

namespace hone::space {
namespace {

/// Whether candidates differ in their programs, by what a few of them are built to.
bool has_choice(const Space& space) {
  constexpr int kDrawn = 12;
  Rng rng(/*seed=*/1);
  std::optional<ir::Hash128> first;
  for (int i = 0; i < kDrawn && size_of(space) > 1; ++i) {
    const Result<schedule::Schedule> built = space.build(i == 0 ? space.first() : random_candidate(space, rng));
    if (!built) continue;
    const ir::Hash128 hash = ir::structural_hash(built->program());
    if (first && *first != hash) return true;
    first = hash;
  }
  return false;
}

Result<std::unique_ptr<Space>> make_auto_space(const Task& task, const codegen::Target& target) {
  if (target.is_gpu()) return make_sketch_space(task, target);
  std::vector<std::unique_ptr<Space>> parts;
  parts.push_back(make_mapping_space(task, target));
  if (has_choice(*parts[0])) return std::move(parts[0]);
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
