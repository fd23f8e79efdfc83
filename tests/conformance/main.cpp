/// Runs test cases of the ONNX suite, as write_cases.py writes them, and counts what passes per operator.
#include <CLI/CLI.hpp>
#include <atomic>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include "case_runner.h"

namespace {

using namespace hone::conformance;

struct Counts {
  int pass = 0, fail = 0, unsupported = 0;

  void add(Outcome outcome) { (outcome == Outcome::Pass ? pass : outcome == Outcome::Fail ? fail : unsupported) += 1; }
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs ONNX test cases: folders with model.onnx and test_data_set_N/{input,output}_K.pb");
  std::vector<std::string> folders;
  std::string wanted_operator, wanted_name;
  int jobs = 1, seconds = 60;
  bool is_quiet = false, is_compiled = false;
  app.add_option("folder", folders, "case folders, or folders that contain some")->required();
  app.add_option("--op", wanted_operator, "only cases about this operator");
  app.add_option("--name", wanted_name, "only cases whose name contains this");
  app.add_option("-j,--jobs", jobs, "cases that run at once");
  app.add_option("--seconds", seconds, "the time limit of a case");
  app.add_flag("-q,--quiet", is_quiet, "do not list cases that pass");
  app.add_flag("--compiled", is_compiled, "run sessions with compiled kernels, not the reference evaluator");
  CLI11_PARSE(app, argc, argv);

  std::vector<std::filesystem::path> cases;
  for (const std::string& folder : folders)
    for (const std::filesystem::path& found : find_cases(folder)) {
      const bool is_wanted = (wanted_operator.empty() || operator_of(found) == wanted_operator) &&
                             found.filename().string().find(wanted_name) != std::string::npos;
      if (is_wanted) cases.push_back(found);
    }
  if (cases.empty()) {
    std::cerr << "no cases found\n";
    return 2;
  }

  std::mutex mutex;
  Counts all;
  std::map<std::string, Counts> per_operator;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      const Report report = run_case_apart(cases[i], seconds, is_compiled ? Engine::Compiled : Engine::Reference);
      const std::scoped_lock lock(mutex);
      all.add(report.outcome);
      per_operator[operator_of(cases[i])].add(report.outcome);
      if (report.outcome == Outcome::Pass && is_quiet) continue;
      const char* const words[] = {"pass", "FAIL", "unsupported"};
      fmt::print("{} {}{}{}\n", words[static_cast<int>(report.outcome)], cases[i].filename().string(),
                 report.reason.empty() ? "" : ": ", report.reason);
      std::fflush(stdout);
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < jobs; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();

  fmt::print("\n{:<32} {:>5} {:>5} {:>11}\n", "operator", "pass", "fail", "unsupported");
  for (const auto& [name, counts] : per_operator)
    if (!is_quiet || counts.fail + counts.unsupported > 0)
      fmt::print("{:<32} {:>5} {:>5} {:>11}\n", name, counts.pass, counts.fail, counts.unsupported);
  fmt::print("{:<32} {:>5} {:>5} {:>11}  of {}\n", "all", all.pass, all.fail, all.unsupported, cases.size());
  return all.fail + all.unsupported > 0 ? 1 : 0;
}
