#include "hone/ir/interpret.h"

#include <algorithm>
#include <fmt/ranges.h>

#include "hone/ir/interpret_code.h"

namespace hone::ir {

namespace {

std::size_t at(int place) { return static_cast<std::size_t>(place); }

/// A block's iteration variable while it is bound and checked.
struct BoundIter {
  std::string name;
  std::size_t slot;
  Code binding, extent;
  bool is_reduction;
};

void check_iters(Frame& frame, const std::string& block, const std::vector<BoundIter>& iters) {
  for (const BoundIter& iter : iters) {
    const std::int64_t value = frame.slots[iter.slot].i, extent = iter.extent(frame, 0).i;
    if (value < 0 || value >= extent) [[unlikely]]
      throw Stop{error(ErrorCode::OutOfBounds, "block {}: iteration variable {} is {}, allowed are 0..{}", block,
                       iter.name, value, extent - 1)};
  }
}

}  // namespace

int Translator::define_variable(const Expr& var) {
  const int slot = slot_count_;
  slot_count_ += var.type().lanes;
  variables_[var.id()] = slot;
  return slot;
}

int Translator::define_memory(const Expr& buffer) {
  const int place = static_cast<int>(buffers_.size());
  buffers_.push_back(buffer);
  memories_[buffer.id()] = place;
  return place;
}

int Translator::variable(const Expr& var) const {
  const auto found = variables_.find(var.id());
  if (found == variables_.end())
    throw Stop{error(ErrorCode::VerifyError,
                     "variable {} has no value, allowed are variables of loops, blocks and lets outside its use",
                     name_of(var))};
  return found->second;
}

int Translator::memory(const Expr& buffer) const {
  const auto found = memories_.find(buffer.id());
  if (found == memories_.end())
    throw Stop{error(ErrorCode::VerifyError,
                     "buffer {} does not exist here, allowed are parameters and buffers allocated outside its use",
                     name_of(buffer))};
  return found->second;
}

Frame Translator::new_frame() const {
  Frame frame;
  frame.slots.resize(at(slot_count_), of_int(0));
  for (const Expr& buffer : buffers_)
    frame.memories.push_back(Memory{.name = name_of(buffer), .element = buffer.type(), .shape = {}});
  return frame;
}

Action Translator::translate_for(const For& loop) {
  const Code extent = translate(loop.extent);
  const std::size_t slot = at(define_variable(loop.var));
  return [extent, slot, body = translate(loop.body)](Frame& frame) {
    const std::int64_t count = extent(frame, 0).i;
    for (std::int64_t i = 0; i < count; ++i) {
      frame.slots[slot] = of_int(i);
      body(frame);
    }
  };
}

Action Translator::translate_block(const Block& block) {
  std::vector<BoundIter> iters;
  for (const Iter& iter : block.iters) {
    Code binding = translate(iter.binding), extent = translate(iter.extent);
    iters.push_back({name_of(iter.var), at(define_variable(iter.var)), std::move(binding), std::move(extent),
                     iter.kind == IterKind::Reduce});
  }
  const Code predicate = block.predicate ? translate(block.predicate) : [](Frame&, int) { return of_int(1); };
  const Action init = block.init ? translate(block.init) : Action();
  return [name = block.name, iters, predicate, init, body = translate(block.body)](Frame& frame) {
    bool is_first = true;
    for (const BoundIter& iter : iters) {
      const Number value = iter.binding(frame, 0);
      frame.slots[iter.slot] = value;
      if (iter.is_reduction && value.i != 0) is_first = false;
    }
    if (!predicate(frame, 0).i) return;
    check_iters(frame, name, iters);
    if (init && is_first) init(frame);
    body(frame);
  };
}

Action Translator::translate_store(const Store& node) {
  int lanes = node.value.type().lanes;
  for (const Expr& index : node.indices) lanes = std::max<int>(lanes, index.type().lanes);
  const Code mask = node.mask ? translate(node.mask) : Code();
  const DType element = node.buffer.type();
  const auto write = [place = at(memory(node.buffer)), indices = translate_indices(node.buffer, node.indices), element,
                      bytes = element.bytes()](Frame& frame, int lane, Number value) {
    Memory& memory = frame.memories[place];
    const std::int64_t offset = element_offset(frame, memory, indices, lane, "store");
    write_number(element.scalar, memory.data + offset * bytes, value);
    if (!memory.written.empty()) memory.written[static_cast<std::size_t>(offset)] = true;
  };
  if (lanes == 1)
    return [mask, value = translate(node.value), write](Frame& frame) {
      if (!mask || mask(frame, 0).i) write(frame, 0, value(frame, 0));
    };
  // All lanes are computed before the first is written: the value may load what the store overwrites.
  return [mask, value = translate(node.value), write, lanes](Frame& frame) {
    std::vector<std::pair<int, Number>> results;
    for (int lane = 0; lane < lanes; ++lane)
      if (!mask || mask(frame, lane).i) results.emplace_back(lane, value(frame, lane));
    for (const auto& [lane, result] : results) write(frame, lane, result);
  };
}

Action Translator::translate_allocate(const Allocate& node) {
  const std::vector<Code> shape = translate_all(node.buffer.get<Buffer>().shape);
  const std::size_t place = at(define_memory(node.buffer));
  return [shape, place, bytes = node.buffer.type().bytes(), body = translate(node.body)](Frame& frame) {
    Memory& memory = frame.memories[place];
    std::int64_t size = 1;
    memory.shape.clear();
    for (const Code& extent : shape) {
      memory.shape.push_back(extent(frame, 0).i);
      if (memory.shape.back() < 0)
        throw Stop{error(ErrorCode::InvalidArgument, "buffer {} has an extent of {}, allowed is 0 and more",
                         memory.name, memory.shape.back())};
      size *= memory.shape.back();
    }
    memory.storage.resize(static_cast<std::size_t>(size * bytes));
    memory.written.assign(static_cast<std::size_t>(size), false);
    memory.data = memory.storage.data();
    body(frame);
  };
}

Action Translator::translate(const Stmt& s) {
  switch (s.kind()) {
    case Kind::For:
      return translate_for(s.get<For>());
    case Kind::Block:
      return translate_block(s.get<Block>());
    case Kind::Store:
      return translate_store(s.get<Store>());
    case Kind::If: {
      const If& node = s.get<If>();
      return [condition = translate(node.condition), then = translate(node.then),
              otherwise = node.otherwise ? translate(node.otherwise) : Action()](Frame& frame) {
        if (condition(frame, 0).i) {
          then(frame);
        } else if (otherwise) {
          otherwise(frame);
        }
      };
    }
    case Kind::Seq: {
      std::vector<Action> actions;
      for (const Stmt& child : s.get<Seq>().stmts) actions.push_back(translate(child));
      return [actions](Frame& frame) {
        for (const Action& action : actions) action(frame);
      };
    }
    case Kind::Allocate:
      return translate_allocate(s.get<Allocate>());
    case Kind::Let: {
      const Let& node = s.get<Let>();
      const Code value = translate(node.value);
      const std::size_t slot = at(define_variable(node.var));
      return [value, slot, lanes = node.var.type().lanes, body = translate(node.body)](Frame& frame) {
        for (int lane = 0; lane < lanes; ++lane) frame.slots[slot + at(lane)] = value(frame, lane);
        body(frame);
      };
    }
    case Kind::Evaluate:
      return [value = translate(s.get<Evaluate>().value)](Frame& frame) { value(frame, 0); };
    case Kind::Barrier:
      return [](Frame&) {};
    default:
      break;
  }
  HONE_CHECK(false, "{} is not a statement", to_string(s.kind()));
  return {};
}

namespace {

Error wrong_argument(const Function& function, std::size_t index, const Array& found) {
  const Expr& param = function.params[index];
  std::vector<std::string> extents;
  for (const Expr& extent : param.get<Buffer>().shape) {
    const std::optional<std::int64_t> value = as_int(extent);
    extents.push_back(value ? std::to_string(*value) : "any");
  }
  return error(ErrorCode::InvalidArgument, "{}: argument {} for {} is {}[{}], allowed is {}[{}]", function.name, index,
               name_of(param), to_string(found.type()), fmt::join(found.shape(), ", "), to_string(param.type()),
               fmt::join(extents, ", "));
}

/// Finds the values of symbolic sizes: a variable that is a parameter's whole extent has the array's.
std::vector<std::pair<int, std::int64_t>> bind_sizes(Translator& translator, const Function& function,
                                                     std::span<Array* const> args) {
  std::vector<std::pair<int, std::int64_t>> sizes;
  for (std::size_t p = 0; p < args.size(); ++p) {
    const std::vector<Expr>& shape = function.params[p].get<Buffer>().shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis].as<Var>() && !translator.has_variable(shape[axis]) && axis < args[p]->shape().size())
        sizes.emplace_back(translator.define_variable(shape[axis]), args[p]->shape()[axis]);
  }
  return sizes;
}

Result<void> bind_arguments(const Translator& translator, Frame& frame, const Function& function,
                            std::span<Array* const> args) {
  for (std::size_t p = 0; p < args.size(); ++p) {
    const Expr& param = function.params[p];
    std::vector<std::int64_t> shape;
    for (const Expr& extent : param.get<Buffer>().shape) shape.push_back(translator.translate(extent)(frame, 0).i);
    if (args[p]->type() != param.type() || args[p]->shape() != shape) return wrong_argument(function, p, *args[p]);
    frame.memories[p].shape = std::move(shape);
    frame.memories[p].data = args[p]->data();
  }
  return {};
}

}  // namespace

Result<void> interpret(const Function& function, std::span<Array* const> args) {
  if (args.size() != function.params.size())
    return error(ErrorCode::InvalidArgument, "{}: called with {} arguments, allowed are {}", function.name, args.size(),
                 function.params.size());
  try {
    Translator translator;
    for (const Expr& param : function.params) translator.define_memory(param);
    const auto sizes = bind_sizes(translator, function, args);
    const Action program = translator.translate(function.body);
    Frame frame = translator.new_frame();
    for (const auto& [slot, value] : sizes) frame.slots[at(slot)] = of_int(value);
    HONE_TRY(bind_arguments(translator, frame, function, args));
    program(frame);
    return {};
  } catch (Stop& stop) { return std::move(stop.error); }
}

Result<void> interpret(const Function& function, std::vector<Array>& args) {
  std::vector<Array*> pointers;
  for (Array& array : args) pointers.push_back(&array);
  return interpret(function, pointers);
}

std::vector<Array> random_arguments(const Function& function, Rng& rng) {
  std::vector<Array> args;
  for (const Expr& param : function.params) {
    std::vector<std::int64_t> shape;
    for (const Expr& extent : param.get<Buffer>().shape) shape.push_back(constant_value(extent));
    args.push_back(random_whole(rng, param.type(), std::move(shape)));
  }
  return args;
}

}  // namespace hone::ir
