#include "hone/codegen/promote_accumulators.h"

#include <algorithm>
#include <optional>

#include "hone/codegen/accesses.h"
#include "hone/codegen/conditions.h"
#include "hone/codegen/names.h"
#include "hone/codegen/vector_ops.h"
#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// An element or vector that stays in registers: where it is in memory, and where in the register buffer.
struct Slot {
  Expr index, mask;
  std::int64_t offset, stride;  ///< in memory: of the first lane, from the buffer's first slot; between lanes
  int lanes;
  std::int64_t place;  ///< in the register buffer
  bool is_loaded_first;
  bool is_stored = false;

  Expr register_index() const { return lanes == 1 ? imm(place) : make(Ramp{imm(place), imm(1)}, lanes); }
};

/// How many lanes from the first on may be active: all, unless the mask compares the lane's number with a constant.
std::int64_t active_lanes(const Slot& slot) {
  const Lt* below = slot.mask ? slot.mask.as<Lt>() : nullptr;
  const Ramp* lane = below ? below->a.as<Ramp>() : nullptr;
  const Broadcast* limit = below ? below->b.as<Broadcast>() : nullptr;
  if (!lane || !limit || !is_int(lane->stride, 1) || !as_int(lane->base) || !as_int(limit->value)) return slot.lanes;
  return std::clamp<std::int64_t>(*as_int(limit->value) - *as_int(lane->base), 0, slot.lanes);
}

bool overlap(const Slot& a, const Slot& b) {
  for (std::int64_t i = 0; i < active_lanes(a); ++i)
    for (std::int64_t j = 0; j < active_lanes(b); ++j)
      if (a.offset + a.stride * i == b.offset + b.stride * j) return true;
  return false;
}

bool are_equal(const Expr& a, const Expr& b) { return a.is(b) || (a && b && equal(a, b)); }

/// The slots of one buffer inside one loop.
struct Promotion {
  Expr buffer, registers;
  std::vector<Slot> slots;
  std::int64_t size = 0;

  Slot* find(const Expr& index) {
    const auto found =
        std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return are_equal(slot.index, index); });
    return found == slots.end() ? nullptr : &*found;
  }

  /// Counts an access in; false if it stands in the way of the promotion.
  bool add(const Access& access, const std::vector<Expr>& defined) {
    Slot* slot = find(access.index);
    if (!slot) {
      if (!is_fixed(access, defined) || !add_slot(access)) return false;
      slot = &slots.back();
    }
    slot->is_stored |= access.is_store && access.is_certain;
    return are_equal(slot->mask, access.mask);
  }

  static bool is_fixed(const Access& access, const std::vector<Expr>& defined) {
    if (has_load(access.index) || (access.mask && has_load(access.mask))) return false;
    return std::none_of(defined.begin(), defined.end(), [&](const Expr& inner) {
      return uses(access.index, inner) || (access.mask && uses(access.mask, inner));
    });
  }

  bool add_slot(const Access& access) {
    const Expr& index = access.index;
    const Ramp* ramp = index.as<Ramp>();
    const auto stride = ramp ? as_int(ramp->stride) : std::optional<std::int64_t>(0);
    if ((index.type().is_vector() && !ramp) || !stride || slots.size() == kMaxAccumulators) return false;
    const auto offset = slots.empty() ? std::optional<std::int64_t>(0)
                                      : as_int(simplify(lane_of(index, 0) - lane_of(slots.front().index, 0)));
    if (!offset) return false;
    const Slot slot{.index = index,
                    .mask = access.mask,
                    .offset = *offset,
                    .stride = *stride,
                    .lanes = index.type().lanes,
                    .place = size,
                    .is_loaded_first = !access.is_store || !access.is_certain};
    if (std::any_of(slots.begin(), slots.end(), [&](const Slot& other) { return overlap(slot, other); })) return false;
    size += slot.lanes;
    slots.push_back(slot);
    return true;
  }
};

/// What can be promoted of `buffer`, or nothing.
std::optional<Promotion> plan_for(const Expr& buffer, const Accesses& accesses) {
  const auto& defined = accesses.defined;
  if (std::any_of(defined.begin(), defined.end(), [&](const Expr& d) { return d.is(buffer); })) return std::nullopt;
  Promotion plan{.buffer = buffer};
  for (const Access& access : accesses.all)
    if (access.buffer.is(buffer) && !plan.add(access, defined)) return std::nullopt;
  if (!std::all_of(plan.slots.begin(), plan.slots.end(), [](const Slot& slot) { return slot.is_stored; }))
    return std::nullopt;
  plan.registers = make(Buffer{.name = name_of(buffer) + "_acc", .shape = {imm(plan.size)}, .scope = Scope::Register},
                        buffer.type());
  return plan;
}

std::vector<Promotion> plan_for(const For& loop) {
  std::vector<Promotion> plans;
  if (loop.how != ForKind::Serial || as_int(loop.extent).value_or(0) < 1) return plans;
  Accesses accesses;
  accesses.defined.push_back(loop.var);
  accesses.collect(loop.body);
  if (!accesses.is_plain) return plans;
  for (const Expr& buffer : accesses.stored())
    if (buffer.get<Buffer>().scope != Scope::Register)
      if (std::optional<Promotion> plan = plan_for(buffer, accesses)) plans.push_back(*std::move(plan));
  return plans;
}

Expr to_registers(const Expr& e, Promotion& plan) {
  const Expr mapped = map_children(e, [&](const Expr& child) { return to_registers(child, plan); });
  const Load* load = mapped.as<Load>();
  if (!load || !load->buffer.is(plan.buffer)) return mapped;
  return make(Load{plan.registers, {plan.find(load->indices[0])->register_index()}});
}

Stmt to_registers(const Stmt& s, Promotion& plan) {
  const Stmt mapped = map_children(
      s, [&](const Stmt& child) { return to_registers(child, plan); },
      [&](const Expr& e) { return to_registers(e, plan); });
  const Store* store = mapped.as<Store>();
  if (!store || !store->buffer.is(plan.buffer)) return mapped;
  return make(Store{plan.registers, {plan.find(store->indices[0])->register_index()}, store->value});
}

/// Takes the store that sets `slot` off the list of statements before the loop, and gives its value. Null if there is
/// none among the stores that directly precede the loop.
Expr take_initial_value(const Slot& slot, Promotion& plan, std::vector<Stmt>& before) {
  for (auto s = before.rbegin(); s != before.rend(); ++s) {
    const Store* store = s->as<Store>();
    if (!store || has_load(store->value)) return {};
    if (!store->buffer.is(plan.buffer)) continue;
    const Slot* target = plan.find(store->indices[0]);
    if (!target) return {};  // it may overlap the slot
    if (target != &slot) continue;
    if (!are_equal(store->mask, slot.mask)) return {};
    const Expr value = store->value;
    before.erase(std::next(s).base());
    return value;
  }
  return {};
}

/// The loop, which uses the registers already, between loading and storing them. Statements of `before` that
/// initialise a slot are taken from the list.
Stmt load_and_store_around(const Stmt& loop, Promotion& plan, std::vector<Stmt>& before) {
  std::vector<Stmt> result;
  for (const Slot& slot : plan.slots) {
    if (!slot.is_loaded_first) continue;
    Expr value = take_initial_value(slot, plan, before);
    if (!value) value = make(Load{plan.buffer, {slot.index}, slot.mask});
    result.push_back(store(plan.registers, {slot.register_index()}, value));
  }
  result.push_back(loop);
  for (const Slot& slot : plan.slots) {
    const Expr value = load(plan.registers, {slot.register_index()});
    result.push_back(make(Store{plan.buffer, {slot.index}, value, slot.mask}));
  }
  return make(Allocate{plan.registers, seq(std::move(result))});
}

Stmt promote(const Stmt& s, std::vector<Stmt>& before);

Stmt promote_alone(const Stmt& s) {
  std::vector<Stmt> nothing_before;
  return promote(s, nothing_before);
}

Stmt promote(const Stmt& s, std::vector<Stmt>& before) {
  if (const Seq* sequence = s.as<Seq>()) {
    std::vector<Stmt> done;
    for (const Stmt& child : sequence->stmts) {
      Stmt promoted = promote(child, done);
      done.push_back(std::move(promoted));
    }
    return seq(std::move(done));
  }
  const For* loop = s.as<For>();
  if (!loop) return map_children(s, [](const Stmt& child) { return promote_alone(child); });
  std::vector<Promotion> plans = plan_for(*loop);
  Stmt result = s;
  for (Promotion& plan : plans) result = to_registers(result, plan);
  result = map_children(result, [](const Stmt& child) { return promote_alone(child); });
  for (Promotion& plan : plans) result = load_and_store_around(result, plan, before);
  return result;
}

}  // namespace

Function promote_accumulators(const Function& function) {
  return with_unique_names({function.name, function.params, promote_alone(function.body)});
}

}  // namespace hone::codegen
