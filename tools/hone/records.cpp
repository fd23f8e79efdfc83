// hone records: shows and moves what was measured.
#include "hone/measure/records/records.h"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iostream>
#include <map>
#include <span>
#include <unistd.h>

#include "command.h"
#include "describe.h"
#include "options.h"

#include "hone/ansor_log.h"
#include "hone/schedule/trace.h"

namespace hone::command {
namespace {

namespace fs = std::filesystem;

using measure::Records;

struct RecordsOptions {
  std::string action, argument, records = "default", format = "json";
  std::vector<std::string> workloads;
  std::int64_t keep = 10;
  bool keeps_failures = false;
};

Result<void> list(const Records& records) {
  HONE_TRY(std::vector<measure::TaskSummary> tasks, records.summaries());
  std::stable_sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.target < b.target; });
  std::string target;
  Table table({"task", "trials", "failed", "best us", "shapes of the parameters"});
  const auto flush = [&] {
    if (!target.empty()) fmt::print("{}\n{}", target, table.text());
    table = Table({"task", "trials", "failed", "best us", "shapes of the parameters"});
  };
  for (const measure::TaskSummary& task : tasks) {
    if (task.target != target) {
      flush();
      target = task.target;
    }
    table.add({task.task.key.substr(0, kKeyDigits), fmt::format("{}", task.trials), fmt::format("{}", task.failures),
               us_text(task.best_ns), shapes_text(task.task.shapes)});
  }
  flush();
  if (tasks.empty()) fmt::print("{} holds no records\n", records.file());
  return {};
}

/// The keys of the tasks that begin with these digits.
Result<std::vector<std::string>> find_tasks(const Records& records, const std::string& digits) {
  HONE_TRY(const std::vector<measure::TaskSummary> tasks, records.summaries());
  std::vector<std::string> keys;
  for (const measure::TaskSummary& task : tasks)
    if (task.task.key.starts_with(digits) && std::find(keys.begin(), keys.end(), task.task.key) == keys.end())
      keys.push_back(task.task.key);
  if (keys.empty())
    return error(ErrorCode::NotFound, "no task in {} begins with '{}': `hone records ls` lists them", records.file(),
                 digits);
  return keys;
}

/// Whether a record is the comparison that its candidate won, alone or as a part of a model.
std::string adoption_text(const measure::Record& record) {
  const std::optional<measure::Adoption> adoption = measure::find_adoption(record);
  if (!adoption) return "";
  return adoption->in_model ? "in the model" : "alone";
}

/// Trials that failed, and why; the latest ones.
void show_failures(std::span<const measure::Record> failed, std::size_t count) {
  if (!failed.empty()) fmt::print("\n{} failed\n", failed.size());
  for (const measure::Record& record : failed.last(std::min(failed.size(), count)))
    fmt::print("  {}{}{}\n    {}\n", to_string(record.status), record.message.empty() ? "" : ": ", record.message,
               record.candidate);
  if (failed.size() > count) fmt::print("  and {} others before them (--keep)\n", failed.size() - count);
}

Result<void> show(const Records& records, const std::string& digits, std::int64_t count) {
  HONE_TRY(const std::vector<std::string> keys, find_tasks(records, digits));
  for (const std::string& key : keys) {
    HONE_TRY(std::vector<measure::Record> found, records.find({.task = key}));
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.min_ns() < b.min_ns(); });
    const auto failed = std::stable_partition(found.begin(), found.end(), [](const measure::Record& record) {
      return record.status == measure::TrialStatus::Ok;
    });
    const std::span ok(found.begin(), failed);
    fmt::print("task {}\n{}\n", key, found.front().task.text);
    Table table({"min us", "median us", "checked", "adopted", "candidate"});
    for (const measure::Record& record : ok.first(std::min(ok.size(), static_cast<std::size_t>(count))))
      table.add({us_text(record.min_ns()), us_text(record.median_ns()), record.is_checked ? "yes" : "no",
                 adoption_text(record), record.candidate});
    fmt::print("{}", table.text());
    show_failures(std::span(failed, found.end()), static_cast<std::size_t>(count));
    if (ok.empty()) continue;
    if (const Result<schedule::Trace> trace = schedule::parse_trace(ok.front().trace)) {
      fmt::print("\nthe fastest one's steps\n");
      for (const schedule::Step& step : *trace) fmt::print("  {}\n", schedule::to_text(step));
    }
  }
  return {};
}

/// Counts, the most frequent first, as lines of a table; not more than a screen of them.
void show_counts(const std::map<std::string, std::int64_t>& counts, const char* what) {
  constexpr std::size_t kCountsShown = 20;
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [name, count] : counts) sorted.emplace_back(count, name);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < std::min(sorted.size(), kCountsShown); ++i)
    fmt::print(stderr, "hone: {} {}: {}\n", sorted[i].first, what, sorted[i].second);
  if (sorted.size() > kCountsShown) fmt::print(stderr, "hone: and {} others\n", sorted.size() - kCountsShown);
}

Result<void> write_to(const Records& records, std::ostream& out, const std::string& format) {
  if (format == "json") return records.export_lines(out);
  HONE_TRY(const AnsorTally tally, export_ansor(records, out));
  show_counts(tally.refused, "records left out");
  return {};
}

/// An error if writing the file would destroy the records: it is theirs, by whatever name, or one that belongs to them.
Result<void> check_apart(const std::string& records, const std::string& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    fs::path own = fs::weakly_canonical(records, ignored);
    own += suffix;
    if (fs::equivalent(own, file, ignored) || own == fs::weakly_canonical(file, ignored))
      return error(ErrorCode::InvalidArgument, "'{}' is the file of records itself{}: export to another one", file,
                   *suffix ? ", or a part of it" : "");
  }
  return {};
}

/// Writes what a user calls `name`.
Result<void> write_file(const Records& records, const fs::path& file, const std::string& name,
                        const std::string& format) {
  std::ofstream out(file);
  if (!out) return error(ErrorCode::InvalidArgument, "cannot write '{}': {}", name, std::strerror(errno));
  Result<void> written = write_to(records, out, format);
  out.close();
  if (!out) return error(ErrorCode::InvalidArgument, "cannot write '{}': the disk may be full", name);
  return written;
}

/// What was in the file before stays until all of the new content is written.
Result<void> export_to(const Records& records, const std::string& file, const std::string& format) {
  if (file.empty() || file == "-") return write_to(records, std::cout, format);
  HONE_TRY(check_apart(records.file(), file));
  std::error_code code;
  const bool is_there = fs::exists(file, code);
  if (is_there && !fs::is_regular_file(file, code)) return write_file(records, file, file, format);  // a pipe, for one
  const fs::path wanted = is_there ? fs::canonical(file, code) : fs::path(file);
  fs::path unfinished = wanted;
  unfinished += fmt::format(".{}", getpid());
  Result<void> written = write_file(records, unfinished, file, format);
  if (written) fs::rename(unfinished, wanted, code);
  if (written && code) written = error(ErrorCode::InvalidArgument, "cannot write '{}': {}", file, code.message());
  if (!written) fs::remove(unfinished, code);
  return written;
}

/// "NAME=TASK" of --workload, taken apart.
Result<std::map<std::string, std::string>> parse_workloads(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> workloads;
  for (const std::string& text : texts) {
    const std::size_t middle = text.rfind('=');
    if (middle == std::string::npos || middle == 0 || middle + 1 == text.size())
      return error(ErrorCode::InvalidArgument, "--workload is '{}', expected NAME=TASK", text);
    workloads[text.substr(0, middle)] = text.substr(middle + 1);
  }
  return workloads;
}

Result<void> import_from(const std::string& file, const RecordsOptions& options) {
  std::ifstream in(options.argument);
  in.peek();  // a folder can be opened as well
  if (in.bad() || !in.is_open())
    return error(ErrorCode::NotFound, "cannot read '{}': {}", options.argument, std::strerror(errno));
  HONE_TRY(Records records, Records::open(file));
  if (options.format == "json") {
    HONE_TRY(const std::int64_t count, records.import_lines(in));
    fmt::print("{} new records in {}\n", count, records.file());
    return {};
  }
  HONE_TRY(const auto workloads, parse_workloads(options.workloads));
  HONE_TRY(const AnsorTally tally, import_ansor(records, in, workloads));
  fmt::print("{} new records in {}, {} were there\n", tally.taken, records.file(), tally.known);
  show_counts(tally.workloads, "lines of a workload that no task here computes");
  show_counts(tally.refused, "lines refused");
  return {};
}

Result<void> merge_from(const std::string& file, const std::string& argument) {
  HONE_TRY(const Records other, Records::open(argument, Records::Mode::ReadOnly));
  HONE_TRY(Records records, Records::open(file));
  HONE_TRY(const std::int64_t count, records.merge(other));
  fmt::print("{} new records in {}\n", count, file);
  return {};
}

Result<void> prune(const std::string& file, const RecordsOptions& options) {
  HONE_TRY(Records records, Records::open(file, Records::Mode::Existing));
  HONE_TRY(const std::int64_t count, records.prune(options.keep, options.keeps_failures));
  fmt::print("{} records deleted from {}\n", count, file);
  return {};
}

Result<void> run_records(const RecordsOptions& options) {
  if (options.records == "none")
    return error(ErrorCode::InvalidArgument, "--records is 'none': hone records needs a file to work on");
  const std::string file = measure::records_file(options.records);
  const bool needs_argument = options.action == "show" || options.action == "import" || options.action == "merge";
  if (needs_argument && options.argument.empty())
    return error(ErrorCode::InvalidArgument, "hone records {} needs {}", options.action,
                 options.action == "show" ? "the first digits of a task" : "a file");
  if ((options.action == "ls" || options.action == "prune") && !options.argument.empty())
    return error(ErrorCode::InvalidArgument,
                 "argument '{}' given to hone records {}, which takes none: --records "
                 "names the file to work on",
                 options.argument, options.action);
  if (options.action == "import") return import_from(file, options);
  if (options.action == "merge") return merge_from(file, options.argument);
  if (options.action == "prune") return prune(file, options);
  HONE_TRY(const Records records, Records::open(file, Records::Mode::ReadOnly));
  if (options.action == "show") return show(records, options.argument, options.keep);
  if (options.action == "export") return export_to(records, options.argument, options.format);
  return list(records);
}

}  // namespace

Action add_records(CLI::App& parser) {
  const auto options = std::make_shared<RecordsOptions>();
  add_text(parser, "action", options->action, "ls|show|export|import|merge|prune",
           "list tasks, show one, write or read JSON lines, take in another file, or delete slow records")
      ->required();
  add_text(
      parser, "argument", options->argument, "FILE",
      "the first digits of a task to show, or the file to export to, import from or merge; ls and prune take none");
  constexpr std::int64_t kMost = 1'000'000;
  add_number(parser, "--keep", options->keep, 0, kMost,
             "how many of each task are shown, and as many that failed, or kept by prune (10)");
  add_text(parser, "--format", options->format, "json|ansor",
           "what export writes and import reads: our JSON lines, or logs of Ansor (json)");
  add_texts(parser, "--workload", options->workloads, "NAME=TASK",
            "the first digits of the task that a workload of an Ansor log computes; others are found by their sizes");
  parser.add_flag("--keep-failures", options->keeps_failures, "let prune keep trials that failed");
  add_text(parser, "--records", options->records, "FILE",
           "the file of records to work on, whatever the action (HONE_RECORDS, or the user's own file)");
  return [options] { return run_records(*options); };
}

}  // namespace hone::command
