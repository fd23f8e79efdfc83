#include "hone/network_model.h"

#include <cmath>
#include <cstdlib>
#include <list>

#include "hone/cost/first_weights.h"
#include "hone/cost/sentence.h"
#include "hone/cost/store_model.h"
#include "hone/network_weights.h"
#include "hone/shipped_network.h"

namespace hone {
namespace {

class NetworkModel final : public cost::CostModel {
 public:
  NetworkModel(std::string_view name, Network network, std::size_t head, std::unique_ptr<cost::SentenceWriter> writer,
               const cost::ModelOptions& options)
      : name_(name), network_(std::move(network)), head_(head), writer_(std::move(writer)), options_(options) {}

  std::string_view name() const override { return name_; }
  bool is_trained(std::string_view, std::string_view) const override { return true; }

  Result<std::vector<double>> predict(std::span<const cost::Subject> subjects) override {
    const std::size_t size = writer_->shape().size();
    std::vector<float> sentences(subjects.size() * size);
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (!subjects[i].naive || !subjects[i].trace)
        return error(ErrorCode::InvalidArgument, "{}: a candidate of task '{}' comes without its trace", name_,
                     subjects[i].task);
      HONE_TRY(const cost::NaiveBlocks* blocks, blocks_of(*subjects[i].naive));
      writer_->write(*blocks, *subjects[i].trace, std::span(sentences).subspan(i * size, size));
    }
    HONE_TRY(std::vector<double> scores, network_.predict(sentences, head_, options_.threads));
    for (std::size_t i = 0; i < scores.size(); ++i)
      if (!std::isfinite(scores[i]))
        return error(ErrorCode::InvalidArgument, "{}: the network scores a candidate of task '{}' as {}", name_,
                     subjects[i].task, scores[i]);
    return scores;
  }

  Result<void> update(std::span<const cost::Subject>, std::span<const double>) override { return {}; }
  Result<void> save(const std::filesystem::path&) const override {
    return error(ErrorCode::Unsupported, "{}: a network is not changed by measurements, there is nothing to keep",
                 name_);
  }
  Result<void> load(const std::filesystem::path& file) override {
    HONE_TRY(Network network, Network::load(file));
    HONE_TRY(network.check_schema(writer_->schema()));
    if (head_ >= network.spec().targets.size())
      return error(ErrorCode::InvalidArgument, "cost model '{}' has {} heads, not {}", file.string(),
                   network.spec().targets.size(), head_ + 1);
    network_ = std::move(network);
    return {};
  }

 private:
  /// What a naive program consists of, looked at once as long as somebody holds it.
  Result<const cost::NaiveBlocks*> blocks_of(const ir::Function& naive) {
    for (const auto& [body, blocks] : known_)
      if (body.is(naive.body)) return &blocks;
    HONE_TRY(cost::NaiveBlocks blocks, cost::naive_blocks(naive));
    constexpr std::size_t kMostKnown = 64;
    if (known_.size() >= kMostKnown) known_.pop_front();
    known_.emplace_back(naive.body, std::move(blocks));
    return &known_.back().second;
  }

  std::string name_;
  Network network_;
  std::size_t head_;
  std::unique_ptr<cost::SentenceWriter> writer_;
  cost::ModelOptions options_;
  std::list<std::pair<ir::Stmt, cost::NaiveBlocks>> known_;
};

/// What writes the sentences that a network reads.
Result<std::unique_ptr<cost::SentenceWriter>> make_writer(const Network& network, const codegen::Target& target) {
  const std::string language = cost::language_of(network.spec());
  if (language == "stores")
    return error(ErrorCode::Unsupported,
                 "cost model '{}' ({}) reads features of built programs and cannot be tuned with, expected one that "
                 "reads traces: tlp, tlp-gpu or tlp2",
                 network.name(), network.spec().name);
  Result<std::unique_ptr<cost::SentenceWriter>> writer = cost::make_sentence_writer(language, compute_unit(target));
  if (!writer) return error(writer.error().code, "cost model '{}': {}", network.name(), writer.error().message);
  HONE_TRY(network.check_schema((*writer)->schema()));
  return writer;
}

}  // namespace

std::size_t head_for(const cost::NetworkSpec& spec, const codegen::Target& target) {
  return cost::nearest_target(spec, codegen::to_string(target), unit_of);
}

Result<std::unique_ptr<cost::CostModel>> make_network_model(std::string_view name, Network network,
                                                            const codegen::Target& target,
                                                            const cost::ModelOptions& options) {
  HONE_TRY(std::unique_ptr<cost::SentenceWriter> writer, make_writer(network, target));
  const std::size_t head = head_for(network.spec(), target);
  return std::make_unique<NetworkModel>(name, std::move(network), head, std::move(writer), options);
}

Result<Network> load_network(const std::string& file) {
  if (!file.empty()) return Network::load(file);
  if (const char* given = std::getenv("HONE_COST_MODEL"); given && *given) return Network::load(given);
  return Network::parse(shipped_network(), "that comes with hone");
}

Result<std::unique_ptr<cost::CostModel>> make_any_cost_model(std::string_view name, const cost::ModelOptions& options,
                                                             const codegen::Target& target, const std::string& file) {
  if (name == "gbt") return cost::make_cost_model("ansor", options);
  if (name != "tlp" && name != "mtl" && name != "auto") return cost::make_cost_model(name, options);
  HONE_TRY(Network network, load_network(file));
  HONE_TRY(std::unique_ptr<cost::CostModel> trained, make_network_model(name, std::move(network), target, options));
  if (name != "auto") return trained;
  return cost::make_corrected_model("auto", std::move(trained), options);
}

}  // namespace hone
