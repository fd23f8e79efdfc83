#include "hone/runtime/plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "hone/runtime/buffer.h"
#include "hone/runtime/memory_plan.h"

namespace hone::runtime {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// A body together with the values it captures in this run.
class BoundBodyCall : public Body {
 public:
  BoundBodyCall(const BodyCode& code, std::vector<Value> captured, ThreadPool* pool)
      : code_(code), captured_(std::move(captured)), pool_(pool) {}

  Result<std::vector<Value>> run(std::span<const Value> inputs) const override {
    return code_.call(inputs, captured_, pool_);
  }

  Declared declared(std::size_t output) const override { return code_.declared(output); }

 private:
  const BodyCode& code_;
  std::vector<Value> captured_;
  ThreadPool* pool_;
};

Result<Tensor> copy(const Tensor& tensor) {
  HONE_TRY(Tensor made, Tensor::allocate(tensor.type(), tensor.shape()));
  if (tensor.type() == ElementType::String)
    std::copy(tensor.strings().begin(), tensor.strings().end(), made.strings().begin());
  else if (tensor.bytes() > 0)
    std::memcpy(made.data(), tensor.data(), tensor.bytes());
  return made;
}

}  // namespace

/// What one run needs of its own.
struct Plan::Frame {
  AlignedBytes arena;
  std::vector<void*> arguments;  ///< of all kernels, one after the other
  std::vector<Value> values;     ///< of the slots that need one
};

Plan::Plan(PlanParts parts) : parts_(std::move(parts)) {
  lay_out();
  needs_value_.resize(parts_.slots.size());
  std::size_t arguments = 0;
  for (const Step& step : parts_.steps) {
    first_argument_.push_back(arguments);
    if (const auto* kernel = std::get_if<KernelStep>(&step.call)) {
      for (const std::size_t slot : kernel->args) {
        const Place place = parts_.slots[parts_.slots[slot].memory].place;
        if (place != Place::Arena && place != Place::Constant) patches_.push_back({arguments, slot});
        ++arguments;
      }
      continue;
    }
    const auto& host = std::get<HostStep>(step.call);
    for (const std::size_t slot : host.inputs)
      if (slot != kNoSlot) needs_value_[slot] = true;
    for (const std::size_t slot : host.outputs)
      if (slot != kNoSlot) needs_value_[slot] = true;
    for (const HostStep::BoundBody& body : host.bodies)
      for (const std::size_t slot : body.captures) needs_value_[slot] = true;
  }
  for (const std::size_t slot : parts_.outputs) needs_value_[slot] = true;
  for (std::size_t slot = 0; slot < parts_.slots.size(); ++slot) {
    const Place place = parts_.slots[parts_.slots[slot].memory].place;
    if (place == Place::Owned || place == Place::Dynamic)
      needs_value_[slot] = needs_value_[parts_.slots[slot].memory] = true;
  }
}

Plan::~Plan() = default;

void Plan::lay_out() {
  std::vector<Lifetime> lifetimes(parts_.slots.size(), Lifetime{0, parts_.steps.size(), 0});
  const auto use = [&](std::size_t slot, std::size_t step) {
    if (slot == kNoSlot) return;
    Lifetime& lifetime = lifetimes[parts_.slots[slot].memory];
    lifetime.first_step = std::min(lifetime.first_step, step);
    lifetime.last_step = std::max(lifetime.last_step, step);
  };
  for (std::size_t i = 0; i < parts_.steps.size(); ++i) {
    if (const auto* kernel = std::get_if<KernelStep>(&parts_.steps[i].call)) {
      for (const std::size_t slot : kernel->args) use(slot, i);
      continue;
    }
    const auto& host = std::get<HostStep>(parts_.steps[i].call);
    for (const std::size_t slot : host.inputs) use(slot, i);
    for (const std::size_t slot : host.outputs) use(slot, i);
    for (const HostStep::BoundBody& body : host.bodies)
      for (const std::size_t slot : body.captures) use(slot, i);
  }
  std::vector<std::size_t> in_arena;
  std::vector<Lifetime> used;
  for (std::size_t slot = 0; slot < parts_.slots.size(); ++slot) {
    const Slot& described = parts_.slots[slot];
    if (described.place != Place::Arena || described.memory != slot) continue;
    lifetimes[slot].bytes =
        static_cast<std::size_t>(element_count(described.shape).value_or(0)) * bytes_of(described.type);
    unshared_bytes_ += lifetimes[slot].bytes;
    if (lifetimes[slot].first_step > lifetimes[slot].last_step) continue;
    in_arena.push_back(slot);
    used.push_back(lifetimes[slot]);
  }
  const MemoryPlan layout = plan_memory(used);
  for (std::size_t i = 0; i < in_arena.size(); ++i) parts_.slots[in_arena[i]].offset = layout.offsets[i];
  for (Slot& slot : parts_.slots)
    if (slot.place == Place::Arena) slot.offset = parts_.slots[slot.memory].offset;
  arena_bytes_ = layout.bytes;
}

std::size_t Plan::constant_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < parts_.slots.size(); ++i)
    if (parts_.slots[i].place == Place::Constant && parts_.slots[i].memory == i)
      if (const Tensor* tensor = parts_.slots[i].constant.tensor()) bytes += tensor->bytes();
  return bytes;
}

Result<std::unique_ptr<Plan::Frame>> Plan::make_frame() const {
  auto frame = std::make_unique<Frame>();
  HONE_TRY(frame->arena, AlignedBytes::allocate(arena_bytes_, tensor_alignment(arena_bytes_)));
  frame->values.resize(parts_.slots.size());
  const auto address = [&](const Slot& slot) -> void* {
    if (slot.place == Place::Arena) return frame->arena.data() + slot.offset;
    const Tensor* constant = slot.place == Place::Constant ? parts_.slots[slot.memory].constant.tensor() : nullptr;
    return constant ? const_cast<std::byte*>(constant->data()) : nullptr;
  };
  for (const Step& step : parts_.steps)
    if (const auto* kernel = std::get_if<KernelStep>(&step.call))
      for (const std::size_t slot : kernel->args) frame->arguments.push_back(address(parts_.slots[slot]));
  for (std::size_t i = 0; i < parts_.slots.size(); ++i) {
    const Slot& slot = parts_.slots[i];
    if (!needs_value_[i]) continue;
    if (slot.place == Place::Arena) frame->values[i] = Tensor::view(slot.type, slot.shape, address(slot), nullptr);
    if (slot.place == Place::Constant) {
      const Value& constant = parts_.slots[slot.memory].constant;
      frame->values[i] =
          slot.memory == i || !constant.tensor() ? constant : Value(constant.tensor()->reshaped(slot.shape));
    }
  }
  return frame;
}

Result<std::unique_ptr<Plan::Frame>> Plan::take_frame() const {
  {
    const std::scoped_lock lock(mutex_);
    if (!free_frames_.empty()) {
      std::unique_ptr<Frame> frame = std::move(free_frames_.back());
      free_frames_.pop_back();
      return frame;
    }
  }
  return make_frame();
}

Result<void> Plan::bind(Frame& frame, std::span<const Value> inputs, std::span<Value> outputs) const {
  // Outputs first: an Owned slot that is an output uses the caller's memory.
  for (std::size_t i = 0; i < parts_.slots.size(); ++i) {
    const Slot& slot = parts_.slots[i];
    if (!needs_value_[i] || slot.memory != i) continue;
    if (slot.place == Place::Input) frame.values[i] = inputs[slot.input];
    if (slot.place != Place::Owned) continue;
    frame.values[i] = Value();
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (parts_.outputs[k] != i) continue;
      if (const Tensor* given = outputs[k].tensor();
          given && given->type() == slot.type && given->shape() == slot.shape)
        frame.values[i] = *given;
    }
    if (frame.values[i].is_absent()) { HONE_TRY(frame.values[i], Tensor::allocate(slot.type, slot.shape)); }
  }
  for (std::size_t i = 0; i < parts_.slots.size(); ++i) {
    const Slot& slot = parts_.slots[i];
    if (!needs_value_[i] || slot.memory == i) continue;
    if (slot.place != Place::Owned && slot.place != Place::Input) continue;
    const Value& root =
        slot.place == Place::Input ? inputs[parts_.slots[slot.memory].input] : frame.values[slot.memory];
    frame.values[i] = root.tensor()->reshaped(slot.shape);
  }
  for (const Patch& patch : patches_) {
    const Slot& slot = parts_.slots[parts_.slots[patch.slot].memory];
    if (slot.place == Place::Dynamic) continue;  // known when its host step has run
    const Value& value = slot.place == Place::Input ? inputs[slot.input] : frame.values[slot.memory];
    frame.arguments[patch.argument] = const_cast<std::byte*>(value.tensor()->data());
  }
  return {};
}

Result<void> Plan::run_host(const Step& step, const HostStep& host, Frame& frame, ThreadPool* pool) const {
  std::vector<Value> inputs, outputs;
  for (const std::size_t slot : host.inputs) inputs.push_back(slot == kNoSlot ? Value() : frame.values[slot]);
  for (const std::size_t slot : host.outputs)
    outputs.push_back(slot == kNoSlot || parts_.slots[slot].place == Place::Dynamic ? Value() : frame.values[slot]);
  std::vector<BoundBodyCall> bodies;
  for (const HostStep::BoundBody& body : host.bodies) {
    std::vector<Value> captured;
    for (const std::size_t slot : body.captures) captured.push_back(frame.values[slot]);
    bodies.emplace_back(*body.code, std::move(captured), pool);
  }
  std::vector<const Body*> body_pointers;
  for (const BoundBodyCall& body : bodies) body_pointers.push_back(&body);
  HostCall call{inputs, outputs, host.attributes, body_pointers, host.opset, pool};
  if (auto done = runtime::run(host.kernel, call); !done)
    return error(done.error().code, "{}{}{}: {}", step.name, step.node.empty() ? "" : " ", step.node,
                 done.error().message);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (host.outputs[i] == kNoSlot) continue;
    const Slot& slot = parts_.slots[host.outputs[i]];
    if (slot.place == Place::Dynamic) {
      frame.values[host.outputs[i]] = std::move(outputs[i]);
      continue;
    }
    const Tensor* made = outputs[i].tensor();
    const Tensor* wanted = frame.values[host.outputs[i]].tensor();
    if (!made || made->type() != slot.type || made->shape() != slot.shape)
      return error(ErrorCode::InvalidArgument, "{} '{}' gave {}, expected {}", step.name, step.node,
                   outputs[i].describe(), describe(slot.type, slot.shape));
    if (made->data() != wanted->data() && made->bytes() > 0)
      std::memcpy(const_cast<std::byte*>(wanted->data()), made->data(), made->bytes());
  }
  return {};
}

Result<void> Plan::run(std::span<const Value> inputs, std::span<Value> outputs, ThreadPool* pool,
                       std::vector<StepTime>* times) const {
  HONE_CHECK(inputs.size() == parts_.inputs.size() && outputs.size() == parts_.outputs.size(),
             "a plan of {} inputs and {} outputs run with {} and {}", parts_.inputs.size(), parts_.outputs.size(),
             inputs.size(), outputs.size());
  HONE_TRY(std::unique_ptr<Frame> frame, take_frame());
  HONE_TRY(bind(*frame, inputs, outputs));
  if (times) times->assign(parts_.steps.size(), {});
  for (std::size_t i = 0; i < parts_.steps.size(); ++i) {
    const Step& step = parts_.steps[i];
    if (times) (*times)[i].begin_ns = now_ns();
    if (const auto* kernel = std::get_if<KernelStep>(&step.call)) {
      if (kernel->entry(frame->arguments.data() + first_argument_[i], pool) != 0)
        return error(ErrorCode::OutOfMemory, "{} '{}' found no scratch memory", step.name, step.node);
    } else {
      HONE_TRY(run_host(step, std::get<HostStep>(step.call), *frame, pool));
    }
    if (times) (*times)[i].end_ns = now_ns();
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::size_t slot = parts_.outputs[k];
    const Place place = parts_.slots[slot].place;
    if (place == Place::Constant && frame->values[slot].tensor()) {
      HONE_TRY(outputs[k], copy(*frame->values[slot].tensor()));
    } else if (const Tensor* given = outputs[k].tensor();
               given && place == Place::Owned && given->data() == frame->values[slot].tensor()->data()) {
      continue;  // filled in place
    } else {
      outputs[k] = frame->values[slot];
    }
  }
  for (std::size_t i = 0; i < parts_.slots.size(); ++i) {
    const Place place = parts_.slots[i].place;
    if (place == Place::Owned || place == Place::Dynamic || place == Place::Input) frame->values[i] = Value();
  }
  const std::scoped_lock lock(mutex_);
  free_frames_.push_back(std::move(frame));
  return {};
}

}  // namespace hone::runtime
