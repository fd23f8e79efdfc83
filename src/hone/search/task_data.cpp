#include "hone/search/task_data.h"

#include "hone/space/default_program.h"

namespace hone::search {

std::shared_ptr<measure::TaskData> make_task_data(const space::Task& task, const codegen::Target& target) {
  codegen::Target one_thread = target;
  one_thread.threads = 1;
  const schedule::Schedule reference = space::default_schedule(task.naive(), {}, one_thread);
  auto data = std::make_shared<measure::TaskData>();
  data->reference = schedule::split_packing(reference.program());
  return data;
}

}  // namespace hone::search
