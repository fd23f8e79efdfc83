#include "model.h"

#include <CLI/Option.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string_view>

#include "npy.h"

#include "hone/measure/records/records.h"
#include "hone/runtime/small_float.h"
#include "hone/support/rng.h"

namespace hone::command {
namespace {

constexpr std::int64_t kMostThreads = 1024;

struct NamedText {
  std::string name, text;
};

/// Takes "name=text" apart.
Result<NamedText> split_named(const std::string& given, std::string_view option, std::string_view form) {
  const std::size_t equals = given.find('=');
  if (equals == std::string::npos || equals == 0)
    return error(ErrorCode::InvalidArgument, "{} is '{}', expected {}", option, given, form);
  return NamedText{given.substr(0, equals), given.substr(equals + 1)};
}

Result<std::int64_t> parse_extent(std::string_view text, std::string_view option, std::string_view given) {
  std::int64_t extent = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), extent);
  if (status != std::errc() || end != text.data() + text.size() || extent < 0)
    return error(ErrorCode::InvalidArgument, "{} is '{}': the extent '{}' is no whole number of 0 or more", option,
                 given, text);
  return extent;
}

/// "1x3x224x224"; no text is a scalar.
Result<Shape> parse_shape(std::string_view text, std::string_view given) {
  Shape shape;
  while (!text.empty()) {
    const std::size_t end = text.find('x');
    HONE_TRY(const std::int64_t extent, parse_extent(text.substr(0, end), "--shape", given));
    shape.push_back(extent);
    if (end == text.size() - 1)
      return error(ErrorCode::InvalidArgument, "--shape is '{}': an extent is missing after the last 'x'", given);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return shape;
}

/// What is known of the inputs before those at random are made.
struct Given {
  std::map<std::size_t, Tensor> tensors;
  std::map<std::size_t, Shape> shapes;
  std::map<std::string, std::int64_t> dims;
};

Result<void> check_dim(const Session& session, const std::string& name) {
  std::set<std::string> symbols;
  for (const Port& port : session.inputs()) symbols.insert(port.symbols.begin(), port.symbols.end());
  symbols.erase("");
  if (symbols.contains(name)) return {};
  if (symbols.empty())
    return error(ErrorCode::NotFound, "--dim names '{}', but no dimension of the model's inputs has a name", name);
  return error(ErrorCode::NotFound, "--dim names '{}', the dimensions of the model's inputs are: {}", name,
               fmt::join(symbols, ", "));
}

Result<Given> read_given(const Session& session, const ModelOptions& options) {
  Given given;
  for (const std::string& text : options.dims) {
    HONE_TRY(const NamedText dim, split_named(text, "--dim", "NAME=EXTENT, such as batch=1"));
    HONE_TRY(check_dim(session, dim.name));
    HONE_TRY(given.dims[dim.name], parse_extent(dim.text, "--dim", text));
  }
  for (const std::string& text : options.shapes) {
    HONE_TRY(const NamedText shape, split_named(text, "--shape", "NAME=EXTENTS, such as image=1x3x224x224"));
    HONE_TRY(const std::size_t input, session.input_index(shape.name));
    HONE_TRY(given.shapes[input], parse_shape(shape.text, text));
  }
  for (const std::string& text : options.inputs) {
    HONE_TRY(const NamedText file, split_named(text, "--input", "NAME=FILE, such as image=cat.npy"));
    HONE_TRY(const std::size_t input, session.input_index(file.name));
    const Port& port = session.inputs()[input];
    HONE_TRY(Tensor tensor, read_npy(file.text, port.type));
    // Named extents of inputs from files hold for those at random too.
    if (port.shape.size() == tensor.rank())
      for (std::size_t i = 0; i < tensor.rank(); ++i)
        if (port.shape[i] < 0 && !port.symbols[i].empty()) given.dims.try_emplace(port.symbols[i], tensor.extent(i));
    given.tensors[input] = std::move(tensor);
  }
  return given;
}

/// The shape of an input at random: extents that nobody gave are 1.
Result<Shape> choose_shape(const Port& port, const Given& given, std::size_t input) {
  if (const auto found = given.shapes.find(input); found != given.shapes.end()) return found->second;
  if (!port.has_shape)
    return error(ErrorCode::InvalidArgument, "input '{}' ({}) has no declared shape: give one with --shape {}=EXTENTS",
                 port.name, describe(port), port.name);
  Shape shape = port.shape;
  std::vector<std::string> assumed;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] >= 0) continue;
    const auto dim = given.dims.find(port.symbols[i]);
    shape[i] = dim == given.dims.end() ? 1 : dim->second;
    if (dim == given.dims.end())
      assumed.push_back(port.symbols[i].empty() ? fmt::format("axis {}", i) : port.symbols[i]);
  }
  if (!assumed.empty())
    fmt::print(stderr, "hone: input '{}': 1 is assumed for {} (--dim and --shape say otherwise)\n", port.name,
               fmt::join(assumed, ", "));
  return shape;
}

/// A word as a shell reads it, quoted where that is needed.
std::string shell_word(const std::string& word) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_-./=:,+@%").find(c) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

template <typename T, typename Draw>
void fill(Tensor& tensor, Draw draw) {
  for (T& element : tensor.as<T>()) element = static_cast<T>(draw());
}

}  // namespace

void ModelOptions::add_to(CLI::App& parser) {
  add_text(parser, "model", model, "FILE", "the ONNX file")->required();
  add_texts(parser, "--input", inputs, "NAME=FILE", "take this input from a .npy file (may be repeated)");
  add_texts(parser, "--shape", shapes, "NAME=EXTENTS", "the shape of an input at random, such as image=1x3x224x224");
  add_texts(parser, "--dim", dims, "NAME=EXTENT", "the extent of a named dimension, such as batch=8");
  add_number(parser, "--seed", seed, 0, std::numeric_limits<std::int64_t>::max(), "the seed of random inputs (0)");
  add_number(parser, "--threads", threads, 0, kMostThreads, "threads that run the model; 0: all there are (0)");
  add_text(parser, "--target", target, "TARGET", "what to compile for, as `hone targets` prints it (this machine)");
  add_text(parser, "--records", records, "FILE",
           "what `hone tune` found; none: nothing (HONE_RECORDS, or the user's own file)");
  add_text(parser, "--first-choice", first_choice, "network|rules",
           "what kernels without a record are: as a trained network predicts, or as rules say (network)");
}

Result<Session> load_model(const ModelOptions& options, bool keeps_tasks) {
  return Session::load(options.model, {.threads = static_cast<int>(options.threads),
                                       .target = options.target,
                                       .records = records_file(options),
                                       .first_choice = options.first_choice,
                                       .keeps_tasks = keeps_tasks});
}

std::string records_file(const ModelOptions& options) { return measure::records_file(options.records); }

Result<std::string> readable_records(const ModelOptions& options) {
  std::string file = records_file(options);
  if (file.empty()) return file;
  const auto opened = measure::Records::open(file, measure::Records::Mode::ReadOnly);
  if (opened) return file;
  if (options.records == "default" && opened.error().code == ErrorCode::NotFound) return std::string();
  return opened.error();
}

std::string run_line(const Session& session, const ModelOptions& options) {
  const ModelOptions usual;
  std::string line = "hone run " + shell_word(options.model);
  const auto add = [&](const char* option, const std::string& value) {
    line += fmt::format(" {} {}", option, shell_word(value));
  };
  for (const std::string& input : options.inputs) add("--input", input);
  for (const std::string& shape : options.shapes) add("--shape", shape);
  for (const std::string& dim : options.dims) add("--dim", dim);
  if (options.seed != usual.seed) add("--seed", std::to_string(options.seed));
  if (options.threads != usual.threads) add("--threads", std::to_string(options.threads));
  if (options.target != usual.target) add("--target", options.target);
  if (options.records != usual.records) add("--records", options.records);
  if (options.first_choice != usual.first_choice) add("--first-choice", options.first_choice);
  const auto is_named = [](const std::vector<std::string>& given, const Port& port) {
    return std::any_of(given.begin(), given.end(),
                       [&](const std::string& text) { return text.starts_with(port.name + "="); });
  };
  const std::vector<Port>& ports = session.inputs();
  const bool is_random = std::any_of(ports.begin(), ports.end(), [&](const Port& port) {
    return !is_named(options.inputs, port) && (!port.is_optional || is_named(options.shapes, port));
  });
  return is_random ? line + " --random" : line;
}

Result<std::vector<Value>> make_inputs(const Session& session, const ModelOptions& options, Missing missing) {
  HONE_TRY(Given given, read_given(session, options));
  std::vector<Value> values;
  for (std::size_t i = 0; i < session.inputs().size(); ++i) {
    const Port& port = session.inputs()[i];
    if (const auto found = given.tensors.find(i); found != given.tensors.end()) {
      values.emplace_back(std::move(found->second));
    } else if (port.is_optional && !given.shapes.contains(i)) {
      values.emplace_back();
    } else if (missing == Missing::Error) {
      return error(ErrorCode::InvalidArgument, "input '{}' ({}) is missing: give --input {}=FILE, or --random",
                   port.name, describe(port), port.name);
    } else {
      HONE_TRY(const Shape shape, choose_shape(port, given, i));
      Result<Tensor> tensor =
          random_tensor(port.type, shape, Rng(static_cast<std::uint64_t>(options.seed)).fork(i).next());
      if (!tensor) return error(tensor.error().code, "input '{}': {}", port.name, tensor.error().message);
      values.emplace_back(*std::move(tensor));
    }
  }
  return values;
}

Result<Tensor> random_tensor(ElementType type, const Shape& shape, std::uint64_t seed) {
  if (type == ElementType::Undefined || type == ElementType::C64 || type == ElementType::C128)
    return error(ErrorCode::Unsupported,
                 "there are no random values of type {}, allowed are tensors of real numbers "
                 "and strings",
                 runtime::name_of(type));
  HONE_TRY(Tensor tensor, Tensor::allocate(type, shape));
  Rng rng(seed);
  const auto real = [&] { return static_cast<float>(rng.unit() * 2 - 1); };
  const auto bit = [&] { return rng.next() >> 63; };
  if (type == ElementType::String) {
    for (std::string& text : tensor.strings()) text = std::string(1, static_cast<char>('a' + rng.uniform(0, 25)));
  } else if (type == ElementType::F32) {
    fill<float>(tensor, real);
  } else if (type == ElementType::F64) {
    fill<double>(tensor, real);
  } else if (runtime::is_small_float(type)) {
    const auto small = [&] { return runtime::float_to_small_float(type, real(), runtime::Overflow::Saturate); };
    runtime::bytes_of(type) == 2 ? fill<std::uint16_t>(tensor, small) : fill<std::uint8_t>(tensor, small);
  } else {
    switch (runtime::bytes_of(type)) {
      case 1:
        fill<std::uint8_t>(tensor, bit);
        break;
      case 2:
        fill<std::uint16_t>(tensor, bit);
        break;
      case 4:
        fill<std::uint32_t>(tensor, bit);
        break;
      default:
        fill<std::uint64_t>(tensor, bit);
    }
  }
  return tensor;
}

}  // namespace hone::command
