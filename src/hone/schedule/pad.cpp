/// pad.
#include <algorithm>
#include <cmath>

#include "hone/ir/rewrite.h"
#include "hone/schedule/accesses.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/nest.h"
#include "hone/schedule/primitives.h"

namespace hone::schedule {

using namespace ir;

namespace {

constexpr std::int64_t kLargestMultiple = 1 << 16;

/// A block and the extents its variables get.
struct Padding {
  const Block& block;
  std::vector<std::int64_t> extents;

  std::size_t place_of(const Expr& variable) const {
    const auto found =
        std::find_if(block.iters.begin(), block.iters.end(), [&](const Iter& iter) { return iter.var.is(variable); });
    return static_cast<std::size_t>(found - block.iters.begin());
  }
  bool is_padded(std::size_t place) const { return extents[place] != constant_value(block.iters[place].extent); }
  bool is_padded(const Indices& indices) const {
    return std::any_of(indices.begin(), indices.end(), [&](const Expr& index) { return is_padded(place_of(index)); });
  }
};

Result<std::vector<std::int64_t>> padded_extents(const Block& block, std::span<const std::int64_t> multiples) {
  if (multiples.size() != block.iters.size())
    return illegal("pad: block '{}' is given {} multiples, allowed are {}, one per iteration variable", block.name,
                   multiples.size(), block.iters.size());
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < multiples.size(); ++i) {
    const std::int64_t multiple = multiples[i];
    if (multiple < 1 || multiple > kLargestMultiple)
      return illegal("pad: multiple {} of variable '{}' of block '{}' is outside 1..{}", multiple,
                     name_of(block.iters[i].var), block.name, kLargestMultiple);
    const std::optional<std::int64_t> extent = as_int(block.iters[i].extent);
    if (!extent)
      return illegal("pad: variable '{}' of block '{}' has no constant extent", name_of(block.iters[i].var),
                     block.name);
    extents.push_back((*extent + multiple - 1) / multiple * multiple);
  }
  return extents;
}

/// An error unless each index is an iteration variable, none twice, all of whose values lie within the buffer.
Result<void> check_plain(const Padding& padding, const Expr& buffer, const Indices& indices) {
  const std::vector<Iter>& iters = padding.block.iters;
  const std::vector<Expr>& shape = buffer.get<Buffer>().shape;
  std::vector<bool> seen(iters.size(), false);
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const std::size_t place = padding.place_of(indices[axis]);
    if (place == iters.size() || seen[place])
      return illegal("pad: block '{}' accesses buffer '{}' at other indices than its variables, each once",
                     padding.block.name, name_of(buffer));
    if (!as_int(shape[axis]) || constant_value(shape[axis]) < constant_value(iters[place].extent))
      return illegal("pad: block '{}' has more values of '{}' than axis {} of buffer '{}'", padding.block.name,
                     name_of(iters[place].var), axis, name_of(buffer));
    seen[place] = true;
  }
  return {};
}

/// An error for an integer division: padding would divide by zero.
Result<void> check_no_division(const Block& block, const Expr& value) {
  bool divides = false;
  walk(value, [&](const Expr& e) {
    const Call* node = e.as<Call>();
    const bool is_division =
        e.as<Div>() || e.as<FloorDiv>() || e.as<FloorMod>() || (node && node->function == Intrinsic::Fmod);
    divides = divides || (is_division && !e.type().is_float());
  });
  if (divides) return illegal("pad: block '{}' divides integers, which padding would divide by zero", block.name);
  return {};
}

/// The loads and constants that are multiplied; false if there is anything else.
bool collect_factors(const Expr& e, std::vector<Expr>& factors) {
  if (const Mul* node = e.as<Mul>()) return collect_factors(node->a, factors) && collect_factors(node->b, factors);
  if (const Cast* node = e.as<Cast>()) return collect_factors(node->value, factors);
  const FloatImm* number = e.as<FloatImm>();
  if (number && !std::isfinite(number->value)) return false;  // times zero this is no zero
  factors.push_back(e);
  return number || e.as<IntImm>() || e.as<Load>();
}

bool is_accumulator(const Expr& e, const Store& store) {
  const Load* load = e.as<Load>();
  return load && load->buffer.is(store.buffer) &&
         std::equal(load->indices.begin(), load->indices.end(), store.indices.begin(), store.indices.end(),
                    [](const Expr& a, const Expr& b) { return a.is(b); });
}

/// An error unless zeros beyond the end of a reduction variable add nothing: the block sums products, all of whose
/// loads use the variable, since zero times infinity would not be zero.
Result<void> check_adds_nothing(const Padding& padding, const Store& store, const Expr& variable) {
  const Error refused = illegal("pad: block '{}' does not sum products of elements that all depend on '{}'",
                                padding.block.name, name_of(variable));
  const Add* sum = store.value.as<Add>();
  if (!sum || !padding.block.init) return refused;
  const bool is_left = is_accumulator(sum->a, store);
  if (!is_left && !is_accumulator(sum->b, store)) return refused;
  std::vector<Expr> factors;
  if (!collect_factors(is_left ? sum->b : sum->a, factors)) return refused;
  bool has_load = false;
  for (const Expr& factor : factors) {
    if (!factor.as<Load>()) continue;
    if (!uses(factor, variable)) return refused;
    has_load = true;
  }
  if (!has_load) return refused;
  return {};
}

Result<void> check_body(const Program& program, const Padding& padding) {
  const Block& block = padding.block;
  const Store* body = block.body.as<Store>();
  if (!body || (block.init && !block.init.as<Store>()) || body->mask)
    return illegal("pad: block '{}' has another body than one store", block.name);
  if (writers(program, body->buffer).size() != 1)
    return illegal("pad: buffer '{}' of block '{}' is written by other blocks too", name_of(body->buffer), block.name);
  if (block.init) HONE_TRY(check_plain(padding, body->buffer, block.init.get<Store>().indices));
  HONE_TRY(check_plain(padding, body->buffer, body->indices));
  std::vector<Expr> loads;
  walk(body->value, [&](const Expr& e) {
    if (e.as<Load>()) loads.push_back(e);
  });
  for (const Expr& e : loads) HONE_TRY(check_plain(padding, e.get<Load>().buffer, e.get<Load>().indices));
  HONE_TRY(check_no_division(block, body->value));
  for (std::size_t i = 0; i < block.iters.size(); ++i)
    if (block.iters[i].kind == IterKind::Reduce && padding.is_padded(i))
      HONE_TRY(check_adds_nothing(padding, *body, block.iters[i].var));
  return {};
}

/// Builds the padded program around the block step by step.
class Padder {
 public:
  Padder(Program program, const Padding& padding) : program_(std::move(program)), padding_(padding) {}

  Program run(const Path& nest) {
    const Store& body = padding_.block.body.get<Store>();
    program_ = replace(program_, nest, rebuild(nest.target()));
    pad_inputs(body.value, body.buffer);
    if (padding_.is_padded(body.indices)) pad_output(body);
    return program_;
  }

 private:
  /// The block's loops and variables with their new extents.
  Stmt rebuild(const Stmt& s) const {
    if (const For* loop = s.as<For>()) {
      std::int64_t extent = 0;
      for (std::size_t i = 0; i < padding_.extents.size(); ++i)
        if (padding_.block.iters[i].binding.is(loop->var)) extent = padding_.extents[i];
      return make(For{loop->var, imm(extent), loop->how, rebuild(loop->body), loop->annotations});
    }
    Block padded = padding_.block;
    for (std::size_t i = 0; i < padded.iters.size(); ++i) padded.iters[i].extent = imm(padding_.extents[i]);
    return make(std::move(padded));
  }

  Path top() const {
    const Path path = *find_block(program_, padding_.block.name, "pad");
    return path.prefix(path.stmts.size() - 1 - padding_.block.iters.size());
  }

  /// The extents of the variables, before or after padding.
  std::vector<std::int64_t> shape_of(const Indices& indices, bool is_after) const {
    std::vector<std::int64_t> shape;
    for (const Expr& index : indices) {
      const std::size_t place = padding_.place_of(index);
      shape.push_back(is_after ? padding_.extents[place] : constant_value(padding_.block.iters[place].extent));
    }
    return shape;
  }

  Expr new_buffer(const Expr& buffer, const Indices& indices) {
    const std::string name = fresh_buffer_name(program_, fmt::format("{}.pad", name_of(buffer)));
    const Expr padded = ir::buffer(name, buffer.type(), shape_of(indices, true));
    program_ = allocate(program_, padded);
    return padded;
  }

  void pad_inputs(const Expr& value, const Expr& output) {
    std::vector<Expr> loads;
    walk(value, [&](const Expr& e) {
      const Load* load = e.as<Load>();
      if (load && !load->buffer.is(output) && padding_.is_padded(load->indices)) loads.push_back(e);
    });
    for (const Expr& e : loads) pad_input(e.get<Load>());
  }

  /// Copies what one load reads into a buffer with zeros around it.
  void pad_input(const Load& access) {
    const auto has_its_indices = [&](const Indices& indices) {
      return std::equal(indices.begin(), indices.end(), access.indices.begin(), access.indices.end(),
                        [](const Expr& a, const Expr& b) { return a.is(b); });
    };
    const Stmt block = find_block(program_, padding_.block.name, "pad")->target();
    bool is_needed = false;  // an equal load may have brought the copy already
    walk(
        block, [](const Stmt&) {},
        [&](const Expr& e) {
          const Load* load = e.as<Load>();
          is_needed = is_needed || (load && load->buffer.is(access.buffer) && has_its_indices(load->indices));
        });
    if (!is_needed) return;

    const Expr padded = new_buffer(access.buffer, access.indices);
    const std::string name = fresh_block_name(program_, fmt::format("{}.pad", name_of(access.buffer)));
    const std::vector<std::int64_t> before = shape_of(access.indices, false), after = shape_of(access.indices, true);
    const Stmt copy = spatial_nest(program_, name, after, [&](const Indices& vars) {
      Expr inside;
      for (std::size_t axis = 0; axis < vars.size(); ++axis)
        if (before[axis] != after[axis])
          inside = inside ? logical_and(inside, vars[axis] < before[axis]) : vars[axis] < before[axis];
      const Expr zero = constant(padded.type(), std::int64_t{0});
      return store(padded, vars, select(inside, load(access.buffer, vars), zero));
    });
    const auto redirect = [&](const Expr& e) {
      const Load* load = e.as<Load>();
      const bool is_meant = load && load->buffer.is(access.buffer) && has_its_indices(load->indices);
      return is_meant ? ir::load(padded, load->indices) : e;
    };
    const Path path = *find_block(program_, padding_.block.name, "pad");
    program_ = replace(program_, path, transform(path.target(), [](const Stmt& s) { return s; }, redirect));
    program_ = insert_before(program_, top(), copy);
  }

  /// Lets the block compute into a padded buffer, whose inner part is copied to the output.
  void pad_output(const Store& body) {
    const Expr output = body.buffer;
    const Expr padded = new_buffer(output, body.indices);
    const Path path = *find_block(program_, padding_.block.name, "pad");
    program_ = replace(program_, path, substitute(path.target(), output, padded));
    const std::string name = fresh_block_name(program_, fmt::format("{}.unpad", name_of(output)));
    program_ = insert_after(program_, top(),
                            spatial_nest(program_, name, shape_of(body.indices, false),
                                         [&](const Indices& vars) { return store(output, vars, load(padded, vars)); }));
  }

  Program program_;
  const Padding& padding_;
};

}  // namespace

Result<Program> pad(const Program& program, std::string_view name, std::span<const std::int64_t> multiples) {
  HONE_TRY(const Path path, find_block(program, name, "pad"));
  HONE_TRY(std::vector<std::int64_t> extents, padded_extents(path.block(), multiples));
  HONE_TRY(const Path nest, naive_nest(path, "pad"));
  const Padding padding{path.block(), std::move(extents)};
  HONE_TRY(check_body(program, padding));
  return Padder(program, padding).run(nest);
}

}  // namespace hone::schedule
