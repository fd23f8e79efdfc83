/// Plans: a model, or a part of one, as steps over memory that is laid out beforehand.
///
/// A plan is made once for given shapes and run many times, by several threads at once. What changes from run to run,
/// the arena and the arguments of the kernels, is a frame; frames are kept for the next run, so that a run in the
/// steady state allocates nothing but outputs that the caller did not provide.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hone/runtime/host_kernel.h"
#include "hone/runtime/value.h"

namespace hone::runtime {

class ThreadPool;

/// Where a value of a plan lives.
enum class Place : std::uint8_t {
  Arena,     ///< at a fixed offset of the frame's arena
  Owned,     ///< a tensor of its own, made for each run: outputs, and what host kernels may keep
  Constant,  ///< part of the plan
  Input,     ///< what the caller passes
  Dynamic,   ///< what a host kernel makes, its shape known only then
};

/// A value of a plan.
struct Slot {
  std::string name;
  Place place = Place::Arena;
  ElementType type = ElementType::Undefined;
  Shape shape;
  std::size_t offset = 0;  ///< in the arena
  std::size_t input = 0;   ///< which one, of inputs
  Value constant;
  /// The slot whose memory this one shows under another shape; its own index if none.
  std::size_t memory = 0;
};

inline constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

/// The code of a compiled kernel: one pointer per argument, and the thread pool.
using KernelEntry = std::int32_t (*)(void* const* args, void* pool);

/// Calls compiled code on the memory of slots.
struct KernelStep {
  KernelEntry entry = nullptr;
  std::vector<std::size_t> args;
};

/// A graph inside an operator that runs with the values it captures.
class BodyCode {
 public:
  virtual ~BodyCode() = default;
  virtual Result<std::vector<Value>> call(std::span<const Value> inputs, std::span<const Value> captured,
                                          ThreadPool* pool) const = 0;
  /// What is declared of an output; see Body.
  virtual Body::Declared declared(std::size_t /*output*/) const { return {}; }
};

/// Calls a host kernel. Absent inputs and outputs are kNoSlot.
struct HostStep {
  struct BoundBody {
    std::shared_ptr<const BodyCode> code;
    std::vector<std::size_t> captures;
  };

  HostKernel kernel = nullptr;
  std::vector<std::size_t> inputs, outputs;
  Attributes attributes;
  std::int64_t opset = 0;
  std::vector<BoundBody> bodies;
};

/// A step with what people want to know of it.
struct Step {
  std::string name;    ///< the operators it stands for, such as "Conv+Add+Relu"
  std::string node;    ///< the name of the first node
  std::string origin;  ///< of a kernel's schedule: "tuned", "compatible", "nearest", "predicted" or "default"
  double flops = 0;    ///< floating-point operations of one run
  double bytes = 0;    ///< of its inputs and outputs
  std::variant<KernelStep, HostStep> call;
};

/// How long each step of a run took.
struct StepTime {
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// What a plan is made of.
struct PlanParts {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<std::size_t> inputs, outputs;             ///< slots
  std::vector<std::shared_ptr<const void>> keep_alive;  ///< the code of the kernels
};

/// Steps ready to run.
class Plan {
 public:
  /// Lays out the arena: on entry the offsets of Arena slots are not set.
  explicit Plan(PlanParts parts);
  ~Plan();

  const PlanParts& parts() const { return parts_; }
  /// Bytes of the arena, and what it would be if no memory was shared.
  std::size_t arena_bytes() const { return arena_bytes_; }
  std::size_t unshared_bytes() const { return unshared_bytes_; }
  std::size_t constant_bytes() const;

  /// Runs all steps. Inputs have the type and shape of their slots. Each output that holds a tensor of the right type
  /// and shape is filled; others are made. `times`, if not null, gets one entry per step. Thread-safe.
  Result<void> run(std::span<const Value> inputs, std::span<Value> outputs, ThreadPool* pool,
                   std::vector<StepTime>* times = nullptr) const;

 private:
  struct Frame;
  struct Patch {
    std::size_t argument, slot;
  };

  void lay_out();
  Result<std::unique_ptr<Frame>> make_frame() const;
  Result<std::unique_ptr<Frame>> take_frame() const;
  Result<void> bind(Frame& frame, std::span<const Value> inputs, std::span<Value> outputs) const;
  Result<void> run_host(const Step& step, const HostStep& host, Frame& frame, ThreadPool* pool) const;

  PlanParts parts_;
  std::size_t arena_bytes_ = 0, unshared_bytes_ = 0;
  std::vector<std::size_t> first_argument_;  ///< of each step, in the frame's list of all arguments
  std::vector<Patch> patches_;               ///< arguments whose address changes from run to run
  std::vector<bool> needs_value_;            ///< slots that host steps or outputs read as values
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> free_frames_;
};

/// What a run did: its steps with their times, over all plans that took part, and these plans.
struct Profile {
  struct Entry {
    const Step* step;  ///< valid as long as its plan
    StepTime time;
  };
  std::vector<Entry> entries;
  std::vector<const Plan*> plans;
};

}  // namespace hone::runtime
