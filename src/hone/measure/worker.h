/// The worker's side of measuring: what the program hone_worker does.
#pragma once

namespace hone::measure {

/// Compiles, checks and times what the measurer sends until it goes; the exit code of the process. To be called first
/// thing in main: it takes over the process.
int run_worker();

}  // namespace hone::measure
