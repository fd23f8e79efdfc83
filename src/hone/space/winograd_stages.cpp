#include "hone/space/winograd_stages.h"

#include <algorithm>

#include "hone/tensor/definitions.h"

namespace hone::space {

using namespace schedule;

namespace {

std::int64_t extent_of(const ir::Block& block, std::size_t iter) {
  return ir::as_int(block.iters[iter].extent).value_or(0);
}

/// The name of the only block that writes the buffer at place `n` among those that the block reads; empty if that is a
/// parameter.
std::string producer(const Program& program, const std::string& reader, std::size_t n) {
  const Result<Path> path = find_block(program, reader, "winograd");
  if (!path) return {};
  std::vector<ir::Expr> reads = read_buffers(path->block());
  const std::vector<ir::Expr> written = written_buffers(path->block());
  std::erase_if(reads, [&](const ir::Expr& buffer) { return buffer.is(written[0]); });
  if (n >= reads.size()) return {};
  const std::vector<Path> made_by = writers(program, reads[n]);
  return made_by.size() == 1 ? made_by[0].block().name : std::string();
}

}  // namespace

std::optional<WinogradStages> find_winograd_stages(const Program& program) {
  const Result<Path> found = find_block(program, tensor::kWinogradProducts, "winograd");
  if (!found || found->block().iters.size() != 7) return std::nullopt;
  const ir::Block& products = found->block();
  WinogradStages stages{.products = products.name};
  stages.input_points = producer(program, stages.products, 0);
  stages.weight_points = producer(program, stages.products, 1);
  stages.input_rows = producer(program, stages.input_points, 0);
  stages.weight_rows = producer(program, stages.weight_points, 0);
  const std::vector<Path> readers_of_products = readers(program, written_buffers(products)[0]);
  if (stages.input_rows.empty() || stages.weight_rows.empty() || readers_of_products.size() != 1) return std::nullopt;
  stages.output_rows = readers_of_products[0].block().name;
  stages.weight = read_buffers(find_block(program, stages.weight_rows, "winograd")->block())[0];
  stages.pad = producer(program, stages.input_rows, 0);

  stages.tile = extent_of(readers_of_products[0].block(), 0);
  stages.images = extent_of(products, 2);
  stages.rows = extent_of(products, 3);
  stages.columns = extent_of(products, 4);
  stages.out_channels = extent_of(products, 5);
  stages.in_channels = extent_of(products, 6);
  stages.bits = std::max(32, written_buffers(products)[0].type().bits());

  const std::vector<Path> all = blocks(program);
  const ir::Block& last = all.back().block();
  if (last.iters.size() != 4 || is_reduction(last) || !is_param(program, written_buffers(last)[0])) return std::nullopt;
  if (extent_of(last, 0) != stages.images || extent_of(last, 1) != stages.out_channels) return std::nullopt;
  stages.result = last.name;
  for (const Path& path : all) {
    const std::string& name = path.block().name;
    const auto known = {&stages.pad,          &stages.weight_rows, &stages.weight_points, &stages.input_rows,
                        &stages.input_points, &stages.products,    &stages.output_rows,   &stages.result};
    if (std::none_of(known.begin(), known.end(), [&](const std::string* stage) { return *stage == name; }))
      stages.others.push_back(name);
  }
  return stages;
}

}  // namespace hone::space
