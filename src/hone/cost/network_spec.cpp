#include "hone/cost/network_spec.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <numeric>

#include "hone/cost/byte_reader.h"
#include "hone/cost/model_file.h"
#include "hone/cost/store_features.h"
#include "hone/cost/training_set.h"

namespace hone::cost {
namespace {

using Json = nlohmann::json;

/// The version of what describes a network. Those of the first version have no direct path.
constexpr int kNetworkVersion = 2, kOldestVersion = 1;
const ModelIdentity kWeightsFile = {"network", "hone-network/1"};

}  // namespace

Result<NetworkSpec> make_network_spec(std::string_view name) {
  NetworkSpec spec{.name = std::string(name)};
  if (name == "tlp" || name == "tlp-gpu") {
    HONE_TRY(const std::unique_ptr<SentenceWriter> writer, make_sentence_writer(name));
    spec.schema = writer->schema();
    spec.shape = writer->shape();
    spec.layers = {64, 128, 256, 256};
    spec.head = {256, 128, 64};
  } else if (name == "tlp2") {
    HONE_TRY(const std::unique_ptr<SentenceWriter> writer, make_sentence_writer("tlp2"));
    spec.schema = writer->schema();
    spec.shape = writer->shape();
    spec.layers = {64, 64};
    spec.direct = {128, 64};
    spec.head = {64, 32};
    spec.is_masked = spec.has_positions = spec.has_one_head = true;
  } else if (name == "tenset-mlp") {
    spec.body = "sum";
    spec.schema = kStoreSchema;
    spec.shape = kStoresShape;
    spec.layers = {256, 256};
    spec.is_masked = true;
  } else {
    return error(ErrorCode::NotFound, "there is no network '{}', only: tlp, tlp-gpu, tlp2, tenset-mlp", name);
  }
  return spec;
}

Result<NetworkSpec> make_network_spec(std::string_view name, const std::string& body) {
  HONE_TRY(NetworkSpec spec, make_network_spec(name));
  if (spec.body == "sum") return spec;
  if (body != "attention" && body != "lstm")
    return error(ErrorCode::NotFound, "there is no body '{}', only: attention, lstm", body);
  spec.body = body;
  if (body == "lstm") spec.is_masked = spec.has_positions = false;
  return spec;
}

std::string language_of(const NetworkSpec& spec) {
  return spec.schema == kStoreSchema ? "stores" : spec.schema.substr(0, spec.schema.find('/'));
}

namespace {

std::map<std::string, std::vector<std::int64_t>> member_shapes(const NetworkSpec& spec) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  const auto linear = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    shapes[name + ".weight"] = {in, out};
    shapes[name + ".bias"] = {out};
  };
  const auto columns = static_cast<std::int64_t>(spec.shape.columns);
  std::int64_t in = columns;
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    linear(fmt::format("row.{}", i), in, spec.layers[i]);
    in = spec.layers[i];
  }
  const std::int64_t width = spec.width();
  if (spec.has_positions) shapes["positions"] = {static_cast<std::int64_t>(spec.shape.rows), width};
  if (spec.body == "attention")
    for (const char* name : {"query", "key", "value", "out"}) linear(fmt::format("attention.{}", name), width, width);
  if (spec.body == "lstm") {
    shapes["lstm.input"] = shapes["lstm.state"] = {1, 4 * width, width};
    shapes["lstm.bias"] = {1, 8 * width};
  }
  if (spec.body == "sum") shapes["scale"] = {columns};
  for (std::int64_t i = 0; i < kResidualLayers; ++i) linear(fmt::format("residual.{}", i), width, width);
  in = columns;
  for (std::size_t i = 0; i < spec.direct.size(); ++i) {
    linear(fmt::format("direct.{}", i), in, spec.direct[i]);
    in = spec.direct[i];
  }
  std::vector<std::int64_t> head = {width + (spec.direct.empty() ? 0 : spec.direct.back())};
  head.insert(head.end(), spec.head.begin(), spec.head.end());
  head.push_back(1);
  for (std::size_t h = 0; h < spec.heads(); ++h)
    for (std::size_t i = 0; i + 1 < head.size(); ++i) linear(fmt::format("head.{}.{}", h, i), head[i], head[i + 1]);
  return shapes;
}

/// An error names what cannot be, and what can.
Result<void> check_spec(const NetworkSpec& spec) {
  if (spec.targets.empty() || spec.shape.size() == 0 || spec.layers.empty())
    return error(ErrorCode::ParseError, "its description is not whole");
  if (spec.members < 1 || spec.members > kMostMembers)
    return error(ErrorCode::ParseError, "it has {} members, expected 1 to {}", spec.members, kMostMembers);
  for (const auto& [name, widths] : {std::pair("layers", &spec.layers), {"direct", &spec.direct}, {"head", &spec.head}})
    for (const std::int64_t width : *widths)
      if (width < 1) return error(ErrorCode::ParseError, "'{}' has a width of {}, expected at least 1", name, width);
  return {};
}

/// What the members note under a name: once if it is the same for all.
std::string join_notes(const std::vector<std::pair<NetworkSpec, Weights>>& members, const std::string& name) {
  std::vector<std::string> texts;
  for (const auto& [spec, weights] : members) {
    const auto found = spec.notes.find(name);
    texts.push_back(found == spec.notes.end() ? "none" : found->second);
  }
  const bool is_same = std::all_of(texts.begin(), texts.end(), [&](const auto& text) { return text == texts.front(); });
  return is_same ? texts.front() : fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string member_prefix(const NetworkSpec& spec, std::int64_t member) {
  return spec.members == 1 ? "" : fmt::format("member.{}.", member);
}

std::map<std::string, std::vector<std::int64_t>> weight_shapes(const NetworkSpec& spec) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto& [name, shape] : member_shapes(spec))
    for (std::int64_t member = 0; member < spec.members; ++member) shapes[member_prefix(spec, member) + name] = shape;
  return shapes;
}

Result<std::pair<NetworkSpec, Weights>> join_networks(const std::vector<std::pair<NetworkSpec, Weights>>& members) {
  HONE_CHECK(!members.empty(), "there is nothing to join");
  NetworkSpec spec = members.front().first;
  const auto describe = [](NetworkSpec one) {
    one.notes.clear();
    return to_json(one);
  };
  Weights weights;
  spec.members = static_cast<std::int64_t>(members.size());
  for (auto& [name, text] : spec.notes) text = join_notes(members, name);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& [other, own] = members[i];
    if (other.members != 1 || describe(other) != describe(members.front().first))
      return error(ErrorCode::InvalidArgument, "networks of different kinds cannot be joined: {} and {}",
                   describe(members.front().first), describe(other));
    for (const auto& [name, weight] : own) weights[member_prefix(spec, static_cast<std::int64_t>(i)) + name] = weight;
  }
  return std::pair(std::move(spec), std::move(weights));
}

Result<void> check_weights(const NetworkSpec& spec, const Weights& weights) {
  for (const auto& [name, shape] : weight_shapes(spec)) {
    const auto found = weights.find(name);
    if (found == weights.end()) return error(ErrorCode::NotFound, "the network has no weight '{}'", name);
    const auto size = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    if (found->second.shape != shape || found->second.numbers.size() != static_cast<std::size_t>(size))
      return error(ErrorCode::InvalidArgument, "weight '{}' is [{}], expected [{}]", name,
                   fmt::join(found->second.shape, ", "), fmt::join(shape, ", "));
    if (!std::all_of(found->second.numbers.begin(), found->second.numbers.end(),
                     [](float x) { return std::isfinite(x); }))
      return error(ErrorCode::InvalidArgument, "weight '{}' holds what is no number: training went wrong", name);
  }
  return {};
}

std::string to_json(const NetworkSpec& spec) {
  return Json{{"version", kNetworkVersion},
              {"name", spec.name},
              {"body", spec.body},
              {"schema", spec.schema},
              {"shape", {spec.shape.rows, spec.shape.columns}},
              {"layers", spec.layers},
              {"direct", spec.direct},
              {"head", spec.head},
              {"masked", spec.is_masked},
              {"positions", spec.has_positions},
              {"one head", spec.has_one_head},
              {"members", spec.members},
              {"targets", spec.targets},
              {"notes", spec.notes}}
      .dump();
}

Result<NetworkSpec> parse_network_spec(const std::string& text) {
  try {
    const Json item = Json::parse(text);
    if (const int version = item.at("version").get<int>(); version < kOldestVersion || version > kNetworkVersion)
      return error(ErrorCode::Unsupported, "it is a network of version {}, this hone reads {} to {}", version,
                   kOldestVersion, kNetworkVersion);
    NetworkSpec spec;
    spec.name = item.at("name").get<std::string>();
    spec.body = item.at("body").get<std::string>();
    spec.schema = item.at("schema").get<std::string>();
    spec.shape = {item.at("shape").at(0).get<std::size_t>(), item.at("shape").at(1).get<std::size_t>()};
    spec.layers = item.at("layers").get<std::vector<std::int64_t>>();
    spec.direct = item.value("direct", std::vector<std::int64_t>());
    spec.head = item.at("head").get<std::vector<std::int64_t>>();
    spec.is_masked = item.at("masked").get<bool>();
    spec.has_positions = item.at("positions").get<bool>();
    spec.has_one_head = item.value("one head", false);  // networks of old have as many as targets
    spec.members = item.value("members", std::int64_t{1});
    spec.targets = item.at("targets").get<std::vector<std::string>>();
    spec.notes = item.at("notes").get<std::map<std::string, std::string>>();
    HONE_TRY(check_spec(spec));
    return spec;
  } catch (const nlohmann::json::exception& problem) {
    return error(ErrorCode::ParseError, "its description cannot be read: {}", problem.what());
  }
}

Result<void> write_weights(const std::filesystem::path& file, const NetworkSpec& spec, const Weights& weights) {
  HONE_TRY(check_weights(spec, weights));
  std::vector<Section> sections = {{"spec", to_json(spec)}};
  for (const auto& [name, weight] : weights) {
    std::string bytes;
    append<std::uint64_t>(bytes, weight.shape.size());
    for (const std::int64_t extent : weight.shape) append(bytes, extent);
    for (const float number : weight.numbers) append(bytes, number);
    sections.push_back({"weight:" + name, std::move(bytes)});
  }
  return write_model_file(file, kWeightsFile, sections);
}

Result<std::pair<NetworkSpec, Weights>> read_weights(const std::filesystem::path& file) {
  HONE_TRY(const std::vector<Section> sections, read_model_file(file, kWeightsFile));
  HONE_TRY(const std::string_view text, find_section(sections, "spec", file));
  Result<NetworkSpec> spec = parse_network_spec(std::string(text));
  if (!spec) return error(spec.error().code, "'{}': {}", file.string(), spec.error().message);
  Weights weights;
  constexpr std::string_view kPrefix = "weight:";
  for (const Section& section : sections) {
    if (!section.name.starts_with(kPrefix)) continue;
    Weight& weight = weights[section.name.substr(kPrefix.size())];
    ByteReader bytes(section.bytes);
    HONE_TRY(const std::uint64_t rank, bytes.number<std::uint64_t>());
    for (std::uint64_t i = 0; i < rank; ++i) {
      HONE_TRY(const std::int64_t extent, bytes.number<std::int64_t>());
      weight.shape.push_back(extent);
    }
    while (!bytes.at_end()) {
      HONE_TRY(const float number, bytes.number<float>());
      weight.numbers.push_back(number);
    }
  }
  if (const Result<void> checked = check_weights(*spec, weights); !checked)
    return error(checked.error().code, "'{}': {}", file.string(), checked.error().message);
  return std::pair(*std::move(spec), std::move(weights));
}

}  // namespace hone::cost
