#include "hone/space/sketch/reading_order.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/ir/affine.h"
#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/nest.h"

namespace hone::space {
namespace {

using ir::Expr;

/// A part of the index of one axis that one loop runs through.
struct Digit {
  std::size_t axis;
  std::size_t loop;  ///< its place among the loops around the block
  std::int64_t step, extent;
};

/// The loops that make up an index as digits: each steps over all that those after it span. Nothing if they do not.
std::optional<std::vector<Digit>> digits_of(const Expr& index, std::size_t axis, const std::vector<ir::Stmt>& loops) {
  const std::optional<ir::Affine> affine = ir::to_affine(index);
  if (!affine || affine->constant != 0) return std::nullopt;
  std::vector<Digit> digits;
  for (const auto& [var, step] : affine->terms) {
    const auto loop = std::find_if(loops.begin(), loops.end(),
                                   [&, v = var](const ir::Stmt& s) { return s.get<ir::For>().var.is(v); });
    if (loop == loops.end() || step < 1) return std::nullopt;
    const std::int64_t extent = ir::constant_value(loop->get<ir::For>().extent);
    if (extent > 1) digits.push_back({axis, static_cast<std::size_t>(loop - loops.begin()), step, extent});
  }
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.step > b.step; });
  std::int64_t spanned = 1;
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i].step != spanned) return std::nullopt;
    spanned *= digits[i].extent;
  }
  return digits;
}

std::string digit_text(const Digit& digit, bool is_first) {
  std::string text = fmt::format("d{}", digit.axis);
  if (digit.step > 1) text += fmt::format(" // {}", digit.step);
  if (!is_first) text += fmt::format(" % {}", digit.extent);
  return text;
}

}  // namespace

std::optional<std::string> reading_order(const Program& program, const std::string& block, const ir::Expr& buffer) {
  const Result<schedule::Path> path = schedule::find_block(program, block, "sketch");
  if (!path) return std::nullopt;
  std::optional<Read> read;
  for (Read& found : reads_of(path->block())) {
    if (!found.buffer.is(buffer)) continue;
    if (read) {
      for (std::size_t i = 0; i < read->indices.size(); ++i)
        if (!ir::equal(read->indices[i], found.indices[i])) return std::nullopt;
    }
    read = std::move(found);
  }
  if (!read) return std::nullopt;

  const std::vector<ir::Stmt> loops = path->loops();
  const ir::Bounds bounds = path->bounds();
  const auto bindings = schedule::bindings_of(path->block());
  struct Place {
    std::size_t loop;
    std::size_t axis;
    std::string text;
  };
  std::vector<Place> places;
  std::vector<std::string> from;
  for (std::size_t axis = 0; axis < read->indices.size(); ++axis) {
    from.push_back(fmt::format("d{}", axis));
    const Expr index = ir::simplify(ir::substitute(read->indices[axis], bindings), bounds);
    const std::optional<std::vector<Digit>> digits = digits_of(index, axis, loops);
    if (digits && !digits->empty()) {
      for (const Digit& digit : *digits)
        places.push_back({digit.loop, axis, digit_text(digit, &digit == &digits->front())});
      continue;
    }
    std::size_t first = 0;  // as a whole where the first loop that moves it stands
    while (first < loops.size() && !ir::uses(index, loops[first].get<ir::For>().var)) ++first;
    places.push_back({first == loops.size() ? 0 : first, axis, from.back()});
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.loop < b.loop; });
  std::vector<std::string> to;
  for (const Place& place : places) to.push_back(place.text);
  if (to == from) return std::nullopt;
  return fmt::format("({}) -> ({})", fmt::join(from, ", "), fmt::join(to, ", "));
}

}  // namespace hone::space
