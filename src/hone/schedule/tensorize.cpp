/// tensorize.
#include <algorithm>
#include <fmt/ranges.h>
#include <numeric>

#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"
#include "hone/schedule/lane_access.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/nest.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/tensor_intrinsics.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Loops directly nested in each other around one block.
struct Nest {
  std::vector<Expr> vars;
  std::vector<std::int64_t> extents;
  const Block* block = nullptr;  ///< null if there is none directly inside
  const Store* store = nullptr;  ///< the block's body if it is one
  bool is_serial = true;
};

Nest nest_at(const Stmt& s) {
  Nest nest;
  const Stmt* here = &s;
  for (; here->as<For>(); here = &here->get<For>().body) {
    const For& loop = here->get<For>();
    nest.vars.push_back(loop.var);
    nest.extents.push_back(as_int(loop.extent).value_or(-1));
    nest.is_serial = nest.is_serial && loop.how == ForKind::Serial;
  }
  nest.block = here->as<Block>();
  if (nest.block) nest.store = nest.block->body.as<Store>();
  return nest;
}

/// Whether two values are computed alike from elements of the same types, wherever these stand.
bool has_same_form(const Expr& pattern, const Expr& found) {
  const auto either_way = [](const auto& a, const auto& b) {
    return (has_same_form(a.a, b.a) && has_same_form(a.b, b.b)) || (has_same_form(a.a, b.b) && has_same_form(a.b, b.a));
  };
  if (pattern.kind() != found.kind() || pattern.type() != found.type()) return false;
  if (const Add* node = pattern.as<Add>()) return either_way(*node, found.get<Add>());
  if (const Mul* node = pattern.as<Mul>()) return either_way(*node, found.get<Mul>());
  if (const Cast* node = pattern.as<Cast>()) return has_same_form(node->value, found.get<Cast>().value);
  return pattern.as<Load>() || equal(pattern, found);
}

/// Compares a nest with the description of an intrinsic, loop by loop in one order.
class Matcher {
 public:
  Matcher(const Nest& pattern, const Nest& found, std::vector<Expr> loops, const Bounds& bounds)
      : pattern_(pattern), found_(found), loops_(std::move(loops)), bounds_(bounds) {
    for (std::size_t i = 0; i < pattern.vars.size(); ++i)
      pattern_bounds_.add_extent(pattern.vars[i], imm(pattern.extents[i]));
  }

  bool match() {
    return bind(pattern_.store->buffer, pattern_.store->indices, found_.store->buffer, found_.store->indices) &&
           match(pattern_.store->value, found_.store->value);
  }

  /// What the buffer of the description of this name was found to be.
  const LaneAccess& access(std::string_view name) const {
    return std::find_if(bound_.begin(), bound_.end(), [&](const Bound& b) { return name_of(b.pattern) == name; })
        ->access;
  }
  /// The loops that an access of the description depends on, by their place.
  std::vector<std::size_t> lane_loops(std::string_view name) const {
    const LaneAccess& access =
        std::find_if(bound_.begin(), bound_.end(), [&](const Bound& b) { return name_of(b.pattern) == name; })->lanes;
    std::vector<std::size_t> used;
    for (std::size_t loop = 0; loop < loops_.size(); ++loop)
      if (access.stride(loop) != 0) used.push_back(loop);
    return used;
  }

  /// Why the first access that has the right type does not fit; empty if there was none.
  const std::string& reason() const { return reason_; }

 private:
  struct Bound {
    Expr pattern;
    LaneAccess lanes, access;
  };

  bool match(const Expr& pattern, const Expr& found) {
    if (pattern.kind() != found.kind() || pattern.type() != found.type()) return false;
    if (const Add* node = pattern.as<Add>()) return match_either_way(*node, found.get<Add>());
    if (const Mul* node = pattern.as<Mul>()) return match_either_way(*node, found.get<Mul>());
    if (const Cast* node = pattern.as<Cast>()) return match(node->value, found.get<Cast>().value);
    const Load* node = pattern.as<Load>();
    if (!node) return equal(pattern, found);
    const Load& load = found.get<Load>();
    return !load.mask && bind(node->buffer, node->indices, load.buffer, load.indices);
  }

  template <typename Node>
  bool match_either_way(const Node& pattern, const Node& found) {
    const std::vector<Bound> before = bound_;
    if (match(pattern.a, found.a) && match(pattern.b, found.b)) return true;
    bound_ = before;
    return match(pattern.a, found.b) && match(pattern.b, found.a);
  }

  bool is_same(const LaneAccess& a, const LaneAccess& b) const {
    return a.buffer.is(b.buffer) && a.coefficients == b.coefficients &&
           std::equal(a.bases.begin(), a.bases.end(), b.bases.begin(), b.bases.end(),
                      [](const Expr& x, const Expr& y) { return equal(x, y); });
  }

  /// Takes a buffer of the description for one that was found, if the accesses have the same strides.
  bool bind(const Expr& pattern, const Indices& pattern_indices, const Expr& found, const Indices& indices) {
    if (pattern.type() != found.type()) return false;
    const auto lanes =
        take_apart(pattern, pattern_indices, bindings_of(*pattern_.block), pattern_.vars, pattern_bounds_);
    const auto access = take_apart(found, indices, bindings_of(*found_.block), loops_, bounds_);
    if (!access) return refuse(fmt::format("buffer '{}' has an index that is not linear", name_of(found)));
    for (std::size_t loop = 0; loop < loops_.size(); ++loop) {
      const std::optional<std::int64_t> expected = lanes->stride(loop), stride = access->stride(loop);
      if (stride != expected)
        return refuse(fmt::format("buffer '{}' has stride {} along loop '{}', allowed is {}", name_of(found),
                                  stride ? fmt::format("{}", *stride) : "unknown", name_of(loops_[loop]), *expected));
    }
    for (const Bound& known : bound_) {
      if (known.pattern.is(pattern)) return is_same(known.access, *access);
      if (known.access.buffer.is(found))
        return refuse(fmt::format("buffer '{}' is written and read at different places", name_of(found)));
    }
    bound_.push_back({pattern, *lanes, *access});
    return true;
  }

  bool refuse(std::string why) {
    if (reason_.empty()) reason_ = std::move(why);
    return false;
  }

  const Nest& pattern_;
  const Nest& found_;
  std::vector<Expr> loops_;  ///< the found loops in the order of the description's
  const Bounds& bounds_;
  Bounds pattern_bounds_;
  std::vector<Bound> bound_;
  std::string reason_;
};

/// The block of the intrinsic: one variable for each loop outside that the old block depends on.
Result<Stmt> intrinsic_block(const Path& path, const Block& before, const Expr& predicate, const Stmt& body) {
  Block block{.name = before.name, .predicate = predicate, .annotations = before.annotations};
  Substitution values;
  for (const Stmt& s : path.loops()) {
    const For& loop = s.get<For>();
    const Role role = role_of(loop.var, before);
    if (role == Role::None) continue;
    if (role == Role::Mixed)
      return illegal("tensorize: loop '{}' runs through spatial and reduction variables of block '{}'",
                     name_of(loop.var), before.name);
    const Expr variable = var("v" + name_of(loop.var));
    block.iters.push_back(
        {variable, loop.extent, role == Role::Reduce ? IterKind::Reduce : IterKind::Spatial, loop.var});
    values.emplace_back(loop.var, variable);
  }
  block.body = substitute(body, values);
  return make(std::move(block));
}

/// An error unless the nest below the loop is one block that an intrinsic can stand for.
Result<Expr> check_nest(const Path& path, const Nest& nest, const TensorIntrinsic& intrinsic) {
  const std::string& name = name_of(path.loop().var);
  for (const Stmt& s : path.loops())
    if (s.get<For>().how == ForKind::Vectorized)
      return illegal("tensorize: loop '{}' is vectorized, allowed are loops that run in order around an intrinsic",
                     name_of(s.get<For>().var));
  if (!nest.block)
    return illegal("tensorize: loop '{}' does not contain one block in directly nested loops alone", name);
  if (!nest.is_serial) return illegal("tensorize: a loop of the nest at '{}' is not serial", name);
  const std::vector<std::int64_t> expected = nest_at(intrinsic.description.body).extents;
  if (!std::is_permutation(nest.extents.begin(), nest.extents.end(), expected.begin(), expected.end()))
    return illegal("tensorize: the loops at '{}' have extents {}, allowed for '{}' are {}", name,
                   fmt::join(nest.extents, ", "), intrinsic.name, fmt::join(expected, ", "));
  if (nest.block->init)
    return illegal("tensorize: block '{}' still has its init, decompose the reduction first", nest.block->name);
  if (!nest.store || nest.store->mask)
    return illegal("tensorize: block '{}' has another body than one store", nest.block->name);
  if (!nest.block->predicate) return Expr();
  const Expr predicate = substitute(nest.block->predicate, bindings_of(*nest.block));
  for (const Expr& var : nest.vars)
    if (uses(predicate, var))
      return illegal("tensorize: block '{}' guards a tail within loop '{}', pad or split so that there is none",
                     nest.block->name, name_of(var));
  return predicate;
}

/// The statement that does the nest, if it matches the description with its loops in this order; otherwise null.
/// `reason` keeps why the first order did not match.
Stmt intrinsic_store(const TensorIntrinsic& intrinsic, const Nest& pattern, const Nest& found,
                     const std::vector<std::size_t>& order, const Bounds& bounds, std::string& reason) {
  std::vector<Expr> loops;
  std::vector<std::int64_t> extents;
  for (const std::size_t place : order) {
    loops.push_back(found.vars[place]);
    extents.push_back(found.extents[place]);
  }
  if (extents != pattern.extents) return {};
  Matcher matcher(pattern, found, loops, bounds);
  if (!matcher.match()) {
    if (reason.empty()) reason = matcher.reason();
    return {};
  }
  const auto operand = [&](std::string_view name) {
    const LaneAccess& access = matcher.access(name);
    return load(access.buffer, lane_indices(access, matcher.lane_loops(name), extents));
  };
  const Expr sums = operand("C");
  return store(sums.get<Load>().buffer, sums.get<Load>().indices,
               intrinsic.implement(operand("A"), operand("B"), sums));
}

}  // namespace

Result<Program> tensorize(const Program& program, std::string_view name, std::string_view intrinsic_name) {
  HONE_TRY(const Path path, find_loop(program, name, "tensorize"));
  HONE_TRY(const TensorIntrinsic* const intrinsic, find_tensor_intrinsic(intrinsic_name));
  const Nest found = nest_at(path.target());
  const Nest pattern = nest_at(intrinsic->description.body);
  HONE_TRY(const Expr predicate, check_nest(path, found, *intrinsic));

  Bounds bounds = path.bounds();
  for (std::size_t i = 1; i < found.vars.size(); ++i) bounds.add_extent(found.vars[i], imm(found.extents[i]));
  std::vector<std::size_t> order(found.vars.size());
  std::iota(order.begin(), order.end(), 0);
  std::string reason;
  do {
    const Stmt body = intrinsic_store(*intrinsic, pattern, found, order, bounds, reason);
    if (!body) continue;
    HONE_TRY(const Stmt block, intrinsic_block(path, *found.block, predicate, body));
    return replace(program, path, block);
  } while (std::next_permutation(order.begin(), order.end()));

  if (has_same_form(pattern.store->value, found.store->value))
    return illegal("tensorize: block '{}' does not fit '{}': {}", found.block->name, intrinsic_name, reason);
  return illegal("tensorize: block '{}' does not fit '{}': it computes {}, allowed is {}", found.block->name,
                 intrinsic_name, to_text(found.store->value), to_text(pattern.store->value));
}

}  // namespace hone::schedule
