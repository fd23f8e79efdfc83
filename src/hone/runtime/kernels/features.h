/// Kernels that prepare features: Imputer, FeatureVectorizer and ArrayFeatureExtractor.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// Imputer: replaces one value (which may be NaN) by others, one for all or one per feature.
Result<void> imputer(HostCall& call);
/// FeatureVectorizer: the inputs beside each other as floats, each cut or padded to its number of columns.
Result<void> feature_vectorizer(HostCall& call);
/// ArrayFeatureExtractor: the elements at given places of the last axis.
Result<void> array_feature_extractor(HostCall& call);

}  // namespace hone::runtime
