#include "hone/dataset.h"

#include "hone/cost/dataset.h"
#include "hone/measure/records/task_key.h"

namespace hone {

Result<std::vector<search::CollectTask>> gather_tasks(const std::vector<std::filesystem::path>& files,
                                                      const std::vector<ModelShape>& variations,
                                                      const codegen::Target& target,
                                                      const std::function<void(const std::string&)>& note) {
  constexpr std::int64_t kUsualSequence = 128;
  std::vector<search::CollectTask> tasks;
  std::map<std::string, std::size_t> known;
  for (const std::filesystem::path& file : files) {
    const std::string network = file.stem().string();
    std::vector<ModelShape> shapes = {ModelShape{.name = "", .dims = {{"sequence", kUsualSequence}}}};
    if (!cost::is_test_network(network)) shapes.insert(shapes.end(), variations.begin(), variations.end());
    HONE_TRY(const auto found, model_tasks(file, target, shapes));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const std::string name = shapes[i].name.empty() ? network : network + "@" + shapes[i].name;
      if (!found[i]) {
        note(fmt::format("{} is left out: {}", name, found[i].error().message));
        continue;
      }
      for (const TaskUse& use : *found[i]) {
        const std::string key = measure::task_key(use.task->naive(), use.task->constants).key;
        const auto [place, is_new] = known.emplace(key, tasks.size());
        if (is_new) tasks.push_back({use.task, use.name, {}});
        tasks[place->second].networks[name] = static_cast<double>(use.uses);
      }
    }
  }
  return tasks;
}

}  // namespace hone
