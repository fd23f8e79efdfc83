/// The state of a training that is under way, in a file, so that it can go on where it was interrupted.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hone/cost/training_progress.h"
#include "hone/cost/training_set.h"

namespace hone::cost {

/// What a training depends on, by name: with all of it alike, it comes to the same weights.
using TrainingIdentity = std::vector<std::pair<std::string, std::string>>;

/// The identity of samples: how many there are, and a checksum of their sentences and labels.
std::string identity_of(const TrainingSet& samples);

struct TrainingState {
  TrainingIdentity identity;
  TrainingProgress progress;
  std::map<std::string, std::string> parts;  ///< weights, those of the optimizer, …: bytes that whoever trains knows
};

/// Writes a file as a whole: whoever is interrupted meanwhile leaves the one before.
Result<void> write_training_state(const std::filesystem::path& file, const TrainingState& state);
/// Reads it back for a training of this identity; an error names what differs.
Result<TrainingState> read_training_state(const std::filesystem::path& file, const TrainingIdentity& identity);

}  // namespace hone::cost
