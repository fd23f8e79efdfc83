/// Writes values, sizes and times the way people read them.
#pragma once

#include <string>
#include <vector>

#include "hone/session.h"

namespace hone::command {

/// "min -1 max 2.5 mean 0.25: 0.5 -1 2.5 …": what the elements are like, and the first of them. Empty for no elements.
std::string summarize(const Tensor& tensor);

/// "12 B", "3.4 KiB", "97.5 MiB".
std::string bytes_text(double bytes);
/// "812", "25.6 K", "4.09 G": with the prefix that leaves 1 to 999 before the point.
std::string count_text(double count);

/// Milliseconds with four digits that count: "12.35", "0.0004812".
std::string ms_text(double ms);
/// Nanoseconds as microseconds, in the same way; "?" for a time that is not known, which is infinite.
std::string us_text(double ns);

/// Seconds as "12 s", "5:03 min" or "2:10 h"; "?" if they are not known, which is infinite.
std::string time_text(double seconds);

/// "8x32 32x16 scalar".
std::string shapes_text(const std::vector<Shape>& shapes);
/// So many digits of a task's key tell tasks apart in practice, and fit into a table.
inline constexpr std::size_t kKeyDigits = 12;

/// Rows of cells under a head (which may be empty), in columns as wide as needed, right-aligned but for the last.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hone::command
