/// What the trials of a task have in common: the result that each of them must give.
#pragma once

#include <memory>

#include "hone/codegen/target.h"
#include "hone/measure/trial.h"
#include "hone/space/space.h"

namespace hone::search {

/// The data of a task's trials: random arguments, and the default program on one thread as the reference.
std::shared_ptr<measure::TaskData> make_task_data(const space::Task& task, const codegen::Target& target);

}  // namespace hone::search
