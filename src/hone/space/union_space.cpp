#include "hone/space/union_space.h"

namespace hone::space {
namespace {

class UnionSpace : public Space {
 public:
  UnionSpace(std::string_view name, std::vector<std::unique_ptr<Space>> parts) : name_(name), parts_(std::move(parts)) {
    for (const std::unique_ptr<Space>& part : parts_) {
      first_sketch_.push_back(sketches_.size());
      sketches_.insert(sketches_.end(), part->sketches().begin(), part->sketches().end());
    }
  }

  std::string_view name() const override { return name_; }
  std::string_view name_of(std::size_t sketch) const override { return parts_[part_of(sketch)]->name(); }
  const std::vector<Sketch>& sketches() const override { return sketches_; }
  Candidate first() const override { return parts_[0]->first(); }

  std::vector<Candidate> starts() const override {
    std::vector<Candidate> all;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (Candidate& start : parts_[i]->starts()) {
        start.sketch += first_sketch_[i];
        all.push_back(std::move(start));
      }
    return all;
  }

  Result<schedule::Schedule> build(const Candidate& candidate) const override {
    const std::size_t part = part_of(candidate.sketch);
    return parts_[part]->build({candidate.sketch - first_sketch_[part], candidate.choices});
  }

  std::optional<Candidate> refit(std::span<const std::string> others) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (std::optional<Candidate> found = parts_[i]->refit(others)) {
        found->sketch += first_sketch_[i];
        return found;
      }
    return std::nullopt;
  }

  Notes notes() const override {
    Notes all{.is_fallback = true};
    for (const std::unique_ptr<Space>& part : parts_) {
      Notes notes = part->notes();
      all.is_fallback &= notes.is_fallback;
      all.left_out.insert(all.left_out.end(), notes.left_out.begin(), notes.left_out.end());
    }
    return all;
  }

 private:
  std::size_t part_of(std::size_t sketch) const {
    std::size_t part = parts_.size() - 1;
    while (sketch < first_sketch_[part]) --part;
    return part;
  }

  std::string name_;
  std::vector<std::unique_ptr<Space>> parts_;
  std::vector<Sketch> sketches_;
  std::vector<std::size_t> first_sketch_;  ///< of each part
};

}  // namespace

std::unique_ptr<Space> make_union_space(std::string_view name, std::vector<std::unique_ptr<Space>> parts) {
  return std::make_unique<UnionSpace>(name, std::move(parts));
}

}  // namespace hone::space
