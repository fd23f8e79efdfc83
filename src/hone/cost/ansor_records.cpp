#include "hone/cost/ansor_records.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "hone/cost/ansor_steps.h"

namespace hone::cost {
namespace {

using Json = nlohmann::json;

/// What a record says, checked.
struct AnsorRecord {
  std::string workload, target, steps;
  double seconds = kFailed;
};

Result<AnsorRecord> parse_ansor_record(const std::string& line) {
  try {
    const Json record = Json::parse(line);
    const Json& task = record.at("i").at(0);
    AnsorRecord found;
    found.workload = task.at(0).get<std::string>();
    found.target = task.at(1).get<std::string>();
    found.steps = record.at("i").at(1).at(1).dump();
    HONE_TRY(parse_ansor_steps(found.steps));
    const Json& result = record.at("r");
    const auto costs = result.at(0).get<std::vector<double>>();
    double sum = 0;
    for (const double cost : costs) {
      if (!(cost > 0) || !std::isfinite(cost))
        return error(ErrorCode::ParseError, "a run took {} s, expected a number above 0", cost);
      sum += cost;
    }
    constexpr double kFailedCost = 1e9;  // what the writer puts down is 1e10
    const double mean = costs.empty() ? kFailedCost : sum / static_cast<double>(costs.size());
    if (result.at(1).get<int>() == 0 && mean < kFailedCost) found.seconds = mean;
    return found;
  } catch (const Json::exception& problem) {
    return error(ErrorCode::ParseError, "no record of Ansor: {}", problem.what());
  }
}

/// 16 digits that tell texts apart (FNV-1a).
std::string digits_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace

Result<ImportCounts> import_ansor_records(std::istream& in, const std::string& network, DatasetFile& file) {
  ImportCounts counts;
  std::unordered_map<std::string, std::size_t> known;  // programs by task and steps
  for (std::size_t i = 0; i < file.data().programs.size(); ++i)
    known.emplace(file.data().tasks[file.data().programs[i].task].key + file.data().programs[i].hash, i);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] == '#' || line[0] == ' ') continue;
    const Result<AnsorRecord> record = parse_ansor_record(line);
    if (!record) return error(record.error().code, "line {}: {}", number, record.error().message);
    ++counts.records;
    HONE_TRY(const std::size_t target, file.add_target(record->target));
    const std::size_t before = file.data().tasks.size();
    const std::string family = record->workload.substr(0, record->workload.find(','));
    HONE_TRY(const std::size_t task, file.add_task({.key = record->workload,
                                                    .family = family,
                                                    .name = "ansor",
                                                    .algorithms = {},
                                                    .constants = {},
                                                    .flops = 0,
                                                    .networks = {}}));
    HONE_TRY(file.add_use(task, network, 1));
    counts.tasks += file.data().tasks.size() - before;
    const std::string hash = digits_of(record->steps);
    const auto [place, is_new] = known.emplace(record->workload + hash, file.data().programs.size());
    if (is_new) {
      ++counts.programs;
      HONE_TRY(file.add_program({.task = task,
                                 .algorithm = 0,
                                 .hash = hash,
                                 .drawn_for = target,
                                 .candidate = "{}",
                                 .trace = record->steps}));
    }
    HONE_TRY(file.add_label(place->second, target, record->seconds));
  }
  return counts;
}

TlpPlatform ansor_platform(std::string_view target) {
  constexpr std::array<std::string_view, 7> kGpus = {"cuda", "metal", "nvptx", "opencl", "rocm", "vulkan", "webgpu"};
  const bool is_gpu = std::find(kGpus.begin(), kGpus.end(), target.substr(0, target.find(' '))) != kGpus.end();
  return is_gpu ? TlpPlatform::Gpu : TlpPlatform::Cpu;
}

}  // namespace hone::cost
