#include "hone/space/sketch/ansor_import.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <memory>

#include "hone/schedule/primitives.h"
#include "hone/space/blocks.h"
#include "hone/space/sketch/ansor_stages.h"
#include "hone/space/sketch/reading_order.h"
#include "hone/support/arithmetic.h"

namespace hone::space::ansor {
namespace {

using Names = std::vector<std::string>;

/// A step of the record that waits until its stage stands at its place.
struct Waiting {
  std::size_t number;  ///< of the step
  Step step;           ///< splits that follow others are splits by now
};

/// A stage on its way.
struct ImportedStage {
  enum class Where : std::uint8_t { Root, Inlined, Attached };

  Stage stage;
  Ids extents;  ///< of its iterators as Ansor knows them; 0: not known
  Where where = Where::Root;
  ImportedStage* target = nullptr;  ///< the stage that it is computed at
  std::size_t target_iter = 0;
  std::size_t attach_step = 0;
  std::vector<Waiting> waiting;
  std::size_t depth = 0;  ///< how many loops around its block belong to others
  std::size_t front = 0;  ///< where the first variable of its block stands among Ansor's axes: see RF
};

/// Something to do when all stages stand at their places.
struct Last {
  std::size_t number;
  std::string_view tag;
  schedule::Step step;
};

Error refused(std::size_t number, std::string_view tag, std::string_view why) {
  return error(ErrorCode::Unsupported, "ansor: step {}, {}: {}", number, tag, why);
}

/// The factors of a split, outermost first, as far as the extent asks for them: Ansor's bounds shrink likewise.
std::vector<schedule::Number> factors_of(const Split& split, std::int64_t extent) {
  std::vector<schedule::Number> factors;
  std::int64_t rest = std::max<std::int64_t>(extent, 1);
  const auto take = [&](std::int64_t length) {
    const std::int64_t factor = std::min(length, rest);
    factors.emplace_back(factor);
    rest = ceil_div(rest, factor);
  };
  if (split.inner_to_outer != 0) {
    std::for_each(split.lengths.rbegin(), split.lengths.rend(), take);
    factors.emplace_back(rest);
    std::reverse(factors.begin(), factors.end());
  } else {
    std::for_each(split.lengths.begin(), split.lengths.end(), take);
    factors.emplace_back(rest);
  }
  return factors;
}

class Importer {
 public:
  explicit Importer(const Task& task) : task_(task), schedule_(task.naive()) {
    for (Stage& stage : stages_of(task.naive())) {
      places_.push_back(std::make_unique<ImportedStage>());
      places_.back()->stage = std::move(stage);
      forget_loops(*places_.back());
    }
  }

  Result<schedule::Schedule> run(const Steps& steps, LayoutRewrite rewrite) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      number_ = i;
      tag_ = tag_of(steps[i]);
      if (const auto* follow = std::get_if<FollowSplit>(&steps[i])) {
        HONE_TRY(Ids lengths, lengths_of(*follow, steps));
        HONE_TRY(take(Split{follow->stage, follow->iter, 0, std::move(lengths), 1}));
      } else if (const auto* fused = std::get_if<FollowFusedSplit>(&steps[i])) {
        HONE_TRY(Ids lengths, lengths_of(*fused, steps));
        HONE_TRY(take(Split{fused->stage, fused->iter, 0, std::move(lengths), fused->factor_or_nparts}));
      } else {
        HONE_TRY(std::visit([this](const auto& step) { return take(step); }, steps[i]));
      }
    }
    for (auto place = places_.rbegin(); place != places_.rend(); ++place) HONE_TRY(lay_out(**place));
    if (rewrite != LayoutRewrite::None) HONE_TRY(rewrite_layouts());
    for (const Last& last : last_) HONE_TRY(apply(last.step, last.number, last.tag));
    return std::move(schedule_);
  }

 private:
  const schedule::Program& program() const { return schedule_.program(); }

  Result<void> apply(const schedule::Step& step, std::size_t number, std::string_view tag) {
    if (const Result<void> done = schedule_.apply(step); !done) return refused(number, tag, done.error().message);
    return {};
  }
  Result<void> apply(const schedule::Step& step) { return apply(step, number_, tag_); }

  Error refuse(std::string_view why) const { return refused(number_, tag_, why); }

  Result<ImportedStage*> place_at(std::int64_t stage) const {
    if (stage < 0 || stage >= static_cast<std::int64_t>(places_.size()))
      return refuse(fmt::format("there is no stage {}, only 0..{}", stage, places_.size() - 1));
    return places_[static_cast<std::size_t>(stage)].get();
  }

  /// The same for a stage that has loops.
  Result<ImportedStage*> computed_at(std::int64_t stage) const {
    HONE_TRY(ImportedStage * place, place_at(stage));
    if (place->stage.block.empty())
      return refuse(fmt::format("stage {} is the input '{}'", stage, place->stage.buffer));
    if (place->where == ImportedStage::Where::Inlined)
      return refuse(fmt::format("stage {}, '{}', is inlined", stage, place->stage.block));
    return place;
  }

  Result<std::size_t> iter_of(const ImportedStage& place, std::int64_t iter) const {
    if (iter < 0 || iter >= static_cast<std::int64_t>(place.extents.size()))
      return refuse(fmt::format("'{}' has no iterator {}, only {}", place.stage.block, iter, place.extents.size()));
    return static_cast<std::size_t>(iter);
  }

  /// The loops of a block that belong to it.
  Names loops_of(const ImportedStage& place) const {
    Names loops = schedule::loops_of(program(), place.stage.block);
    loops.erase(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(std::min(place.depth, loops.size())));
    return loops;
  }

  /// Begins anew with a stage, whose loops are those that its block has in the program.
  void forget_loops(ImportedStage& place) const {
    place.waiting.clear();
    place.extents.clear();
    if (!place.stage.block.empty())
      for (const std::string& loop : loops_of(place)) place.extents.push_back(extent_of(program(), loop));
  }

  void wait(ImportedStage& place, const Step& step) { place.waiting.push_back({number_, step}); }

  /// Tells those attached to a stage that its iterators have other numbers now.
  template <typename Renumber>
  void renumber(const ImportedStage& target, Renumber&& renumbered) {
    for (const auto& place : places_)
      if (place->where == ImportedStage::Where::Attached && place->target == &target)
        place->target_iter = renumbered(place->target_iter);
  }

  Result<void> take(const Annotation& step) {
    HONE_TRY(ImportedStage * place, computed_at(step.stage));
    HONE_TRY(iter_of(*place, step.iter));
    if (step.annotation < 0 || step.annotation >= static_cast<std::int64_t>(Mark::Tensorize))
      return refuse(step.annotation == static_cast<std::int64_t>(Mark::Tensorize)
                        ? std::string("iterators are not marked to be tensorized here")
                        : fmt::format("there is no annotation {}", step.annotation));
    wait(*place, step);
    return {};
  }

  Result<void> take(const Pragma& step) {
    HONE_TRY(ImportedStage * place, computed_at(step.stage));
    HONE_TRY(iter_of(*place, step.iter));
    if (!step.pragma.starts_with(kUnrollPragma))
      return refuse(fmt::format("there is no pragma '{}' here", step.pragma));
    wait(*place, step);
    return {};
  }

  Result<void> take(const Fuse& step) {
    HONE_TRY(ImportedStage * place, computed_at(step.stage));
    Ids& extents = place->extents;
    if (step.fused_ids.empty()) {
      if (extents.empty()) return refuse(fmt::format("'{}' has no iterators", place->stage.block));
      extents.insert(extents.begin(), 1);
      renumber(*place, [](std::size_t iter) { return iter + 1; });
      wait(*place, step);
      return {};
    }
    HONE_TRY(const std::size_t first, iter_of(*place, step.fused_ids.front()));
    HONE_TRY(const std::size_t last, iter_of(*place, step.fused_ids.back()));
    std::int64_t extent = 1;
    for (std::size_t i = 0; i < step.fused_ids.size(); ++i) {
      if (step.fused_ids[i] != step.fused_ids[0] + static_cast<std::int64_t>(i))
        return refuse(fmt::format("the iterators {} do not follow each other", fmt::join(step.fused_ids, ", ")));
      extent *= extents[first + i];
    }
    for (const auto& other : places_)
      if (other->where == ImportedStage::Where::Attached && other->target == place && other->target_iter >= first &&
          other->target_iter < last)
        return refuse(fmt::format("'{}' is computed between the iterators", other->stage.block));
    extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                  extents.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    extents[first] = extent;
    renumber(*place, [&](std::size_t iter) {
      return iter <= first ? iter : iter <= last ? first : iter - last + first;
    });
    wait(*place, step);
    return {};
  }

  Result<void> take(const Reorder& step) {
    HONE_TRY(ImportedStage * place, computed_at(step.stage));
    Ids sorted = step.after_ids, extents;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != static_cast<std::int64_t>(i) || sorted.size() != place->extents.size())
        return refuse(fmt::format("{} is no order of the {} iterators of '{}'", fmt::join(step.after_ids, ", "),
                                  place->extents.size(), place->stage.block));
    for (const std::int64_t id : step.after_ids) extents.push_back(place->extents[static_cast<std::size_t>(id)]);
    place->extents = std::move(extents);
    wait(*place, step);
    return {};
  }

  Result<void> take(const Split& step) {
    HONE_TRY(ImportedStage * place, computed_at(step.stage));
    HONE_TRY(const std::size_t iter, iter_of(*place, step.iter));
    const std::int64_t known = place->extents[iter];
    if (step.extent > 0 && known > 0 && step.extent != known)
      return refuse(fmt::format("iterator {} of '{}' has {} iterations, the record says {}", iter, place->stage.block,
                                known, step.extent));
    if (std::any_of(step.lengths.begin(), step.lengths.end(), [](std::int64_t length) { return length < 1; }))
      return refuse(fmt::format("the lengths are {}, expected are numbers from 1 on", fmt::join(step.lengths, ", ")));
    Ids parts(step.lengths.size() + 1, 0);
    if (known > 0) {
      const std::vector<schedule::Number> factors = factors_of(step, known);
      std::transform(factors.begin(), factors.end(), parts.begin(), [](const auto& factor) { return factor.value; });
    }
    const auto at = place->extents.erase(place->extents.begin() + static_cast<std::ptrdiff_t>(iter));
    place->extents.insert(at, parts.begin(), parts.end());
    renumber(*place, [&](std::size_t other) { return other < iter ? other : other + step.lengths.size(); });
    wait(*place, step);
    return {};
  }

  Result<void> take(const FollowSplit&) { return {}; }  // taken as splits
  Result<void> take(const FollowFusedSplit&) { return {}; }

  Result<void> take(const StorageAlign& step) {
    HONE_TRY(ImportedStage * place, computed_at(step.stage));
    HONE_TRY(iter_of(*place, step.iter));
    if (!place->waiting.empty())
      return refuse(fmt::format("the loops of '{}' are no longer its axes", place->stage.block));
    last_.push_back({number_, tag_, schedule::StorageAlign{place->stage.buffer, step.iter, step.factor, step.offset}});
    return {};
  }

  Result<void> take(const ComputeAt& step) {
    HONE_TRY(ImportedStage * place, computed_at(step.stage));
    HONE_TRY(ImportedStage * target, computed_at(step.target_stage));
    HONE_TRY(place->target_iter, iter_of(*target, step.target_iter));
    if (target == place) return refuse(fmt::format("'{}' cannot be computed at itself", place->stage.block));
    place->where = ImportedStage::Where::Attached;
    place->target = target;
    place->attach_step = number_;
    std::fill(place->extents.begin(), place->extents.end(), 0);
    return {};
  }

  Result<void> take(const ComputeInline& step) {
    HONE_TRY(ImportedStage * place, computed_at(step.stage));
    for (const auto& other : places_)
      if (other->where == ImportedStage::Where::Attached && other->target == place)
        return refuse(fmt::format("'{}' is computed at '{}'", other->stage.block, place->stage.block));
    place->where = ImportedStage::Where::Inlined;
    return apply(schedule::ComputeInline{place->stage.block});
  }

  Result<void> take(const ComputeRoot& step) {
    HONE_TRY(ImportedStage * place, place_at(step.stage));
    if (place->where == ImportedStage::Where::Inlined) return refuse("what is inlined here stays so");
    place->where = ImportedStage::Where::Root;
    std::fill(place->extents.begin(), place->extents.end(), 0);
    return {};
  }

  Result<ir::Scope> scope_of(const std::string& name) const {
    const std::optional<ir::Scope> scope = ir::find_scope(name);
    if (!scope) return refuse(fmt::format("there is no scope '{}' here", name));
    return *scope;
  }

  ImportedStage& insert_stage(std::int64_t before, Stage stage) {
    auto made = std::make_unique<ImportedStage>();
    made->stage = std::move(stage);
    return **places_.insert(places_.begin() + static_cast<std::ptrdiff_t>(before), std::move(made));
  }

  Result<std::string> apply_making_block(const schedule::Step& step) {
    Result<std::string> made = ansor::apply_making_block(schedule_, step);
    if (!made) return refuse(made.error().message);
    return made;
  }

  Result<void> take(const CacheWrite& step) {
    HONE_TRY(ImportedStage * place, computed_at(step.stage));
    HONE_TRY(const ir::Scope scope, scope_of(step.scope));
    if (!place->waiting.empty()) return refuse(fmt::format("'{}' was changed before", place->stage.block));
    HONE_TRY(const std::string copy, apply_making_block(schedule::CacheWrite{place->stage.block, scope}));
    ImportedStage& cache = insert_stage(step.stage, {place->stage.block, written_by(program(), place->stage.block)});
    place->stage.block = copy;
    forget_loops(cache);
    forget_loops(*place);
    return {};
  }

  Result<void> take(const CacheRead& step) {
    HONE_TRY(ImportedStage * place, place_at(step.stage));
    HONE_TRY(const ir::Scope scope, scope_of(step.scope));
    if (step.readers.size() != 1)
      return refuse(fmt::format("one copy of '{}' for {} readers; here each reader has its own", place->stage.buffer,
                                step.readers.size()));
    HONE_TRY(ImportedStage * reader, computed_at(step.readers[0]));
    const schedule::CacheRead read{reader->stage.block, place->stage.buffer, scope};
    HONE_TRY(const std::string copy, apply_making_block(read));
    forget_loops(insert_stage(step.stage + 1, {copy, written_by(program(), copy)}));
    return {};
  }

  Result<void> take(const Rfactor& step) {
    HONE_TRY(ImportedStage * place, computed_at(step.stage));
    HONE_TRY(const std::size_t iter, iter_of(*place, step.iter));
    if (place->where != ImportedStage::Where::Root)
      return refuse(fmt::format("'{}' is computed at another stage", place->stage.block));
    const std::size_t number = number_;
    HONE_TRY(lay_out(*place));
    number_ = number;
    tag_ = Rfactor::kTag;
    HONE_TRY(const schedule::Path path, schedule::find_block(program(), place->stage.block, "ansor"));
    const auto spatial =
        static_cast<std::size_t>(std::count_if(path.block().iters.begin(), path.block().iters.end(),
                                               [](const ir::Iter& one) { return one.kind == ir::IterKind::Spatial; }));
    Names loops = loops_of(*place);
    for (std::size_t i = 0; i < std::min(spatial, loops.size()); ++i)
      if (!path.block().iters[i].binding.is(path.loops()[i].get<ir::For>().var))
        return refuse(fmt::format("loop '{}' of '{}' is no axis any more", loops[i], place->stage.block));
    if (step.factor_iter < 0 || step.factor_iter > static_cast<std::int64_t>(spatial))
      return refuse(fmt::format("the place of the new axis is {}, expected is 0..{}", step.factor_iter, spatial));
    HONE_TRY(const std::string partial, apply_making_block(schedule::Rfactor{place->stage.block, loops[iter]}));
    ImportedStage& made = insert_stage(step.stage, {partial, written_by(program(), partial)});
    forget_loops(*place);
    // the new axis at its place, in memory and among the loops
    made.front = static_cast<std::size_t>(step.factor_iter);
    std::rotate(loops.begin() + step.factor_iter, loops.begin() + static_cast<std::ptrdiff_t>(iter),
                loops.begin() + static_cast<std::ptrdiff_t>(iter) + 1);
    if (loops.size() > 1) HONE_TRY(apply(schedule::Reorder{loops}));
    if (made.front > 0) {
      Names axes;
      for (std::size_t i = 0; i < spatial; ++i) axes.push_back(fmt::format("d{}", i));
      const std::string old_order = fmt::format("(r, {})", fmt::join(axes, ", "));
      axes.insert(axes.begin() + step.factor_iter, "r");
      HONE_TRY(apply(
          schedule::TransformLayout{made.stage.buffer, fmt::format("{} -> ({})", old_order, fmt::join(axes, ", "))}));
    }
    forget_loops(made);
    return {};
  }

  /// Moves a stage to where it is computed, and does to its loops what waits to be done.
  Result<void> lay_out(ImportedStage& place) {
    if (place.stage.block.empty() || place.where == ImportedStage::Where::Inlined) return {};
    if (place.where == ImportedStage::Where::Attached) {
      const Names around = loops_of(*place.target);
      if (place.target_iter >= around.size())
        return refused(place.attach_step, ComputeAt::kTag,
                       fmt::format("'{}' is computed later than '{}'", place.target->stage.block, place.stage.block));
      const std::string loop = around[place.target_iter];
      HONE_TRY(apply(schedule::ComputeAt{place.stage.block, loop}, place.attach_step, ComputeAt::kTag));
      const Names loops = schedule::loops_of(program(), place.stage.block);
      place.depth = static_cast<std::size_t>(std::find(loops.begin(), loops.end(), loop) - loops.begin()) + 1;
      Names order = loops_of(place);
      if (place.front > 0) {
        std::rotate(order.begin(), order.begin() + 1, order.begin() + static_cast<std::ptrdiff_t>(place.front) + 1);
        HONE_TRY(apply(schedule::Reorder{order}, place.attach_step, ComputeAt::kTag));
      }
    }
    for (const Waiting& waiting : std::exchange(place.waiting, {})) {
      number_ = waiting.number;
      tag_ = tag_of(waiting.step);
      HONE_TRY(std::visit([&](const auto& step) { return change_loops(place, step); }, waiting.step));
    }
    return {};
  }

  template <typename Other>
  Result<void> change_loops(ImportedStage&, const Other&) {
    return {};
  }

  Result<void> change_loops(ImportedStage& place, const Split& step) {
    const std::string loop = loops_of(place)[static_cast<std::size_t>(step.iter)];
    return apply(schedule::Split{loop, factors_of(step, extent_of(program(), loop))});
  }

  Result<void> change_loops(ImportedStage& place, const Fuse& step) {
    const Names loops = loops_of(place);
    if (step.fused_ids.empty()) return apply(schedule::Split{loops.front(), {1, schedule::kRest}});
    if (step.fused_ids.size() == 1) return {};
    const auto first = loops.begin() + step.fused_ids.front();
    return apply(schedule::Fuse{{first, first + static_cast<std::ptrdiff_t>(step.fused_ids.size())}});
  }

  Result<void> change_loops(ImportedStage& place, const Reorder& step) {
    const Names loops = loops_of(place);
    Names order;
    for (const std::int64_t id : step.after_ids) order.push_back(loops[static_cast<std::size_t>(id)]);
    return order == loops ? Result<void>() : apply(schedule::Reorder{order});
  }

  Result<void> change_loops(ImportedStage& place, const Annotation& step) {
    const std::string loop = loops_of(place)[static_cast<std::size_t>(step.iter)];
    for (const auto& [mark, kind] : kMarks) {
      if (static_cast<std::int64_t>(mark) != step.annotation) continue;
      schedule::Step made = schedule::Bind{loop, kind};
      if (mark == Mark::Unroll) made = schedule::Unroll{loop};
      if (mark == Mark::Vectorize) made = schedule::Vectorize{loop};
      if (mark == Mark::Parallel) made = schedule::Parallel{loop};
      last_.push_back({number_, tag_, std::move(made)});
    }
    return {};
  }

  Result<void> change_loops(ImportedStage& place, const Pragma& step) {
    const std::string budget = step.pragma.substr(kUnrollPragma.size());
    const std::string loop = loops_of(place)[static_cast<std::size_t>(step.iter)];
    if (budget != "0") last_.push_back({number_, tag_, schedule::Annotate{loop, "unroll", budget}});
    return {};
  }

  Result<void> rewrite_layouts() {
    for (const std::size_t constant : task_.constants) {
      const ir::Expr buffer = program().params[constant];
      const std::vector<schedule::Path> readers = schedule::readers(program(), buffer);
      if (readers.size() != 1) continue;
      if (const auto map = reading_order(program(), readers[0].block().name, buffer))
        HONE_TRY(schedule_.apply(schedule::TransformLayout{ir::name_of(buffer), *map}));
    }
    return {};
  }

  const Task& task_;
  schedule::Schedule schedule_;
  std::vector<std::unique_ptr<ImportedStage>> places_;  ///< by their numbers of the moment
  std::vector<Last> last_;
  std::size_t number_ = 0;  ///< of the step at hand
  std::string_view tag_;
};

}  // namespace

Result<schedule::Schedule> import_steps(const Task& task, const Steps& steps, LayoutRewrite rewrite) {
  return Importer(task).run(steps, rewrite);
}

}  // namespace hone::space::ansor
