/// Finding one's way in a program: loops, blocks and buffers by name, and replacing what was found.
///
/// A program under schedule is a function of constant sizes whose allocations stand around its whole body, whose stores
/// all stand inside blocks, and whose blocks stand in loops and sequences alone. Loops, blocks and buffers are known by
/// their names, which are unique; primitives make new names from old ones (`i` splits into `i.0`, `i.1`), so a trace of
/// names replays on any equal program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/ir/interval.h"
#include "hone/ir/stmt.h"

namespace hone::schedule {

/// The largest extent of a loop, variable or axis under schedule: far beyond any tensor, far from overflow.
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 48;

/// What schedule primitives rewrite.
using Program = ir::Function;

/// The statements from the function's body down to one of them, the target.
struct Path {
  std::vector<ir::Stmt> stmts;

  const ir::Stmt& target() const { return stmts.back(); }
  const ir::For& loop() const { return target().get<ir::For>(); }
  const ir::Block& block() const { return target().get<ir::Block>(); }
  /// The loops above the target, outermost first (the target itself not included).
  std::vector<ir::Stmt> loops() const;
  /// The values that the variables of the loops above the target (and of the target, if it is a loop) can take.
  ir::Bounds bounds() const;
  /// The path to the statement at this depth; depth 0 is the function's body.
  Path prefix(std::size_t depth) const;
};

/// The loop or block of this name. The error begins with `step`, the name of the primitive, and lists what there is, or
/// says what keeps the function from being scheduled.
Result<Path> find_loop(const Program& program, std::string_view name, std::string_view step);
Result<Path> find_block(const Program& program, std::string_view name, std::string_view step);
/// The parameter or allocated buffer of this name.
Result<ir::Expr> find_buffer(const Program& program, std::string_view name, std::string_view step);

/// The path to every block of the program, or below (and including) a path's target, in order.
std::vector<Path> blocks(const Program& program);
std::vector<Path> blocks_below(const Path& path);
/// Blocks that write a buffer, or read it without writing it (a reduction's load of its accumulator is no reading).
std::vector<Path> readers(const Program& program, const ir::Expr& buffer);
std::vector<Path> writers(const Program& program, const ir::Expr& buffer);

/// The names of the loops around a block, outermost first; none if there is no such block.
std::vector<std::string> loops_of(const Program& program, std::string_view block);

/// The program with the target of the path replaced. A null replacement removes the target, and with it the loops and
/// sequences that become empty.
Program replace(const Program& program, const Path& path, const ir::Stmt& replacement);

/// The program with `stmt` put right before or right after the target, in the same sequence.
Program insert_before(const Program& program, const Path& path, const ir::Stmt& stmt);
Program insert_after(const Program& program, const Path& path, const ir::Stmt& stmt);

/// The program with a new buffer allocated around its whole body.
Program allocate(const Program& program, const ir::Expr& buffer);
/// The program without the Allocate of a buffer that nothing uses any more.
Program remove_allocation(const Program& program, const ir::Expr& buffer);
bool is_param(const Program& program, const ir::Expr& buffer);

/// `base` if no loop, block or buffer (as asked) has this name yet, otherwise base with the first free number: base_1,
/// …
std::string fresh_loop_name(const Program& program, std::string_view base);
std::string fresh_block_name(const Program& program, std::string_view base);
std::string fresh_buffer_name(const Program& program, std::string_view base);

/// Whether a list of buffers or variables has this one.
bool contains(const std::vector<ir::Expr>& buffers, const ir::Expr& buffer);
/// Appends it unless the list has it.
void add_once(std::vector<ir::Expr>& buffers, const ir::Expr& buffer);

/// The buffers that the block stores to, in order of first store.
std::vector<ir::Expr> written_buffers(const ir::Block& block);
/// The buffers that the block loads from, in order of first load, the buffers it accumulates into included.
std::vector<ir::Expr> read_buffers(const ir::Block& block);

/// The block with its predicate and-ed with one more condition.
ir::Stmt with_predicate(const ir::Block& block, const ir::Expr& condition);
/// Whether the block has reduction variables.
bool is_reduction(const ir::Block& block);

}  // namespace hone::schedule
