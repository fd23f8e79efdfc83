# Functions that turn folders into targets, so that adding a source file never means editing CMake.

include(GoogleTest)

set(HONE_BATCH_SIZE 24 CACHE STRING "How many sources of a target are compiled as one file; 1: each on its own, 0: all")

# hone_add_sources(<target> <file>...) compiles the sources of a target in batches of equal size, so that headers are parsed
# once for several of them; see docs/decisions/0015-several-sources-are-compiled-as-one.md. CMake's own unity builds write
# absolute paths, with which ccache would not know the files of another clone.
function(hone_add_sources target)
  list(LENGTH ARGN count)
  if(HONE_BATCH_SIZE EQUAL 1 OR count LESS_EQUAL 1)
    target_sources(${target} PRIVATE ${ARGN})
    return()
  endif()
  set(batches 1)
  if(HONE_BATCH_SIZE GREATER 0)
    math(EXPR batches "(${count} + ${HONE_BATCH_SIZE} - 1) / ${HONE_BATCH_SIZE}")
  endif()
  foreach(number RANGE 1 ${batches})
    math(EXPR first "(${number} - 1) * ${count} / ${batches}")
    math(EXPR size "${number} * ${count} / ${batches} - ${first}")
    list(SUBLIST ARGN ${first} ${size} sources)
    set(text "")
    foreach(source ${sources})
      file(RELATIVE_PATH relative "${PROJECT_SOURCE_DIR}" "${source}")
      string(APPEND text "#include \"${relative}\"\n")
    endforeach()
    set(batch "${PROJECT_BINARY_DIR}/batches/${target}_${number}.cpp")
    file(CONFIGURE OUTPUT "${batch}" CONTENT "${text}" @ONLY)
    target_sources(${target} PRIVATE "${batch}")
  endforeach()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
endfunction()

# hone_library(<folder> [DEPENDS <folder>...] [LINK <target>...] [LINK_PRIVATE <target>...] [TEST_DEPENDS <folder>...])
# makes hone_<folder> of the sources in src/hone/<folder>/, and hone_<folder>_test of the *_test.cpp beside them.
function(hone_library folder)
  cmake_parse_arguments(arg "" "" "DEPENDS;LINK;LINK_PRIVATE;TEST_DEPENDS" ${ARGN})
  list(TRANSFORM arg_DEPENDS PREPEND hone_)
  list(TRANSFORM arg_TEST_DEPENDS PREPEND hone_)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/hone/${folder}/*.cpp")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  if(sources)
    add_library(hone_${folder} STATIC)
    hone_add_sources(hone_${folder} ${sources})
    target_link_libraries(hone_${folder} PRIVATE ${arg_LINK_PRIVATE})
    set(scope PUBLIC)
  else()
    add_library(hone_${folder} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(hone_${folder} ${scope} "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(hone_${folder} ${scope} ${arg_DEPENDS} ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY HONE_LIBRARIES hone_${folder})

  if(tests)
    hone_test(hone_${folder}_test LABEL unit SOURCES ${tests}
              LINK hone_${folder} ${arg_TEST_DEPENDS} ${arg_LINK_PRIVATE})
  endif()
endfunction()

# hone_whole_library() makes the target `hone`: src/hone/*.cpp and every library declared before.
function(hone_whole_library)
  get_property(libraries GLOBAL PROPERTY HONE_LIBRARIES)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/hone/*.cpp")
  if(sources)
    add_library(hone STATIC)
    hone_add_sources(hone ${sources})
    target_link_libraries(hone PUBLIC ${libraries})
  else()
    add_library(hone INTERFACE)
    target_link_libraries(hone INTERFACE ${libraries})
  endif()
endfunction()

# hone_executable(<name> SOURCES <file>... LINK <target>...) makes a program.
function(hone_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name})
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  hone_add_sources(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
endfunction()

# hone_test(<name> LABEL <label> SOURCES <file>... LINK <target>...) makes a GoogleTest program, each of whose tests is
# one CTest test with that label. Sanitized builds set HONE_SHORT_TESTS=1, for suites that can draw fewer samples.
function(hone_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LINK" ${ARGN})
  hone_executable(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK} GTest::gmock GTest::gtest_main)
  set(properties LABELS ${arg_LABEL} TIMEOUT 900)
  if(HONE_SANITIZE)
    list(APPEND properties ENVIRONMENT HONE_SHORT_TESTS=1 ENVIRONMENT_MODIFICATION
         "TSAN_OPTIONS=set:suppressions=${PROJECT_SOURCE_DIR}/tests/tsan_suppressions.txt")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
                       PROPERTIES ${properties})
endfunction()
