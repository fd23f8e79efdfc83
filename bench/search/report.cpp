#include "report.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace hone::bench {
namespace {

std::string commit() {
  const char* text = std::getenv("HONE_COMMIT");
  return text ? text : "unknown";
}

/// "model name : Intel(R) Xeon(R) …" of the first core.
std::string machine() {
  std::ifstream file("/proc/cpuinfo");
  std::string line, name = "an unknown processor";
  int cores = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("processor")) ++cores;
    if (line.starts_with("model name")) name = line.substr(line.find(": ") + 2);
  }
  return fmt::format("{}, {} cores", name, cores);
}

std::string markdown(const Report& report, const std::string& command) {
  std::string text =
      fmt::format("## {}\n\n{}\n\n`{}`, commit {}, {}.\n\n", report.title, report.how, command, commit(), machine());
  text += fmt::format("| {} |\n|{}\n", fmt::join(report.columns, " | "), [&] {
    std::string rule;
    for (std::size_t i = 0; i < report.columns.size(); ++i) rule += "---|";
    return rule;
  }());
  for (const std::vector<std::string>& row : report.rows) text += fmt::format("| {} |\n", fmt::join(row, " | "));
  text += "\n";
  for (const std::string& result : report.results) text += fmt::format("- {}\n", result);
  return text;
}

/// The strings of an array of strings; nothing of anything else.
std::vector<std::string> cells_of(const nlohmann::json& array) {
  std::vector<std::string> cells;
  if (!array.is_array()) return cells;
  for (const auto& cell : array) {
    if (!cell.is_string()) return {};
    cells.push_back(cell.get<std::string>());
  }
  return cells;
}

}  // namespace

void print(const Report& report) {
  std::vector<std::size_t> widths;
  for (const std::string& column : report.columns) widths.push_back(column.size());
  for (const auto& row : report.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      fmt::print(stderr, "{}",
                 i == 0 ? fmt::format("{:<{}}", cells[i], widths[i]) : fmt::format("  {:>{}}", cells[i], widths[i]));
    fmt::print(stderr, "\n");
  };
  fmt::print(stderr, "\n{}\n", report.title);
  line(report.columns);
  for (const auto& row : report.rows) line(row);
  for (const std::string& result : report.results) fmt::print(stderr, "{}\n", result);

  using Json = nlohmann::ordered_json;
  const auto head = [&] { return Json{{"bench", "search"}, {"claim", report.claim}, {"commit", commit()}}; };
  for (const auto& row : report.rows) {
    Json json = head();
    for (std::size_t i = 0; i < row.size(); ++i) json[report.columns[i]] = row[i];
    fmt::print("{}\n", json.dump());
  }
  for (const std::string& result : report.results) {
    Json json = head();
    json["result"] = result;
    fmt::print("{}\n", json.dump());
  }
  std::fflush(stdout);
}

Result<void> write_section(const Report& report, const std::filesystem::path& file, const std::string& command) {
  std::ifstream in(file);
  std::stringstream content;
  content << in.rdbuf();
  std::string text = content.str();
  const std::string section = markdown(report, command);
  const std::size_t begin = text.find(fmt::format("## {}\n", report.title));
  if (begin == std::string::npos) {
    text += "\n" + section;
  } else {
    const std::size_t end = text.find("\n## ", begin);
    text = text.substr(0, begin) + section + (end == std::string::npos ? "" : text.substr(end));
  }
  std::ofstream out(file);
  out << text;
  out.flush();
  if (!out) return error(ErrorCode::Unsupported, "cannot write '{}'", file.string());
  return {};
}

Result<RowFile> RowFile::open(const std::string& file, const Conditions& conditions, std::size_t cells) {
  RowFile rows;
  rows.file_ = file;
  if (file.empty()) return rows;
  const std::string head = nlohmann::json(conditions).dump();
  std::ifstream in(file);
  bool is_new = true;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (is_new && !json.is_array() && line != head)
      return error(ErrorCode::InvalidArgument, "'{}' begins with {}, expected {}", file, line, head);
    is_new = false;
    // A run that was cut off leaves half a line.
    if (std::vector<std::string> row = cells_of(json); !row.empty() && row.size() == cells)
      rows.rows_[row.front()] = std::move(row);
  }
  rows.out_.open(file, std::ios::app);
  if (is_new) rows.out_ << head << '\n';
  if (!rows.out_.flush()) return error(ErrorCode::Unsupported, "cannot write '{}'", file);
  return rows;
}

const std::vector<std::string>* RowFile::find(const std::string& name) const {
  const auto found = rows_.find(name);
  return found == rows_.end() ? nullptr : &found->second;
}

Result<void> RowFile::add(std::vector<std::string> row) {
  if (!file_.empty()) {
    out_ << '\n' << nlohmann::json(row).dump() << '\n';  // the line before may be half a line
    if (!out_.flush()) return error(ErrorCode::Unsupported, "cannot write '{}'", file_);
  }
  const std::string name = row.front();
  rows_[name] = std::move(row);
  return {};
}

Result<double> number_in(const std::vector<std::string>& row, std::size_t cell) {
  const std::string& text = row[cell];
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size())
    return error(ErrorCode::ParseError, "the row of '{}' has '{}' in cell {}, expected a number", row.front(), text,
                 cell);
  return number;
}

double geometric_mean(const std::vector<double>& ratios) {
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return ratios.empty() ? 0 : std::exp(sum / static_cast<double>(ratios.size()));
}

}  // namespace hone::bench
