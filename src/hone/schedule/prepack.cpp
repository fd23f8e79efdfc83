#include "hone/schedule/prepack.h"

#include <algorithm>

#include "hone/ir/rewrite.h"
#include "hone/schedule/accesses.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// One input and the buffer it is packed into.
struct Packed {
  Expr input, buffer;
};

/// A root statement that packs.
struct Packing {
  std::vector<Packed> packed;
  std::vector<Expr> helpers;  ///< buffers that are filled and read on the way
};

/// What a nest reads of the parameters to fill a buffer, and that buffer, if they may become parameters.
Result<Packed> packed_by(const Program& program, const Block& block, std::vector<Expr> reads) {
  const std::vector<Expr> writes = written_buffers(block);
  if (reads.size() != 1 || writes.size() != 1 || !is_param(program, reads[0]) || is_param(program, writes[0]))
    return error(ErrorCode::IllegalStep,
                 "split_prepack: block '{}' reads {} and writes {} buffers, allowed is a copy of an input to an "
                 "allocated buffer",
                 block.name, reads.size(), writes.size());
  const Buffer& node = writes[0].get<Buffer>();
  if (node.scope != Scope::Global || !node.alignments.empty())
    return error(ErrorCode::IllegalStep,
                 "split_prepack: buffer '{}' is {}, allowed is plain global memory that the caller can own", node.name,
                 node.alignments.empty() ? to_string(node.scope) : "aligned");
  return Packed{reads[0], writes[0]};
}

/// Whether a block that stands in one nest with packing only serves it: nobody outside reads what it writes.
bool is_helper(const Program& program, const Stmt& nest, const Block& block) {
  const std::vector<Path> inside = blocks_below(Path{{nest}});
  const auto is_inside = [&](const Path& reader) {
    return std::any_of(inside.begin(), inside.end(),
                       [&](const Path& path) { return path.block().name == reader.block().name; });
  };
  for (const Expr& buffer : written_buffers(block)) {
    const std::vector<Path> all = readers(program, buffer);
    if (is_param(program, buffer) || !std::all_of(all.begin(), all.end(), is_inside)) return false;
  }
  return true;
}

/// What a root statement packs, nothing if it computes only.
Result<Packing> packing_of(const Program& program, const Stmt& s) {
  std::vector<Path> packing, computing;
  for (Path& path : blocks_below(Path{{s}}))
    (find(path.block().annotations, kPrepack) ? packing : computing).push_back(std::move(path));
  Packing all;
  if (packing.empty()) return all;
  for (const Path& path : computing) {
    if (packing.size() != 1 || !is_helper(program, s, path.block()))
      return error(ErrorCode::IllegalStep, "split_prepack: block '{}' stands in one nest with block '{}'",
                   packing[0].block().name, path.block().name);
    for (const Expr& buffer : written_buffers(path.block())) all.helpers.push_back(buffer);
  }
  for (const Path& path : packing) {
    std::vector<Expr> reads = read_buffers(path.block());
    for (const Path& helper : computing)
      for (const Expr& buffer : read_buffers(helper.block())) reads.push_back(buffer);
    std::vector<Expr> from_outside;
    for (const Expr& buffer : reads)
      if (!contains(all.helpers, buffer) && !contains(from_outside, buffer)) from_outside.push_back(buffer);
    HONE_TRY(const Packed entry, packed_by(program, path.block(), std::move(from_outside)));
    all.packed.push_back(entry);
  }
  return all;
}

}  // namespace

Result<std::pair<Program, Program>> split_prepack(const Program& program) {
  const Path path = root(program);
  const Seq* sequence = path.target().as<Seq>();
  const std::vector<Stmt> stmts = sequence ? sequence->stmts : std::vector<Stmt>{path.target()};
  std::vector<Packed> packed;
  std::vector<Stmt> prepare, rest;
  std::vector<Expr> helpers;
  for (const Stmt& s : stmts) {
    HONE_TRY(const Packing packing, packing_of(program, s));
    for (const Packed& entry : packing.packed) {
      for (const Packed& known : packed)
        if (known.input.is(entry.input))
          return error(ErrorCode::IllegalStep, "split_prepack: input '{}' is packed twice, allowed is once",
                       name_of(entry.input));
      packed.push_back(entry);
    }
    helpers.insert(helpers.end(), packing.helpers.begin(), packing.helpers.end());
    (packing.packed.empty() ? rest : prepare).push_back(s);
  }
  if (packed.empty())
    return error(ErrorCode::IllegalStep, "split_prepack: no block of '{}' is annotated '{}'", program.name, kPrepack);

  Program before{.name = program.name + ".prepare", .params = {}, .body = seq(std::move(prepare))};
  Program main = replace(program, path, seq(std::move(rest)));
  for (const Packed& entry : packed) {
    if (uses(main.body, entry.input))
      return error(ErrorCode::IllegalStep, "split_prepack: input '{}' is read by other blocks than its packing",
                   name_of(entry.input));
    before.params.push_back(entry.input);
    main = remove_allocation(main, entry.buffer);
    std::replace_if(
        main.params.begin(), main.params.end(), [&](const Expr& param) { return param.is(entry.input); }, entry.buffer);
  }
  for (const Packed& entry : packed) before.params.push_back(entry.buffer);
  for (const Expr& helper : helpers) {
    before = allocate(before, helper);
    main = remove_allocation(main, helper);
  }
  return std::pair(std::move(before), std::move(main));
}

KernelProgram split_packing(const Program& program) {
  Result<std::pair<Program, Program>> parts = split_prepack(program);
  if (!parts) return {program, std::nullopt, {}};
  KernelProgram split{std::move(parts->second), std::move(parts->first), {}};
  for (std::size_t k = 0; k < split.prepare->params.size() / 2; ++k)
    for (std::size_t i = 0; i < program.params.size(); ++i)
      if (program.params[i].is(split.prepare->params[k])) split.packed.push_back(i);
  return split;
}

}  // namespace hone::schedule
