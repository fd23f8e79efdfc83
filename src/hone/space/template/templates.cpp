#include "hone/space/template/templates.h"

#include "hone/space/default_program.h"
#include "hone/space/winograd_schedule.h"

namespace hone::space {

std::vector<Template> cpu_templates() {
  return {winograd_template(), depthwise_template(),    conv2d_1x1_template(), conv2d_nchwc_template(),
          conv2d_template(),   batch_matmul_template(), dense_template()};
}

Result<void> prepare_reduction(Schedule& draft, const TemplateContext& context) {
  if (main_reduction(draft.program()).empty())
    return error(ErrorCode::Unsupported, "'{}' reduces nothing", draft.program().name);
  if (is_winograd(draft.program()) || schedule_pattern(draft.program(), context.target))
    return error(ErrorCode::Unsupported, "'{}' has a schedule of its own", draft.program().name);
  inline_blocks(draft, {}, context.target);
  return {};
}

}  // namespace hone::space
