#include "hone/space/sketch/reading_order.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/ir/equal.h"
#include "hone/ir/linear.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/nest.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

using ir::Expr;

/// A part of the index of one axis that one loop runs through, or one of the loops that were fused into it.
struct Digit {
  std::size_t axis;
  std::size_t loop;  ///< its place among the loops around the block
  std::int64_t step, extent;
  std::int64_t inner = 1;  ///< iterations of the fused loop for one step
};

/// What `atom` runs through: a loop f, or f // inner, f % extent or f // inner % extent.
std::optional<Digit> digit_of(const Expr& atom, const std::vector<ir::Stmt>& loops) {
  Digit digit{};
  Expr var = atom;
  std::optional<std::int64_t> modulus;
  if (const ir::FloorMod* rest = var.as<ir::FloorMod>()) {
    modulus = ir::as_int(rest->b);
    if (!modulus || *modulus < 1) return std::nullopt;
    var = rest->a;
  }
  if (const ir::FloorDiv* part = var.as<ir::FloorDiv>()) {
    const std::optional<std::int64_t> inner = ir::as_int(part->b);
    if (!inner || *inner < 1) return std::nullopt;
    digit.inner = *inner;
    var = part->a;
  }
  const auto loop =
      std::find_if(loops.begin(), loops.end(), [&](const ir::Stmt& s) { return s.get<ir::For>().var.is(var); });
  if (loop == loops.end()) return std::nullopt;
  digit.loop = static_cast<std::size_t>(loop - loops.begin());
  digit.extent = ceil_div(ir::constant_value(loop->get<ir::For>().extent), digit.inner);
  if (modulus) digit.extent = std::min(digit.extent, *modulus);
  return digit;
}

/// The loops that make up an index as digits: each steps over all that those after it span. Nothing if they do not.
std::optional<std::vector<Digit>> digits_of(const Expr& index, std::size_t axis, const std::vector<ir::Stmt>& loops) {
  ir::Linear sum = ir::linear_of(index);
  sum.drop_zeros();
  if (sum.constant != 0) return std::nullopt;
  std::vector<Digit> digits;
  for (const ir::Term& term : sum.terms) {
    std::optional<Digit> digit = digit_of(term.atom, loops);
    if (!digit || term.coefficient < 1) return std::nullopt;
    digit->axis = axis;
    digit->step = term.coefficient;
    if (digit->extent > 1) digits.push_back(*digit);
  }
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.step > b.step; });
  std::int64_t spanned = 1;
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i].step != spanned) return std::nullopt;
    spanned *= digits[i].extent;
  }
  return digits;
}

/// Whether a digit is the next lower one of the same axis, but not the lowest, which fills up what a tail leaves empty.
bool follows(const Digit& digit, const Digit& other) {
  return digit.axis == other.axis && digit.step > 1 && other.step == digit.step * digit.extent;
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
  std::vector<Digit> places;
  std::vector<std::string> from;
  for (std::size_t axis = 0; axis < read->indices.size(); ++axis) {
    from.push_back(fmt::format("d{}", axis));
    const Expr index = ir::simplify(ir::substitute(read->indices[axis], bindings), bounds);
    const std::optional<std::vector<Digit>> digits = digits_of(index, axis, loops);
    if (digits && !digits->empty()) {
      places.insert(places.end(), digits->begin(), digits->end());
      continue;
    }
    std::size_t first = 0;  // as a whole where the first loop that moves it stands
    while (first < loops.size() && !ir::uses(index, loops[first].get<ir::For>().var)) ++first;
    places.push_back({.axis = axis, .loop = first == loops.size() ? 0 : first, .step = 1, .extent = 1});
  }
  std::stable_sort(places.begin(), places.end(), [](const Digit& a, const Digit& b) {
    return a.loop != b.loop ? a.loop < b.loop : a.inner > b.inner;
  });
  std::vector<std::string> to;
  std::vector<bool> has_begun(from.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    Digit digit = places[i];
    for (; i + 1 < places.size() && follows(places[i + 1], digit); ++i) {  // one as well
      digit.step = places[i + 1].step;
      digit.extent *= places[i + 1].extent;
    }
    to.push_back(digit_text(digit, !has_begun[digit.axis]));
    has_begun[digit.axis] = true;
  }
  if (to == from) return std::nullopt;
  return fmt::format("({}) -> ({})", fmt::join(from, ", "), fmt::join(to, ", "));
}

}  // namespace hone::space
