#include "hone/search/task_data.h"

#include "hone/space/default_program.h"

namespace hone::search {

std::shared_ptr<measure::TaskData> make_task_data(const space::Task& task, const codegen::Target& target) {
  codegen::Target one_thread = target;
  one_thread.threads = 1;
  auto data = std::make_shared<measure::TaskData>();
  data->reference = space::default_program(task.naive(), task.constants, one_thread);
  return data;
}

}  // namespace hone::search
