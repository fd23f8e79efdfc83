/// Kernels on maps: CastMap, DictVectorizer and ZipMap.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// CastMap: the values of a map in the order of its keys, or at the places that the keys name.
Result<void> cast_map(HostCall& call);
/// DictVectorizer: the values that a map has for the words of a vocabulary; zeros for the others.
Result<void> dict_vectorizer(HostCall& call);
/// ZipMap: one map from labels to scores per row.
Result<void> zip_map(HostCall& call);

}  // namespace hone::runtime
