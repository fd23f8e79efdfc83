/// Feeds a fuzzer's saved inputs, and inputs made of them by changing bytes, to its entry point: a short run that needs
/// no fuzzer, and is the same each time.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hone/support/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using hone::Rng;

void feed(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::size_t below(Rng& rng, std::size_t count) {
  return static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(count) - 1));
}

/// The input with a few bytes set, cut out, doubled, or taken from `other`.
std::string changed(std::string input, const std::string& other, Rng& rng) {
  for (std::size_t count = 1 + below(rng, 4); count > 0 && !input.empty(); --count) {
    const std::size_t at = below(rng, input.size()), length = 1 + below(rng, std::min<std::size_t>(input.size(), 16));
    switch (below(rng, 5)) {
      case 0:
        input.erase(at, length);
        break;
      case 1:
        input.insert(at, input.substr(below(rng, input.size()), length));
        break;
      case 2:
        if (!other.empty()) input.replace(at, length, other.substr(below(rng, other.size()), length));
        break;
      default:
        input[at] = static_cast<char>(below(rng, 256));
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER CHANGES\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(argv[1]))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    feed(inputs.back());
  }
  const auto changes = static_cast<std::size_t>(std::atoi(argv[2]));
  Rng rng(/*seed=*/1);
  for (std::size_t i = 0; i < changes; ++i)
    feed(changed(inputs[i % inputs.size()], inputs[below(rng, inputs.size())], rng));
  std::printf("%zu inputs and %zu changed ones\n", inputs.size(), changes);
  return inputs.empty() ? 1 : 0;
}
