#include "hone/cost/buffer_traffic.h"

#include <algorithm>
#include <cmath>

namespace hone::cost {

namespace {

constexpr double kLineBytes = 64;

class TrafficCounter {
 public:
  TrafficCounter(const Touch& touch, const ProgramTables& tables, const TouchedRegions& regions, std::size_t statement)
      : touch_(touch),
        tables_(tables),
        regions_(regions),
        statement_(statement),
        nest_(regions.nest(statement)),
        element_bytes_(bytes_of(touch)) {}

  BufferTraffic count() const {
    BufferTraffic traffic{.reads = touch_.reads, .writes = touch_.writes};
    double iterations = 1;
    for (const std::int32_t loop : nest_) iterations *= extent(loop);
    traffic.bytes = iterations * element_bytes_;
    traffic.unique_bytes = regions_.elements(touch_).back() * element_bytes_;
    traffic.unique_lines =
        std::max(1.0, traffic.unique_bytes / std::clamp(touch_.run * element_bytes_, 1.0, kLineBytes));
    find_stride(iterations, traffic);
    find_reuse(traffic);
    return traffic;
  }

 private:
  double bytes_of(const Touch& touch) const { return tables_.buffers()[static_cast<std::size_t>(touch.buffer)].bytes; }
  std::int64_t length(std::int32_t loop) const { return tables_.loops()[static_cast<std::size_t>(loop)].extent; }
  double extent(std::int32_t loop) const { return static_cast<double>(length(loop)); }

  double stride_along(std::int32_t loop) const;
  void find_stride(double iterations, BufferTraffic& traffic) const;
  void find_reuse(BufferTraffic& traffic) const;

  const Touch& touch_;
  const ProgramTables& tables_;
  const TouchedRegions& regions_;
  std::size_t statement_;
  std::span<const std::int32_t> nest_;  // innermost first
  double element_bytes_;
};

/// How many elements an iteration of the loop moves the access that it moves least; 0 if it moves none.
double TrafficCounter::stride_along(std::int32_t loop) const {
  double least = 0;
  for (const AccessRow& access : tables_.accesses_of(tables_.statements()[statement_])) {
    if (access.buffer != touch_.buffer) continue;
    const auto axes = tables_.axes_of(access);
    double elements = 1, stride = 0;
    for (std::size_t axis = axes.size(); axis-- > 0 && stride == 0;) {
      for (const IndexTerm& term : tables_.terms_of(axes[axis]))
        if (term.loop == loop && term.values(length(loop)) > 1)
          stride += elements * std::abs(static_cast<double>(term.coefficient)) / static_cast<double>(term.divisor);
      elements *= static_cast<double>(axes[axis].extent);
    }
    if (stride > 0) least = least > 0 ? std::min(least, stride) : stride;
  }
  return least;
}

void TrafficCounter::find_stride(double iterations, BufferTraffic& traffic) const {
  double moved = 0, skipped = 1;
  std::size_t place = 0;
  for (; place < nest_.size(); ++place) {
    moved = stride_along(nest_[place]);
    if (moved > 0) break;
    skipped *= extent(nest_[place]);
  }
  const double moves = skipped > 0 ? iterations / skipped : 0;
  traffic.lines = std::max(1.0, moves * std::min(1.0, moved * element_bytes_ / kLineBytes));
  traffic.stride = place == 0 ? moved : 0;
}

void TrafficCounter::find_reuse(BufferTraffic& traffic) const {
  double iterations = 1;
  double bytes = 0;  // of one iteration, until a loop is passed
  for (const Touch& touch : regions_.touches(statement_)) bytes += bytes_of(touch);
  for (const std::int32_t loop : nest_) {
    if (stride_along(loop) == 0) {
      traffic.reuse = Reuse::Loop;
      traffic.reuse_count = extent(loop);
      traffic.distance_iterations = iterations;
      traffic.distance_bytes = bytes;
      return;
    }
    iterations *= extent(loop);
    bytes = regions_.totals(loop).bytes;
    const SharedTouch& sharing = regions_.shared(loop, touch_.buffer);
    if (sharing.statements > 1) {
      traffic.reuse = Reuse::Serial;
      traffic.reuse_count = sharing.statements - 1;
      traffic.distance_iterations = sharing.min_elements / std::max(1.0, extent(loop));
      traffic.distance_bytes = bytes / std::max(1.0, extent(loop));
      return;
    }
  }
}

}  // namespace

BufferTraffic traffic_of(const Touch& touch, const ProgramTables& tables, const TouchedRegions& regions,
                         std::size_t statement) {
  return TrafficCounter(touch, tables, regions, statement).count();
}

}  // namespace hone::cost
