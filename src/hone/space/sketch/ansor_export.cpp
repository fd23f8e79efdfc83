#include "hone/space/sketch/ansor_export.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <map>
#include <utility>

#include "hone/ir/rewrite.h"
#include "hone/schedule/index_map.h"
#include "hone/space/blocks.h"
#include "hone/space/sketch/ansor_stages.h"
#include "hone/support/arithmetic.h"

namespace hone::space::ansor {
namespace {

using Names = std::vector<std::string>;

/// A stage, and how far it is from what the naive program says.
struct ExportedStage {
  Stage stage;
  std::string below = {};  ///< the loop of another stage that it is computed at; empty at the root
  /// How many of its iterators, the outermost ones, run once and have no loop: those around it do their work.
  std::int64_t trivial = 0;
  std::vector<std::size_t> steps = {};  ///< those that changed or marked its loops
};

/// A loop as Ansor knows it.
struct Iterator {
  ExportedStage* place;
  std::int64_t stage, iter;
  std::size_t at;  ///< among the loops of the stage
};

/// A loop that a split made of one of the naive loops.
struct Part {
  std::string loop;  ///< the naive one
  std::size_t step;  ///< the split, among the steps made
  std::int64_t number;
};

Error refused(const schedule::Step& step, std::string_view why) {
  return error(ErrorCode::Unsupported, "ansor: {}: {}", schedule::to_text(step), why);
}

class Exporter {
 public:
  explicit Exporter(const Task& task) : task_(task), schedule_(task.naive()) {
    for (Stage& stage : stages_of(task.naive())) places_.push_back({std::move(stage)});
  }

  Result<Exported> run(const schedule::Trace& trace) {
    for (std::size_t i = 0; i < trace.size(); ++i) {
      step_ = &trace[i];
      next_ = i + 1 < trace.size() ? &trace[i + 1] : nullptr;
      HONE_TRY(std::visit([this](const auto& step) { return take(step); }, trace[i]));
    }
    std::vector<std::int64_t> number(made_.size());
    for (std::size_t i = 0; i < made_.size(); ++i) {
      if (forgotten_[i]) continue;
      number[i] = static_cast<std::int64_t>(exported_.steps.size());
      if (FollowSplit* follow = std::get_if<FollowSplit>(&made_[i]))
        follow->src_step = number[static_cast<std::size_t>(follow->src_step)];
      exported_.steps.push_back(std::move(made_[i]));
    }
    const Result<schedule::Schedule> back = import_steps(task_, exported_.steps, exported_.rewrite);
    if (!back) return error(ErrorCode::Unsupported, "ansor: the steps do not lead back: {}", back.error().message);
    if (identity(back->program()) != identity(schedule_.program()))
      return error(ErrorCode::Unsupported, "ansor: the steps lead to another program");
    return std::move(exported_);
  }

 private:
  const schedule::Program& program() const { return schedule_.program(); }

  Error refuse(std::string_view why) const { return refused(*step_, why); }

  Result<void> apply(const schedule::Step& step) {
    if (const Result<void> done = schedule_.apply(step); !done) return refuse(done.error().message);
    return {};
  }

  void add(Step step, ExportedStage* changed = nullptr) {
    if (changed) changed->steps.push_back(made_.size());
    made_.push_back(std::move(step));
    forgotten_.push_back(false);
  }

  Names loops_of(const ExportedStage& place) const {
    Names loops = schedule::loops_of(program(), place.stage.block);
    if (const auto last = std::find(loops.begin(), loops.end(), place.below); last != loops.end())
      loops.erase(loops.begin(), last + 1);
    return loops;
  }

  std::int64_t number_of(const ExportedStage& place) const { return &place - places_.data(); }

  Result<ExportedStage*> find_block(const std::string& name) {
    for (ExportedStage& place : places_)
      if (!place.stage.block.empty() && place.stage.block == name) return &place;
    return refuse(fmt::format("there is no stage of block '{}'", name));
  }

  Result<Iterator> find_loop(const std::string& name) {
    for (ExportedStage& place : places_) {
      if (place.stage.block.empty()) continue;
      const Names loops = loops_of(place);
      const auto found = std::find(loops.begin(), loops.end(), name);
      if (found != loops.end())
        return Iterator{&place, number_of(place), place.trivial + (found - loops.begin()),
                        static_cast<std::size_t>(found - loops.begin())};
    }
    return refuse(fmt::format("there is no iterator for loop '{}'", name));
  }

  template <typename Other>
  Result<void> take(const Other& step) {
    return refuse(fmt::format("Ansor has no step for {}", step.kName));
  }

  Result<void> take(const schedule::Split& step) {
    HONE_TRY(const Iterator found, find_loop(step.loop));
    if (std::any_of(step.factors.begin(), step.factors.end(), [](const auto& one) { return !one.decision.empty(); }))
      return refuse("its factors are decisions");
    const std::int64_t extent = extent_of(program(), step.loop);
    HONE_TRY(apply(step));
    const Names loops = loops_of(*found.place);
    Ids parts;
    for (std::size_t i = 0; i < step.factors.size(); ++i) {
      const std::string& part = loops[found.at + i];
      parts.push_back(extent_of(program(), part));
      if (!parts_.contains(step.loop)) parts_[part] = {step.loop, made_.size(), static_cast<std::int64_t>(i)};
    }
    rename_places(step.loop, loops[found.at + step.factors.size() - 1]);
    const std::int64_t known = found.place->below.empty() ? extent : 0;
    // inner factors first, as Ansor does; else the numbers of parts of the outer ones
    if (covers({parts.rbegin(), parts.rend()}, extent)) {
      add(Split{found.stage, found.iter, known, {parts.begin() + 1, parts.end()}, 1}, found.place);
    } else if (covers(parts, extent)) {
      add(Split{found.stage, found.iter, known, {parts.begin(), parts.end() - 1}, 0}, found.place);
    } else {
      return refuse("Ansor's splits do not reach beyond the extent");
    }
    return {};
  }

  /// Whether each length but the last is at most what is left, and the last is what is left.
  static bool covers(const Ids& lengths, std::int64_t extent) {
    std::int64_t rest = std::max<std::int64_t>(extent, 1);
    for (std::size_t i = 0; i + 1 < lengths.size(); ++i) {
      if (lengths[i] > rest) return false;
      rest = ceil_div(rest, lengths[i]);
    }
    return lengths.back() == rest;
  }

  Result<void> take(const schedule::Fuse& step) {
    Ids ids;
    Iterator first{};
    for (const std::string& loop : step.loops) {
      HONE_TRY(const Iterator found, find_loop(loop));
      if (ids.empty()) first = found;
      if (found.place != first.place || found.iter != first.iter + static_cast<std::int64_t>(ids.size()))
        return refuse("the loops are not those of one stage, one after the other");
      ids.push_back(found.iter);
    }
    HONE_TRY(apply(step));
    for (const std::string& loop : step.loops) rename_places(loop, loops_of(*first.place)[first.at]);
    add(Fuse{first.stage, std::move(ids)}, first.place);
    return {};
  }

  /// What is computed at a loop stays there when the loop becomes another.
  void rename_places(const std::string& loop, const std::string& name) {
    for (ExportedStage& place : places_)
      if (place.below == loop) place.below = name;
  }

  Result<void> take(const schedule::Reorder& step) {
    HONE_TRY(const Iterator first, find_loop(step.loops.front()));
    for (const std::string& loop : step.loops) {
      HONE_TRY(const Iterator found, find_loop(loop));
      if (found.place != first.place) return refuse("the loops are not those of one stage");
    }
    const Names before = loops_of(*first.place);
    HONE_TRY(apply(step));
    add_order(*first.place, before);
    return {};
  }

  /// Says in which order the iterators of a stage, known in this order before, stand now.
  void add_order(ExportedStage& place, const Names& before) {
    Ids order;
    for (std::int64_t i = 0; i < place.trivial; ++i) order.push_back(i);
    for (const std::string& loop : loops_of(place))
      order.push_back(place.trivial + (std::find(before.begin(), before.end(), loop) - before.begin()));
    if (!std::is_sorted(order.begin(), order.end())) add(Reorder{number_of(place), std::move(order)}, &place);
  }

  Result<void> mark(const std::string& loop, ir::ForKind kind) {
    HONE_TRY(const Iterator found, find_loop(loop));
    HONE_TRY(apply(*step_));
    for (const auto& [mark, its_kind] : kMarks)
      if (its_kind == kind) add(Annotation{found.stage, found.iter, static_cast<std::int64_t>(mark)}, found.place);
    return {};
  }

  Result<void> take(const schedule::Parallel& step) { return mark(step.loop, ir::ForKind::Parallel); }
  Result<void> take(const schedule::Vectorize& step) { return mark(step.loop, ir::ForKind::Vectorized); }
  Result<void> take(const schedule::Unroll& step) { return mark(step.loop, ir::ForKind::Unrolled); }
  Result<void> take(const schedule::Bind& step) { return mark(step.loop, step.index); }

  Result<void> take(const schedule::Annotate& step) {
    if (step.key != "unroll") return refuse(fmt::format("Ansor has no step for the annotation '{}'", step.key));
    HONE_TRY(const Iterator found, find_loop(step.target));
    HONE_TRY(apply(step));
    add(Pragma{found.stage, found.iter, std::string(kUnrollPragma) + step.value}, found.place);
    return {};
  }

  Result<void> take(const schedule::ComputeAt& step) {
    HONE_TRY(ExportedStage * place, find_block(step.block));
    HONE_TRY(const Iterator target, find_loop(step.loop));
    HONE_TRY(apply(step));
    for (const std::size_t earlier : std::exchange(place->steps, {})) forgotten_[earlier] = true;  // the loops are new
    add(ComputeAt{number_of(*place), target.stage, target.iter});
    place->below = step.loop;
    place->trivial = 0;
    return {};
  }

  /// Ansor moves no consumer: it splits the consumer as its producer is, and computes that at it.
  Result<void> take(const schedule::ReverseComputeAt& step) {
    HONE_TRY(ExportedStage * consumer, find_block(step.block));
    HONE_TRY(const Iterator target, find_loop(step.loop));
    ExportedStage* producer = target.place;
    if (!consumer->steps.empty() || !consumer->below.empty())
      return refuse("the loops of the block were changed before");
    if (!producer->below.empty()) return refuse("the block is computed where another is computed at a third one");
    const Names axes = loops_of(*consumer), around = loops_of(*producer);
    HONE_TRY(const Names followed, followed_loops(*producer, *consumer));
    const Names shared(around.begin(), around.begin() + target.iter + 1);
    HONE_TRY(apply(step));
    if (loops_of(*consumer).size() != shared.size() + axes.size()) return refuse("its loops are not its axes");

    // each axis in the parts that are shared, and the rest
    const std::int64_t stage = number_of(*consumer);
    std::map<std::string, std::int64_t> place_of_part;
    Ids rests;
    std::int64_t next = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t first = next;
      std::optional<std::size_t> split;
      for (const std::string& loop : shared) {
        const auto part = parts_.find(loop);
        if ((part == parts_.end() ? loop : part->second.loop) != followed[i]) continue;
        if (part != parts_.end()) split = part->second.step;
        place_of_part[loop] = first + (part == parts_.end() ? 0 : part->second.number);
        ++next;
      }
      rests.push_back(next++);
      if (next - first == 1) continue;
      const Split* source = split ? std::get_if<Split>(&made_[*split]) : nullptr;
      if (source && source->inner_to_outer == 0) return refuse("Ansor follows no split into numbers of parts");
      if (source)
        add(FollowSplit{stage, first, static_cast<std::int64_t>(*split), next - first - 1}, consumer);
      else
        add(Split{stage, first, extent_of(program(), followed[i]), {1}, 1}, consumer);
    }
    Ids order;
    for (const std::string& loop : shared) {
      if (!place_of_part.contains(loop)) return refuse(fmt::format("the block has no axis for loop '{}'", loop));
      order.push_back(place_of_part[loop]);
    }
    order.insert(order.end(), rests.begin(), rests.end());
    if (!std::is_sorted(order.begin(), order.end())) add(Reorder{stage, std::move(order)}, consumer);
    attach(*producer, step.loop, shared.size(), stage);
    return {};
  }

  /// Computes a stage at the innermost of its loops that it shares with another, and with it what is computed there.
  void attach(ExportedStage& producer, const std::string& loop, std::size_t shared, std::int64_t target) {
    const Names around = loops_of(producer);
    for (ExportedStage& other : places_) {
      const auto at = std::find(around.begin(), around.begin() + static_cast<std::ptrdiff_t>(shared), other.below);
      if (at != around.begin() + static_cast<std::ptrdiff_t>(shared))
        add(ComputeAt{number_of(other), target, at - around.begin()});
    }
    add(ComputeAt{number_of(producer), target, static_cast<std::int64_t>(shared) - 1});
    producer.below = loop;
    producer.trivial = static_cast<std::int64_t>(shared);
  }

  /// For each loop of the consumer, whose loops are its axes, the naive loop of the producer that makes what it reads.
  Result<Names> followed_loops(const ExportedStage& producer, const ExportedStage& consumer) const {
    HONE_TRY(const schedule::Path makes, schedule::find_block(program(), producer.stage.block, "ansor"));
    HONE_TRY(const schedule::Path reads, schedule::find_block(program(), consumer.stage.block, "ansor"));
    const std::vector<ir::Expr> stored = stored_at(makes.block());
    std::vector<Read> loads = reads_of(reads.block());
    std::erase_if(loads, [&](const Read& read) { return ir::name_of(read.buffer) != producer.stage.buffer; });
    if (loads.empty()) return refuse("the block reads nothing that is made there");
    Names followed;
    for (const NaiveLoop& axis : naive_loops(program(), consumer.stage.block)) {
      followed.emplace_back();
      for (std::size_t i = 0; i < stored.size(); ++i)
        if (loads.front().indices[i].is(axis.var)) followed.back() = naive_loop_of(makes, stored[i]);
    }
    return followed;
  }

  /// The indices that a block stores at.
  static std::vector<ir::Expr> stored_at(const ir::Block& block) {
    std::vector<ir::Expr> indices;
    ir::walk(block.body, [&](const ir::Stmt& s) {
      if (const ir::Store* store = s.as<ir::Store>()) indices = store->indices;
    });
    return indices;
  }

  /// The naive loop that a variable of a block runs through, which may be split by now.
  std::string naive_loop_of(const schedule::Path& path, const ir::Expr& var) const {
    for (const ir::Iter& one : path.block().iters)
      for (const ir::Stmt& s : path.loops()) {
        if (!one.var.is(var) || !ir::uses(one.binding, s.get<ir::For>().var)) continue;
        const std::string loop = ir::name_of(s.get<ir::For>().var);
        const auto part = parts_.find(loop);
        return part == parts_.end() ? loop : part->second.loop;
      }
    return "";
  }

  Result<void> take(const schedule::ComputeInline& step) {
    HONE_TRY(ExportedStage * place, find_block(step.block));
    HONE_TRY(apply(step));
    for (const std::size_t earlier : std::exchange(place->steps, {})) forgotten_[earlier] = true;
    add(ComputeInline{number_of(*place)});
    place->stage.block.clear();
    return {};
  }

  Result<std::string> apply_making_block(const schedule::Step& step) {
    Result<std::string> made = ansor::apply_making_block(schedule_, step);
    if (!made) return refuse(made.error().message);
    return made;
  }

  Result<void> take(const schedule::CacheWrite& step) {
    HONE_TRY(ExportedStage * place, find_block(step.block));
    if (!place->steps.empty()) return refuse("the loops of the block were changed before");
    const std::int64_t number = number_of(*place);
    HONE_TRY(const std::string copy, apply_making_block(step));
    add(CacheWrite{number, std::string(ir::to_string(step.scope))});
    place->stage.block = copy;
    places_.insert(places_.begin() + number, ExportedStage{{step.block, written_by(program(), step.block)}});
    return {};
  }

  Result<void> take(const schedule::CacheRead& step) {
    HONE_TRY(ExportedStage * reader, find_block(step.block));
    const auto read = std::find_if(places_.begin(), places_.end(),
                                   [&](const ExportedStage& place) { return place.stage.buffer == step.buffer; });
    if (read == places_.end()) return refuse(fmt::format("there is no stage of buffer '{}'", step.buffer));
    const std::int64_t number = number_of(*read);
    add(CacheRead{number, std::string(ir::to_string(step.scope)), {number_of(*reader)}});
    HONE_TRY(const std::string copy, apply_making_block(step));
    places_.insert(places_.begin() + number + 1, ExportedStage{{copy, written_by(program(), copy)}});
    return {};
  }

  Result<void> take(const schedule::Rfactor& step) {
    HONE_TRY(ExportedStage * place, find_block(step.block));
    HONE_TRY(const Iterator found, find_loop(step.loop));
    if (!place->below.empty()) return refuse("the block is computed at another stage");
    HONE_TRY(const schedule::Path path, schedule::find_block(program(), step.block, "ansor"));
    const auto spatial = std::count_if(path.block().iters.begin(), path.block().iters.end(),
                                       [](const ir::Iter& one) { return one.kind == ir::IterKind::Spatial; });
    HONE_TRY(const std::string partial, apply_making_block(step));
    const std::string buffer = written_by(program(), partial);
    const std::int64_t front = place_of_axis(buffer, spatial);
    add(Rfactor{found.stage, found.iter, front});
    place->steps.clear();
    places_.insert(places_.begin() + found.stage, ExportedStage{{partial, buffer}});
    // Ansor's new stage has its loops in the order of its axes
    ExportedStage& made = places_[static_cast<std::size_t>(found.stage)];
    Names order = loops_of(made);
    std::rotate(order.begin() + front, order.begin() + found.iter, order.begin() + found.iter + 1);
    add_order(made, order);
    return {};
  }

  /// Where the next step of the trace puts the first axis of a buffer of partial results, if all that it does is that.
  std::int64_t place_of_axis(const std::string& buffer, std::int64_t spatial) {
    const auto* layout = next_ ? std::get_if<schedule::TransformLayout>(next_) : nullptr;
    if (!layout || layout->buffer != buffer) return 0;
    const Result<schedule::IndexMap> map = schedule::parse_index_map(layout->map);
    if (!map || map->exprs.size() != map->vars.size()) return 0;
    std::vector<ir::Expr> others = map->exprs;
    const auto axis = std::find_if(others.begin(), others.end(), [&](const ir::Expr& e) { return e.is(map->vars[0]); });
    if (axis == others.end()) return 0;
    const std::int64_t front = axis - others.begin();
    others.erase(axis);
    for (std::size_t i = 0; i < others.size(); ++i)
      if (!others[i].is(map->vars[i + 1])) return 0;
    expected_layout_ = next_;
    return std::min(front, spatial);
  }

  Result<void> take(const schedule::StorageAlign& step) {
    for (ExportedStage& place : places_) {
      if (place.stage.buffer != step.buffer || place.stage.block.empty()) continue;
      if (!place.steps.empty()) return refuse("the loops of the block are no longer its axes");
      HONE_TRY(apply(step));
      add(StorageAlign{number_of(place), step.axis.value, step.factor.value, step.offset.value});
      return {};
    }
    return refuse(fmt::format("there is no stage of buffer '{}'", step.buffer));
  }

  Result<void> take(const schedule::TransformLayout& step) {
    if (step_ == expected_layout_) return apply(step);  // part of the RF before it
    const bool is_constant = std::any_of(task_.constants.begin(), task_.constants.end(), [&](std::size_t constant) {
      return ir::name_of(program().params[constant]) == step.buffer;
    });
    if (!is_constant) return refuse(fmt::format("Ansor has no step for {}, but of constants", step.kName));
    exported_.rewrite = LayoutRewrite::PreTransformed;
    return apply(step);
  }

  const Task& task_;
  schedule::Schedule schedule_;
  std::vector<ExportedStage> places_;  ///< by their numbers of the moment
  const schedule::Step *step_ = nullptr, *next_ = nullptr, *expected_layout_ = nullptr;
  Steps made_;
  std::vector<bool> forgotten_;  ///< of the steps made: those whose loops are gone
  std::map<std::string, Part> parts_;
  Exported exported_;
};

}  // namespace

Result<Exported> export_steps(const Task& task, const schedule::Trace& trace) { return Exporter(task).run(trace); }

}  // namespace hone::space::ansor
