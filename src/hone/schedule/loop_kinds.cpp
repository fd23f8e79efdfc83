/// parallel, vectorize, bind, unroll and annotate.
#include <algorithm>
#include <charconv>

#include "hone/ir/rewrite.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/primitives.h"

namespace hone::schedule {

using namespace ir;

namespace {

Program with_kind(const Program& program, const Path& path, ForKind how) {
  const For& loop = path.loop();
  return replace(program, path, make(For{loop.var, loop.extent, how, loop.body, loop.annotations}));
}

/// The serial loop of this name.
Result<Path> find_serial(const Program& program, std::string_view name, std::string_view step) {
  HONE_TRY(Path path, find_loop(program, name, step));
  const For& loop = path.loop();
  if (loop.how != ForKind::Serial)
    return error(ErrorCode::IllegalStep, "{}: loop '{}' is {} already, allowed are serial loops", step, name,
                 to_string(loop.how));
  return path;
}

Result<Program> mark_independent(const Program& program, std::string_view name, ForKind how, std::string_view step) {
  HONE_TRY(const Path path, find_serial(program, name, step));
  HONE_TRY(check_independent(program, path, how, step));
  return with_kind(program, path, how);
}

/// The loop of this kind above or below the target of the path, or null.
const For* find_kind(const Path& path, ForKind how) {
  const For* found = nullptr;
  const auto visit = [&](const Stmt& s) {
    const For* loop = s.as<For>();
    if (loop && loop->how == how) found = loop;
  };
  for (const Stmt& s : path.loops()) visit(s);
  walk(path.target(), visit);
  return found;
}

/// Whether the threads of a block run a loop together, each an iteration: it does nothing but fill memory that they
/// share.
bool is_done_together(const Path& loop) {
  const std::vector<Path> below = blocks_below(loop);
  return std::all_of(below.begin(), below.end(), [](const Path& path) {
    const std::vector<Expr> written = written_buffers(path.block());
    return std::all_of(written.begin(), written.end(),
                       [](const Expr& buffer) { return buffer.get<Buffer>().scope == Scope::Shared; });
  });
}

/// An error if the loop may not be bound beside another one, above or below it, that has the same index.
Result<void> check_nested_binds(const Path& path, ForKind index) {
  const std::string& name = name_of(path.loop().var);
  const For* other = index == ForKind::VThread ? nullptr : find_kind(path, index);
  if (!other) return {};
  bool is_above = false;
  for (const Stmt& s : path.loops()) is_above |= s.get<For>().var.is(other->var);
  if (!is_above || !is_thread_index(index) || !is_done_together(path))
    return error(ErrorCode::IllegalStep,
                 "bind: loop '{}' and loop '{}', which is bound to {} already, are nested, allowed is that for threads "
                 "that fill shared memory together",
                 name, name_of(other->var), to_string(index));
  const std::int64_t threads = constant_value(other->extent), iterations = constant_value(path.loop().extent);
  if (threads != iterations)
    return error(ErrorCode::IllegalStep, "bind: loop '{}' has {} iterations, loop '{}', bound to {} as well, has {}",
                 name, iterations, name_of(other->var), to_string(index), threads);
  return {};
}

/// Whether the text is a number of 64 bits that is not negative.
bool is_count(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), count);
  return status == std::errc() && end == text.data() + text.size() && count >= 0;
}

}  // namespace

Result<Program> parallel(const Program& program, std::string_view loop) {
  return mark_independent(program, loop, ForKind::Parallel, "parallel");
}

Result<Program> vectorize(const Program& program, std::string_view name) {
  HONE_TRY(const Path path, find_loop(program, name, "vectorize"));
  if (const For* other = find_kind(path, ForKind::Vectorized))
    return error(ErrorCode::IllegalStep, "vectorize: loop '{}' and loop '{}', which is vectorized already, are nested",
                 name, name_of(other->var));
  return mark_independent(program, name, ForKind::Vectorized, "vectorize");
}

Result<Program> bind(const Program& program, std::string_view name, ForKind index) {
  if (!is_gpu_index(index))
    return error(ErrorCode::IllegalStep,
                 "bind: '{}' is not a GPU index, allowed are block_x, block_y, block_z, thread_x, thread_y, thread_z, "
                 "vthread",
                 to_string(index));
  HONE_TRY(const Path path, find_loop(program, name, "bind"));
  HONE_TRY(check_nested_binds(path, index));
  return mark_independent(program, name, index, "bind");
}

Result<Program> unroll(const Program& program, std::string_view name) {
  HONE_TRY(const Path path, find_serial(program, name, "unroll"));
  constexpr std::int64_t kMaxCopies = 4096;
  if (constant_value(path.loop().extent) > kMaxCopies)
    return error(ErrorCode::IllegalStep, "unroll: the extent {} of loop '{}' is outside 0..{}",
                 constant_value(path.loop().extent), name, kMaxCopies);
  return with_kind(program, path, ForKind::Unrolled);
}

Result<Program> annotate(const Program& program, std::string_view target, std::string_view key,
                         std::string_view value) {
  if (key.empty() || key == kPipelined)
    return error(ErrorCode::IllegalStep, "annotate: key '{}' is {}", key, key.empty() ? "empty" : "reserved");
  if (const Result<Path> path = find_loop(program, target, "annotate")) {
    if (key == "unroll" && !is_count(value))  // the one annotation of loops that code generation reads
      return error(ErrorCode::IllegalStep, "annotate: 'unroll' of loop '{}' is '{}', allowed is a number from 0 on",
                   target, value);
    For loop = path->loop();
    loop.annotations = with(std::move(loop.annotations), key, value);
    return replace(program, *path, make(std::move(loop)));
  }
  HONE_TRY(const Path path, find_block(program, target, "annotate"));
  Block block = path.block();
  block.annotations = with(std::move(block.annotations), key, value);
  return replace(program, path, make(std::move(block)));
}

}  // namespace hone::schedule
