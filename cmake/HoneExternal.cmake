# Finds the libraries hone stands on. All are packages of Debian 12, which `./dev setup` installs.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(CLI11 REQUIRED)

# hone_external(<name> HEADER <file> LIBRARY <name> [ROOT <folder>]) makes the target external::<name> of a library
# that has no CMake package of its own, or one that looks for more than we need (LLVM's: libedit, zstd, curl ...).
function(hone_external name)
  cmake_parse_arguments(arg "" "HEADER;LIBRARY;ROOT" "" ${ARGN})
  find_path(HONE_${name}_INCLUDE "${arg_HEADER}" HINTS "${arg_ROOT}/include")
  find_library(HONE_${name}_LIBRARY "${arg_LIBRARY}" HINTS "${arg_ROOT}/lib")
  mark_as_advanced(HONE_${name}_INCLUDE HONE_${name}_LIBRARY)
  if(NOT HONE_${name}_INCLUDE OR NOT HONE_${name}_LIBRARY)
    message(FATAL_ERROR "${name} is missing (looked for ${arg_HEADER} and lib${arg_LIBRARY}): run ./dev setup")
  endif()
  add_library(external::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(external::${name} PROPERTIES
    IMPORTED_LOCATION "${HONE_${name}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${HONE_${name}_INCLUDE}")
endfunction()

hone_external(llvm HEADER llvm/IR/Module.h LIBRARY LLVM-19 ROOT /usr/lib/llvm-19)
hone_external(hwloc HEADER hwloc.h LIBRARY hwloc)
