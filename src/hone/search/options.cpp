#include "hone/search/options.h"

#include <cmath>
#include <string_view>

namespace hone::search {

Result<void> check(const Options& options) {
  struct Share {
    std::string_view name;
    double value;
  };
  for (const Share& share : {Share{"epsilon", options.epsilon}, Share{"genetic.mutation", options.genetic.mutation},
                             Share{"evolutionary.mutation", options.evolutionary.mutation},
                             Share{"evolutionary.tile_mutation", options.evolutionary.tile_mutation},
                             Share{"evolutionary.crossover", options.evolutionary.crossover},
                             Share{"evolutionary.measured_share", options.evolutionary.measured_share},
                             Share{"droplet.significance", options.droplet.significance},
                             Share{"droplet.smallest_gain", options.droplet.smallest_gain}})
    if (!(share.value >= 0 && share.value <= 1))
      return error(ErrorCode::InvalidArgument, "search: {} is {}, but must be in 0..1", share.name, share.value);
  struct Count {
    std::string_view name;
    std::size_t value;
  };
  for (const Count& count :
       {Count{"genetic.population", options.genetic.population}, Count{"annealing.plan", options.annealing.plan},
        Count{"annealing.chains", options.annealing.chains},
        Count{"evolutionary.population", options.evolutionary.population},
        Count{"evolutionary.per_trial", options.evolutionary.per_trial}})
    if (count.value == 0)
      return error(ErrorCode::InvalidArgument, "search: {} is 0, but must be at least 1", count.name);
  const AnnealingOptions& annealing = options.annealing;
  if (!(annealing.diversity_ratio >= 1) || std::isinf(annealing.diversity_ratio))
    return error(ErrorCode::InvalidArgument, "search: annealing.diversity_ratio is {}, but must be at least 1",
                 annealing.diversity_ratio);
  if (!(annealing.diversity_weight >= 0))
    return error(ErrorCode::InvalidArgument, "search: annealing.diversity_weight is {}, but must not be negative",
                 annealing.diversity_weight);
  return {};
}

}  // namespace hone::search
