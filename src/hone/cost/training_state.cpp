#include "hone/cost/training_state.h"

#include <cstring>

#include "hone/cost/byte_reader.h"
#include "hone/cost/model_file.h"

namespace hone::cost {
namespace {

const ModelIdentity kStateFile = {"training", "hone-training/1"};
constexpr const char* kPartPrefix = "part:";

std::string identity_bytes(const TrainingIdentity& identity) {
  std::string bytes;
  for (const auto& [name, text] : identity) {
    append_text(bytes, name);
    append_text(bytes, text);
  }
  return bytes;
}

Result<TrainingIdentity> read_identity(std::string_view bytes) {
  TrainingIdentity identity;
  ByteReader reader(bytes);
  while (!reader.at_end()) {
    HONE_TRY(const std::string_view name, reader.text());
    HONE_TRY(const std::string_view text, reader.text());
    identity.emplace_back(name, text);
  }
  return identity;
}

std::string progress_bytes(const TrainingProgress& progress) {
  const EpochReport& best = progress.best;
  std::string bytes;
  for (const std::int64_t number :
       {static_cast<std::int64_t>(progress.epoch), std::int64_t{progress.barren}, std::int64_t{best.epoch},
        std::int64_t{best.is_checked}, static_cast<std::int64_t>(best.scored)})
    append(bytes, number);
  for (const double number : {progress.elapsed_s, best.loss, best.validation_loss, best.top_1, best.top_5})
    append(bytes, number);
  return bytes;
}

Result<TrainingProgress> read_progress(std::string_view bytes) {
  std::int64_t whole[5];
  double real[5];
  ByteReader reader(bytes);
  for (std::int64_t& number : whole) { HONE_TRY(number, reader.number<std::int64_t>()); }
  for (double& number : real) { HONE_TRY(number, reader.number<double>()); }
  return TrainingProgress{.epoch = static_cast<int>(whole[0]),
                          .barren = static_cast<int>(whole[1]),
                          .elapsed_s = real[0],
                          .best = {.epoch = static_cast<int>(whole[2]),
                                   .loss = real[1],
                                   .validation_loss = real[2],
                                   .is_checked = whole[3] != 0,
                                   .top_1 = real[3],
                                   .top_5 = real[4],
                                   .scored = static_cast<std::uint64_t>(whole[4])}};
}

/// An error names the first thing in which two trainings differ.
Result<void> check_same(const TrainingIdentity& found, const TrainingIdentity& wanted,
                        const std::filesystem::path& file) {
  const std::map<std::string, std::string> known(found.begin(), found.end());
  for (const auto& [name, text] : wanted) {
    const auto other = known.find(name);
    const std::string before = other == known.end() ? "unknown" : other->second;
    if (before != text)
      return error(ErrorCode::InvalidArgument, "'{}' is of another training: its {} is {}, expected {}", file.string(),
                   name, before, text);
  }
  return {};
}

/// FNV-1a, of numbers as they are in memory.
void add_to_checksum(std::uint64_t& hash, std::span<const float> numbers) {
  for (const float number : numbers) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3U;
  }
}

}  // namespace

std::string identity_of(const TrainingSet& samples) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  add_to_checksum(hash, samples.numbers);
  add_to_checksum(hash, samples.leads);
  add_to_checksum(hash, samples.labels);
  return fmt::format("{} of checksum {:016x}", samples.size(), hash);
}

Result<void> write_training_state(const std::filesystem::path& file, const TrainingState& state) {
  std::vector<Section> sections = {{"identity", identity_bytes(state.identity)},
                                   {"progress", progress_bytes(state.progress)}};
  for (const auto& [name, bytes] : state.parts) sections.push_back({kPartPrefix + name, bytes});
  return write_model_file(file, kStateFile, sections);
}

Result<TrainingState> read_training_state(const std::filesystem::path& file, const TrainingIdentity& identity) {
  HONE_TRY(const std::vector<Section> sections, read_model_file(file, kStateFile));
  TrainingState state;
  HONE_TRY(const std::string_view told, find_section(sections, "identity", file));
  HONE_TRY(state.identity, read_identity(told));
  HONE_TRY(check_same(state.identity, identity, file));
  HONE_TRY(const std::string_view progress, find_section(sections, "progress", file));
  HONE_TRY(state.progress, read_progress(progress));
  for (const Section& section : sections)
    if (section.name.starts_with(kPartPrefix))
      state.parts[section.name.substr(std::strlen(kPartPrefix))] = section.bytes;
  return state;
}

}  // namespace hone::cost
