/// The tables of a record file, and the way from older ones to these.
#pragma once

#include "hone/measure/records/database.h"

namespace hone::measure {

/// Makes the tables of a new file, or brings those of an older hone up to date. Unsupported if they are of a newer
/// hone; ParseError if the file is a database of something else.
Result<void> upgrade_schema(Database& database);
/// Checks that the tables can be read as they are.
Result<void> check_schema(Database& database);

}  // namespace hone::measure
