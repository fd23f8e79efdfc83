/// The template of Winograd convolutions for GPUs: each stage is a kernel; transforms write out their points in each
/// thread, and the products of all points are tiled.
#include "hone/space/gpu_limits.h"
#include "hone/space/gpu_steps.h"
#include "hone/space/template/gpu_tiles.h"
#include "hone/space/template/templates.h"
#include "hone/space/winograd_stages.h"

namespace hone::space {
namespace {

Result<void> prepare_gpu_winograd(Schedule& draft, const TemplateContext&) {
  const std::optional<WinogradStages> stages = find_winograd_stages(draft.program());
  if (!stages) return error(ErrorCode::Unsupported, "'{}' is no Winograd convolution", draft.program().name);
  HONE_TRY(const GpuProduct product, find_gpu_product(draft.program()));
  if (product.block != stages->products)
    return error(ErrorCode::Unsupported, "block '{}' has more work than the products", product.block);
  for (const std::string& block : stages->others) attempt(draft, schedule::ComputeInline{block});
  if (!stages->pad.empty()) attempt(draft, schedule::ComputeInline{stages->pad});
  HONE_TRY(share_operands(draft, product));
  return sum_in_registers(draft, product);
}

Result<void> apply_gpu_winograd(Config& config, Schedule& draft, const TemplateContext& context) {
  HONE_TRY(GpuProduct product, find_gpu_product(draft.program()));
  product.kind = GpuKind::Winograd;
  HONE_TRY(tile_gpu_product(config, draft, product, context.target));
  const std::int64_t threads = config.choose("transform_threads", thread_counts(context.target));
  for (const schedule::Path& path : schedule::blocks(draft.program())) {
    const std::string& block = path.block().name;
    if (formula_loops(draft.program(), block).empty())
      run_on_threads(draft, block, threads);
    else
      HONE_TRY(write_out_cases(draft, block, threads));
  }
  return check_gpu_limits(draft.program(), context.target);
}

}  // namespace

Template gpu_winograd_template() { return {"gpu_winograd", prepare_gpu_winograd, apply_gpu_winograd}; }

}  // namespace hone::space
