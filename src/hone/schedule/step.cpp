#include "hone/schedule/step.h"

#include <utility>

namespace hone::schedule {

namespace {

/// Calls `f` with a default step of each kind.
template <std::size_t... kIndices>
void for_each_kind(std::index_sequence<kIndices...>, const auto& f) {
  (f(std::variant_alternative_t<kIndices, Step>{}), ...);
}
constexpr std::make_index_sequence<std::variant_size_v<Step>> kAllKinds;

}  // namespace

std::string_view name_of(const Step& step) {
  return std::visit([](const auto& s) { return s.kName; }, step);
}

void show(Step& step, FieldVisitor& fields) {
  std::visit([&](auto& s) { s.show(fields); }, step);
}

std::optional<Step> make_step(std::string_view name) {
  std::optional<Step> made;
  for_each_kind(kAllKinds, [&](auto step) {
    if (step.kName == name) made = std::move(step);
  });
  return made;
}

std::string step_names() {
  std::string names;
  for_each_kind(kAllKinds, [&](const auto& step) { names += (names.empty() ? "" : ", ") + std::string(step.kName); });
  return names;
}

std::vector<std::int64_t>* decision_of(Step& step) {
  if (SampleTile* tile = std::get_if<SampleTile>(&step)) return &tile->decision;
  if (SampleChoice* choice = std::get_if<SampleChoice>(&step)) return &choice->decision;
  if (SampleLocation* location = std::get_if<SampleLocation>(&step)) return &location->decision;
  return nullptr;
}

const std::vector<std::int64_t>* decision_of(const Step& step) { return decision_of(const_cast<Step&>(step)); }

}  // namespace hone::schedule
