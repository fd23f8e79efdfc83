#include "hone/schedule/turns.h"

#include "hone/schedule/accesses.h"
#include "hone/schedule/legality.h"

namespace hone::schedule {

using namespace ir;

Result<void> check_turns(const Program& program, const Expr& buffer, const Path& loop_path, std::string_view step) {
  const For& loop = loop_path.loop();
  const std::string& name = name_of(buffer);
  HONE_TRY(check_not_pipelined(loop, step));
  if (loop.how != ForKind::Serial)
    return error(ErrorCode::IllegalStep, "{}: loop '{}' is {}, allowed are serial loops", step, name_of(loop.var),
                 to_string(loop.how));
  if (is_param(program, buffer))
    return error(ErrorCode::IllegalStep, "{}: buffer '{}' is a parameter, allowed are allocated buffers", step, name);
  if (!is_used_only_below(program, loop_path.target(), buffer))
    return error(ErrorCode::IllegalStep, "{}: buffer '{}' is used outside loop '{}', allowed are uses inside it", step,
                 name, name_of(loop.var));
  for (const Path& writer : writers(program, buffer)) {
    HONE_TRY(check_no_scan(writer.block(), step));
    const Role role = role_of(loop.var, writer.block());
    if (role == Role::Reduce || role == Role::Mixed)
      return error(ErrorCode::IllegalStep,
                   "{}: block '{}' reduces into buffer '{}' over loop '{}', so that its iterations need one copy", step,
                   writer.block().name, name, name_of(loop.var));
  }
  return {};
}

Program take_turns(const Program& program, const Expr& buffer, const Expr& loop_var) {
  Buffer doubled = buffer.get<Buffer>();
  doubled.shape.insert(doubled.shape.begin(), imm(2));
  for (ir::StorageAlign& alignment : doubled.alignments) ++alignment.axis;
  const Expr parity = floor_mod(loop_var, 2);
  return exchange_buffer(program, buffer, make(std::move(doubled), buffer.type()),
                         [&](const Indices& indices, const Bounds&) {
                           Indices now = indices;
                           now.insert(now.begin(), parity);
                           return now;
                         });
}

}  // namespace hone::schedule
