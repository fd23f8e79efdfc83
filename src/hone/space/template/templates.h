/// The built-in templates.
#pragma once

#include "hone/space/blocks.h"
#include "hone/space/template/template_space.h"

namespace hone::space {

/// Those for CPUs, the most special first: `winograd`, `depthwise`, `conv2d_1x1` and `conv2d_nchwc` (channels in
/// blocks), `conv2d` (any layout), `batch_matmul`, `dense`.
std::vector<Template> cpu_templates();

Template winograd_template();
Template depthwise_template();
Template conv2d_1x1_template();
Template conv2d_nchwc_template();
Template conv2d_template();
Template batch_matmul_template();
Template dense_template();

/// Those for GPUs: `gpu_winograd`, `gpu_depthwise`, `gpu_conv2d`, `gpu_batch_matmul`, `gpu_dense`. Each tiles the last
/// axes of its products for blocks, virtual threads, threads and registers, and reads both operands through shared
/// memory.
std::vector<Template> gpu_templates();
Template gpu_winograd_template();

/// What the templates of reductions have in common: before anything is decided, what costs nothing is inlined; programs
/// that are known as a whole are left to their own schedules.
Result<void> prepare_reduction(Schedule& draft, const TemplateContext& context);

/// Vector registers that a tile of so many rows of vectors takes: its sums, a row of one operand and an element of the
/// other.
constexpr std::int64_t registers_of(std::int64_t rows, std::int64_t vectors) { return (rows + 1) * vectors + 1; }

}  // namespace hone::space
