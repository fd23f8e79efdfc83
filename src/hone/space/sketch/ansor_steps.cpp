#include "hone/space/sketch/ansor_steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

namespace hone::space::ansor {
namespace {

using Json = nlohmann::ordered_json;

template <std::size_t... I>
std::optional<Step> make_step(std::string_view tag, std::index_sequence<I...>) {
  std::optional<Step> made;
  const auto attempt = [&]<typename T>(const T&) {
    if (tag == T::kTag) made = T{};
  };
  (attempt(std::variant_alternative_t<I, Step>{}), ...);
  return made;
}

/// A step of this kind with empty fields; nothing if there is no such kind.
std::optional<Step> make_step(std::string_view tag) {
  return make_step(tag, std::make_index_sequence<std::variant_size_v<Step>>());
}

bool read(const Json& json, std::int64_t& number) {
  if (json.is_boolean()) number = json.get<bool>() ? 1 : 0;  // flags are written both ways
  if (json.is_number_integer()) number = json.get<std::int64_t>();
  return json.is_boolean() || json.is_number_integer();
}

bool read(const Json& json, Ids& ids) {
  ids.clear();
  return json.is_array() &&
         std::all_of(json.begin(), json.end(), [&](const Json& item) { return read(item, ids.emplace_back()); });
}

bool read(const Json& json, std::string& text) {
  if (json.is_string()) text = json.get<std::string>();
  return json.is_string();
}

const char* allowed(const std::int64_t&) { return "a whole number"; }
const char* allowed(const Ids&) { return "a list of whole numbers"; }
const char* allowed(const std::string&) { return "a text"; }

Result<Step> parse_step(const Json& json, std::size_t place) {
  if (!json.is_array() || json.empty() || !json[0].is_string())
    return error(ErrorCode::ParseError, "ansor: step {} is {}, expected an array that begins with its kind", place,
                 json.dump());
  const std::string tag = json[0].get<std::string>();
  std::optional<Step> step = make_step(tag);
  if (!step)
    return error(ErrorCode::ParseError,
                 "ansor: step {} is of the kind '{}', there are AN, FU, PR, RE, SP, FSP, FFSP, SA, CA, CI, CR, CHR, "
                 "CHW and RF",
                 place, tag);
  Result<void> done;
  std::visit(
      [&](auto& of_kind) {
        std::apply(
            [&](auto&... fields) {
              if (json.size() != sizeof...(fields) + 1) {
                done = error(ErrorCode::ParseError, "ansor: step {}, {}, has {} fields, expected are {}", place,
                             json.dump(), json.size() - 1, sizeof...(fields));
                return;
              }
              std::size_t number = 0;
              const auto read_field = [&](auto& field) {
                ++number;
                if (done && !read(json[number], field))
                  done = error(ErrorCode::ParseError, "ansor: field {} of step {}, {}, is {}, expected {}", number,
                               place, tag, json[number].dump(), allowed(field));
              };
              (read_field(fields), ...);
            },
            of_kind.fields());
      },
      *step);
  HONE_TRY(std::move(done));
  return *std::move(step);
}

/// The product of lengths, each from 1 on; far beyond any tensor is an error.
Result<std::int64_t> product(const Ids& lengths) {
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  std::int64_t product = 1;
  for (const std::int64_t length : lengths) {
    if (length < 1 || length > kMost / product)
      return error(ErrorCode::ParseError, "ansor: a length of a split is {}, expected 1..{}", length, kMost / product);
    product *= length;
  }
  return product;
}

/// The split at a place among the steps.
Result<const Split*> split_at(const Steps& steps, std::int64_t place, std::string_view follower) {
  const bool is_there = place >= 0 && place < static_cast<std::int64_t>(steps.size());
  const Split* split = is_there ? std::get_if<Split>(&steps[static_cast<std::size_t>(place)]) : nullptr;
  if (!split)
    return error(
        ErrorCode::ParseError, "ansor: {} follows step {}, which is {}", follower, place,
        is_there ? fmt::format("{}, not SP", tag_of(steps[static_cast<std::size_t>(place)])) : "not before it");
  return split;
}

}  // namespace

std::string_view tag_of(const Step& step) {
  return std::visit([](const auto& of_kind) { return of_kind.kTag; }, step);
}

std::string to_json(const Steps& steps) {
  Json all = Json::array();
  for (const Step& step : steps) {
    Json& json = all.emplace_back(Json::array({tag_of(step)}));
    std::visit(
        [&](const auto& of_kind) {
          std::apply([&](const auto&... fields) { (json.push_back(fields), ...); }, of_kind.fields());
        },
        step);
  }
  return all.dump();
}

Result<Steps> parse_steps(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return error(ErrorCode::ParseError, "ansor: the steps are {}, expected an array", text);
  Steps steps;
  for (const Json& item : json) {
    HONE_TRY(Step step, parse_step(item, steps.size()));
    steps.push_back(std::move(step));
  }
  return steps;
}

Result<Ids> lengths_of(const FollowSplit& step, const Steps& steps) {
  HONE_TRY(const Split* split, split_at(steps, step.src_step, "FSP"));
  const auto count = static_cast<std::int64_t>(split->lengths.size());
  if (step.n_split < 1 || step.n_split > count + 1)
    return error(ErrorCode::ParseError, "ansor: FSP splits into {} parts, expected 1..{}", step.n_split, count + 1);
  const auto rest = split->lengths.begin() + (step.n_split - 1);
  Ids lengths(split->lengths.begin(), rest);
  HONE_TRY(const std::int64_t last, product({rest, split->lengths.end()}));
  lengths.push_back(last);
  return lengths;
}

Result<Ids> lengths_of(const FollowFusedSplit& step, const Steps& steps) {
  Ids factors;
  for (const std::int64_t source : step.src_steps) {
    HONE_TRY(const Split* split, split_at(steps, source, "FFSP"));
    const auto count = static_cast<std::int64_t>(split->lengths.size());
    if (step.level < 0 || step.level >= count)
      return error(ErrorCode::ParseError, "ansor: FFSP follows level {} of a split with {}", step.level, count);
    factors.push_back(split->lengths[static_cast<std::size_t>(step.level)]);
  }
  HONE_TRY(const std::int64_t length, product(factors));
  return Ids{length};
}

}  // namespace hone::space::ansor
