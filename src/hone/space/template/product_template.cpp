/// Templates of sums of products: dense, batch_matmul, conv2d.
///
/// Rows of one operand by vectors of the other stay in registers; tiles of them are grouped into blocks, and so is the
/// reduction. What stands in vectors is stored in the order in which it is read: once if it is constant, else in a
/// copy.
#include <algorithm>
#include <optional>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/channel_parts.h"
#include "hone/space/default_program.h"
#include "hone/space/loop_steps.h"
#include "hone/space/sketch/analysis.h"
#include "hone/space/template/templates.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

/// A sum of products taken apart.
struct ProductParts {
  std::string block;
  NaiveLoop column;              ///< runs in vectors
  std::optional<NaiveLoop> row;  ///< what is read in vectors does not move with it
  std::vector<NaiveLoop> others, reduced;
  std::vector<Read> vectors;  ///< reads that move with the column
  bool has_batch = false;     ///< some loop moves everything
  bool has_window = false;    ///< some index adds up loops
  int bits = 32;
};

Result<ProductParts> product_parts(const Program& program) {
  ProductParts product{.block = main_reduction(program)};
  BlockParts parts = parts_of(program, product.block);
  const auto refuse = [&](std::string_view why) {
    return error(ErrorCode::Unsupported, "block '{}' {}", product.block, why);
  };
  if (!parts.is_naive || parts.is_empty || parts.spatial.empty()) return refuse("is no plain reduction");
  if (lanes_of(naive_loops(program, product.block))) return refuse("has its channels in blocks");
  product.column = parts.spatial.back();
  if (product.column.extent < 2) return refuse("has no axis for vectors");
  for (const Read& read : parts.reads) {
    product.bits = std::max(product.bits, read.buffer.type().bits());
    if (read.uses(product.column)) product.vectors.push_back(read);
  }
  if (product.vectors.empty() || product.vectors.size() == parts.reads.size()) return refuse("is no sum of products");
  for (const NaiveLoop& loop : parts.spatial) {
    if (loop.var.is(product.column.var)) continue;
    const auto uses = [&](const Read& read) { return read.uses(loop); };
    product.has_batch |= loop.extent > 1 && std::all_of(parts.reads.begin(), parts.reads.end(), uses);
    const bool is_row = loop.extent > 1 && std::none_of(product.vectors.begin(), product.vectors.end(), uses);
    if (is_row && (!product.row || loop.extent > product.row->extent)) {
      if (product.row) product.others.push_back(*product.row);
      product.row = loop;
    } else {
      product.others.push_back(loop);
    }
  }
  product.reduced = std::move(parts.reduced);
  for (const Read& read : parts.reads)
    for (const ir::Expr& index : read.indices) product.has_window |= !index.as<ir::Var>() && !ir::as_int(index);
  return product;
}

/// Register tiles and how many of them make a block: [rest, tiles, elements of a tile]. The extent need not be a
/// multiple of either.
SplitRule tile_rule(std::int64_t extent, const std::vector<std::int64_t>& sizes, std::int64_t usual) {
  SplitRule rule{.outputs = 3, .policy = SplitPolicy::Candidates, .fallback = {kRemaining, 1, usual}};
  for (const std::int64_t size : sizes) {
    if (size > extent) continue;
    const std::int64_t tiles = ceil_div(extent, size);
    for (std::int64_t count = 1; count <= tiles; count *= 2) {
      // A block that is nearly all there is had better be all.
      const std::int64_t whole = 2 * count > tiles ? tiles : count;
      rule.candidates.push_back({kRemaining, whole, size});
    }
  }
  return rule;
}

/// Widths of a tile in elements: up to four vectors, or everything if that is narrower.
std::vector<std::int64_t> widths(std::int64_t extent, std::int64_t lanes) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t vectors = 1; vectors <= 4 && (vectors - 1) * lanes < extent; ++vectors)
    sizes.push_back(std::min(vectors * lanes, extent));
  return sizes;
}

/// What a candidate decides about a product.
struct ProductChoice {
  Factors x, y = {schedule::kRest, 1, 1}, k;
  std::int64_t steps = 1;           ///< of the innermost reduction loop that are written out
  std::vector<std::string> order;   ///< of "x.0", "y.0", "k.0", "x.1", "y.1"
  std::vector<std::string> copied;  ///< operands to copy
};

ProductChoice choose_product(Config& config, const ProductParts& product, const Program& program,
                             const TemplateContext& context) {
  constexpr std::int64_t kShortest = 16;  // sums that go through memory more often than that are slow
  const std::int64_t lanes = context.target.lanes(product.bits), registers = context.target.vector_registers;
  const bool has_many = registers >= 32, has_rows = product.row.has_value();
  ProductChoice choice;
  const std::int64_t columns = product.column.extent;
  choice.x = config.split("tile_x", columns, tile_rule(columns, widths(columns, lanes), (has_many ? 4 : 2) * lanes));
  if (has_rows) {
    const std::int64_t rows = product.row->extent;
    choice.y = config.split("tile_y", rows, tile_rule(rows, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14}, has_many ? 6 : 4));
  }
  const std::int64_t sums = product.reduced.back().extent;
  choice.k = config.split("tile_k", sums,
                          {.keep = [=](const Factors& f) { return f[1] == sums || f[1] >= kShortest; },
                           .fallback = {kRemaining, kRemaining}});
  choice.steps = config.choose("unroll_k", {1, 2, 4});
  choice.order = config.reorder(
      "order", {"x.0", "y.0", "k.0", "x.1", "y.1"},
      {.policy = ReorderPolicy::Candidates,
       .candidates = {
           {0, 1, 2, 3, 4}, {0, 1, 2, 4, 3}, {1, 0, 2, 3, 4}, {1, 0, 2, 4, 3}, {0, 2, 1, 3, 4}, {1, 2, 0, 4, 3}}});
  for (const Read& read : product.vectors) {
    if (read.indices.size() < 2 || read.is_constant(program, context.constants)) continue;
    std::string name = ir::name_of(read.buffer);
    const std::vector<std::int64_t> either = {0, 1}, only = {1};
    const bool is_in_rows = read.is_strided_in(product.column);
    if (std::find(choice.copied.begin(), choice.copied.end(), name) == choice.copied.end() &&
        config.choose("copy_" + name, is_in_rows ? either : only) == 1)
      choice.copied.push_back(std::move(name));
  }
  config.keep_if([=](const Decisions& decided) {
    const std::int64_t rows = has_rows ? decided.find("tile_y")->second[2] : 1;
    return registers_of(rows, ceil_div(decided.find("tile_x")->second[2], lanes)) <= registers + 1;
  });
  return choice;
}

Result<void> apply_product(Config& config, Schedule& draft, const TemplateContext& context) {
  HONE_TRY(const ProductParts product, product_parts(draft.program()));
  const ProductChoice choice = choose_product(config, product, draft.program(), context);
  const std::string& block = product.block;
  std::vector<std::string> copies;
  for (const std::string& operand : choice.copied) {
    HONE_TRY(std::string copy, copy_operand(draft, block, operand));
    copies.push_back(std::move(copy));
  }

  const auto split = [&](const NaiveLoop& loop, const Factors& factors) {
    return split_levels(draft, block, loop.name, {factors.begin() + 1, factors.end()});
  };
  std::vector<std::string> y(3);
  if (product.row) { HONE_TRY(y, split(*product.row, choice.y)); }
  HONE_TRY(const std::vector<std::string> x, split(product.column, choice.x));
  HONE_TRY(const std::vector<std::string> k, split(product.reduced.back(), choice.k));
  const bool is_blocked = !k[0].empty() && !k[1].empty();
  HONE_TRY(const std::vector<std::string> steps,
           split_levels(draft, block, k[1].empty() ? k[0] : k[1], {choice.steps}));

  std::vector<std::string> nest;
  const auto add = [&](const std::string& loop) {
    if (!loop.empty()) nest.push_back(loop);
  };
  for (const NaiveLoop& other : product.others) add(other.name);
  std::optional<std::size_t> complete;  // so many loops have all of a sum inside
  for (const std::string& level : choice.order) {
    const auto number = static_cast<std::size_t>(level[2] - '0');
    if (level[0] != 'k') {
      add(level[0] == 'x' ? x[number] : y[number]);
    } else if (is_blocked) {
      complete = nest.size();
      add(k[0]);
    }
  }
  if (!complete) complete = nest.size();
  for (std::size_t i = 0; i + 1 < product.reduced.size(); ++i) add(product.reduced[i].name);
  for (const std::string& loop : {steps[0], steps[1], y[2], x[2]}) add(loop);
  HONE_TRY(draft.apply(schedule::Reorder{nest}));

  for (const Read& read : product.vectors)
    if (read.indices.size() > 1 && read.is_constant(draft.program(), context.constants))
      HONE_TRY(store_in_reading_order(draft, block, ir::name_of(read.buffer)));
  HONE_TRY(draft.apply(schedule::Vectorize{x[2]}));
  for (const std::string& loop : {y[2], choice.steps > 1 ? steps[1] : std::string()})
    if (!loop.empty()) HONE_TRY(draft.apply(schedule::Unroll{loop}));
  for (const std::string& copy : copies) {  // of what a block of columns reads
    HONE_TRY(const std::string writer, place_copy(draft, block, copy, x[0]));
    if (x[0].empty() && context.target.threads > 1)
      HONE_TRY(run_parallel(draft, {schedule::loops_of(draft.program(), writer).front()}));
  }
  if (*complete > 0) attach_readers(draft, block, nest[*complete - 1]);
  parallelize(draft, block, *complete, context.target);
  schedule_other_blocks(draft, block, context.constants, context.target);
  return {};
}

/// A template for the products of one kind.
Template product_template(std::string name, bool has_window, std::optional<bool> has_batch) {
  return {std::move(name), prepare_reduction,
          [=](Config& config, Schedule& draft, const TemplateContext& context) -> Result<void> {
            HONE_TRY(const ProductParts product, product_parts(draft.program()));
            if (product.has_window != has_window || (has_batch && product.has_batch != *has_batch))
              return error(ErrorCode::Unsupported, "block '{}' is a product of another kind", product.block);
            return apply_product(config, draft, context);
          }};
}

}  // namespace

Template dense_template() { return product_template("dense", false, false); }
Template batch_matmul_template() { return product_template("batch_matmul", false, true); }
Template conv2d_template() { return product_template("conv2d", true, std::nullopt); }

}  // namespace hone::space
