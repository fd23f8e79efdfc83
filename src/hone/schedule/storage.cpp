/// set_scope, storage_align and double_buffer.
#include <algorithm>

#include "hone/ir/rewrite.h"
#include "hone/schedule/accesses.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/turns.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Larger factors than a page of bytes only waste memory.
constexpr std::int64_t kMaxAlignFactor = 4096;

/// The program with a buffer exchanged for one of the same shape.
Program with_buffer(const Program& program, const Expr& from, Buffer to) {
  return Program{program.name, program.params, substitute(program.body, from, make(std::move(to), from.type()))};
}

}  // namespace

Result<Program> set_scope(const Program& program, std::string_view name, Scope scope) {
  HONE_TRY(const Expr buffer, find_allocated(program, name, "set_scope"));
  Buffer moved = buffer.get<Buffer>();
  if (moved.scope == scope) return program;
  moved.scope = scope;
  return with_buffer(program, buffer, std::move(moved));
}

Result<Program> storage_align(const Program& program, std::string_view name, std::int64_t axis, std::int64_t factor,
                              std::int64_t offset) {
  HONE_TRY(const Expr buffer, find_allocated(program, name, "storage_align"));
  Buffer aligned = buffer.get<Buffer>();
  const std::int64_t rank = static_cast<std::int64_t>(aligned.shape.size());
  if (rank == 0)
    return error(ErrorCode::IllegalStep, "storage_align: buffer '{}' is a scalar and has no axis {}", name, axis);
  if (axis < 0 || axis >= rank)
    return error(ErrorCode::IllegalStep, "storage_align: axis {} of buffer '{}' is outside 0..{}", axis, name,
                 rank - 1);
  if (factor < 1 || factor > kMaxAlignFactor)
    return error(ErrorCode::IllegalStep, "storage_align: factor {} of buffer '{}' is outside 1..{}", factor, name,
                 kMaxAlignFactor);
  if (offset < 0 || offset >= factor)
    return error(ErrorCode::IllegalStep, "storage_align: offset {} of buffer '{}' is outside 0..{}", offset, name,
                 factor - 1);
  std::erase_if(aligned.alignments, [&](const ir::StorageAlign& entry) { return entry.axis == axis; });
  aligned.alignments.push_back({static_cast<int>(axis), factor, offset});
  std::sort(aligned.alignments.begin(), aligned.alignments.end(),
            [](const ir::StorageAlign& a, const ir::StorageAlign& b) { return a.axis < b.axis; });
  return with_buffer(program, buffer, std::move(aligned));
}

Result<Program> double_buffer(const Program& program, std::string_view name, std::string_view loop_name) {
  HONE_TRY(const Expr buffer, find_allocated(program, name, "double_buffer"));
  HONE_TRY(const Path path, find_loop(program, loop_name, "double_buffer"));
  HONE_TRY(check_turns(program, buffer, path, "double_buffer"));
  return take_turns(program, buffer, path.loop().var);
}

}  // namespace hone::schedule
