#include "hone/cost/handover.h"

#include <map>
#include <string>

namespace hone::cost {
namespace {

class HandoverModel final : public CostModel {
 public:
  HandoverModel(std::string_view name, std::unique_ptr<CostModel> first, std::unique_ptr<CostModel> second,
                std::size_t samples)
      : name_(name), first_(std::move(first)), second_(std::move(second)), samples_(samples) {}

  std::string_view name() const override { return name_; }

  bool is_trained(std::string_view task, std::string_view family) const override {
    return has_learnt(task) ? second_->is_trained(task, family) : first_->is_trained(task, family);
  }

  TransfersTo transfers_to() const override { return second_->transfers_to(); }

  Result<std::vector<double>> predict(std::span<const Subject> subjects) override {
    if (subjects.empty()) return std::vector<double>();
    const Subject& one = subjects.front();  // only scores of one task are compared
    const bool is_second = has_learnt(one.task) && second_->is_trained(one.task, one.family);
    return (is_second ? second_ : first_)->predict(subjects);
  }

  Result<void> update(std::span<const Subject> subjects, std::span<const double> seconds) override {
    HONE_TRY(second_->update(subjects, seconds));
    HONE_TRY(first_->update(subjects, seconds));
    for (const Subject& subject : subjects) ++measured_[subject.task];
    return {};
  }

  Result<void> learn_from_others(std::span<const Subject> subjects, std::span<const double> seconds) override {
    return second_->learn_from_others(subjects, seconds);
  }

  Result<void> save(const std::filesystem::path& file) const override { return second_->save(file); }
  Result<void> load(const std::filesystem::path& file) override { return second_->load(file); }

 private:
  bool has_learnt(std::string_view task) const {
    const auto found = measured_.find(task);
    return found != measured_.end() && found->second >= samples_;
  }

  std::string name_;
  std::unique_ptr<CostModel> first_, second_;
  std::size_t samples_;
  std::map<std::string, std::size_t, std::less<>> measured_;
};

}  // namespace

std::unique_ptr<CostModel> make_handover_model(std::string_view name, std::unique_ptr<CostModel> first,
                                               std::unique_ptr<CostModel> second, std::size_t samples) {
  return std::make_unique<HandoverModel>(name, std::move(first), std::move(second), samples);
}

}  // namespace hone::cost
