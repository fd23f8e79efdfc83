/// compute_inline and reverse_compute_inline: one block's expression takes the place of another's loads.
#include <algorithm>

#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/accesses.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/nest.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/visited.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// The only store of a block that computes elements one by one.
Result<const Store*> only_store(const Block& block, std::string_view step) {
  if (is_reduction(block) || block.init)
    return error(ErrorCode::IllegalStep, "{}: block '{}' is a reduction, allowed are elementwise blocks", step,
                 block.name);
  const Store* store = block.body.as<Store>();
  if (!store || store->mask)
    return error(ErrorCode::IllegalStep, "{}: block '{}' is not a single store", step, block.name);
  return store;
}

/// What the variables of a block are when its access at `indices` means the element at `target`: each variable stands
/// alone as one index; a variable of extent 1 may be missing, and the index of an axis of extent 1 may be 0.
Result<Substitution> invert(const Block& block, const Expr& buffer, const std::vector<Expr>& indices,
                            const std::vector<Expr>& target, std::string_view step) {
  Substitution values;
  const std::vector<Expr>& shape = buffer.get<Buffer>().shape;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    if (is_int(indices[axis], 0) && is_int(shape[axis], 1)) continue;
    const bool is_new =
        std::none_of(values.begin(), values.end(), [&](const auto& known) { return known.first.is(indices[axis]); });
    const bool is_iter = std::any_of(block.iters.begin(), block.iters.end(),
                                     [&](const Iter& iter) { return iter.var.is(indices[axis]); });
    if (!is_iter || !is_new)
      return error(ErrorCode::IllegalStep,
                   "{}: index {} of buffer '{}' in block '{}' is not an iteration variable of its own", step, axis,
                   name_of(buffer), block.name);
    values.emplace_back(indices[axis], target[axis]);
  }
  for (const Iter& iter : block.iters) {
    if (std::any_of(values.begin(), values.end(), [&](const auto& known) { return known.first.is(iter.var); }))
      continue;
    if (!is_int(iter.extent, 1))
      return error(ErrorCode::IllegalStep, "{}: variable '{}' of block '{}' is no index of buffer '{}'", step,
                   name_of(iter.var), block.name, name_of(buffer));
    values.emplace_back(iter.var, imm(0));
  }
  return values;
}

/// What is known of the variables inside a block.
Bounds domain_of(const Block& block) {
  Bounds bounds;
  for (const Iter& iter : block.iters) bounds.add_extent(iter.var, iter.extent);
  return bounds;
}

/// The reader with each load of the buffer replaced by the value that `producer` stores there.
Result<Stmt> inline_into(const Stmt& reader, const Block& producer, const Store& store) {
  const Bounds bounds = domain_of(reader.get<Block>());
  Result<void> status;
  Stmt inlined = transform(
      reader, [](const Stmt& s) { return s; },
      [&](const Expr& e) {
        const Load* load = e.as<Load>();
        if (!load || !load->buffer.is(store.buffer)) return e;
        const auto values = invert(producer, store.buffer, store.indices, load->indices, "compute_inline");
        if (!values) {
          status = values.error();
          return e;
        }
        return simplify(substitute(store.value, *values), bounds);
      });
  HONE_TRY(status);
  return inlined;
}

/// The program without the block, and without its buffer, which nothing may use any more.
Result<Program> drop(const Program& program, const Block& block, const Expr& buffer, std::string_view step) {
  HONE_TRY(const Path path, find_block(program, block.name, step));
  Program without = remove_allocation(replace(program, path, Stmt()), buffer);
  if (uses(without.body, buffer))
    return error(ErrorCode::IllegalStep, "{}: buffer '{}' is used outside blocks, such as in a prefetch", step,
                 name_of(buffer));
  return without;
}

/// The program with the block of this name replaced.
Program with_block(const Program& program, std::string_view name, const Stmt& block) {
  const Result<Path> path = find_block(program, name, "with_block");
  return replace(program, *path, block);
}

}  // namespace

Result<Program> compute_inline(const Program& program, std::string_view name) {
  HONE_TRY(const Path path, find_block(program, name, "compute_inline"));
  const Block& block = path.block();
  HONE_TRY(check_may_move(path, "compute_inline"));
  HONE_TRY(const Store* store, only_store(block, "compute_inline"));
  const Expr& buffer = store->buffer;
  if (is_param(program, buffer))
    return error(ErrorCode::IllegalStep, "compute_inline: buffer '{}' of block '{}' is an output of the function",
                 name_of(buffer), name);
  if (uses(store->value, buffer))
    return error(ErrorCode::IllegalStep, "compute_inline: block '{}' reads the buffer '{}' it writes", name,
                 name_of(buffer));
  if (const std::size_t count = writers(program, buffer).size(); count != 1)
    return error(ErrorCode::IllegalStep, "compute_inline: buffer '{}' is written by {} blocks, allowed is 1",
                 name_of(buffer), count);
  HONE_TRY(check_scalar_accesses(program, buffer, "compute_inline"));
  HONE_TRY(invert(block, buffer, store->indices, store->indices, "compute_inline"));

  Program now = program;
  for (const Path& reader : readers(program, buffer)) {
    HONE_TRY(check_none_pipelined(reader, "compute_inline"));
    HONE_TRY(const Stmt inlined, inline_into(reader.target(), block, *store));
    now = with_block(now, reader.block().name, inlined);
  }
  return drop(now, block, buffer, "compute_inline");
}

namespace {

/// The buffer between a consumer and the last block that makes something it reads.
struct Link {
  Path producer;
  const Store* store;  ///< the producer's
  Expr buffer;
};

Result<Link> find_link(const Program& program, const Block& consumer) {
  constexpr std::string_view kStep = "reverse_compute_inline";
  const std::vector<Expr> read = read_buffers(consumer);
  std::optional<Path> last;
  Expr buffer;
  for (const Path& path : blocks(program))
    for (const Expr& written : written_buffers(path.block()))
      if (std::any_of(read.begin(), read.end(), [&](const Expr& b) { return b.is(written); })) {
        last = path;
        buffer = written;
      }
  if (!last) return error(ErrorCode::IllegalStep, "{}: no block makes what block '{}' reads", kStep, consumer.name);
  if (is_param(program, buffer))
    return error(ErrorCode::IllegalStep, "{}: buffer '{}' of block '{}' is an output of the function", kStep,
                 name_of(buffer), last->block().name);
  if (const std::size_t count = writers(program, buffer).size(); count != 1)
    return error(ErrorCode::IllegalStep, "{}: buffer '{}' is written by {} blocks, allowed is 1", kStep,
                 name_of(buffer), count);
  for (const Path& reader : readers(program, buffer))
    if (reader.block().name != consumer.name)
      return error(ErrorCode::IllegalStep, "{}: buffer '{}' is also read by block '{}'", kStep, name_of(buffer),
                   reader.block().name);
  HONE_TRY(const Store* store, only_store(last->block(), kStep));
  return Link{*last, store, buffer};
}

/// An error unless whatever else the consumer reads is complete when the producer runs.
Result<void> check_other_inputs(const Program& program, const Path& consumer, const Link& link) {
  for (const Expr& buffer : read_buffers(consumer.block())) {
    if (buffer.is(link.buffer)) continue;
    const std::vector<Path> made_by = writers(program, buffer);
    if (!made_by.empty() && !visits_whole_domain(consumer))
      return error(
          ErrorCode::IllegalStep,
          "reverse_compute_inline: block '{}' computes a part of its domain only, and reads buffer '{}' for it",
          consumer.block().name, name_of(buffer));
    for (const Path& writer : made_by)
      if (common_loops(writer, link.producer) > 0)
        return error(
            ErrorCode::IllegalStep,
            "reverse_compute_inline: buffer '{}', which block '{}' also reads, is written in the nest of block '{}'",
            name_of(buffer), consumer.block().name, link.producer.block().name);
  }
  return {};
}

/// The only indices at which the consumer reads the buffer.
Result<std::vector<Expr>> only_indices(const Block& consumer, const Expr& buffer) {
  std::vector<const Load*> loads;
  walk(
      consumer.body, [](const Stmt&) {},
      [&](const Expr& e) {
        const Load* load = e.as<Load>();
        if (load && load->buffer.is(buffer)) loads.push_back(load);
      });
  HONE_CHECK(!loads.empty(), "block '{}' does not read '{}'", consumer.name, name_of(buffer));
  for (const Load* load : loads)
    for (std::size_t i = 0; i < load->indices.size(); ++i)
      if (!equal(load->indices[i], loads[0]->indices[i]))
        return error(ErrorCode::IllegalStep,
                     "reverse_compute_inline: block '{}' reads buffer '{}' at several elements, allowed is one",
                     consumer.name, name_of(buffer));
  return loads[0]->indices;
}

/// An error unless the consumer's variables run through the whole buffer.
Result<void> check_covers(const Block& consumer, const Expr& buffer, const std::vector<Expr>& indices) {
  const std::vector<Expr>& shape = buffer.get<Buffer>().shape;
  for (std::size_t axis = 0; axis < indices.size(); ++axis)
    for (const Iter& iter : consumer.iters)
      if (iter.var.is(indices[axis]) && !equal(iter.extent, shape[axis]))
        return error(
            ErrorCode::IllegalStep,
            "reverse_compute_inline: block '{}' reads {} elements of axis {} of buffer '{}', needed are all {}",
            consumer.name, constant_value(iter.extent), axis, name_of(buffer), constant_value(shape[axis]));
  return {};
}

}  // namespace

Result<Program> reverse_compute_inline(const Program& program, std::string_view name) {
  constexpr std::string_view kStep = "reverse_compute_inline";
  HONE_TRY(const Path path, find_block(program, name, kStep));
  const Block& consumer = path.block();
  HONE_TRY(const Store* store, only_store(consumer, kStep));
  if (const std::size_t count = writers(program, store->buffer).size(); count != 1)
    return error(ErrorCode::IllegalStep, "{}: buffer '{}' is written by {} blocks, allowed is 1", kStep,
                 name_of(store->buffer), count);
  HONE_TRY(const Link link, find_link(program, consumer));
  HONE_TRY(check_may_move(path, kStep));
  HONE_TRY(check_none_pipelined(link.producer, kStep));
  const Expr& buffer = link.buffer;
  if (uses(store->value, store->buffer))
    return error(ErrorCode::IllegalStep, "{}: block '{}' reads the buffer '{}' it writes", kStep, name,
                 name_of(store->buffer));
  HONE_TRY(check_scalar_accesses(program, buffer, kStep));
  HONE_TRY(check_other_inputs(program, path, link));
  HONE_TRY(const std::vector<Expr> indices, only_indices(consumer, buffer));
  HONE_TRY(check_covers(consumer, buffer, indices));
  HONE_TRY(const Substitution values, invert(consumer, buffer, indices, link.store->indices, kStep));

  const Block& producer = link.producer.block();
  const Bounds bounds = domain_of(producer);
  const Stmt applied = transform(
      substitute(consumer.body, values), [](const Stmt& s) { return s; },
      [&](const Expr& e) {
        const Load* load = e.as<Load>();
        return load && load->buffer.is(buffer) ? link.store->value : e;
      });
  Block joined = producer;
  const Store& result = applied.get<Store>();
  std::vector<Expr> target;
  for (const Expr& index : result.indices) target.push_back(simplify(index, bounds));
  joined.body = make(Store{result.buffer, std::move(target), simplify(result.value, bounds)});

  Program now = with_block(program, producer.name, make(std::move(joined)));
  HONE_TRY(now, drop(now, consumer, buffer, kStep));
  HONE_TRY(const Path place, find_block(now, producer.name, kStep));
  HONE_TRY(check_loops_above(now, place, kStep));
  return now;
}

}  // namespace hone::schedule
