/// Kernels on tensors of strings, which are UTF-8.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// StringConcat: two tensors that are broadcast against each other, joined element by element.
Result<void> string_concat(HostCall& call);
/// StringSplit: the pieces of each string along a new last axis, padded with empty strings, and how many there are.
Result<void> string_split(HostCall& call);
/// StringNormalizer: drops stop words from a list, then changes the case of what is left.
Result<void> string_normalizer(HostCall& call);
/// RegexFullMatch: whether each string as a whole matches a pattern in the syntax of RE2.
Result<void> regex_full_match(HostCall& call);

}  // namespace hone::runtime
