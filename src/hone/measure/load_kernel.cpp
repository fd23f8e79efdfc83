#include "hone/measure/load_kernel.h"

#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"

namespace hone::measure {
namespace {

Result<void> check_places(const schedule::KernelProgram& program) {
  const std::size_t takes = program.prepare ? program.prepare->params.size() : 0;
  if (takes != 2 * program.packed.size())
    return error(ErrorCode::InvalidArgument, "'{}' packs {} inputs, but its packing takes {} buffers",
                 program.main.name, program.packed.size(), takes);
  for (const std::size_t place : program.packed)
    if (place >= program.main.params.size())
      return error(ErrorCode::InvalidArgument, "'{}' packs parameter {}, it has {}", program.main.name, place,
                   program.main.params.size());
  return {};
}

}  // namespace

Result<LoadedKernel> load_kernel(const schedule::KernelProgram& program, const codegen::Target& target) {
  HONE_TRY(check_places(program));
  codegen::CompileOptions options;
  options.runtime = {hone_parallel_for, hone_allocate, hone_release};
  ir::Module module{{program.main}};
  module.functions[0].name = "main";
  if (program.prepare) {
    module.functions.push_back(*program.prepare);
    module.functions[1].name = "prepare";
  }
  HONE_TRY(codegen::CompiledModule code, codegen::compile(module, target, options));
  HONE_TRY(const codegen::Kernel main, code.find("main"));
  codegen::EntryPoint prepare = nullptr;
  if (program.prepare) {
    HONE_TRY(const codegen::Kernel packing, code.find("prepare"));
    prepare = packing.entry();
  }
  return LoadedKernel{std::move(code), main.entry(), prepare};
}

}  // namespace hone::measure
