/// Kernels that replace labels by others: LabelEncoder, CategoryMapper and OneHotEncoder.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// LabelEncoder: keys become values; what is no key becomes the default. NaN is equal to NaN since version 4.
Result<void> label_encoder(HostCall& call);
/// CategoryMapper: strings become numbers, or numbers strings.
Result<void> category_mapper(HostCall& call);
/// OneHotEncoder: a new last axis with 1 at the place of the category.
Result<void> one_hot_encoder(HostCall& call);

}  // namespace hone::runtime
