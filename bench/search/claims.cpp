#include "claims.h"

namespace hone::bench {

std::span<const Claim> claims() {
  static constexpr Claim kClaims[] = {
      {"throughput", throughput_claim}, {"sketch", sketch_claim}, {"autotvm", autotvm_claim}, {"ansor", ansor_claim},
      {"droplet", droplet_claim},       {"hidet", hidet_claim},   {"tlp", tlp_claim},         {"zero", zero_claim},
  };
  return kClaims;
}

}  // namespace hone::bench
