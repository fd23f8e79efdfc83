// hone report: writes a page about what tuning tried and found for a model.
#include "hone/report.h"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "busy.h"
#include "command.h"
#include "describe.h"
#include "model.h"
#include "report/page.h"

namespace hone::command {
namespace {

struct ReportCommandOptions {
  ModelOptions model;
  std::string output = "report.html";
  bool measures = false, is_json = false;
};

/// This hone, with the commit if one is named.
std::string version_with_commit() {
  const char* commit = std::getenv("HONE_COMMIT");
  return commit && *commit ? fmt::format("hone {} ({})", HONE_VERSION, commit) : "hone " HONE_VERSION;
}

Result<void> write_page(const std::string& file, const std::string& page) {
  std::ofstream out(file, std::ios::binary);
  if (!out) return error(ErrorCode::InvalidArgument, "cannot write '{}'", file);
  out << page;
  out.close();
  if (!out) return error(ErrorCode::InvalidArgument, "cannot write '{}': the disk may be full", file);
  return {};
}

Result<void> run_report(const ReportCommandOptions& options) {
  HONE_TRY(const std::string file, readable_records(options.model));
  ModelOptions model = options.model;
  model.records = "none";  // the report asks the records itself
  HONE_TRY(const Session session, load_model(model, /*keeps_tasks=*/true));
  HONE_TRY(const std::vector<Value> inputs, make_inputs(session, model, Missing::Random));
  warn_if_busy();
  HONE_TRY(const Report report, make_report(session, inputs,
                                            {.model = std::filesystem::path(model.model).filename().string(),
                                             .version = version_with_commit(),
                                             .records_file = file,
                                             .measures_tasks = options.measures}));
  if (options.is_json) {
    fmt::print("{}", to_json(report));
    return {};
  }
  HONE_TRY(write_page(options.output, report_page(report)));
  fmt::print("{} tasks, {} trials: written to {}\n", report.tasks.size(), report.trials(), options.output);
  return {};
}

}  // namespace

Action add_report(CLI::App& parser) {
  const auto options = std::make_shared<ReportCommandOptions>();
  options->model.add_to(parser);
  add_text(parser, "--output", options->output, "FILE", "the page to write (report.html)");
  parser.add_flag("--measure", options->measures, "time the default and the present kernel of each task now");
  parser.add_flag("--json", options->is_json, "print what the page shows as JSON instead");
  return [options] { return run_report(*options); };
}

}  // namespace hone::command
