/// Feeds arbitrary text to the parser: it must give a function or an error, and a function must print and come back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hone;
  const Result<ir::Function> parsed = ir::parse_function({reinterpret_cast<const char*>(data), size});
  if (!parsed) return 0;
  const bool is_right = ir::verify(*parsed).has_value();
  const std::string text = ir::to_text(*parsed);
  if (!is_right) return 0;  // printed, but names may clash
  const Result<ir::Function> again = ir::parse_function(text);
  if (!again || !ir::equal(*parsed, *again) || ir::to_text(*again) != text) std::abort();
  if (ir::structural_hash(*parsed) != ir::structural_hash(*again)) std::abort();
  return 0;
}
