#include "command.h"

namespace hone::command {

Action add_bench(CLI::App& parser);
Action add_completion(CLI::App& parser);
Action add_cost_model(CLI::App& parser);
Action add_dataset(CLI::App& parser);
Action add_explain(CLI::App& parser);
Action add_inspect(CLI::App& parser);
Action add_man(CLI::App& parser);
Action add_records(CLI::App& parser);
Action add_report(CLI::App& parser);
Action add_run(CLI::App& parser);
Action add_targets(CLI::App& parser);
Action add_tune(CLI::App& parser);

std::span<const Command> commands() {
  static constexpr Command all[] = {
      {"run", "run a model, print what comes out, and store it", add_run},
      {"inspect", "show what a model consists of, and what it is compiled to", add_inspect},
      {"bench", "measure how long a model takes, kernel by kernel", add_bench},
      {"tune", "search for faster kernels of a model, and record them", add_tune},
      {"explain", "show the candidates of a task, and which one is compiled", add_explain},
      {"report", "write a page about what tuning tried and found", add_report},
      {"records", "show and move what was measured", add_records},
      {"dataset", "collect what cost models are trained on", add_dataset},
      {"cost-model", "train and examine what predicts which kernels are fast", add_cost_model},
      {"targets", "show the machines that models can be compiled for", add_targets},
      {"completion", "print a script that lets a shell complete this command", add_completion},
      {"man", "print the manual page", add_man},
  };
  return all;
}

}  // namespace hone::command
