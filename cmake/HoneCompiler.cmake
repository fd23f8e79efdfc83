# The language, the warnings and the sanitizers that every target of hone is compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

option(HONE_WARNINGS_AS_ERRORS "Stop the build at the first warning" ON)
set(HONE_SANITIZE "" CACHE STRING "Sanitizers to compile with, as -fsanitize= takes them")

find_program(HONE_CCACHE ccache)
if(HONE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${HONE_CCACHE}")
endif()

# A linker that takes a third of the time or less, if there is one: LLVM's, or gold of binutils.
include(CheckLinkerFlag)
foreach(linker lld gold)
  check_linker_flag(CXX -fuse-ld=${linker} HONE_HAS_${linker})
  if(HONE_HAS_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()

# A forgotten kind in a switch is always an error. Fields left out of a designated initialiser have the default they show.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror=switch
                    -Wno-missing-field-initializers)
if(HONE_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-expand=400 --param=ggc-min-heapsize=400000)  # memory instead of collecting garbage
  add_compile_options(-Wno-restrict)  # g++ 12 sees overlaps inside std::string that are not there (GCC bug 105651)
  add_compile_options(-Wno-mismatched-new-delete)  # nor does it pair the operators new and delete of LLVM's classes
else()
  add_compile_options(-Wno-deprecated-declarations)  # std::stable_sort of libstdc++ 12 itself uses what is deprecated
endif()

# Source locations in messages and logs are relative to the root of the repository.
add_compile_options("-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-maybe-uninitialized)  # after inlining, g++ 12 takes empty optionals and results for values
endif()

if(HONE_SANITIZE)
  add_compile_options(-fsanitize=${HONE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HONE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)  # the checks that sanitizers add confuse this warning
  endif()
endif()
