/// Interrupts: a way to end a run that would go on for too long, such as a Loop whose condition never becomes false.
#pragma once

#include "hone/support/result.h"

namespace hone::runtime {

/// Says whether runs are to end. Called by whichever thread runs, some fifty times a second.
using InterruptCheck = bool (*)();

/// Sets what operators ask between their iterations, for the whole process; null, as it is at first: nothing.
void set_interrupt_check(InterruptCheck check);

/// An error if runs are to end. Costs next to nothing: most calls only look at the clock.
Result<void> check_interrupt();

}  // namespace hone::runtime
