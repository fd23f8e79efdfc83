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
hone_external(sqlite3 HEADER sqlite3.h LIBRARY sqlite3)
hone_external(zstd HEADER zstd.h LIBRARY zstd)

# XGBoost is loaded when a cost model needs it (cost/xgboost_library.h), so its header is all that is asked for here.
find_path(HONE_xgboost_INCLUDE xgboost/c_api.h)
mark_as_advanced(HONE_xgboost_INCLUDE)
if(NOT HONE_xgboost_INCLUDE)
  message(FATAL_ERROR "xgboost is missing (looked for xgboost/c_api.h): run ./dev setup")
endif()
add_library(external_xgboost INTERFACE)
target_include_directories(external_xgboost SYSTEM INTERFACE "${HONE_xgboost_INCLUDE}")
target_link_libraries(external_xgboost INTERFACE ${CMAKE_DL_LIBS})
add_library(external::xgboost ALIAS external_xgboost)

# Libraries that read pictures, for the operator ImageDecoder. Each may be missing: the build then cannot read its format.
# Those found are in HONE_IMAGE_LIBRARIES, and whoever links them is compiled with HONE_HAS_<NAME>.
function(hone_image_library name)
  cmake_parse_arguments(arg "" "HEADER;LIBRARY" "" ${ARGN})
  find_path(HONE_${name}_INCLUDE "${arg_HEADER}" PATH_SUFFIXES openjpeg-2.5 openjpeg-2.4)
  find_library(HONE_${name}_LIBRARY "${arg_LIBRARY}")
  mark_as_advanced(HONE_${name}_INCLUDE HONE_${name}_LIBRARY)
  if(NOT HONE_${name}_INCLUDE OR NOT HONE_${name}_LIBRARY)
    message(STATUS "no ${name} images: ${arg_HEADER} or lib${arg_LIBRARY} is missing")
    return()
  endif()
  string(TOUPPER "${name}" upper)
  add_library(external::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(external::${name} PROPERTIES
    IMPORTED_LOCATION "${HONE_${name}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${HONE_${name}_INCLUDE}"
    INTERFACE_COMPILE_DEFINITIONS "HONE_HAS_${upper}")
  set(HONE_IMAGE_LIBRARIES ${HONE_IMAGE_LIBRARIES} external::${name} PARENT_SCOPE)
endfunction()

hone_image_library(jpeg HEADER jpeglib.h LIBRARY jpeg)
hone_image_library(jpeg2000 HEADER openjpeg.h LIBRARY openjp2)
hone_image_library(png HEADER png.h LIBRARY png)
hone_image_library(tiff HEADER tiffio.h LIBRARY tiff)
hone_image_library(webp HEADER webp/decode.h LIBRARY webp)

# external::onnx is the classes that protoc makes of ONNX's proto files. They are part of the Python package onnx, which
# `./dev` installs into build/venv, and pip where it builds a wheel. Fuzzing needs the classes that can list their own fields; all else is faster without.
if(HONE_SANITIZE MATCHES "fuzzer")
  hone_external(protobuf HEADER google/protobuf/message.h LIBRARY protobuf)
else()
  hone_external(protobuf HEADER google/protobuf/message_lite.h LIBRARY protobuf-lite)
endif()
find_program(HONE_PROTOC protoc)
set(proto_roots "${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages")
if(SKBUILD)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "import pathlib, onnx; print(pathlib.Path(onnx.__file__).parents[1])"
                  OUTPUT_VARIABLE proto_roots OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
file(GLOB proto_file "${proto_roots}/onnx/onnx-ml.proto")
if(NOT HONE_ONNX_PROTO)
  unset(HONE_ONNX_PROTO CACHE)  # an earlier run did not find it
endif()
set(HONE_ONNX_PROTO "${proto_file}" CACHE FILEPATH "onnx-ml.proto of ONNX 1.23 or newer; onnx-data.proto stands beside it")
mark_as_advanced(HONE_PROTOC)
if(NOT HONE_PROTOC OR NOT EXISTS "${HONE_ONNX_PROTO}")
  message(FATAL_ERROR "protoc ('${HONE_PROTOC}') or onnx-ml.proto ('${HONE_ONNX_PROTO}') is missing: run ./dev setup, or set "
                      "HONE_ONNX_PROTO to the file of the Python package onnx")
endif()
set(generated "${PROJECT_BINARY_DIR}/generated/onnx")
get_filename_component(proto_folder "${HONE_ONNX_PROTO}" DIRECTORY)
foreach(name onnx-ml onnx-data)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${proto_folder}/${name}.proto")
  file(READ "${proto_folder}/${name}.proto" text)
  if(HONE_SANITIZE MATCHES "fuzzer")
    string(REPLACE "option optimize_for = LITE_RUNTIME;" "" text "${text}")
  endif()
  file(CONFIGURE OUTPUT "${generated}/onnx/${name}.proto" CONTENT "${text}" @ONLY)
  list(APPEND protos "onnx/${name}.proto")
  list(APPEND proto_inputs "${generated}/onnx/${name}.proto")
  list(APPEND proto_sources "${generated}/onnx/${name}.pb.cc")
  list(APPEND proto_headers "${generated}/onnx/${name}.pb.h")
endforeach()
add_custom_command(OUTPUT ${proto_sources} ${proto_headers}
                   COMMAND "${HONE_PROTOC}" -I "${generated}" --cpp_out "${generated}" ${protos}
                   DEPENDS ${proto_inputs} VERBATIM)
add_library(hone_onnx_proto STATIC ${proto_sources})
target_compile_options(hone_onnx_proto PRIVATE -w)
target_include_directories(hone_onnx_proto SYSTEM PUBLIC "${generated}")
target_link_libraries(hone_onnx_proto PUBLIC external::protobuf Threads::Threads)
add_library(external::onnx ALIAS hone_onnx_proto)
