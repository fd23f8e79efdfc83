/// Taking records of Ansor into a data set: TenSet and other public files of TVM's auto_scheduler.
#pragma once

#include <istream>
#include <string>

#include "hone/cost/dataset.h"

namespace hone::cost {

struct ImportCounts {
  std::size_t records = 0, programs = 0, tasks = 0;  ///< read; new in the data set
};

/// Reads records, a JSON object a line; empty lines and those that begin with # or a space are skipped. A task is known
/// by its workload key, a program by its steps, of which only sentences of the language tlp can be made. `network` is
/// what the tasks are said to belong to. Errors name the line and what is wrong with it; what stands before it is
/// taken.
Result<ImportCounts> import_ansor_records(std::istream& in, const std::string& network, DatasetFile& file);

}  // namespace hone::cost
