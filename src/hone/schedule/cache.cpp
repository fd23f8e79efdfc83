/// cache_read and cache_write: a block reads or writes through a copy.
#include <algorithm>

#include "hone/ir/affine.h"
#include "hone/ir/rewrite.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/nest.h"
#include "hone/schedule/primitives.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// A buffer of the same shape and type in another scope, with a name of its own.
Expr make_cache(const Program& program, const Expr& original, Scope scope) {
  const std::string name = fresh_buffer_name(program, fmt::format("{}.{}", name_of(original), to_string(scope)));
  return buffer(name, original.type(), original.get<Buffer>().shape, scope);
}

/// An error if the ranges of the buffer, whose elements are to be copied, hold some that no block writes: a layout may
/// have such places, buffers used in turn do, and a block that was moved to where every other element is needed leaves
/// them. Other blocks write as many elements as their spatial variables have values.
Result<void> check_no_holes(const Program& program, const Expr& buffer, const std::vector<IterRange>& ranges,
                            std::string_view step) {
  const std::vector<Path> all_writers = writers(program, buffer);
  double copied = 1, written = 0;
  for (const IterRange& range : ranges) copied *= static_cast<double>(range.extent);
  for (const Path& writer : all_writers) {
    double points = 1;
    for (const Iter& iter : writer.block().iters) {
      if (iter.kind != IterKind::Spatial) continue;
      const std::optional<Affine> binding = to_affine(iter.binding);
      const bool has_gaps = binding && !leaves_no_gap(*binding, writer.bounds());
      points *= has_gaps ? 0 : static_cast<double>(constant_value(iter.extent));
    }
    written = std::max(written, points);
  }
  if (all_writers.empty() || written >= copied) return {};
  return error(ErrorCode::IllegalStep, "{}: buffer '{}' has elements that no block writes", step, name_of(buffer));
}

}  // namespace

Result<Program> cache_read(const Program& program, std::string_view block_name, std::string_view buffer_name,
                           Scope scope) {
  HONE_TRY(const Path path, find_block(program, block_name, "cache_read"));
  HONE_TRY(const Expr original, find_buffer(program, buffer_name, "cache_read"));
  const Block& block = path.block();
  if (contains(written_buffers(block), original))
    return error(ErrorCode::IllegalStep, "cache_read: block '{}' writes buffer '{}'", block_name, buffer_name);
  if (!contains(read_buffers(block), original))
    return error(ErrorCode::IllegalStep, "cache_read: block '{}' does not read buffer '{}'", block_name, buffer_name);
  for (const Path& writer : writers(program, original))
    if (is_below(writer, top_level(path).target()))
      return error(ErrorCode::IllegalStep, "cache_read: buffer '{}' is written by block '{}' in the nest of block '{}'",
                   buffer_name, writer.block().name, block_name);

  const std::vector<IterRange> ranges = written_ranges(program, original);
  HONE_TRY(check_no_holes(program, original, ranges, "cache_read"));
  const Expr cache = make_cache(program, original, scope);
  const Stmt copy = make_copy(program, fresh_block_name(program, name_of(cache)), original, cache, ranges);
  const Program redirected = replace(program, path, substitute(path.target(), original, cache));
  HONE_TRY(const Path reader, find_block(redirected, block_name, "cache_read"));
  return allocate(insert_before(redirected, top_level(reader), copy), cache);
}

Result<Program> cache_write(const Program& program, std::string_view block_name, Scope scope) {
  HONE_TRY(const Path path, find_block(program, block_name, "cache_write"));
  const std::vector<Expr> written = written_buffers(path.block());
  if (written.size() != 1)
    return error(ErrorCode::IllegalStep, "cache_write: block '{}' writes {} buffers, allowed is 1", block_name,
                 written.size());
  const Expr& original = written[0];
  if (const std::size_t count = writers(program, original).size(); count != 1)
    return error(ErrorCode::IllegalStep, "cache_write: buffer '{}' is written by {} blocks, allowed is 1",
                 name_of(original), count);
  for (const Path& reader : readers(program, original))
    if (is_below(reader, top_level(path).target()))
      return error(ErrorCode::IllegalStep, "cache_write: buffer '{}' is read by block '{}' in the nest of block '{}'",
                   name_of(original), reader.block().name, block_name);

  const std::vector<IterRange> ranges = written_ranges(program, original);
  HONE_TRY(check_no_holes(program, original, ranges, "cache_write"));
  const Expr cache = make_cache(program, original, scope);
  const Stmt copy =
      make_copy(program, fresh_block_name(program, fmt::format("{}.write", block_name)), cache, original, ranges);
  const Program redirected = replace(program, path, substitute(path.target(), original, cache));
  HONE_TRY(const Path writer, find_block(redirected, block_name, "cache_write"));
  return allocate(insert_after(redirected, top_level(writer), copy), cache);
}

}  // namespace hone::schedule
