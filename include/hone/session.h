/// Sessions: load a model and run it. This is the public C++ API.
///
///     HONE_TRY(const hone::Session session, hone::Session::load("model.onnx"));
///     HONE_TRY(const std::vector<hone::Value> outputs, session.run(inputs));
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hone/runtime/value.h"
#include "hone/support/result.h"

namespace hone {

namespace graph {
struct Graph;
struct Type;
}  // namespace graph
namespace runtime {
class Plan;
struct Profile;
}  // namespace runtime
struct TaskUse;
class FirstChoice;

using runtime::ElementType;
using runtime::Profile;
using runtime::Shape;
using runtime::Tensor;
using runtime::Value;

/// How a session runs.
struct SessionOptions {
  int threads = 0;     ///< including the caller's; 0: as many as the process may use
  std::string target;  ///< what to compile for, as `hone targets` prints it; empty: this machine
  /// The file of records that says what `hone tune` found; "default": the user's own (HONE_RECORDS, or hone/records.db
  /// in the folder for data); "none" or empty: none, every kernel is the default one.
  std::string records = "default";
  /// What a kernel is that nothing is known of from tuning: "network" asks a trained network, which takes some
  /// milliseconds of loading a kernel and a tenth of a second once in a process, "rules" asks nobody.
  std::string first_choice = "network";
  /// How many combinations of input shapes are kept compiled.
  std::size_t max_specializations = 64;
  bool keeps_tasks = false;  ///< remember what kernels were compiled from, for `tasks`
};

/// An input or output of a model.
struct Port {
  std::string name;
  ElementType type = ElementType::Undefined;  ///< Undefined: not a tensor
  std::string type_text;                      ///< "tensor(float)", "seq(tensor(int64))": as ONNX Runtime writes it
  bool has_shape = false;                     ///< whether the rank is known
  Shape shape;                                ///< -1: not fixed
  std::vector<std::string> symbols;           ///< the name of an extent that is not fixed, or empty
  bool is_optional = false;                   ///< may be left out: it has a default
};

/// "tensor(float) of shape [batch, 3]": for messages.
std::string describe(const Port& port);

/// What stands in a model file, before any graph pass.
struct Contents {
  /// How many of each operator, those in subgraphs included; outside ai.onnx the name has its domain in front.
  std::map<std::string, std::int64_t> operators;
  std::int64_t parameters = 0;      ///< elements of its constants
  std::size_t parameter_bytes = 0;  ///< of the same
};

/// A loaded model. Copies share it; any number of threads may run it at once.
class Session {
 public:
  /// Reads an ONNX file. The error names what is wrong with it, or every operator that is not supported.
  static Result<Session> load(const std::filesystem::path& file, const SessionOptions& options = {});
  /// The same from memory; external data is looked for in `folder`, if one is given.
  static Result<Session> parse(std::span<const std::byte> model, const SessionOptions& options = {},
                               const std::filesystem::path& folder = {});

  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  /// Initializers that the file also lists as inputs: `with_inputs` replaces them.
  const std::vector<Port>& overridable() const;
  /// The same model with these overridable initializers as further inputs, after the others. Compiled anew the first
  /// time, as their content is no longer known; kept by this session from then on.
  Result<Session> with_inputs(std::span<const std::string> initializers) const;
  /// The model's own notes; "producer" and "graph" are there if the file names them.
  const std::map<std::string, std::string>& metadata() const;

  const Contents& contents() const;

  /// Runs the model on one value per input, in their order, and gives one per output. Absent values stand for inputs
  /// that may be left out. Shapes that were not seen before are compiled first.
  Result<std::vector<Value>> run(std::span<const Value> inputs) const;
  /// The same into `outputs`: tensors of the right type and shape are filled, others replaced. For inputs whose shapes
  /// were seen before, and outputs that fit, nothing is allocated. `profile` may be null.
  Result<void> run(std::span<const Value> inputs, std::span<Value> outputs, Profile* profile = nullptr) const;

  /// The index of an input or output, or an error that lists the names there are.
  Result<std::size_t> input_index(std::string_view name) const;
  Result<std::size_t> output_index(std::string_view name) const;

  /// The model after graph passes, and the plans that a run on these inputs goes through; for tools that show them.
  /// There is one plan unless shapes depend on content: then the model is run to find the others.
  const graph::Graph& graph() const;
  Result<std::vector<const runtime::Plan*>> plans(std::span<const Value> inputs) const;
  /// What the kernels of such a run compute, each task once; only if the options say that tasks are kept.
  Result<std::vector<TaskUse>> tasks(std::span<const Value> inputs) const;
  /// What it compiles kernels to of which nothing is known from tuning; for tools that compare with that.
  const FirstChoice& first_choice() const;
  /// The same model with certain candidates for its kernels, as JSON by the key of the task, whatever records say: for
  /// comparing them. Both share their weights, as far as their kernels want them alike, and their threads.
  Session with_kernels(std::map<std::string, std::string> candidates) const;
  /// The machine that it is compiled for, as `hone targets` prints it, and the threads that run it.
  std::string target() const;
  int threads() const;

 private:
  struct Impl;
  explicit Session(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  Result<void> check_inputs(std::span<const Value> inputs) const;
  static Result<Session> make(graph::Graph graph, const SessionOptions& options);
  static Result<Session> make(graph::Graph graph, const Impl& shared);

  std::shared_ptr<const Impl> impl_;
};

}  // namespace hone
