/// Whether other programs take the cores that are to be measured on.
#pragma once

namespace hone::command {

/// Says on the standard error if the machine is busy: times are worth little then.
void warn_if_busy();

}  // namespace hone::command
