/// Taking records of Ansor into a data set: TenSet and other public files of TVM's auto_scheduler.
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "hone/cost/dataset.h"
#include "hone/cost/sentence.h"

namespace hone::cost {

struct ImportCounts {
  std::size_t records = 0, programs = 0, tasks = 0;  ///< read; new in the data set
};

/// Reads records, a JSON object a line; empty lines and those that begin with # or a space are skipped. A task is known
/// by its workload key, a program by its steps, of which only sentences of the languages tlp and tlp-gpu can be made.
/// `network` is said to call each of the tasks once, also those that were known before: records do not say whose they
/// are. Errors name the line and what is wrong with it; what stands before it is taken.
Result<ImportCounts> import_ansor_records(std::istream& in, const std::string& network, DatasetFile& file);

/// What a target of such records is: "llvm -keys=cpu -mcpu=…" or "cuda -keys=cuda,gpu -model=t4".
TlpPlatform ansor_platform(std::string_view target);

}  // namespace hone::cost
