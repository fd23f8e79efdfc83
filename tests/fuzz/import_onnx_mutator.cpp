/// Changes models field by field, so that most of what the importer is fed still is one; see onnx_mutator.h.
#include <cstring>
#include <onnx/onnx-ml.pb.h>

#include "onnx_mutator.h"

#include "hone/graph/operator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace hone;

/// Names of operators, attributes and domains, which random text would not find.
const std::vector<std::string>& words() {
  static const std::vector<std::string> made = [] {
    std::vector<std::string> all = {
        "",           "x",     "y",        "w",    "ai.onnx",  "mine",        "axis", "to", "com.microsoft",
        "ai.onnx.ml", "value", "location", "perm", "../x.bin", "/etc/passwd", "0",    "-1", "x~0"};
    for (const graph::Operator* entry : graph::all_operators()) all.emplace_back(entry->name);
    return all;
  }();
  return made;
}

std::size_t store(const onnx::ModelProto& model, std::uint8_t* data, std::size_t max_size) {
  const std::string bytes = model.SerializeAsString();
  if (bytes.empty() || bytes.size() > max_size) return 0;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  onnx::ModelProto model;
  if (seed % 10 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  const onnx::ModelProto donor = model;
  fuzz::OnnxMutator(seed, words()).mutate(model, donor);
  const std::size_t stored = store(model, data, max_size);
  return stored > 0 ? stored : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second, std::size_t second_size, std::uint8_t* out,
                                                 std::size_t max_size, unsigned seed) {
  onnx::ModelProto model, donor;
  if (!model.ParseFromArray(first, static_cast<int>(first_size)) ||
      !donor.ParseFromArray(second, static_cast<int>(second_size)))
    return 0;
  fuzz::OnnxMutator(seed, words()).mutate(model, donor);
  return store(model, out, max_size);
}
