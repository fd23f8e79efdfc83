#include "hone/network.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/ranges.h>
#include <fstream>
#include <optional>
#include <sstream>

#include "hone/cost/first_weights.h"
#include "hone/frontend/export.h"
#include "hone/frontend/import.h"
#include "hone/network_graph.h"
#include "hone/network_weights.h"

namespace hone {
namespace {

/// Under which a model says what network it is.
constexpr const char* kNetworkNote = "hone.network";

/// Sentences that are scored at a time: so many that kernels run at full speed, and few enough to waste little.
constexpr std::size_t kNetworkBatch = 16;

/// What is wrong with sentences of a language of this hone that are not of its shape. Those of other versions are left
/// to check_schema.
Result<void> check_shape_of_schema(const cost::NetworkSpec& spec) {
  cost::SentenceShape shape = cost::kStoresShape;
  if (spec.schema != cost::kStoreSchema) {
    const Result<std::unique_ptr<cost::SentenceWriter>> writer = cost::make_sentence_writer(cost::language_of(spec));
    if (!writer || (*writer)->schema() != spec.schema) return {};
    shape = (*writer)->shape();
  }
  if (spec.shape == shape) return {};
  return error(ErrorCode::ParseError, "says that it reads sentences of {} x {}, those of its schema '{}' are {} x {}",
               spec.shape.rows, spec.shape.columns, spec.schema.substr(0, spec.schema.find(' ')), shape.rows,
               shape.columns);
}

/// An error, which begins behind the name of the model, unless the model is what its description says.
Result<void> check_fits(const graph::Graph& model, const cost::NetworkSpec& spec) {
  HONE_TRY(check_shape_of_schema(spec));
  if (model.outputs.size() != spec.heads())
    return error(ErrorCode::ParseError, "has {} heads, {} are described", model.outputs.size(), spec.heads());
  if (model.inputs.size() != 1) return error(ErrorCode::ParseError, "has {} inputs, expected 1", model.inputs.size());
  const graph::Type& input = model.values[static_cast<std::size_t>(model.inputs[0])].type;
  const auto has_extent = [&](std::size_t axis, std::size_t extent) {
    return (*input.dimensions)[axis].extent == static_cast<std::int64_t>(extent);
  };
  if (input.element != runtime::ElementType::F32 || !input.dimensions || input.dimensions->size() != 3 ||
      input.dimensions->front().extent || !has_extent(1, spec.shape.rows) || !has_extent(2, spec.shape.columns))
    return error(ErrorCode::ParseError, "reads {}, expected any number of sentences of {} x {}, as it is described",
                 graph::to_string(input), spec.shape.rows, spec.shape.columns);
  for (const auto& [id, constant] : model.constants) {
    const runtime::Tensor* weight = constant.tensor();
    if (!weight || weight->type() != runtime::ElementType::F32) continue;
    const std::span<const float> numbers = weight->as<float>();
    if (!std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); }))
      return error(ErrorCode::ParseError, "has a weight '{}' that holds what is no number", model.name_of(id));
  }
  return {};
}

}  // namespace

Result<std::string> write_network(const cost::NetworkSpec& spec, const cost::Weights& weights) {
  HONE_TRY(graph::Graph graph, network_graph(spec, weights));
  graph.metadata[kNetworkNote] = cost::to_json(spec);
  return frontend::export_onnx(graph);
}

Result<Network> Network::load(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::error_code status;
  if (!in || std::filesystem::is_directory(file, status))
    return error(ErrorCode::NotFound, "cannot read the cost model '{}'", file.string());
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return parse(std::move(bytes).str(), file.string());
}

Result<Network> Network::parse(std::string_view bytes, const std::string& name) {
  const Result<graph::Graph> graph = frontend::import_onnx(std::as_bytes(std::span(bytes)));
  if (!graph) return error(graph.error().code, "cost model '{}': {}", name, graph.error().message);
  const auto note = graph->metadata.find(kNetworkNote);
  if (note == graph->metadata.end())
    return error(ErrorCode::ParseError, "'{}' is a model, but not a cost model of hone's", name);
  Network network;
  const Result<cost::NetworkSpec> spec = cost::parse_network_spec(note->second);
  if (!spec) return error(spec.error().code, "cost model '{}': {}", name, spec.error().message);
  if (const Result<void> fits = check_fits(*graph, *spec); !fits)
    return error(fits.error().code, "cost model '{}' {}", name, fits.error().message);
  network.spec_ = *spec;
  network.bytes_ = bytes;
  network.name_ = name;
  return network;
}

Result<void> Network::check_schema(std::string_view schema) const {
  if (spec_.schema == schema) return {};
  return error(ErrorCode::Unsupported, "cost model '{}' reads sentences of '{}', this hone writes '{}'", name_,
               spec_.schema, schema);
}

Result<const Session*> Network::session(std::size_t head, int threads) {
  if (const auto found = sessions_.find(head); found != sessions_.end()) return &found->second;
  HONE_TRY(graph::Graph graph, frontend::import_onnx(std::as_bytes(std::span(bytes_))));
  graph.outputs = {graph.outputs[head]};  // what other heads compute is dead then
  HONE_TRY(const std::string bytes, frontend::export_onnx(graph));
  HONE_TRY(Session session, Session::parse(std::as_bytes(std::span(bytes)),
                                           {.threads = threads, .records = "", .first_choice = "rules"}));
  return &sessions_.emplace(head, std::move(session)).first->second;
}

Result<std::vector<double>> Network::predict(std::span<const float> sentences, std::size_t head, int threads) {
  const std::size_t size = spec_.shape.size(), count = sentences.size() / size;
  HONE_CHECK(count * size == sentences.size(), "{} numbers are no sentences of {}", sentences.size(), size);
  HONE_CHECK(head < spec_.targets.size(), "head {} of {}", head, spec_.targets.size());
  if (spec_.has_one_head) head = 0;
  std::vector<double> scores;
  if (count == 0) return scores;
  HONE_TRY(const Session* session, this->session(head, threads));
  const auto rows = static_cast<std::int64_t>(spec_.shape.rows),
             columns = static_cast<std::int64_t>(spec_.shape.columns);
  HONE_TRY(Tensor batch, Tensor::allocate(ElementType::F32, {kNetworkBatch, rows, columns}));
  HONE_TRY(Tensor made, Tensor::allocate(ElementType::F32, {kNetworkBatch}));
  std::vector<Value> outputs = {Value(std::move(made))};
  const std::vector<Value> inputs = {Value(batch)};
  for (std::size_t begin = 0; begin < count; begin += kNetworkBatch) {
    const std::size_t part = std::min(kNetworkBatch, count - begin);
    const std::span<float> to = batch.as<float>();
    const auto end =
        std::copy_n(sentences.begin() + static_cast<std::ptrdiff_t>(begin * size), part * size, to.begin());
    std::fill(end, to.end(), 0.0F);
    HONE_TRY(session->run(inputs, outputs));
    const std::span<const float> found = outputs[0].tensor()->as<float>();
    scores.insert(scores.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(part));
  }
  for (const double score : scores)
    if (!std::isfinite(score))
      return error(ErrorCode::InvalidArgument, "cost model '{}' scores a sentence as {}", name_, score);
  return scores;
}

Result<std::vector<double>> Network::predict(const cost::TrainingSet& samples, std::size_t target, std::size_t head,
                                             int threads) {
  HONE_TRY(check_schema(samples.schema));
  const std::size_t size = samples.shape.size();
  std::vector<float> sentences(samples.size() * size);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples.copy_sentence(i, target, std::span(sentences).subspan(i * size, size));
  return predict(sentences, head, threads);
}

cost::ComputeUnit compute_unit(const codegen::Target& target) {
  return {.lanes = target.lanes(32),
          .registers = target.vector_registers,
          .multiply_adds = target.has_fma ? target.multiply_adds : 0,
          .threads = target.threads,
          .l3_bytes_per_cycle = target.l3_bytes_per_cycle};
}

Result<std::vector<cost::ComputeUnit>> compute_units(const cost::Dataset& data, std::string_view language) {
  std::vector<cost::ComputeUnit> units;
  if (cost::target_rows(language) == 0) return units;
  for (const std::string& text : data.targets) {
    const Result<codegen::Target> target = codegen::parse_target(text);
    if (!target)
      return error(target.error().code,
                   "in the data set, {}; sentences of {} say what a target computes with, those of tlp, tlp-gpu and "
                   "stores do not",
                   target.error().message, language);
    units.push_back(compute_unit(*target));
  }
  return units;
}

std::size_t head_for(const cost::NetworkSpec& spec, const codegen::Target& target) {
  return cost::nearest_target(spec, codegen::to_string(target), unit_of);
}

namespace {

/// The head that scores for a target of a data set, if one fits.
std::optional<std::size_t> fitting_head(const cost::NetworkSpec& spec, const std::string& text) {
  const auto exact = std::find(spec.targets.begin(), spec.targets.end(), text);
  if (exact != spec.targets.end()) return static_cast<std::size_t>(exact - spec.targets.begin());
  if (spec.heads() == 1) return 0;
  const auto is_ours = [](const std::string& target) { return codegen::parse_target(target).has_value(); };
  if (!is_ours(text) || std::none_of(spec.targets.begin(), spec.targets.end(), is_ours)) return std::nullopt;
  return head_for(spec, codegen::parse_target(text).value());
}

}  // namespace

Result<std::vector<HeadScores>> score_targets(Network& network, const cost::Dataset& data,
                                              const cost::TrainingSet& samples, std::span<const std::size_t> targets) {
  using Clock = std::chrono::steady_clock;
  std::vector<HeadScores> all;
  for (const std::size_t target : targets) {
    const std::optional<std::size_t> head = fitting_head(network.spec(), data.targets[target]);
    if (!head) continue;
    HONE_TRY(network.predict(samples, target, *head));  // compiles it
    const Clock::time_point begin = Clock::now();
    HONE_TRY(std::vector<double> scores, network.predict(samples, target, *head));
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    all.push_back({target, *head, std::move(scores), static_cast<double>(samples.size()) / seconds});
  }
  if (!all.empty()) return all;
  std::vector<std::string_view> wanted;
  for (const std::size_t target : targets) wanted.emplace_back(data.targets[target]);
  return error(ErrorCode::NotFound, "cost model '{}' has no head for '{}', only for: {}", network.name(),
               fmt::join(wanted, "', '"), fmt::join(network.spec().targets, "; "));
}

}  // namespace hone
