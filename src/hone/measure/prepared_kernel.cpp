#include "hone/measure/prepared_kernel.h"

#include <algorithm>
#include <cstring>

namespace hone::measure {
namespace {

bool has_shape_of(const Buffer& buffer, const ir::Expr& param) {
  const std::vector<ir::Expr>& shape = param.get<ir::Buffer>().shape;
  return buffer.type == param.type() &&
         std::equal(shape.begin(), shape.end(), buffer.shape.begin(), buffer.shape.end(),
                    [](const ir::Expr& extent, std::int64_t known) { return ir::as_int(extent) == known; });
}

Result<void> set_output(Buffer& buffer, const TaskText& task, std::size_t place) {
  if (place < task.fills.size() && task.fills[place]) return fill_buffer(buffer, *task.fills[place]);
  poison_buffer(buffer);
  return {};
}

}  // namespace

Result<TaskArguments::Found> TaskArguments::find(std::vector<std::shared_ptr<Buffer>>& buffers, std::size_t place,
                                                 const ir::Expr& param) {
  if (buffers.size() <= place) buffers.resize(place + 1);
  if (buffers[place] && has_shape_of(*buffers[place], param)) return Found{buffers[place], false};
  buffers[place].reset();
  HONE_TRY(Buffer made, allocate_buffer(param));
  buffers[place] = std::make_shared<Buffer>(std::move(made));
  return Found{buffers[place], true};
}

Result<std::shared_ptr<Buffer>> TaskArguments::input(std::size_t place, const ir::Expr& param) {
  HONE_TRY(const Found found, find(inputs_, place, param));
  if (!found.is_new) return found.buffer;
  const bool is_told = place < task_.fills.size() && task_.fills[place];
  const Fill fill = is_told ? *task_.fills[place] : default_fill(param.type(), place);
  if (const Result<void> filled = fill_buffer(*found.buffer, fill); !filled) {
    inputs_[place].reset();
    return error(filled.error().code, "parameter '{}': {}", param.get<ir::Buffer>().name, filled.error().message);
  }
  return found.buffer;
}

Result<std::shared_ptr<Buffer>> TaskArguments::fresh_output(std::size_t place, const ir::Expr& param) {
  HONE_TRY(const Found found, find(outputs_, place, param));
  HONE_TRY(set_output(*found.buffer, task_, place));
  return found.buffer;
}

Result<const std::vector<Expected>*> TaskArguments::expected(const codegen::Target& target) {
  if (!has_run_reference_ && task_.reference) { HONE_TRY(run_reference(target)); }
  return &expected_;
}

Result<void> TaskArguments::run_reference(const codegen::Target& target) {
  HONE_TRY(const KernelProgram program, parse(*task_.reference));
  HONE_TRY(PreparedKernel kernel, PreparedKernel::compile(program, target));
  HONE_TRY(kernel.bind(program, *this));
  if (!kernel.call(/*pool=*/nullptr)) return error(ErrorCode::OutOfMemory, "no scratch memory");
  expected_.clear();
  for (const PreparedKernel::Output& output : kernel.outputs()) {
    HONE_TRY(Buffer copy, allocate_buffer(output.param));
    std::memcpy(copy.data(), output.buffer->data(), copy.bytes());
    expected_.push_back(expect(std::move(copy)));
  }
  has_run_reference_ = true;
  return {};
}

Result<PreparedKernel> PreparedKernel::compile(const KernelProgram& program, const codegen::Target& target) {
  HONE_TRY(LoadedKernel kernel, load_kernel(program, target));
  return PreparedKernel(std::move(kernel));
}

Result<void> PreparedKernel::bind(const KernelProgram& program, TaskArguments& arguments) {
  const std::vector<bool> is_written = written_params(program.main);
  const std::vector<ir::Expr>& params = program.main.params;
  pointers_.assign(params.size(), nullptr);
  std::vector<void*> packing;
  for (std::size_t k = 0; k < program.packed.size(); ++k) {
    HONE_TRY(const std::shared_ptr<Buffer> input, arguments.input(program.packed[k], program.prepare->params[k]));
    packing.push_back(input->data());
  }
  const auto use = [&](std::size_t place, std::shared_ptr<Buffer> buffer) {
    pointers_[place] = buffer->data();
    touched_.push_back(std::move(buffer));
  };
  for (const std::size_t place : program.packed) {
    HONE_TRY(Buffer made, allocate_buffer(params[place]));
    packing.push_back(made.data());
    use(place, std::make_shared<Buffer>(std::move(made)));
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (pointers_[i]) continue;
    HONE_TRY(std::shared_ptr<Buffer> buffer,
             is_written[i] ? arguments.fresh_output(i, params[i]) : arguments.input(i, params[i]));
    if (is_written[i]) outputs_.push_back({i, params[i], buffer});
    use(i, std::move(buffer));
  }
  if (kernel_.prepare && kernel_.prepare(packing.data(), nullptr) != 0)
    return error(ErrorCode::OutOfMemory, "no scratch memory to pack constants");
  return {};
}

void PreparedKernel::flush() const {
  for (const std::shared_ptr<Buffer>& buffer : touched_) flush_cache(*buffer);
}

Result<void> PreparedKernel::reset_outputs(TaskArguments& arguments) {
  for (const Output& output : outputs_) HONE_TRY(set_output(*output.buffer, arguments.task(), output.place));
  return {};
}

Result<Comparison> PreparedKernel::check(TaskArguments& arguments, const codegen::Target& target) const {
  const TaskText& task = arguments.task();
  HONE_TRY(const std::vector<Expected>* expected, arguments.expected(target));
  Comparison worst;
  const bool is_expected = task.says_what_is_expected();
  const std::size_t count = task.expected.empty() ? expected->size() : task.expected.size();
  if (is_expected && count != outputs_.size())
    return Comparison{TrialStatus::WrongAnswer, 0,
                      fmt::format("{} outputs are expected, the program writes {}", count, outputs_.size())};
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Buffer& actual = *outputs_[i].buffer;
    const std::string& name = outputs_[i].param.get<ir::Buffer>().name;
    Comparison found;
    if (!task.expected.empty()) {
      HONE_TRY(Buffer given, allocate_buffer(outputs_[i].param));
      HONE_TRY(fill_buffer(given, {.bytes = task.expected[i]}));
      found = compare_values(name, actual, expect(std::move(given)), task.tolerance, task.integer_tolerance);
    } else if (is_expected) {
      found = compare_values(name, actual, (*expected)[i], task.tolerance, task.integer_tolerance);
    } else if (!task.allows_nan) {
      found = look_for_nan(name, actual);
    }
    if (found.status != TrialStatus::Ok) return found;
    worst.largest_error = std::max(worst.largest_error, found.largest_error);
  }
  return worst;
}

}  // namespace hone::measure
