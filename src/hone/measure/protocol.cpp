#include "hone/measure/protocol.h"

#include <cstring>
#include <type_traits>

#include "hone/ir/text.h"

namespace hone::measure {
namespace {

// Each struct lists its fields once, for writing and for reading alike.

template <typename Archive>
void fields(Archive& archive, Fill& fill) {
  archive(fill.low, fill.high, fill.seed, fill.bytes);
}

template <typename Archive>
void fields(Archive& archive, Timing& timing) {
  archive(timing.repeats, timing.min_repeat_ms, timing.enough_ms, timing.cache, timing.hopeless_ns);
}

template <typename Archive>
void fields(Archive& archive, ProgramText& program) {
  archive(program.main, program.prepare, program.packed);
}

template <typename Archive>
void fields(Archive& archive, TaskText& task) {
  archive(task.fills, task.reference, task.expected, task.tolerance, task.integer_tolerance, task.allows_nan);
}

template <typename Archive>
void fields(Archive& archive, MeasureResult& result) {
  archive(result.status, result.samples_ns, result.calls, result.cache, result.compile_ms, result.is_checked,
          result.largest_error, result.message);
}

template <typename Archive>
void fields(Archive& archive, Message& message) {
  archive(message.kind, message.version, message.job, message.target, message.timing, message.task_number, message.task,
          message.forgotten, message.programs, message.results);
}

template <typename T>
constexpr bool kIsPlain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
 public:
  template <typename... Fields>
  void operator()(Fields&... values) {
    (write(values), ...);
  }

  std::string bytes;

 private:
  template <typename T>
  void write(T& value) {
    if constexpr (kIsPlain<T>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      fields(*this, value);
    }
  }
  void write(std::string& text) {
    write_size(text.size());
    bytes += text;
  }
  template <typename T>
  void write(std::vector<T>& list) {
    write_size(list.size());
    for (T& item : list) write(item);
  }
  template <typename T>
  void write(std::optional<T>& value) {
    write_size(value ? 1 : 0);
    if (value) write(*value);
  }
  void write_size(std::uint64_t size) { write(size); }
};

/// Reads while there is enough to read; then everything is zero and `is_good` false.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest(text) {}

  template <typename... Fields>
  void operator()(Fields&... values) {
    (read(values), ...);
  }

  std::string_view rest;
  bool is_good = true;

 private:
  template <typename T>
  void read(T& value) {
    if constexpr (kIsPlain<T>) {
      const std::string_view bytes = take(sizeof value);
      if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), bytes.size());
    } else {
      fields(*this, value);
    }
  }
  void read(bool& value) {
    const std::string_view byte = take(1);
    value = !byte.empty() && byte[0] != 0;
  }
  void read(std::string& text) { text = take(read_size()); }
  template <typename T>
  void read(std::vector<T>& list) {
    const std::uint64_t size = read_size();
    list.clear();
    for (std::uint64_t i = 0; i < size && is_good; ++i) read(list.emplace_back());
  }
  template <typename T>
  void read(std::optional<T>& value) {
    value.reset();
    if (read_size() != 0) read(value.emplace());
  }
  /// A number of items that take a byte each at least.
  std::uint64_t read_size() {
    std::uint64_t size = 0;
    read(size);
    if (size > rest.size()) is_good = false;
    return is_good ? size : 0;
  }
  std::string_view take(std::uint64_t count) {
    if (count > rest.size()) is_good = false;
    if (!is_good) return {};
    const std::string_view taken = rest.substr(0, count);
    rest.remove_prefix(count);
    return taken;
  }
};

bool has_known_enums(const Message& message) {
  if (message.kind > MessageKind::Finished || message.timing.cache > CacheState::Flushed) return false;
  for (const MeasureResult& result : message.results)
    if (result.status > TrialStatus::NotRun || result.cache > CacheState::Flushed) return false;
  return true;
}

}  // namespace

ProgramText to_text(const KernelProgram& program) {
  ProgramText text{ir::to_text(program.main), program.prepare ? ir::to_text(*program.prepare) : "", {}};
  text.packed.assign(program.packed.begin(), program.packed.end());
  return text;
}

TaskText to_text(const TaskData& data) {
  TaskText text{.fills = data.fills,
                .reference = std::nullopt,
                .expected = data.expected,
                .tolerance = data.tolerance,
                .integer_tolerance = data.integer_tolerance,
                .allows_nan = data.allows_nan};
  if (data.reference) text.reference = to_text(*data.reference);
  return text;
}

Result<KernelProgram> parse(const ProgramText& text) {
  KernelProgram program;
  HONE_TRY(program.main, ir::parse_function(text.main));
  if (!text.prepare.empty()) { HONE_TRY(program.prepare, ir::parse_function(text.prepare)); }
  program.packed.assign(text.packed.begin(), text.packed.end());
  return program;
}

std::string encode(const Message& message) {
  Writer writer;
  writer(const_cast<Message&>(message));  // fields() serves reading too, and writing changes nothing
  return std::move(writer.bytes);
}

Result<Message> decode(std::string_view bytes) {
  Reader reader(bytes);
  Message message;
  reader(message);
  if (!reader.is_good || !reader.rest.empty() || !has_known_enums(message))
    return error(ErrorCode::ParseError, "{} bytes are no message between a measurer and its worker", bytes.size());
  return message;
}

}  // namespace hone::measure
