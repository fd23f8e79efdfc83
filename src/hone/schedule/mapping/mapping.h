/// Task mappings: which worker does which tasks of a grid, in which order (after Hidet, arXiv 2210.09603, section 5.1).
///
/// A mapping is a product of parts. `spatial(4, 8)` gives 32 workers one task each, `repeat(2, 2)` gives one worker
/// four tasks. In `f * g` each task of f is a tile of tasks of g: worker w does `a ⊙ shape(g) + b` for each task a of
/// worker w / workers(g) in f and, inside of that, each task b of worker w % workers(g) in g. Products are associative,
/// and do not commute: `spatial(2) * repeat(3)` gives a worker neighbours, `repeat(3) * spatial(2)` every second task.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/support/result.h"

namespace hone::schedule {

/// A task of a grid, or the shape of a grid: a number per axis.
using Index = std::vector<std::int64_t>;

enum class PartKind : std::uint8_t { Spatial, Repeat };

/// One factor of a product.
struct Part {
  PartKind kind;
  Index shape;
  std::vector<std::int64_t> ranks;  ///< the place of each axis in the order: 0 varies slowest, the last fastest
  bool operator==(const Part&) const = default;
};

/// One axis of one part. The index of a task along an axis is the sum of digit · stride over the digits of that axis.
/// Spatial digits, in order, are those of the worker's number; a worker's tasks are in the order of its repeat digits.
struct Digit {
  PartKind kind;
  std::size_t axis;
  std::int64_t extent, stride;
};

/// A product of parts, with a limit beyond which tasks are skipped.
class Mapping {
 public:
  std::size_t rank() const { return parts_.front().shape.size(); }
  const std::vector<Part>& parts() const { return parts_; }
  /// The tasks that the parts span: the product of their shapes.
  Index grid() const;
  /// The tasks that are done: the grid, or what within() leaves of it.
  Index task_shape() const { return is_limited_ ? limit_ : grid(); }
  bool is_limited() const { return is_limited_; }
  /// The number of workers; they are numbered from 0.
  std::int64_t workers() const;
  /// What a worker in [0, workers()) does, in order.
  std::vector<Index> tasks_of(std::int64_t worker) const;
  /// The axes of all parts, from slowest to fastest.
  std::vector<Digit> digits() const;

  bool operator==(const Mapping&) const = default;

 private:
  friend Result<Mapping> make_part(PartKind kind, Index shape, std::vector<std::int64_t> ranks);
  friend Result<Mapping> compose(const Mapping& outer, const Mapping& inner);
  friend Result<Mapping> within(Mapping mapping, Index shape);
  Mapping() = default;

  std::vector<Part> parts_;  ///< at least one, all of one rank
  bool is_limited_ = false;
  Index limit_;
};

/// One part. Extents are positive; ranks are a permutation of the axes' numbers, none meaning row-major order.
Result<Mapping> make_part(PartKind kind, Index shape, std::vector<std::int64_t> ranks = {});
/// The product. Both have as many axes, and only `outer` may be limited: its limit then counts tiles of `inner`.
Result<Mapping> compose(const Mapping& outer, const Mapping& inner);
/// The mapping without the tasks beyond `shape`, which is at most its task shape along each axis.
Result<Mapping> within(Mapping mapping, Index shape);

/// The same for mappings that are written down in code: what is wrong with them is a mistake of ours.
Mapping spatial(Index shape, std::vector<std::int64_t> ranks = {});
Mapping repeat(Index shape, std::vector<std::int64_t> ranks = {});
Mapping operator*(const Mapping& outer, const Mapping& inner);

/// `repeat * spatial` over the shape for this many workers: neighbours do neighbouring tasks, and the fastest axes get
/// as many workers as divide them. The number of workers must divide that of the tasks.
Result<Mapping> auto_map(const Index& shape, std::int64_t workers);
/// As auto_map where that exists; otherwise with tasks beyond the shape that are skipped, and at most this many
/// workers: as few rounds as can be, and for those no more workers than needed.
Result<Mapping> auto_map_within(const Index& shape, std::int64_t workers);

/// "spatial(4, 8) * repeat(2, 2, ranks=[1, 0]) within (7, 13)".
std::string to_text(const Mapping& mapping);
/// Reads what to_text writes. An error names the column, what was found there and what is allowed.
Result<Mapping> parse_mapping(std::string_view text);

}  // namespace hone::schedule
