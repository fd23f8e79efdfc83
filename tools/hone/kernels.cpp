#include "kernels.h"

#include <fmt/format.h>

namespace hone::command {
namespace {

using runtime::HostStep;
using runtime::KernelStep;
using runtime::kNoSlot;

std::string output_text(const runtime::Plan& plan, std::size_t slot) {
  if (slot == kNoSlot || plan.parts().slots[slot].place == runtime::Place::Dynamic) return "?";
  return runtime::describe(plan.parts().slots[slot].type, plan.parts().slots[slot].shape);
}

}  // namespace

std::map<const runtime::Step*, StepInfo> describe_steps(std::span<const runtime::Plan* const> plans) {
  std::map<const runtime::Step*, StepInfo> infos;
  std::map<runtime::KernelEntry, std::size_t> numbers;
  for (const runtime::Plan* plan : plans)
    for (const runtime::Step& step : plan->parts().steps) {
      if (const auto* kernel = std::get_if<KernelStep>(&step.call)) {
        const std::size_t number = numbers.try_emplace(kernel->entry, numbers.size() + 1).first->second;
        infos[&step] = {fmt::format("k{}", number), output_text(*plan, kernel->args.back())};
      } else {
        const auto& outputs = std::get<HostStep>(step.call).outputs;
        infos[&step] = {"host", outputs.empty() ? "?" : output_text(*plan, outputs.front())};
      }
    }
  return infos;
}

}  // namespace hone::command
