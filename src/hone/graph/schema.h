/// Schemas: what an operator takes and gives, parsed from the text in its table entry.
///
///     "X: T, W: T, B?: T -> Y: T; auto_pad, dilations, group; T: float"
///
/// Three parts: values, attributes, types. `B?` may be left out, `X...` stands for any number. `-> Y?, Z?` outputs may
/// be unused. A type is a variable (one capital letter with an optional digit: all values that name it have one type),
/// or a set: any, number, float, int, bool, string, index (i32, i64), or single type names joined by `|` such as
/// `uint8|int8`. Values without a type (or outputs whose type is none of the inputs') are free. The third part gives
/// the sets of variables, separated by commas; a variable without one may be any type. Sequences, optionals and maps
/// pass every set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/graph/graph.h"

namespace hone::graph {

struct Operator;

/// A formal input or output.
struct Formal {
  std::string name;
  std::string type;  ///< a variable, a set, or empty: free
  bool is_optional = false;
  bool is_variadic = false;
};

/// The parsed text.
struct Schema {
  std::vector<Formal> inputs, outputs;
  std::vector<std::string> attributes;
  std::vector<std::pair<std::string, std::string>> variables;  ///< name, set

  /// The formal of actual input or output `i`; null if there are too many.
  static const Formal* formal_at(const std::vector<Formal>& formals, std::size_t i);
};

/// Parses (once per operator) the text of an entry; a text that breaks the grammar is our own mistake.
const Schema& schema_of(const Operator& entry);

/// Whether a type belongs to a set of the grammar.
bool is_in_set(std::string_view set, ElementType type);

/// Checks counts and attribute names of a node against its entry; `types` are those of its inputs as far as they are
/// known (Undefined otherwise).
Result<void> check_node(const Graph& graph, const Node& node, const Operator& entry,
                        std::span<const ElementType> types);

/// The element type of an output that the schema ties to an input's, or Undefined.
ElementType output_type(const Schema& schema, std::size_t output, std::span<const ElementType> input_types);

}  // namespace hone::graph
