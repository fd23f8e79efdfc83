/// Host kernels that write elements to places that come from data, or that add up along an axis.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// Places outside the data are an error. Of equal places the last update wins, or all are combined if the attribute
/// `reduction` says so.
Result<void> scatter_elements_kernel(HostCall& call);
Result<void> scatter_nd_kernel(HostCall& call);

/// CumSum and CumProd.
Result<void> cumulative_sum_kernel(HostCall& call);
Result<void> cumulative_product_kernel(HostCall& call);

}  // namespace hone::runtime
