#include "hone/cost/tlp2_sentence.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/ranges.h>

namespace hone::cost {
namespace {

// Words in the order of their columns. New primitives are added at the end, and the version goes up.
constexpr std::array<std::string_view, 32> kTlp2Words = {"split",
                                                         "fuse",
                                                         "reorder",
                                                         "parallel",
                                                         "vectorize",
                                                         "unroll",
                                                         "bind",
                                                         "annotate",
                                                         "compute_at",
                                                         "reverse_compute_at",
                                                         "compute_inline",
                                                         "reverse_compute_inline",
                                                         "cache_read",
                                                         "cache_write",
                                                         "rfactor",
                                                         "decompose_reduction",
                                                         "set_scope",
                                                         "storage_align",
                                                         "transform_layout",
                                                         "pad",
                                                         "split_variable",
                                                         "double_buffer",
                                                         "software_pipeline",
                                                         "prefetch",
                                                         "spread_prefetch",
                                                         "tensorize",
                                                         "sample_tile",
                                                         "sample_choice",
                                                         "sample_location",
                                                         "(block)",
                                                         "(axis)",
                                                         "(tile)"};

constexpr SentenceShape kTlp2Shape = {32, 64 + kTileNumbers + kShareNumbers + kTrafficNumbers};

// Where the groups of columns begin.
constexpr std::size_t kWord = 1, kLoop = 33, kBlock = 47, kNumbers = 53, kPlace = 61, kTile = 64;
constexpr std::size_t kMostNumbers = 8;

float log_scaled(double value) {
  constexpr double kScale = 8;
  return static_cast<float>(std::copysign(std::log2(1 + std::abs(value)), value) / kScale);
}

/// 1 where neighbours stand side by side, nearly 0 where they are far apart, -1 where nothing moves.
float stride_scaled(std::int64_t stride) {
  if (stride == 0) return -1;
  return static_cast<float>(1 / (1 + std::log2(static_cast<double>(std::abs(stride)))));
}

std::size_t word_of(std::string_view name) {
  return static_cast<std::size_t>(std::find(kTlp2Words.begin(), kTlp2Words.end(), name) - kTlp2Words.begin());
}

/// The columns of words by the alternatives of Step.
std::vector<std::size_t> words_of_steps() {
  std::vector<std::size_t> words;
  const auto add = [&]<typename... Steps>(std::variant<Steps...>*) { (words.push_back(word_of(Steps::kName)), ...); };
  add(static_cast<schedule::Step*>(nullptr));
  return words;
}

/// What a step is about, by the names of its fields.
class FieldReader final : public schedule::FieldVisitor {
 public:
  explicit FieldReader(const TraceWalk& walk) : walk_(walk) {}

  void visit(std::string_view field, std::string& text) override {
    if (field == "loop" || field == "target" || field == "inner") {
      if (loop.empty()) loop = text;
    } else if (field == "block") {
      block = text;
    } else if (field == "buffer") {
      buffer = text;
    } else if (field == "variable") {
      variable = text;
    } else if (field == "map" || field == "value") {
      add_digits(text);
    }
  }
  void visit(std::string_view, schedule::Names& names) override { loops = &names; }
  void visit(std::string_view, schedule::Number& number) override { add(static_cast<double>(walk_.number(number))); }
  void visit(std::string_view, schedule::Numbers& given) override {
    for (const schedule::Number& number : given) add(static_cast<double>(walk_.number(number)));
  }
  void visit(std::string_view, std::int64_t& number) override { add(static_cast<double>(number)); }
  void visit(std::string_view, std::vector<std::int64_t>& all) override {
    for (const std::int64_t number : all) add(static_cast<double>(number));
  }
  void visit(std::string_view, ir::Scope& scope) override { add(static_cast<double>(scope) + 1); }
  void visit(std::string_view, ir::ForKind& kind) override { add(static_cast<double>(kind)); }

  std::string_view loop, block, buffer, variable;
  const schedule::Names* loops = nullptr;
  std::array<double, kMostNumbers> numbers = {};
  std::size_t count = 0;

 private:
  void add(double number) {
    if (count < kMostNumbers) numbers[count++] = number;
  }
  /// The numbers in an index map that layouts are cut by: "d1 // 16 % 2".
  void add_digits(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_start = std::isdigit(static_cast<unsigned char>(text[i])) != 0 && (i == 0 || text[i - 1] == ' ');
      if (!is_start) continue;
      double number = 0;
      for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i)
        number = number * 10 + (text[i] - '0');
      add(number);
    }
  }

  const TraceWalk& walk_;
};

class Tlp2Writer : public SentenceWriter {
 public:
  explicit Tlp2Writer(const ComputeUnit& unit) : unit_(unit) {}

  SentenceShape shape() const override { return kTlp2Shape; }
  std::string schema() const override {
    return fmt::format("tlp2/4 {}x{} {}", kTlp2Shape.rows, kTlp2Shape.columns, fmt::join(kTlp2Words, ","));
  }

  std::size_t write(const NaiveBlocks& naive, const schedule::Trace& trace, std::span<float> sentence) override {
    HONE_CHECK(sentence.size() == kTlp2Shape.size(), "a sentence of {} numbers", sentence.size());
    std::fill(sentence.begin(), sentence.end(), 0.0F);
    sentence_ = sentence;
    used_ = 0;
    naive_ = &naive;
    walk_.begin(naive);
    marks_ = find_marks(trace);
    const std::span<float> tile = next_row(kTlp2Words.size() - 1);
    write_task();
    for (const schedule::Step& step : trace) {
      write_step(step);
      walk_.apply(step);
    }
    const LoopNest nest = nest_of(walk_, naive.main, marks_);
    std::ranges::copy(tile_numbers(inner_tile(nest, unit_), unit_), tile.begin() + kTile);
    std::ranges::copy(share_numbers(nest, unit_), tile.begin() + kTile + kTileNumbers);
    std::ranges::copy(traffic_numbers(nest, unit_), tile.begin() + kTile + kTileNumbers + kShareNumbers);
    return used_;
  }

 private:
  /// What is computed: each block, and the axes of reductions.
  void write_task() {
    static const std::size_t kBlockWord = word_of("(block)"), kAxisWord = word_of("(axis)");
    for (std::size_t b = 0; b < naive_->blocks.size(); ++b) {
      const NaiveBlock& block = naive_->blocks[b];
      std::span<float> row = next_row(kBlockWord);
      describe_block(row, b);
      const std::array<double, 4> numbers = {block.points, block.operations, static_cast<double>(block.loads),
                                             static_cast<double>(block.axes.size())};
      put_numbers(row, numbers);
      if (!block.is_reduction && b != naive_->main) continue;
      for (const std::size_t id : walk_.blocks()[b].loops) {
        const WalkedLoop& loop = walk_.loops()[id];
        if (loop.extent <= 1) continue;
        row = next_row(kAxisWord);
        describe_block(row, b);
        describe_loop(row, loop, loop.name);
      }
    }
  }

  void write_step(const schedule::Step& step) {
    static const std::vector<std::size_t> kWords = words_of_steps();
    FieldReader fields(walk_);
    // Visitors may change what they are shown, this one does not.
    schedule::show(const_cast<schedule::Step&>(step), fields);
    const std::size_t word = kWords[step.index()];
    if (std::holds_alternative<schedule::Reorder>(step)) return;  // the first row tells what comes of it
    if (fields.loops) return write_list(word, *fields.loops);
    const WalkedLoop* loop = fields.loop.empty() ? nullptr : walk_.find_loop(fields.loop);
    if (!fields.variable.empty()) loop = walk_.find_variable(fields.block, fields.variable);
    const bool is_mark =
        std::holds_alternative<schedule::Vectorize>(step) || std::holds_alternative<schedule::Unroll>(step);
    if (is_mark && loop && loop->name == fields.loop && (loop->extent == 1 || loop->block == naive_->main)) return;
    const std::span<float> row = next_row(word);
    if (loop) describe_loop(row, *loop, fields.loop);
    const std::size_t block = !fields.block.empty()    ? walk_.find_block(fields.block)
                              : !fields.buffer.empty() ? block_of_buffer(fields.buffer)
                              : loop                   ? loop->block
                                                       : walk_.blocks().size();
    describe_block(row, block);
    if (const auto* split = std::get_if<schedule::Split>(&step)) {
      const std::vector<std::int64_t> factors = walk_.factors(*split);
      put_numbers(row, std::vector<double>(factors.begin(), factors.end()));
    } else {
      put_numbers(row, std::span(fields.numbers).first(fields.count));
    }
  }

  /// A row for each loop of more than one iteration.
  void write_list(std::size_t word, const schedule::Names& names) {
    constexpr float kLongest = 16;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const WalkedLoop* loop = walk_.find_loop(names[i]);
      if (loop && loop->extent == 1) continue;
      const std::span<float> row = next_row(word);
      if (loop) {
        describe_loop(row, *loop, names[i]);
        describe_block(row, loop->block);
      }
      put(row, kPlace, static_cast<float>(i) / kLongest);
      put(row, kPlace + 1, static_cast<float>(names.size()) / kLongest);
    }
  }

  /// The block that reads a parameter, or writes another buffer.
  std::size_t block_of_buffer(std::string_view buffer) const {
    for (std::size_t b = 0; b < naive_->blocks.size(); ++b)
      for (const std::string& touched : naive_->blocks[b].buffers)
        if (touched == buffer) return b;
    return walk_.blocks().size();
  }

  /// Takes a row; an empty one if the sentence is full.
  std::span<float> next_row(std::size_t word) {
    const std::size_t number = used_++;
    if (number >= kTlp2Shape.rows) return {};
    const std::span<float> row = sentence_.subspan(number * kTlp2Shape.columns, kTlp2Shape.columns);
    row[0] = 1;
    if (word < kTlp2Words.size()) row[kWord + word] = 1;
    row[kPlace + 2] = static_cast<float>(number) / static_cast<float>(kTlp2Shape.rows);
    return row;
  }

  static void put(std::span<float> row, std::size_t column, float value) {
    if (!row.empty()) row[column] = value;
  }

  static void put_numbers(std::span<float> row, std::span<const double> numbers) {
    for (std::size_t i = 0; i < std::min(numbers.size(), kMostNumbers); ++i)
      put(row, kNumbers + i, log_scaled(numbers[i]));
  }

  void describe_loop(std::span<float> row, const WalkedLoop& loop, std::string_view name) const {
    if (row.empty()) return;
    const auto has = [&](const std::vector<std::string_view>& names) {
      return std::find(names.begin(), names.end(), name) != names.end() ? 1.0F : 0.0F;
    };
    constexpr float kLevels = 4;
    float* out = &row[kLoop];
    *out++ = log_scaled(static_cast<double>(loop.extent));
    *out++ = loop.is_reduction ? 1 : 0;
    for (std::size_t i = 0; i < NaiveAxis::kAccesses; ++i)
      *out++ = loop.axis ? stride_scaled(loop.axis->strides[i]) : 0;
    *out++ = has(marks_.parallel);
    *out++ = has(marks_.vectorized);
    *out++ = has(marks_.unrolled);
    *out++ = static_cast<float>(loop.level) / kLevels;
    *out++ = static_cast<float>(loop.waste);
    *out++ = loop.axis ? log_scaled(static_cast<double>(loop.axis->extent)) : 0;
    *out++ = loop.name == name ? 1 : 0;  // otherwise it is only the loop that this one came from
    *out++ = 1;
  }

  void describe_block(std::span<float> row, std::size_t place) const {
    if (row.empty() || place >= walk_.blocks().size()) return;
    constexpr float kMostBlocks = 8, kMostLoads = 4;
    constexpr double kLogPoints = 24;
    float* out = &row[kBlock];
    const NaiveBlock* block = walk_.blocks()[place].naive;
    *out++ = place == naive_->main ? 1 : 0;
    *out++ = place < naive_->main ? -1.0F : place > naive_->main ? 1.0F : 0.0F;
    *out++ = block && block->is_reduction ? 1 : 0;
    *out++ = block ? static_cast<float>(std::log2(1 + block->points) / kLogPoints) : 0;
    *out++ = block ? static_cast<float>(block->loads) / kMostLoads : 0;
    *out++ = static_cast<float>(place) / kMostBlocks;
  }

  ComputeUnit unit_;
  std::span<float> sentence_;
  std::size_t used_ = 0;
  const NaiveBlocks* naive_ = nullptr;
  TraceWalk walk_;
  TraceMarks marks_;  ///< of loops somewhere along the trace
};

}  // namespace

std::unique_ptr<SentenceWriter> make_tlp2_writer(const ComputeUnit& unit) { return std::make_unique<Tlp2Writer>(unit); }

}  // namespace hone::cost
