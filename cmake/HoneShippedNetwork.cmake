# hone_ship_network(<file>) makes a file part of the library `hone`, which gives its bytes as hone::shipped_network().
function(hone_ship_network file)
  set(source "${PROJECT_BINARY_DIR}/generated/shipped_network.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT [[
#include "hone/shipped_network.h"

asm(R"(
  .section .rodata
  .balign 64
  .globl hone_network_begin
  .hidden hone_network_begin
hone_network_begin:
  .incbin "@file@"
  .globl hone_network_end
  .hidden hone_network_end
hone_network_end:
  .byte 0
  .previous
)");

extern "C" {
extern const char hone_network_begin[];  // NOLINT: names of the assembler
extern const char hone_network_end[];    // NOLINT
}

std::string_view hone::shipped_network() {
  return {hone_network_begin, static_cast<std::size_t>(hone_network_end - hone_network_begin)};
}
]])
  set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${file}")
  target_sources(hone PRIVATE "${source}")
endfunction()
