#include "hone/cost/store_features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "hone/cost/buffer_traffic.h"

namespace hone::cost {

namespace {

constexpr std::size_t kBuffers = 5, kSamples = 10, kPositions = 8;

enum class Position : std::uint8_t {
  None,
  InnerSpatial,
  MiddleSpatial,
  OuterSpatial,
  InnerReduce,
  MiddleReduce,
  OuterReduce,
  Mixed
};

/// Writes one row: plain numbers for kinds, slog for sizes.
class RowWriter {
 public:
  explicit RowWriter(std::vector<float>& rows) : rows_(rows) {}
  void plain(double value) { rows_.push_back(static_cast<float>(value)); }
  void size(double value) { plain(slog(value)); }
  void one_hot(std::size_t chosen, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) plain(i == chosen ? 1 : 0);
  }
  void zeros(std::size_t count) { rows_.resize(rows_.size() + count); }

 private:
  std::vector<float>& rows_;
};

/// One statement of a program and its numbers.
class StoreRow {
 public:
  StoreRow(const ProgramTables& tables, const TouchedRegions& regions, std::size_t statement)
      : tables_(tables),
        regions_(regions),
        index_(statement),
        statement_(tables.statements()[statement]),
        nest_(regions.nest(statement)),
        roles_(regions.roles(statement)),
        touches_(regions.touches(statement)) {
    for (const std::int32_t loop : nest_) iterations_ *= extent(loop);
  }

  void write(RowWriter& out) const {
    write_ops(out);
    for (const ir::ForKind how : {ir::ForKind::Vectorized, ir::ForKind::Unrolled, ir::ForKind::Parallel})
      write_annotated(how, out);
    write_gpu(out);
    write_buffers(out);
    write_intensity(out);
    write_allocation(out);
    out.size(iterations_);
    out.size(static_cast<double>(nest_.size()));
    out.size(static_cast<double>(statement_.unroll));
  }

 private:
  const LoopRow& loop(std::int32_t id) const { return tables_.loops()[static_cast<std::size_t>(id)]; }
  double extent(std::int32_t id) const { return static_cast<double>(loop(id).extent); }
  double element_bytes(const Touch& touch) const {
    return tables_.buffers()[static_cast<std::size_t>(touch.buffer)].bytes;
  }

  void write_ops(RowWriter& out) const {
    for (const double count : statement_.ops.floats) out.size(count * iterations_);
    for (const double count : statement_.ops.ints) out.size(count * iterations_);
    out.size(statement_.ops.bools * iterations_);
    out.size(statement_.ops.selects * iterations_);
  }

  Position position(std::size_t place) const;
  void write_annotated(ir::ForKind how, RowWriter& out) const;
  void write_gpu(RowWriter& out) const;
  void write_buffers(RowWriter& out) const;
  void write_intensity(RowWriter& out) const;
  void write_allocation(RowWriter& out) const;

  const ProgramTables& tables_;
  const TouchedRegions& regions_;
  std::size_t index_;
  const StatementRow& statement_;
  std::span<const std::int32_t> nest_;  // innermost first
  std::span<const LoopRole> roles_;
  std::span<const Touch> touches_;
  double iterations_ = 1;
};

/// Where a loop stands among the loops of its role.
Position StoreRow::position(std::size_t place) const {
  const LoopRole role = roles_[place];
  if (role == LoopRole::Mixed) return Position::Mixed;
  const bool reduces = role == LoopRole::Reduce;
  const auto inner = roles_.first(place), outer = roles_.subspan(place + 1);
  if (std::find(inner.begin(), inner.end(), role) == inner.end())
    return reduces ? Position::InnerReduce : Position::InnerSpatial;
  if (std::find(outer.begin(), outer.end(), role) == outer.end())
    return reduces ? Position::OuterReduce : Position::OuterSpatial;
  return reduces ? Position::MiddleReduce : Position::MiddleSpatial;
}

void StoreRow::write_annotated(ir::ForKind how, RowWriter& out) const {
  double count = 0, product = 0, innermost = 0;
  Position where = Position::None;
  for (std::size_t i = 0; i < nest_.size(); ++i) {
    if (loop(nest_[i]).how != how) continue;
    where = count == 0 || where == position(i) ? position(i) : Position::Mixed;
    product = count == 0 ? extent(nest_[i]) : product * extent(nest_[i]);
    if (count++ == 0) innermost = extent(nest_[i]);
  }
  out.size(count);
  out.size(product);
  out.size(innermost);
  out.one_hot(static_cast<std::size_t>(where), kPositions);
}

void StoreRow::write_gpu(RowWriter& out) const {
  constexpr std::array kIndices = {ir::ForKind::BlockX,  ir::ForKind::BlockY,  ir::ForKind::BlockZ,
                                   ir::ForKind::ThreadX, ir::ForKind::ThreadY, ir::ForKind::ThreadZ,
                                   ir::ForKind::VThread};
  const bool is_gpu =
      std::any_of(nest_.begin(), nest_.end(), [&](std::int32_t id) { return is_gpu_index(loop(id).how); });
  out.plain(is_gpu ? 1 : 0);
  for (const ir::ForKind how : kIndices) {
    double length = is_gpu ? 1 : 0;
    for (const std::int32_t id : nest_)
      if (loop(id).how == how) length *= extent(id);
    out.size(length);
  }
}

void StoreRow::write_buffers(RowWriter& out) const {
  std::array<BufferTraffic, 32> all;  // what stands beyond is not among the first five in any program that is tuned
  const std::size_t count = std::min(all.size(), touches_.size());
  for (std::size_t i = 0; i < count; ++i) all[i] = traffic_of(touches_[i], tables_, regions_, index_);
  std::stable_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
                   [](const BufferTraffic& a, const BufferTraffic& b) {
                     return a.lines != b.lines ? a.lines > b.lines : a.bytes > b.bytes;
                   });
  for (std::size_t i = 0; i < std::min(count, kBuffers); ++i) {
    const BufferTraffic& it = all[i];
    out.one_hot(it.reads && it.writes ? 2 : it.writes ? 1 : 0, 3);
    for (const double value : {it.bytes, it.unique_bytes, it.lines, it.unique_lines}) out.size(value);
    out.one_hot(static_cast<std::size_t>(it.reuse), 3);
    for (const double value : {it.distance_iterations, it.distance_bytes, it.reuse_count}) out.size(value);
    const double share = it.reuse_count > 0 ? it.reuse_count : 0.5;  // no reuse at all costs twice as much as one
    for (const double value : {it.bytes, it.unique_bytes, it.lines, it.unique_lines}) out.size(value / share);
    out.size(it.stride);
  }
  out.zeros((kBuffers - std::min(count, kBuffers)) * 18);
}

/// Operations per byte as the nest grows: at level i the i innermost loops run, and each byte touched counts once.
void StoreRow::write_intensity(RowWriter& out) const {
  const double work = statement_.ops.arithmetic();
  if (work <= 0 || iterations_ <= 0) return out.zeros(kSamples);
  const auto intensity = [&](std::size_t level, double ops) {
    double bytes = 0;
    for (const Touch& touch : touches_) bytes += regions_.elements(touch)[level] * element_bytes(touch);
    return bytes > 0 ? ops / bytes : 0;
  };
  const double last = std::log2(work * iterations_ + 1);
  std::size_t level = 0;
  double ops = work, before = intensity(0, work), now = before, position_before = 0, position = std::log2(work + 1);
  for (std::size_t sample = 1; sample <= kSamples; ++sample) {
    const double wanted = last * static_cast<double>(sample) / kSamples;
    while (position < wanted && level < nest_.size()) {
      ops *= extent(nest_[level++]);
      position_before = position;
      before = now;
      position = std::log2(ops + 1);
      now = intensity(level, ops);
    }
    const double way = position > position_before ? (wanted - position_before) / (position - position_before) : 1;
    out.size(level == 0 ? now : before + (now - before) * std::clamp(way, 0.0, 1.0));
  }
}

void StoreRow::write_allocation(RowWriter& out) const {
  const BufferHome& home = regions_.home(statement_.buffer);
  double outside = 1;
  for (std::int32_t id = home.loop; id >= 0; id = loop(id).parent) outside *= extent(id);
  out.size(home.elements * tables_.buffers()[static_cast<std::size_t>(statement_.buffer)].bytes);
  out.size(home.elements * outside);
  out.size(outside);
  out.size(outside > 0 ? iterations_ / outside : 0);
}

void add_all(std::vector<std::string>& names, std::string_view prefix, std::initializer_list<const char*> list) {
  for (const char* name : list) names.push_back(fmt::format("{}{}", prefix, name));
}

}  // namespace

double slog(double x) { return std::copysign(std::log2(std::abs(x) + 1), x); }

std::vector<std::string> store_feature_names() {
  std::vector<std::string> names;
  for (const char* type : {"float.", "int."})
    add_all(names, type, {"multiply_add", "add_sub", "multiply", "divide", "compare", "math", "call"});
  add_all(names, "", {"bool", "select"});
  for (const char* how : {"vectorized.", "unrolled.", "parallel."})
    add_all(names, how,
            {"count", "product", "innermost", "nowhere", "inner_spatial", "middle_spatial", "outer_spatial",
             "inner_reduce", "middle_reduce", "outer_reduce", "mixed"});
  add_all(names, "", {"gpu", "block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z", "vthread"});
  for (std::size_t i = 0; i < kBuffers; ++i)
    add_all(names, fmt::format("buffer{}.", i),
            {"reads", "writes", "reads_writes", "bytes", "unique_bytes", "lines", "unique_lines", "loop_reuse",
             "serial_reuse", "no_reuse", "distance_iterations", "distance_bytes", "reuse_count", "bytes_per_reuse",
             "unique_bytes_per_reuse", "lines_per_reuse", "unique_lines_per_reuse", "stride"});
  for (std::size_t i = 0; i < kSamples; ++i) names.push_back(fmt::format("intensity{}", i));
  add_all(names, "alloc.", {"bytes", "traffic", "outer", "inner"});
  add_all(names, "", {"iterations", "loops", "unroll"});
  return names;
}

Result<std::size_t> StoreFeatures::extract(const ir::Function& program, std::vector<float>& rows) {
  HONE_TRY(tables_.fill(program));
  regions_.fill(tables_);
  RowWriter out(rows);
  for (std::size_t i = 0; i < tables_.statements().size(); ++i) {
    [[maybe_unused]] const std::size_t before = rows.size();
    StoreRow(tables_, regions_, i).write(out);
    HONE_CHECK(rows.size() == before + kStoreFeatures, "a row has {} numbers", rows.size() - before);
  }
  return tables_.statements().size();
}

}  // namespace hone::cost
