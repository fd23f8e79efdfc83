/// The steps of a trace: one comparable struct per primitive, holding its arguments.
///
/// Each struct names its primitive (kName) and lists its fields once; JSON, printing and resolving follow from that
/// list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/ir/stmt.h"

namespace hone::schedule {

/// A whole number in a step: written out, or taken from a decision made earlier in the trace. As text "$tile[2]".
struct Number {
  std::int64_t value = 0;
  std::string decision;      ///< the name of the decision; empty if `value` is meant
  std::int64_t element = 0;  ///< which of the decision's values

  Number() = default;
  Number(std::int64_t number) : value(number) {}
  static Number from(std::string decision, std::int64_t element) {
    Number number;
    number.decision = std::move(decision);
    number.element = element;
    return number;
  }
  bool operator==(const Number&) const = default;
};
using Numbers = std::vector<Number>;
using Names = std::vector<std::string>;

/// Is shown the fields of a step one after the other, by name and type, and may change them.
class FieldVisitor {
 public:
  virtual void visit(std::string_view field, std::string& text) = 0;
  virtual void visit(std::string_view field, Names& names) = 0;
  virtual void visit(std::string_view field, Number& number) = 0;
  virtual void visit(std::string_view field, Numbers& numbers) = 0;
  virtual void visit(std::string_view field, std::int64_t& number) = 0;
  virtual void visit(std::string_view field, std::vector<std::int64_t>& numbers) = 0;
  virtual void visit(std::string_view field, ir::Scope& scope) = 0;
  virtual void visit(std::string_view field, ir::ForKind& index) = 0;

 protected:
  ~FieldVisitor() = default;
};

/// Declares kName, equality and the list of fields of a step struct.
#define HONE_STEP(type, name, ...)                \
  static constexpr std::string_view kName = name; \
  bool operator==(const type&) const = default;   \
  void show(FieldVisitor& fields) { __VA_ARGS__ }
#define HONE_FIELD(field) fields.visit(#field, field);

struct Split {
  std::string loop;
  Numbers factors;
  HONE_STEP(Split, "split", HONE_FIELD(loop) HONE_FIELD(factors))
};
struct Fuse {
  Names loops;
  HONE_STEP(Fuse, "fuse", HONE_FIELD(loops))
};
struct Reorder {
  Names loops;
  HONE_STEP(Reorder, "reorder", HONE_FIELD(loops))
};
struct Parallel {
  std::string loop;
  HONE_STEP(Parallel, "parallel", HONE_FIELD(loop))
};
struct Vectorize {
  std::string loop;
  HONE_STEP(Vectorize, "vectorize", HONE_FIELD(loop))
};
struct Unroll {
  std::string loop;
  HONE_STEP(Unroll, "unroll", HONE_FIELD(loop))
};
struct Bind {
  std::string loop;
  ir::ForKind index;
  HONE_STEP(Bind, "bind", HONE_FIELD(loop) HONE_FIELD(index))
};
/// `target` is a loop or a block.
struct Annotate {
  std::string target, key;
  std::string value;
  HONE_STEP(Annotate, "annotate", HONE_FIELD(target) HONE_FIELD(key) HONE_FIELD(value))
};
/// `loop` is a name, or "$location" for a decision of sample_location (which may be to stay).
struct ComputeAt {
  std::string block, loop;
  HONE_STEP(ComputeAt, "compute_at", HONE_FIELD(block) HONE_FIELD(loop))
};
struct ReverseComputeAt {
  std::string block, loop;
  HONE_STEP(ReverseComputeAt, "reverse_compute_at", HONE_FIELD(block) HONE_FIELD(loop))
};
struct ComputeInline {
  std::string block;
  HONE_STEP(ComputeInline, "compute_inline", HONE_FIELD(block))
};
struct ReverseComputeInline {
  std::string block;
  HONE_STEP(ReverseComputeInline, "reverse_compute_inline", HONE_FIELD(block))
};
struct CacheRead {
  std::string block, buffer;
  ir::Scope scope;
  HONE_STEP(CacheRead, "cache_read", HONE_FIELD(block) HONE_FIELD(buffer) HONE_FIELD(scope))
};
struct CacheWrite {
  std::string block;
  ir::Scope scope;
  HONE_STEP(CacheWrite, "cache_write", HONE_FIELD(block) HONE_FIELD(scope))
};
struct Rfactor {
  std::string block, loop;
  HONE_STEP(Rfactor, "rfactor", HONE_FIELD(block) HONE_FIELD(loop))
};
struct DecomposeReduction {
  std::string block, loop;
  HONE_STEP(DecomposeReduction, "decompose_reduction", HONE_FIELD(block) HONE_FIELD(loop))
};
struct SetScope {
  std::string buffer;
  ir::Scope scope;
  HONE_STEP(SetScope, "set_scope", HONE_FIELD(buffer) HONE_FIELD(scope))
};
struct StorageAlign {
  std::string buffer;
  Number axis, factor, offset;
  HONE_STEP(StorageAlign, "storage_align", HONE_FIELD(buffer) HONE_FIELD(axis) HONE_FIELD(factor) HONE_FIELD(offset))
};
struct TransformLayout {
  std::string buffer, map;
  HONE_STEP(TransformLayout, "transform_layout", HONE_FIELD(buffer) HONE_FIELD(map))
};
struct Pad {
  std::string block;
  Numbers multiples;
  HONE_STEP(Pad, "pad", HONE_FIELD(block) HONE_FIELD(multiples))
};
struct SplitVariable {
  std::string block, variable;
  Number factor;
  HONE_STEP(SplitVariable, "split_variable", HONE_FIELD(block) HONE_FIELD(variable) HONE_FIELD(factor))
};
struct DoubleBuffer {
  std::string buffer, loop;
  HONE_STEP(DoubleBuffer, "double_buffer", HONE_FIELD(buffer) HONE_FIELD(loop))
};
struct SoftwarePipeline {
  std::string loop;
  HONE_STEP(SoftwarePipeline, "software_pipeline", HONE_FIELD(loop))
};
struct Prefetch {
  std::string buffer, loop;
  Number distance;
  HONE_STEP(Prefetch, "prefetch", HONE_FIELD(buffer) HONE_FIELD(loop) HONE_FIELD(distance))
};
struct SpreadPrefetch {
  std::string buffer, loop, inner;
  Number distance;
  HONE_STEP(SpreadPrefetch, "spread_prefetch",
            HONE_FIELD(buffer) HONE_FIELD(loop) HONE_FIELD(inner) HONE_FIELD(distance))
};
struct Tensorize {
  std::string loop, intrinsic;
  HONE_STEP(Tensorize, "tensorize", HONE_FIELD(loop) HONE_FIELD(intrinsic))
};
/// Decides `parts` factors, outermost first, that cover the loop; the innermost is at most `max_innermost`.
struct SampleTile {
  std::string name, loop;
  std::int64_t parts, max_innermost;
  std::vector<std::int64_t> decision;
  HONE_STEP(SampleTile, "sample_tile",
            HONE_FIELD(name) HONE_FIELD(loop) HONE_FIELD(parts) HONE_FIELD(max_innermost) HONE_FIELD(decision))
};
/// Decides for one of several numbers; the decision is its position in `options`.
struct SampleChoice {
  std::string name;
  std::vector<std::int64_t> options;
  std::vector<std::int64_t> decision;
  HONE_STEP(SampleChoice, "sample_choice", HONE_FIELD(name) HONE_FIELD(options) HONE_FIELD(decision))
};
/// Decides where a block is computed; the decision is a position in locations(program, block), 0 meaning where it is.
struct SampleLocation {
  std::string name, block;
  std::vector<std::int64_t> decision;
  HONE_STEP(SampleLocation, "sample_location", HONE_FIELD(name) HONE_FIELD(block) HONE_FIELD(decision))
};

#undef HONE_FIELD
#undef HONE_STEP

using Step =
    std::variant<Split, Fuse, Reorder, Parallel, Vectorize, Unroll, Bind, Annotate, ComputeAt, ReverseComputeAt,
                 ComputeInline, ReverseComputeInline, CacheRead, CacheWrite, Rfactor, DecomposeReduction, SetScope,
                 StorageAlign, TransformLayout, Pad, SplitVariable, DoubleBuffer, SoftwarePipeline, Prefetch,
                 SpreadPrefetch, Tensorize, SampleTile, SampleChoice, SampleLocation>;
using Trace = std::vector<Step>;

/// The primitive's name, such as "compute_at".
std::string_view name_of(const Step& step);

/// Shows the fields of a step in their order.
void show(Step& step, FieldVisitor& fields);

/// A step of this primitive with empty fields, or nothing if there is no such primitive.
std::optional<Step> make_step(std::string_view name);
/// The names of all primitives, separated by commas.
std::string step_names();

/// The decision of a sampling step, or null.
const std::vector<std::int64_t>* decision_of(const Step& step);
std::vector<std::int64_t>* decision_of(Step& step);

}  // namespace hone::schedule
