#include "hone/tensor/key_blocks.h"

#include "hone/support/arithmetic.h"

namespace hone::tensor {

using ir::Expr;

namespace {

Shape with(Shape rows, std::initializer_list<std::int64_t> axes) {
  rows.insert(rows.end(), axes);
  return rows;
}

Indices at(const Indices& i, std::initializer_list<Expr> axes) {
  Indices indices(i.begin(), i.begin() + 3);
  indices.insert(indices.end(), axes);
  return indices;
}

/// What is kept of each block of keys.
Tensor parts_of(const Tensor& scores, std::int64_t block, std::int64_t columns, KeyBlocks::Value value) {
  const std::int64_t keys = scores.extent(3), blocks = ceil_div(keys, block);
  const Shape rows(scores.shape().begin(), scores.shape().begin() + 3);
  const Expr zero = ir::constant(scores.type(), 0.0), none = lowest(scores.type());
  const auto key = [&](const Indices& i, const Expr& place) { return i[3] * block + place; };
  const auto within = [&](const Expr& k, const Expr& here, const Expr& beyond) {
    return blocks * block == keys ? here : ir::select(k < keys, here, beyond);
  };
  const std::vector<Axis> each_block = axes_of(with(rows, {blocks, 1}));
  const Tensor largest = compute("block_max", each_block, [&](const Indices& i) {
    return reduce_max({block}, [&](const Indices& r) {
      const Expr k = key(i, r[0]);
      return within(k, scores(at(i, {k})), none);
    });
  });
  const Tensor base = compute("block_base", each_block,
                              [&](const Indices& i) { return ir::select(ir::eq(largest(i), none), zero, largest(i)); });
  const Tensor exponential = compute("block_exp", axes_of(with(rows, {blocks, block})), [&](const Indices& i) {
    const Expr k = key(i, i[4]);
    return within(k, ir::call(ir::Intrinsic::Exp, {scores(at(i, {k})) - base(at(i, {i[3], ir::imm(0)}))}), zero);
  });
  const Tensor sum = compute("block_sum", each_block, [&](const Indices& i) {
    return reduce_sum({block}, [&](const Indices& r) { return exponential(at(i, {i[3], r[0]})); });
  });
  const Tensor product = compute("block_attended", axes_of(with(rows, {blocks, columns})), [&](const Indices& i) {
    return reduce_sum({block}, [&](const Indices& r) {
      const Expr k = key(i, r[0]);
      return within(k, exponential(at(i, {i[3], r[0]})) * value(at(i, {}), k, i[4]), zero);
    });
  });
  return compute(kKeyBlockParts, axes_of(with(rows, {blocks, columns + 2})), [&](const Indices& i) {
    const Indices of_block = at(i, {i[3], ir::imm(0)});
    return ir::select(i[4] < columns, product(i), ir::select(i[4] < columns + 1, sum(of_block), largest(of_block)));
  });
}

}  // namespace

KeyBlocks::KeyBlocks(const Tensor& scores, std::int64_t block, std::int64_t columns, Value value)
    : rows_(scores.shape().begin(), scores.shape().begin() + 3),
      blocks_(ceil_div(scores.extent(3), block)),
      columns_(columns),
      parts_(parts_of(scores, block, columns, value)),
      largest_(compute("max", axes_of(with(rows_, {1})), [&](const Indices& i) {
        return reduce_max({blocks_}, [&](const Indices& r) { return parts_(at(i, {r[0], ir::imm(columns + 1)})); });
      })) {}

KeyBlocks::Sums KeyBlocks::sums(const Tensor& base) const {
  const Tensor weight = compute("weight", axes_of(with(rows_, {blocks_})), [&](const Indices& i) {
    const Expr distance = parts_(at(i, {i[3], ir::imm(columns_ + 1)})) - base(at(i, {ir::imm(0)}));
    return ir::call(ir::Intrinsic::Exp, {distance});
  });
  const auto over_blocks = [&](const char* name, std::int64_t columns, std::int64_t first) {
    return compute(name, axes_of(with(rows_, {columns})), [&](const Indices& i) {
      return reduce_sum({blocks_}, [&](const Indices& r) {
        return weight(at(i, {r[0]})) * parts_(at(i, {r[0], first == 0 ? i[3] : ir::imm(first)}));
      });
    });
  };
  return {over_blocks("sum", 1, columns_), over_blocks(kKeyBlockSums, columns_, 0)};
}

}  // namespace hone::tensor
