/// Scales of charts: where a number stands on the page, and which numbers are written beside an axis.
#pragma once

#include <string>
#include <vector>

namespace hone::command {

/// Takes [low, high] to [from, to] (which may run downwards), in proportion or by logarithms.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  bool is_log = false;

  double at(double value) const;
  bool holds(double value) const { return value >= low && value <= high; }
};

/// A scale for these numbers, widened to where ticks stand. `low` and `high` may be equal; with `is_log` they are above
/// 0.
Scale make_scale(double low, double high, double from, double to, bool is_log = false);

/// Round numbers within a scale, about `count` of them, ascending.
std::vector<double> ticks_of(const Scale& scale, int count);

/// A number as short as it can be read: "0.25", "12", "1,500", "2e+09".
std::string tick_text(double value);
/// A duration: "812 ns", "12.35 µs", "4.6 ms", "1.2 s"; a dash if it is not known.
std::string duration_text(double ns);
/// The same for round numbers, without what says nothing: "5 ms".
std::string round_duration_text(double ns);
/// Seconds beside an axis: "40 s", "5:30", "1:02:00".
std::string clock_text(double seconds);

}  // namespace hone::command
