#include "hone/network_weights.h"

#include <map>

#include "hone/cost/model_file.h"
#include "hone/frontend/import.h"
#include "hone/network.h"

namespace hone {
namespace {

/// The constants of a network's graph by the names of weights: those of members come one after the other.
Result<cost::Weights> weights_of(const graph::Graph& graph, const cost::NetworkSpec& spec) {
  const std::map<std::string, std::vector<std::int64_t>> wanted = cost::weight_shapes(spec);
  std::map<std::string, std::int64_t> found;
  cost::Weights weights;
  for (const auto& [id, value] : graph.constants) {
    const std::string& unique = graph.name_of(id);
    const std::string name = unique.substr(0, unique.rfind('~'));  // as Graph::add_value makes it
    const runtime::Tensor* tensor = value.tensor();
    if (!tensor || tensor->type() != runtime::ElementType::F32) continue;
    const std::string whole = cost::member_prefix(spec, found[name]) + name;
    if (!wanted.contains(whole)) continue;
    ++found[name];
    const std::span<const float> numbers = tensor->as<float>();
    weights[whole] = {tensor->shape(), {numbers.begin(), numbers.end()}};
  }
  HONE_TRY(cost::check_weights(spec, weights));
  return weights;
}

}  // namespace

Result<std::pair<cost::NetworkSpec, cost::Weights>> read_network(const std::filesystem::path& file) {
  if (cost::is_model_file(file)) return cost::read_weights(file);
  HONE_TRY(const Network network, Network::load(file));
  HONE_TRY(const graph::Graph graph, frontend::import_onnx(file));
  Result<cost::Weights> weights = weights_of(graph, network.spec());
  if (!weights) return error(weights.error().code, "'{}': {}", file.string(), weights.error().message);
  return std::pair(network.spec(), *std::move(weights));
}

std::optional<cost::ComputeUnit> unit_of(const std::string& target) {
  const Result<codegen::Target> parsed = codegen::parse_target(target);
  if (!parsed) return std::nullopt;
  return compute_unit(*parsed);
}

}  // namespace hone
