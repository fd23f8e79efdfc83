/// What tests of schedules run, and how.
#pragma once

#include <string>
#include <vector>

#include "hone/codegen/compile.h"
#include "hone/ir/interpret.h"
#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"
#include "hone/runtime/thread_pool.h"
#include "hone/schedule/prepack.h"
#include "hone/schedule/primitives.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::space {

/// Runs the program on the arguments of the naive one, packing what it wants packed.
inline Result<std::vector<ir::Array>> run(const schedule::KernelProgram& program,
                                          const std::vector<ir::Array>& arguments, const codegen::Target& target,
                                          runtime::ThreadPool& pool) {
  ir::Module module{{program.main}};
  module.functions[0].name = "main";
  if (program.prepare) {
    module.functions.push_back(*program.prepare);
    module.functions[1].name = "prepare";
  }
  codegen::CompileOptions options;
  options.runtime = {hone_parallel_for, hone_allocate, hone_release};
  HONE_TRY(const codegen::CompiledModule compiled, codegen::compile(module, target, options));
  std::vector<ir::Array> arrays = arguments;
  if (program.prepare) {
    std::vector<void*> pointers;
    std::vector<ir::Array> packed;
    for (const std::size_t i : program.packed) pointers.push_back(arrays[i].data());
    for (const std::size_t i : program.packed) {
      std::vector<std::int64_t> shape;
      for (const ir::Expr& extent : program.main.params[i].get<ir::Buffer>().shape)
        shape.push_back(ir::constant_value(extent));
      packed.emplace_back(program.main.params[i].type(), shape);
    }
    for (ir::Array& array : packed) pointers.push_back(array.data());
    HONE_TRY(const codegen::Kernel prepare, compiled.find("prepare"));
    HONE_TRY(prepare(pointers));
    for (std::size_t i = 0; i < packed.size(); ++i) arrays[program.packed[i]] = packed[i];
  }
  std::vector<void*> pointers;
  for (ir::Array& array : arrays) pointers.push_back(array.data());
  HONE_TRY(const codegen::Kernel main, compiled.find("main"));
  HONE_TRY(main(pointers, &pool));
  return arrays;
}

/// A convolution with bias and relu whose image stands in blocks of channels, in (if `in_block` > 0) and out.
struct Layer {
  std::int64_t in, out, height, width, kernel, stride, groups, in_block, out_block;
};

inline ir::Function blocked_layer(const Layer& layer) {
  const tensor::Tensor x = tensor::placeholder("x", {2, layer.in, layer.height, layer.width});
  const tensor::Tensor w = tensor::placeholder("w", {layer.out, layer.in / layer.groups, layer.kernel, layer.kernel});
  const tensor::Tensor b = tensor::placeholder("b", {layer.out});
  const std::int64_t pad = layer.kernel / 2;
  const tensor::ConvOptions options{.strides = {layer.stride, layer.stride},
                                    .padding_before = {pad, pad},
                                    .padding_after = {pad, pad},
                                    .groups = layer.groups};
  const tensor::Tensor y =
      layer.groups == layer.in ? *tensor::depthwise_conv(x, w, options) : *tensor::conv(x, w, options);
  const tensor::Tensor out = tensor::compute("out", tensor::axes_of(y.shape()), [&](const tensor::Indices& i) {
    return ir::max(y(i) + b(i[1]), ir::constant(ir::kF32, 0.0));
  });
  ir::Function program = tensor::lower("layer", {x, w, b}, {out});
  const auto map = [](std::int64_t block) {
    return "(n, c, y, x) -> (n, c // " + std::to_string(block) + ", y, x, c % " + std::to_string(block) + ")";
  };
  if (layer.in_block > 0) program = *schedule::set_param_layout(program, 0, map(layer.in_block));
  if (layer.out_block > 0) program = *schedule::set_param_layout(program, 3, map(layer.out_block));
  return program;
}

/// A matrix product.
inline ir::Function product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("a", {m, k}), b = tensor::placeholder("b", {k, n});
  return tensor::lower("product", {a, b}, {*tensor::matmul(a, b)});
}

}  // namespace hone::space
