#include "schedules.h"

#include <fmt/core.h>

#include "hone/schedule/primitives.h"
#include "hone/space/winograd_schedule.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::bench {

using namespace schedule;
using tensor::Tensor;

Case gemm(std::int64_t m, std::int64_t n, std::int64_t k, const GemmTile& tile) {
  const Tensor a = tensor::placeholder("A", {m, k}), b = tensor::placeholder("B", {k, n});
  const Tensor c = tensor::compute("C", {{"i", m}, {"j", n}}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({{"k", k}}, [&](const tensor::Indices& r) { return a(i[0], r[0]) * b(r[0], i[1]); });
  });
  const std::int64_t panel = tile.vectors * tile.lanes;
  // A streamed B is read once: k outermost keeps a block of A in the cache meanwhile, four steps of k share a fetch.
  const bool is_streamed = tile.b == OperandB::Streamed;
  const std::int64_t steps = is_streamed ? 4 : 1;
  Trace trace = {
      Split{"i", {kRest, tile.rows}},
      Split{"j", {kRest, tile.n_block / panel, tile.vectors, tile.lanes}},
      Split{"k", {kRest, tile.k_block / steps, steps}},
      Reorder{
          {is_streamed ? "k.0" : "j.0", is_streamed ? "j.0" : "k.0", "i.0", "j.1", "k.1", "k.2", "i.1", "j.2", "j.3"}},
      Vectorize{"j.3"},
      Unroll{"j.2"},
      Unroll{"i.1"},
      Unroll{"k.2"},
  };
  // B in panels as wide as the register tile: all of it ahead of time, or a block at a time inside the kernel.
  const std::string panels = fmt::format("(k, n) -> (n // {0}, k, n % {0})", panel);
  if (tile.b == OperandB::Variable) {
    const Trace pack = {
        CacheRead{"C", "B", ir::Scope::Global}, ComputeAt{"B.global", "k.0"}, TransformLayout{"B.global", panels},
        Split{"ax1", {kRest, tile.lanes}},      Vectorize{"ax1.1"},
    };
    trace.insert(trace.end(), pack.begin(), pack.end());
  } else {
    trace.push_back(TransformLayout{"B", panels});
  }
  if (is_streamed) trace.push_back(SpreadPrefetch{"B.packed", "j.0", "k.1", 1});
  trace.push_back(Parallel{"j.0"});
  return {fmt::format("gemm {}x{}x{}{}", m, n, k, tile.b == OperandB::Variable ? "" : ", B constant"),
          tensor::lower("gemm", {a, b}, {c}), trace, tile.b != OperandB::Variable,
          2.0 * static_cast<double>(m * n) * static_cast<double>(k)};
}

Case conv3x3_blocked(std::int64_t channels, std::int64_t size, std::int64_t lanes) {
  const std::int64_t blocks = channels / lanes;
  const Tensor x = tensor::placeholder("X", {blocks, size, size, lanes});
  const Tensor w = tensor::placeholder("W", {blocks, blocks, 3, 3, lanes, lanes});
  const Tensor padded = tensor::compute(
      "padded", {{"pc", blocks}, {"ph", size + 2}, {"pw", size + 2}, {"pl", lanes}}, [&](const tensor::Indices& i) {
        const ir::Expr h = i[1] - 1, v = i[2] - 1;
        const ir::Expr inside = logical_and(logical_and(h >= 0, h < size), logical_and(v >= 0, v < size));
        return ir::select(inside, x(i[0], h, v, i[3]), ir::constant(ir::kF32, 0.0));
      });
  const Tensor y =
      tensor::compute("Y", {{"ko", blocks}, {"h", size}, {"w", size}, {"ki", lanes}}, [&](const tensor::Indices& i) {
        return tensor::reduce_sum({{"co", blocks}, {"r", 3}, {"s", 3}, {"ci", lanes}}, [&](const tensor::Indices& q) {
          return padded(q[0], i[1] + q[1], i[2] + q[2], q[3]) * w(i[0], q[0], q[1], q[2], q[3], i[3]);
        });
      });
  const Trace trace = {
      Split{"ko", {kRest, 2}},
      Split{"w", {kRest, 14}},
      Reorder{{"ko.0", "h", "w.0", "co", "r", "s", "ci", "w.1", "ko.1", "ki"}},
      Vectorize{"ki"},
      Unroll{"ko.1"},
      Unroll{"w.1"},
      Vectorize{"pl"},
      Fuse{{"ko.0", "h"}},
      Parallel{"ko.0@h"},
      Fuse{{"pc", "ph"}},
      Parallel{"pc@ph"},
  };
  const double points = static_cast<double>(size * size) * static_cast<double>(channels);
  return {fmt::format("conv 3x3 {}@{} NCHW{}c", channels, size, lanes), tensor::lower("conv", {x, w}, {y}), trace,
          false, 2.0 * points * static_cast<double>(channels) * 9.0};
}

Case winograd(std::int64_t channels, std::int64_t size, std::int64_t m, const std::vector<std::int64_t>& tile,
              const codegen::Target& target) {
  const Tensor x = tensor::placeholder("X", {1, channels, size, size});
  const Tensor w = tensor::placeholder("W", {channels, channels, 3, 3});
  const tensor::ConvOptions same{.padding_before = {1, 1}, .padding_after = {1, 1}};
  const std::string blocked = fmt::format("(n, c, y, x) -> (n, c // {0}, y, x, c % {0})", target.lanes(32));
  Program naive = tensor::lower("winograd", {x, w}, {tensor::winograd_conv(x, w, same, m).value()});
  for (const std::size_t param : {0, 2}) naive = set_param_layout(naive, param, blocked).value();
  const space::WinogradTile chosen = tile.empty() ? space::default_winograd_tile(naive, target)
                                                  : space::WinogradTile{tile[0], tile[1], tile[2],      tile[3],
                                                                        tile[4], tile[5], tile[6] != 0, tile[7] != 0};
  const Schedule scheduled = space::schedule_winograd(naive, /*packs_weight=*/true, chosen, target).value();
  const double points = static_cast<double>(size * size) * static_cast<double>(channels);
  return {fmt::format("winograd F({},3) {}@{}", m, channels, size), naive, scheduled.trace(), true,
          2.0 * points * static_cast<double>(channels) * 9.0,       1e-3};
}

}  // namespace hone::bench
