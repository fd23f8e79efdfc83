#include "hone/schedule/combiner.h"

#include <algorithm>
#include <limits>

#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// The value of type `type` that loses against every other in `kind`, or null if `kind` is no operation we know.
Expr identity_of(Kind kind, DType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (kind) {
    case Kind::Add:
      return constant(type, std::int64_t{0});
    case Kind::Mul:
      return constant(type, std::int64_t{1});
    case Kind::Min:
      return type.is_float() ? constant(type, kInfinity) : constant(type, max_value(type));
    case Kind::Max:
      return type.is_float() ? constant(type, -kInfinity) : constant(type, min_value(type));
    case Kind::And:
      return boolean(true);
    case Kind::Or:
      return boolean(false);
    default:
      return {};
  }
}

/// The operands of an operation that identity_of knows.
std::pair<Expr, Expr> operands_of(const Expr& e) {
  std::vector<Expr> operands;
  for_each_child(e, [&](const Expr& child) { operands.push_back(child); });
  HONE_CHECK(operands.size() == 2, "{} has {} operands", to_string(e.kind()), operands.size());
  return {operands[0], operands[1]};
}

/// A store of the update with its value, looked up where that is let-bound.
struct Update {
  Expr buffer;
  std::vector<Expr> indices;
  Expr value;
};

std::vector<Update> updates_of(const Stmt& body) {
  Substitution lets;
  std::vector<Update> found;
  walk(body, [&](const Stmt& s) {
    if (const Let* let = s.as<Let>()) lets.emplace_back(let->var, let->value);
    if (const Store* store = s.as<Store>()) {
      const Expr value = store->value.as<Var>() ? substitute(store->value, lets) : store->value;
      found.push_back({store->buffer, store->indices, value});
    }
  });
  return found;
}

bool is_old_value(const Expr& e, const Update& update) {
  const Load* load = e.as<Load>();
  if (!load || !load->buffer.is(update.buffer) || load->mask) return false;
  return std::equal(load->indices.begin(), load->indices.end(), update.indices.begin(), update.indices.end(),
                    [](const Expr& a, const Expr& b) { return equal(a, b); });
}

/// The value that the init stores to the buffer, or null.
Expr initial_value(const Stmt& init, const Expr& buffer) {
  Expr value;
  walk(init, [&](const Stmt& s) {
    const Store* store = s.as<Store>();
    if (store && store->buffer.is(buffer)) value = store->value;
  });
  return value;
}

/// Takes one update apart; false if it is of no form we know.
bool add_update(const Update& update, const Block& block, Expr& condition, Combiner& combiner) {
  Expr source, identity;
  if (const Select* choice = update.value.as<Select>()) {
    if (!is_old_value(choice->b, update) || (condition && !equal(condition, choice->condition))) return false;
    condition = choice->condition;
    source = choice->a;
    identity = initial_value(block.init, update.buffer);
  } else if (identity = identity_of(update.value.kind(), update.value.type()); identity) {
    if (condition) return false;
    const auto [a, b] = operands_of(update.value);
    source = is_old_value(a, update) ? b : is_old_value(b, update) ? a : Expr();
  }
  if (!source || !identity || uses(source, update.buffer)) return false;
  combiner.buffers.push_back(update.buffer);
  combiner.indices.push_back(update.indices);
  combiner.sources.push_back(source);
  combiner.identities.push_back(identity);
  return true;
}

}  // namespace

Result<Combiner> find_combiner(const Block& block, std::string_view step) {
  Combiner combiner;
  Expr condition;
  const std::vector<Update> updates = updates_of(block.body);
  const bool is_known = std::all_of(updates.begin(), updates.end(), [&](const Update& update) {
    return add_update(update, block, condition, combiner);
  });
  if (!is_known || updates.empty() || (updates.size() > 1 && !condition))
    return error(ErrorCode::IllegalStep,
                 "{}: block '{}' does not combine by sum, product, minimum, maximum, and, or, or one selection", step,
                 block.name);
  return combiner;
}

namespace {

std::vector<Expr> joined(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  std::vector<Expr> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

/// The position of a buffer among the combiner's, or their number.
std::size_t position(const Combiner& combiner, const Expr& buffer) {
  const auto found =
      std::find_if(combiner.buffers.begin(), combiner.buffers.end(), [&](const Expr& b) { return b.is(buffer); });
  return static_cast<std::size_t>(found - combiner.buffers.begin());
}

Expr rewrite_value(const Expr& e, const Combiner& combiner, const Replacement& replacement) {
  for (std::size_t i = 0; i < combiner.sources.size(); ++i)
    if (equal(e, combiner.sources[i])) return replacement.sources[i];
  const Load* load = e.as<Load>();
  const std::size_t i = load ? position(combiner, load->buffer) : combiner.buffers.size();
  if (i < combiner.buffers.size()) return ir::load(replacement.buffers[i], joined(replacement.new_axes, load->indices));
  return map_children(e, [&](const Expr& child) { return rewrite_value(child, combiner, replacement); });
}

}  // namespace

Stmt rewrite_update(const Stmt& stmt, const Combiner& combiner, const Replacement& replacement) {
  const auto rewrite = [&](const auto& self, const Stmt& s) -> Stmt {
    if (const Store* node = s.as<Store>())
      return store(replacement.buffers[position(combiner, node->buffer)], joined(replacement.new_axes, node->indices),
                   rewrite_value(node->value, combiner, replacement));
    if (const Let* let = s.as<Let>()) {
      const Expr renamed = var(name_of(let->var), let->var.type());
      return make(Let{renamed, rewrite_value(let->value, combiner, replacement),
                      substitute(self(self, let->body), let->var, renamed)});
    }
    return map_children(s, [&](const Stmt& child) { return self(self, child); });
  };
  return rewrite(rewrite, stmt);
}

}  // namespace hone::schedule
