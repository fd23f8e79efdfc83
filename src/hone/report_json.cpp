// The JSON form of a report.
#include <cmath>
#include <nlohmann/json.hpp>

#include "hone/report.h"

namespace hone {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json json_of(const KernelText& text) {
  return {{"candidate", Json::parse(text.candidate, nullptr, /*allow_exceptions=*/false)},
          {"steps", text.steps},
          {"program", text.program},
          {"assembly", text.assembly}};
}

Json json_of(const ReportTask& task) {
  Json failures = Json::array(), history = Json::array();
  for (const ReportFailure& failure : task.failures)
    failures.push_back({{"reason", failure.reason}, {"count", failure.count}, {"message", failure.message}});
  for (const ReportTrial& trial : task.history)
    history.push_back({{"seconds", trial.seconds}, {"ns", number(trial.ns)}, {"adopted", trial.is_adopted}});
  return {{"name", task.name},
          {"key", task.key},
          {"shapes", task.shapes},
          {"uses", task.uses},
          {"flops", task.flops},
          {"bytes", task.bytes},
          {"origin", to_string(task.origin)},
          {"in_model", task.is_decided_in_model},
          {"near_shapes", task.near_shapes},
          {"default_ns", number(task.default_ns)},
          {"chosen_ns", number(task.chosen_ns)},
          {"trials", task.trials},
          {"failures", failures},
          {"history", history},
          {"default", json_of(task.default_text)},
          {"chosen", json_of(task.chosen_text)}};
}

}  // namespace

std::string to_json(const Report& report) {
  Json bandwidths = Json::array(), tasks = Json::array(), curve = Json::array();
  for (const ReportBandwidth& one : report.bandwidths)
    bandwidths.push_back({{"memory", one.memory}, {"bytes", one.bytes}, {"gbytes_per_s", one.gbytes}});
  for (const ReportTask& task : report.tasks) tasks.push_back(json_of(task));
  for (const ReportPoint& point : report.curve)
    curve.push_back({{"trials", point.trials}, {"seconds", point.seconds}, {"ns", number(point.ns)}});
  const Json json = {{"model", report.model},
                     {"target", report.target},
                     {"machine", report.machine},
                     {"version", report.version},
                     {"threads", report.threads},
                     {"made_ms", report.made_ms},
                     {"records_file", report.records_file},
                     {"is_measured", report.is_measured},
                     {"first_ms", report.first_ms},
                     {"last_ms", report.last_ms},
                     {"tuning_s", report.tuning_s},
                     {"trials", report.trials()},
                     {"failures", report.failures()},
                     {"timed_tasks", report.timed_tasks()},
                     {"default_ns", report.default_ns()},
                     {"chosen_ns", report.chosen_ns()},
                     {"peak_gflops", report.peak_gflops},
                     {"bandwidths", bandwidths},
                     {"other_targets", report.other_targets},
                     {"curve", curve},
                     {"tasks", tasks}};
  // What comes from files may be no UTF-8.
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hone
