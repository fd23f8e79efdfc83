#include "hone/measure/prepared_kernel.h"

#include <algorithm>
#include <cstring>

namespace hone::measure {
namespace {

/// Packings of a task that are kept: algorithms and widths of tiles make a handful.
constexpr std::size_t kPackings = 6;
constexpr std::size_t kPackingBytes = std::size_t{128} << 20;
/// Compiled programs of a task that are kept.
constexpr std::size_t kCompiled = 12;

/// What is known under a text, which moves to the front; null if there is nothing.
template <class T>
const T* find_recent(std::deque<std::pair<std::string, T>>& known, std::string_view text) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first == text; });
  if (found == known.end()) return nullptr;
  std::rotate(known.begin(), found, found + 1);
  return &known.front().second;
}

std::size_t bytes_of(const TaskArguments::Packing& packing) {
  std::size_t bytes = 0;
  for (const std::shared_ptr<Buffer>& buffer : packing) bytes += buffer->bytes();
  return bytes;
}

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

std::shared_ptr<const TaskArguments::Packing> TaskArguments::find_packing(std::string_view prepare) {
  const auto* found = find_recent(packings_, prepare);
  return found ? *found : nullptr;
}

const TaskArguments::Compiled* TaskArguments::find_compiled(std::string_view text) {
  return find_recent(compiled_, text);
}

void TaskArguments::keep_compiled(std::string text, Compiled compiled) {
  std::erase_if(compiled_, [&](const auto& entry) { return entry.first == text; });
  compiled_.emplace_front(std::move(text), std::move(compiled));
  if (compiled_.size() > kCompiled) compiled_.pop_back();
}

void TaskArguments::keep_packing(std::string prepare, std::shared_ptr<const Packing> packing) {
  packings_.emplace_front(std::move(prepare), std::move(packing));
  std::size_t count = 0, bytes = 0;
  for (const auto& [text, kept] : packings_) {
    bytes += bytes_of(*kept);
    if (count == kPackings || bytes > kPackingBytes) break;
    ++count;
  }
  packings_.resize(count);
}

Result<void> TaskArguments::run_reference(const codegen::Target& target) {
  HONE_TRY(PreparedKernel kernel, PreparedKernel::compile(*task_.reference, target, *this));
  HONE_TRY(kernel.bind(*this));
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

Result<PreparedKernel> PreparedKernel::compile(const ProgramText& text, const codegen::Target& target,
                                               TaskArguments& arguments) {
  std::shared_ptr<const TaskArguments::Packing> packing;
  if (!text.prepare.empty()) packing = arguments.find_packing(text.prepare);
  std::string key = fmt::format("{}\n{}\n{}", codegen::to_string(target), text.main, text.prepare);
  const TaskArguments::Compiled* known = arguments.find_compiled(key);
  const bool needs_packing = !text.prepare.empty() && !packing;
  if (!known || (needs_packing && !known->kernel.prepare)) {
    HONE_TRY(KernelProgram program, parse(needs_packing ? text : ProgramText{.main = text.main}));
    HONE_TRY(LoadedKernel loaded, load_kernel(program, target));
    arguments.keep_compiled(key, {std::move(program), std::move(loaded)});
    known = arguments.find_compiled(key);
  }
  PreparedKernel kernel(known->program, known->kernel);
  if (packing) kernel.kernel_.prepare = nullptr;
  kernel.program_.packed.assign(text.packed.begin(), text.packed.end());
  kernel.prepare_ = text.prepare;
  kernel.packing_ = std::move(packing);
  return kernel;
}

Result<void> PreparedKernel::bind(TaskArguments& arguments) {
  if (kernel_.prepare) HONE_TRY(pack(arguments));
  const std::vector<bool> is_written = written_params(program_.main);
  const std::vector<ir::Expr>& params = program_.main.params;
  pointers_.assign(params.size(), nullptr);
  const auto use = [&](std::size_t place, std::shared_ptr<Buffer> buffer) {
    pointers_[place] = buffer->data();
    touched_.push_back(std::move(buffer));
  };
  for (std::size_t k = 0; k < program_.packed.size(); ++k) {
    const std::shared_ptr<Buffer>& packed = (*packing_)[k];
    if (program_.packed[k] >= params.size() || !has_shape_of(*packed, params[program_.packed[k]]))
      return error(ErrorCode::InvalidArgument, "'{}' does not take constants as its packing makes them",
                   program_.main.name);
    use(program_.packed[k], packed);
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (pointers_[i]) continue;
    HONE_TRY(std::shared_ptr<Buffer> buffer,
             is_written[i] ? arguments.fresh_output(i, params[i]) : arguments.input(i, params[i]));
    if (is_written[i]) outputs_.push_back({i, params[i], buffer});
    use(i, std::move(buffer));
  }
  return {};
}

Result<void> PreparedKernel::pack(TaskArguments& arguments) {
  auto packing = std::make_shared<TaskArguments::Packing>();
  std::vector<void*> pointers;
  for (std::size_t k = 0; k < program_.packed.size(); ++k) {
    HONE_TRY(const std::shared_ptr<Buffer> input, arguments.input(program_.packed[k], program_.prepare->params[k]));
    pointers.push_back(input->data());
  }
  for (const std::size_t place : program_.packed) {
    HONE_TRY(Buffer made, allocate_buffer(program_.main.params[place]));
    packing->push_back(std::make_shared<Buffer>(std::move(made)));
    pointers.push_back(packing->back()->data());
  }
  if (kernel_.prepare(pointers.data(), nullptr) != 0)
    return error(ErrorCode::OutOfMemory, "no scratch memory to pack constants");
  packing_ = packing;
  arguments.keep_packing(prepare_, std::move(packing));
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
