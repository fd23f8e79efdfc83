/// transform_layout, and the layout of parameters.
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/accesses.h"
#include "hone/schedule/index_map.h"
#include "hone/schedule/prepack.h"
#include "hone/schedule/primitives.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// The errors of an index map, naming the step and the buffer.
template <typename T>
Result<T> for_buffer(std::string_view name, Result<T> result) {
  if (result) return result;
  return Error{result.error().code, fmt::format("transform_layout: buffer '{}': {}", name, result.error().message),
               result.error().where};
}

Indices mapped_indices(const IndexMap& map, const Indices& indices, const Bounds& bounds) {
  Indices mapped = apply(map, indices);
  for (Expr& index : mapped) index = simplify(index, bounds);
  return mapped;
}

/// Whether a statement, which stands at the root, only packs.
bool is_packing(const Stmt& s) {
  bool packs = false, computes = false;
  walk(s, [&](const Stmt& child) {
    if (const Block* block = child.as<Block>()) (find(block->annotations, kPrepack) ? packs : computes) = true;
  });
  return packs && !computes;
}

/// Copies an input into a buffer of the new layout before everything else, and lets all other reads go there.
Result<Program> pack_input(const Program& program, const Expr& input, const IndexMap& map,
                           const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& mapped) {
  bool is_read = false;
  for (const Path& reader : readers(program, input)) is_read |= !find(reader.block().annotations, kPrepack);
  if (!is_read)
    return error(ErrorCode::IllegalStep, "transform_layout: no block reads buffer '{}', or it is packed already",
                 name_of(input));

  const std::string name = fmt::format("{}.packed", name_of(input));
  const Expr packed = buffer(fresh_buffer_name(program, name), input.type(), mapped);
  const auto to_packed = [&](const Indices& indices, const Bounds& bounds) {
    return mapped_indices(map, indices, bounds);
  };
  const auto redirect = [&](const Stmt& s) {
    return is_packing(s) ? s : redirect_accesses(s, input, packed, to_packed);
  };
  const Path path = root(program);
  const Stmt& body = path.target();
  const Program redirected = replace(program, path, body.as<Seq>() ? map_children(body, redirect) : redirect(body));

  const Stmt packing = spatial_nest(
      program, fresh_block_name(program, name), shape,
      [&](const Indices& vars) { return store(packed, apply(map, vars), load(input, vars)); }, with({}, kPrepack, "1"));
  return allocate(insert_first(redirected, packing), packed);
}

}  // namespace

Result<Program> transform_layout(const Program& program, std::string_view name, std::string_view text) {
  constexpr std::string_view kStep = "transform_layout";
  HONE_TRY(const Expr before, find_buffer(program, name, kStep));
  const bool is_input = is_param(program, before);
  if (is_input && !writers(program, before).empty())
    return error(ErrorCode::IllegalStep,
                 "transform_layout: buffer '{}' is an output, allowed are inputs and allocated buffers", name);
  if (!before.get<Buffer>().alignments.empty())
    return error(ErrorCode::IllegalStep, "transform_layout: buffer '{}' is aligned already, align it afterwards", name);
  HONE_TRY(check_scalar_accesses(program, before, kStep));
  HONE_TRY(const std::vector<std::int64_t> shape, constant_shape(before, kStep));
  HONE_TRY(const IndexMap map, for_buffer(name, parse_index_map(text)));
  HONE_TRY(const std::vector<std::int64_t> mapped, for_buffer(name, mapped_shape(map, shape)));
  if (!is_injective(map, shape))
    return error(ErrorCode::IllegalStep,
                 "transform_layout: the index map of buffer '{}' may put two elements in one place", name);
  if (is_input) return pack_input(program, before, map, shape, mapped);

  const Expr after = buffer(std::string(name), before.type(), mapped, before.get<Buffer>().scope);
  return exchange_buffer(program, before, after, [&](const Indices& indices, const Bounds& bounds) {
    return mapped_indices(map, indices, bounds);
  });
}

Result<Program> set_param_layout(const Program& program, std::size_t param, std::string_view text) {
  const Expr before = program.params[param];
  const std::string name = name_of(before);
  HONE_TRY(check_scalar_accesses(program, before, "set_param_layout"));
  HONE_TRY(const std::vector<std::int64_t> shape, constant_shape(before, "set_param_layout"));
  HONE_TRY(const IndexMap map, for_buffer(name, parse_index_map(text)));
  HONE_TRY(const std::vector<std::int64_t> mapped, for_buffer(name, mapped_shape(map, shape)));
  if (!is_injective(map, shape))
    return error(ErrorCode::IllegalStep,
                 "set_param_layout: the index map of buffer '{}' may put two elements in one place", name);
  const Expr after = buffer(name, before.type(), mapped);
  Program changed{program.name, program.params,
                  redirect_accesses(program.body, before, after, [&](const Indices& indices, const Bounds& bounds) {
                    return mapped_indices(map, indices, bounds);
                  })};
  changed.params[param] = after;
  return changed;
}

}  // namespace hone::schedule
