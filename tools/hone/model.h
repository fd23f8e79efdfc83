/// What the commands that take a model share: the options that load it and give it inputs.
#pragma once

#include <string>
#include <vector>

#include "options.h"

#include "hone/session.h"

namespace hone::command {

/// The options, as the user gave them.
struct ModelOptions {
  std::string model, target, records = "default", first_choice = "network";
  std::int64_t threads = 0, seed = 0;
  std::vector<std::string> inputs, shapes, dims;

  /// Declares them.
  void add_to(CLI::App& parser);
};

/// Loads the model; see SessionOptions::keeps_tasks.
Result<Session> load_model(const ModelOptions& options, bool keeps_tasks = false);

/// The file of records that the options name; empty for none.
std::string records_file(const ModelOptions& options);
/// The same to be read; empty too if nobody has tuned anything for the user's own file yet. An error if a file that is
/// named is not there, or if it is no file of records.
Result<std::string> readable_records(const ModelOptions& options);

/// The command that runs a session of these options, as a shell takes it apart: with every option that is not the usual
/// one, and at random where an input has no file.
std::string run_line(const Session& session, const ModelOptions& options);

/// What inputs that no file is given for become.
enum class Missing { Error, Random };

/// One value per input: from its file, or drawn at random in the shape that the options give it.
Result<std::vector<Value>> make_inputs(const Session& session, const ModelOptions& options, Missing missing);

/// A tensor of random elements: floats in [-1, 1), integers and bools 0 or 1, which are valid as indices, masks and
/// classes; strings are short words. An error for types that have no such numbers.
Result<Tensor> random_tensor(ElementType type, const Shape& shape, std::uint64_t seed);

}  // namespace hone::command
