# hone_trainer: trains the networks of cost models. It links libtorch, and of hone only what knows neither ONNX nor LLVM:
# libtorch brings classes of its own for ONNX's messages.
find_path(HONE_torch_INCLUDE torch/csrc/api/include/torch/torch.h)
find_library(HONE_torch_LIBRARY torch)
find_library(HONE_torch_cpu_LIBRARY torch_cpu)
find_library(HONE_c10_LIBRARY c10)
mark_as_advanced(HONE_torch_INCLUDE HONE_torch_LIBRARY HONE_torch_cpu_LIBRARY HONE_c10_LIBRARY)
if(NOT HONE_torch_INCLUDE OR NOT HONE_torch_LIBRARY OR NOT HONE_torch_cpu_LIBRARY OR NOT HONE_c10_LIBRARY)
  message(FATAL_ERROR "libtorch is missing (looked for torch/csrc/api/include/torch/torch.h): install libtorch-dev and "
                      "libopenblas0-pthread, or leave HONE_TRAINER off")
endif()
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/trainer/*.cpp")
add_executable(hone_trainer ${sources})
target_include_directories(hone_trainer SYSTEM PRIVATE "${HONE_torch_INCLUDE}"
                           "${HONE_torch_INCLUDE}/torch/csrc/api/include")
target_link_libraries(hone_trainer PRIVATE hone_cost CLI11::CLI11 "${HONE_torch_LIBRARY}" "${HONE_torch_cpu_LIBRARY}"
                      "${HONE_c10_LIBRARY}")
