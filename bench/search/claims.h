/// The comparisons that papers on auto-tuning made, made with hone's searches.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "report.h"

#include "hone/codegen/target.h"

namespace hone::bench {

struct ClaimOptions {
  codegen::Target target;
  std::filesystem::path models = "build/models";
  std::int64_t trials = 0;  ///< of the search that is compared with; 0: as many as the claim names
  double seconds = 0;       ///< of each search with a time limit; 0: as long as the claim says
  double stop_after_s = 0;  ///< droplet and hidet begin with nothing further after that; 0: no limit
  std::uint64_t seed = 1;
  std::vector<std::string> networks = {};  ///< files of trained cost models
  bool learns = false;                     ///< tlp also compares networks that trees correct
  std::string only = {};                   ///< tasks whose name has this in it
  bool all = false;                        ///< every task, where a choice of them is the default
  bool published = false;                  ///< droplet, hidet and tlp take Ansor's sketches as published for hone's
  std::int64_t ranked =
      0;  ///< hidet tries so many mappings of each task, those that the network of hone likes best; 0: all
  std::string rows = {};  ///< a file that keeps each row found, so that a long claim can go on; or none

  bool wants(std::string_view name) const { return name.find(only) != std::string_view::npos; }
};

Result<Report> throughput_claim(const ClaimOptions& options);
Result<Report> sketch_claim(const ClaimOptions& options);
Result<Report> autotvm_claim(const ClaimOptions& options);
Result<Report> ansor_claim(const ClaimOptions& options);
Result<Report> droplet_claim(const ClaimOptions& options);
Result<Report> hidet_claim(const ClaimOptions& options);
Result<Report> tlp_claim(const ClaimOptions& options);
Result<Report> zero_claim(const ClaimOptions& options);

/// A claim by the name that --claims knows.
struct Claim {
  std::string_view name;
  Result<Report> (*run)(const ClaimOptions&);
};
std::span<const Claim> claims();

}  // namespace hone::bench
