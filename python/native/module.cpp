// The extension module hone._native: the public C++ API, as the Python package needs it.
#include <atomic>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "dtypes.h"
#include "templates.h"

#include "hone/runtime/interrupt.h"
#include "hone/search/presets.h"
#include "hone/session.h"
#include "hone/tune.h"

namespace hone::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

PyObject* error_class = nullptr;  ///< hone.Error; lives as long as the module, which is never unloaded

void set_error(const std::string& code, const std::string& message) {
  const nb::object error = nb::handle(error_class)(message);
  error.attr("code") = code;
  PyErr_SetObject(error_class, error.ptr());
}

/// Mistakes of our own surface as hone.Error too.
void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const InternalError& error) { set_error("internal error", error.what()); }
}

/// The extents of a port as onnxruntime gives them: numbers, names, or None.
nb::list shape_list(const Port& port) {
  nb::list shape;
  for (std::size_t i = 0; i < port.shape.size(); ++i) {
    if (port.shape[i] >= 0) {
      shape.append(port.shape[i]);
    } else if (!port.symbols[i].empty()) {
      shape.append(port.symbols[i]);
    } else {
      shape.append(nb::none());
    }
  }
  return shape;
}

Session load(const std::filesystem::path& file, const SessionOptions& options) {
  Result<Session> session = [&] {
    const nb::gil_scoped_release unlocked;
    return Session::load(file, options);
  }();
  return unwrap(std::move(session));
}

Session parse(const nb::bytes& model, const SessionOptions& options, const std::filesystem::path& folder) {
  const std::span bytes(static_cast<const std::byte*>(model.data()), model.size());
  Result<Session> session = [&] {
    const nb::gil_scoped_release unlocked;
    return Session::parse(bytes, options, folder);
  }();
  return unwrap(std::move(session));
}

/// The session, or if some of the feeds replace initializers, the one that takes those as inputs.
Session session_for(const Session& session, const nb::dict& feeds) {
  std::vector<std::string> replaced;
  for (const Port& port : session.overridable())
    if (feeds.contains(port.name.c_str())) replaced.push_back(port.name);
  if (replaced.empty()) return session;
  Result<Session> variant = [&] {
    const nb::gil_scoped_release unlocked;
    return session.with_inputs(replaced);
  }();
  return unwrap(std::move(variant));
}

std::vector<Value> values_of(const Session& session, const nb::dict& feeds) {
  std::vector<Value> inputs(session.inputs().size());
  for (const auto [name, object] : feeds) {
    const std::size_t index = unwrap(session.input_index(nb::cast<std::string>(name)));
    inputs[index] = to_value(object, session.inputs()[index]);
  }
  return inputs;
}

nb::list run(const Session& given, const std::optional<std::vector<std::string>>& output_names, const nb::dict& feeds) {
  const Session session = session_for(given, feeds);
  std::vector<std::size_t> wanted;
  if (output_names && !output_names->empty()) {
    for (const std::string& name : *output_names) wanted.push_back(unwrap(session.output_index(name)));
  } else {
    for (std::size_t i = 0; i < session.outputs().size(); ++i) wanted.push_back(i);
  }
  const std::vector<Value> inputs = values_of(session, feeds);
  Result<std::vector<Value>> outputs = [&] {
    const nb::gil_scoped_release unlocked;
    return session.run(inputs);
  }();
  if (!outputs) raise(outputs.error());
  nb::list results;
  for (const std::size_t index : wanted) results.append(to_python((*outputs)[index]));
  return results;
}

/// Tunes a model; the report as a list of dicts, one for each task.
nb::list tune_session(const Session& session, const nb::dict& feeds, const std::string& records_file,
                      search::TunerOptions options, bool has_finals, double patience) {
  const std::vector<Value> inputs = values_of(session, feeds);
  std::atomic<bool> stop = false;
  options.stop = &stop;
  const auto look_for_signals = [&] {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) stop = true;
  };
  options.progress = [&](const search::TuneProgress&) { look_for_signals(); };
  const ModelTuning tuning{
      .has_finals = has_finals, .patience = patience, .progress = [&](const FinalsProgress&) { look_for_signals(); }};
  Result<ModelTuneReport> report = [&]() -> Result<ModelTuneReport> {
    const nb::gil_scoped_release unlocked;
    return tune(session, inputs, options, measure::records_file(records_file), tuning);
  }();
  if (PyErr_Occurred()) throw nb::python_error();  // everything measured so far is in the records
  if (!report) raise(report.error());
  if (!report->records_error.empty() &&
      PyErr_WarnFormat(PyExc_RuntimeWarning, 2, "not everything that was found is stored: %s",
                       report->records_error.c_str()) != 0)
    throw nb::python_error();
  if (!report->model_error.empty() && PyErr_WarnEx(PyExc_RuntimeWarning, report->model_error.c_str(), 2) != 0)
    throw nb::python_error();
  nb::list tasks;
  for (const search::TaskProgress& task : report->progress.tasks) {
    nb::dict entry;
    entry["name"] = task.name;
    entry["calls"] = task.weight;
    entry["trials"] = task.trials;
    entry["failures"] = task.failures;
    entry["default_ns"] = task.first_ns;
    entry["tuned_ns"] = task.best_ns;
    entry["candidate"] = task.best;
    entry["reused"] = task.reused;
    tasks.append(entry);
  }
  return tasks;
}

/// Lets Python handle signals while a model runs. An exception of a handler, such as KeyboardInterrupt, ends the run.
bool has_signal() {
  const nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

}  // namespace

void raise(ErrorCode code, const std::string& message) {
  if (PyErr_Occurred()) throw nb::python_error();  // what interrupted the run
  set_error(std::string(to_string(code)), message);
  throw nb::python_error();
}

void raise(const Error& error) { raise(error.code, error.message); }

bool is_hone_error(const nb::python_error& raised) { return raised.matches(nb::handle(error_class)); }

NB_MODULE(_native, m) {
  m.doc() = "The compiled part of hone.";
  error_class = PyErr_NewExceptionWithDoc(
      "hone.Error",
      "What hone refuses, and why. `code` says what kind of thing went wrong, such as 'invalid argument'.",
      PyExc_RuntimeError, nullptr);
  m.attr("Error") = nb::borrow(error_class);
  nb::register_exception_translator(translate);
  runtime::set_interrupt_check(has_signal);

  m.def(
      "numpy_dtype",
      [](const std::string& name) {
        const std::optional<ElementType> type = runtime::element_type_named(name);
        if (!type) raise(ErrorCode::NotFound, "there is no element type '" + name + "'");
        return dtype_of(*type);
      },
      "name"_a, "The numpy dtype of an element type, such as 'float' or 'bfloat16'.");

  nb::class_<Port>(m, "NodeArg", "An input or output of a model.")
      .def_prop_ro(
          "name", [](const Port& port) { return port.name; }, "Its name in the model.")
      .def_prop_ro(
          "type", [](const Port& port) { return port.type_text; }, "Its type, such as 'tensor(float)'.")
      .def_prop_ro("shape", shape_list,
                   "Its extents: a number, the name of one that varies, or None if it has no name.")
      .def("__repr__", [](const Port& port) {
        return nb::str("NodeArg(name={!r}, type={!r}, shape={})").format(port.name, port.type_text, shape_list(port));
      });

  nb::class_<SessionOptions>(m, "Options", "How a session runs.")
      .def(nb::init<>())
      .def_rw("threads", &SessionOptions::threads, "Including the caller's; 0: as many as the process may use.")
      .def_rw("target", &SessionOptions::target, "What to compile for; empty: this machine.")
      .def_rw("max_specializations", &SessionOptions::max_specializations,
              "How many combinations of input shapes are kept compiled.")
      .def_rw("first_choice", &SessionOptions::first_choice, "What is not tuned: 'rules' or 'network'.")
      .def_rw("records", &SessionOptions::records, "What tuning found: a file, 'default' or 'none'.")
      .def_rw("keeps_tasks", &SessionOptions::keeps_tasks, "Remember what kernels were compiled from, for tuning.");

  nb::class_<search::TunerOptions>(m, "TunerOptions", "How a model is tuned.")
      .def(nb::init<>())
      .def_rw("space", &search::TunerOptions::space)
      .def_rw("search", &search::TunerOptions::search)
      .def_rw("cost_model", &search::TunerOptions::cost_model)
      .def_rw("cost_model_file", &search::TunerOptions::cost_model_file)
      .def_rw("save_cost_model", &search::TunerOptions::save_cost_model)
      .def_rw("explore", &search::TunerOptions::explore)
      .def_rw("transfer", &search::TunerOptions::transfer)
      .def_rw("early_stop", &search::TunerOptions::early_stop)
      .def_rw("target_seconds", &search::TunerOptions::target_seconds)
      .def_prop_rw(
          "crossover",
          [](const search::TunerOptions& options) { return options.search_options.evolutionary.crossover; },
          [](search::TunerOptions& options, double share) { options.search_options.evolutionary.crossover = share; })
      .def_rw("seconds", &search::TunerOptions::seconds)
      .def_rw("trials", &search::TunerOptions::trials)
      .def_rw("trials_per_task", &search::TunerOptions::trials_per_task)
      .def_rw("seed", &search::TunerOptions::seed)
      .def(
          "use_preset",
          [](search::TunerOptions& options, const std::string& name) {
            if (const Result<void> used = search::use_preset(name, options); !used) raise(used.error());
          },
          "name"_a, "Sets space, search, cost model and what belongs to them.");

  nb::class_<Session>(m, "Session", "A loaded model.")
      .def_static("load", load, "file"_a, "options"_a, "Reads an ONNX file.")
      .def_static("parse", parse, "model"_a, "options"_a, "folder"_a,
                  "Reads a model from bytes; its external data is looked for in `folder`.")
      .def_prop_ro(
          "inputs", [](const Session& session) { return session.inputs(); }, "The inputs, in their order.")
      .def_prop_ro(
          "outputs", [](const Session& session) { return session.outputs(); }, "The outputs, in their order.")
      .def_prop_ro(
          "overridable", [](const Session& session) { return session.overridable(); },
          "Initializers that a run may replace, by their name among the feeds.")
      .def_prop_ro(
          "metadata", [](const Session& session) { return session.metadata(); }, "The model's own notes.")
      .def_prop_ro("threads", &Session::threads, "How many threads a run uses.")
      .def("tune", tune_session, "feeds"_a, "records"_a, "options"_a, "finals"_a, "patience"_a,
           "Searches for faster kernels of what a run on these inputs calls.")
      .def("run", run, "output_names"_a.none(), "feeds"_a, "Runs the model and gives the outputs that are asked for.");

  define_templates(m);
}

}  // namespace hone::python
