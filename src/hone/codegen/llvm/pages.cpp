// The memory of LLVM's own code: some tens of megabytes that are read while something is compiled and not after that.

#include <cstdint>
#include <link.h>
#include <llvm/IR/LLVMContext.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hone/codegen/compile.h"

namespace hone::codegen {
namespace {

/// The address of a function of LLVM's, by which its library is found.
std::uintptr_t address_inside_llvm() {
  void (llvm::LLVMContext::* const function)(bool) = &llvm::LLVMContext::setDiscardValueNames;
  std::uintptr_t address = 0;
  static_assert(sizeof function >= sizeof address);
  __builtin_memcpy(&address, &function, sizeof address);
  return address;
}

/// Gives back the pages of segments that nobody can have written to: they are read from the file again.
int release_segments(dl_phdr_info* library, std::size_t, void*) {
  const std::uintptr_t wanted = address_inside_llvm();
  const auto begin_of = [&](const ElfW(Phdr) & segment) { return library->dlpi_addr + segment.p_vaddr; };
  bool is_llvm = false;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[i];
    is_llvm |= segment.p_type == PT_LOAD && wanted >= begin_of(segment) && wanted < begin_of(segment) + segment.p_memsz;
  }
  if (!is_llvm) return 0;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (begin_of(segment) + page - 1) / page * page;
    const std::uintptr_t end = (begin_of(segment) + segment.p_memsz) / page * page;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // a wish
  }
  return 1;
}

}  // namespace

void release_compiler_pages() { ::dl_iterate_phdr(release_segments, nullptr); }

}  // namespace hone::codegen
