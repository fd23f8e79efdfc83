/// Kernels that count words.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// TfIdfVectorizer: how often each n-gram of a pool occurs in each row, weighted.
Result<void> tfidf_vectorizer(HostCall& call);

}  // namespace hone::runtime
