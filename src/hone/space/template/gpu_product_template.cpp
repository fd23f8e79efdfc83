/// Templates for GPUs, after AutoTVM's for CUDA: dense, batch_matmul, conv2d, depthwise. They are one schedule over
/// different axes.
#include "hone/space/gpu_limits.h"
#include "hone/space/gpu_steps.h"
#include "hone/space/template/gpu_tiles.h"
#include "hone/space/template/templates.h"
#include "hone/space/winograd_schedule.h"

namespace hone::space {
namespace {

/// Before anything is decided: what reduces nothing is computed where it is read, padding as it is copied to shared
/// memory.
Result<void> prepare_gpu(Schedule& draft, GpuKind kind) {
  if (is_winograd(draft.program()))
    return error(ErrorCode::Unsupported, "'{}' has a schedule of its own", draft.program().name);
  HONE_TRY(const GpuProduct product, find_gpu_product(draft.program()));
  if (product.kind != kind)
    return error(ErrorCode::Unsupported, "block '{}' is a product of another kind", product.block);
  HONE_TRY(share_operands(draft, product));
  inline_for_gpu(draft);
  return sum_in_registers(draft, product);
}

Result<void> apply_gpu(Config& config, Schedule& draft, const TemplateContext& context) {
  HONE_TRY(const GpuProduct product, find_gpu_product(draft.program()));
  HONE_TRY(tile_gpu_product(config, draft, product, context.target));
  for (const schedule::Path& path : schedule::blocks(draft.program()))
    run_on_threads(draft, path.block().name, context.target.gpu.warp);
  return check_gpu_limits(draft.program(), context.target);
}

Template gpu_template(std::string name, GpuKind kind) {
  return {std::move(name), [=](Schedule& draft, const TemplateContext&) { return prepare_gpu(draft, kind); },
          apply_gpu};
}

}  // namespace

std::vector<Template> gpu_templates() {
  return {gpu_winograd_template(), gpu_template("gpu_depthwise", GpuKind::Depthwise),
          gpu_template("gpu_conv2d", GpuKind::Conv2d), gpu_template("gpu_batch_matmul", GpuKind::BatchMatmul),
          gpu_template("gpu_dense", GpuKind::Dense)};
}

}  // namespace hone::space
