#include "hone/cost/blind_models.h"

#include "hone/cost/model_file.h"
#include "hone/cost/samples.h"
#include "hone/support/rng.h"

namespace hone::cost {

namespace {

class BlindModel : public CostModel {
 public:
  bool is_trained(std::string_view, std::string_view) const override { return false; }
  Result<void> update(std::span<const Subject> subjects, std::span<const double> seconds) override {
    return check_samples(name(), subjects, seconds);
  }
  Result<void> save(const std::filesystem::path& file) const override {
    return write_model_file(file, {std::string(name()), "nothing"}, {});
  }
  Result<void> load(const std::filesystem::path& file) override {
    HONE_TRY(read_model_file(file, {std::string(name()), "nothing"}));
    return {};
  }
};

class ConstantModel final : public BlindModel {
 public:
  std::string_view name() const override { return "none"; }
  Result<std::vector<double>> predict(std::span<const Subject> subjects) override {
    return std::vector<double>(subjects.size(), 0.0);
  }
};

class RandomModel final : public BlindModel {
 public:
  explicit RandomModel(std::uint64_t seed) : rng_(seed) {}
  std::string_view name() const override { return "random"; }
  Result<std::vector<double>> predict(std::span<const Subject> subjects) override {
    std::vector<double> scores(subjects.size());
    for (double& score : scores) score = rng_.unit();
    return scores;
  }

 private:
  Rng rng_;
};

}  // namespace

std::unique_ptr<CostModel> make_constant_model() { return std::make_unique<ConstantModel>(); }
std::unique_ptr<CostModel> make_random_model(std::uint64_t seed) { return std::make_unique<RandomModel>(seed); }

}  // namespace hone::cost
