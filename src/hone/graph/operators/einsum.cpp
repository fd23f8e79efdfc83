#include <algorithm>
#include <map>
#include <string>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"

namespace hone::graph {

using tensor::Indices;
using tensor::Tensor;

namespace {

/// A label is a letter, or an axis of the ellipsis: '0' for its last one, '1' for the one before it, …
using Labels = std::string;

struct Equation {
  std::vector<Labels> terms;
  Labels result;
};

/// Writes the ellipsis of a term as the labels of `count` axes.
Result<Labels> labels_of(const Application& op, const std::string& term, std::size_t count) {
  Labels labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, 3, "...") == 0) {
      if (labels.find('0') != Labels::npos) return op.fail("term '{}' has two ellipses", term);
      for (std::size_t axis = count; axis-- > 0;) labels.push_back(static_cast<char>('0' + axis));
      i += 2;
    } else if ((term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z')) {
      labels.push_back(term[i]);
    } else {
      return op.fail("term '{}' contains '{}', allowed are letters and '...'", term, term[i]);
    }
  }
  return labels;
}

/// The labels that occur once, in the order of their codes, after those of the ellipsis.
Labels implicit_result(const std::vector<Labels>& terms, std::size_t ellipsis) {
  std::map<char, int> counts;
  for (const Labels& term : terms)
    for (const char label : term) ++counts[label];
  Labels result;
  for (std::size_t axis = ellipsis; axis-- > 0;) result.push_back(static_cast<char>('0' + axis));
  for (const auto& [label, count] : counts)
    if (count == 1 && label >= 'A') result.push_back(label);
  return result;
}

Result<Equation> parse(const Application& op) {
  std::string text = op.text("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::vector<std::string> terms(1);
  for (const char c : left) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back().push_back(c);
  }
  if (terms.size() != op.input_count())
    return op.fail("equation '{}' has {} terms for {} inputs", text, terms.size(), op.input_count());

  std::size_t ellipsis = 0;  // the most axes that any stands for
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::size_t letters = terms[i].size() - (terms[i].find("...") == std::string::npos ? 0 : 3);
    const auto rank = static_cast<std::size_t>(op.rank(i));
    const bool has_ellipsis = letters != terms[i].size();
    if (has_ellipsis ? rank < letters : rank != letters)
      return op.fail("term '{}' has {} labels for an input of {} axes", terms[i], letters, rank);
    if (rank - letters > 10) return op.unsupported("an ellipsis of {} axes, allowed are 0..10", rank - letters);
    ellipsis = std::max(ellipsis, rank - letters);
  }
  Equation equation;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::size_t own =
        static_cast<std::size_t>(op.rank(i)) - (terms[i].size() - (terms[i].find("...") == std::string::npos ? 0 : 3));
    HONE_TRY(Labels labels, labels_of(op, terms[i], own));
    equation.terms.push_back(std::move(labels));
  }
  if (arrow == std::string::npos) {
    equation.result = implicit_result(equation.terms, ellipsis);
  } else {
    HONE_TRY(equation.result, labels_of(op, text.substr(arrow + 2), ellipsis));
  }
  return equation;
}

/// The extent of each label; extent 1 broadcasts.
Result<std::map<char, std::int64_t>> extents_of(const Application& op, const Equation& equation) {
  std::map<char, std::int64_t> extents;
  for (std::size_t i = 0; i < equation.terms.size(); ++i)
    for (std::size_t axis = 0; axis < equation.terms[i].size(); ++axis) {
      const std::int64_t extent = op.shape(i)[axis];
      std::int64_t& known = extents.try_emplace(equation.terms[i][axis], extent).first->second;
      if (known != extent && known != 1 && extent != 1)
        return op.fail("label '{}' has extents {} and {}, they must be equal", equation.terms[i][axis], known, extent);
      if (known == 1) known = extent;
    }
  for (std::size_t n = 0; n < equation.result.size(); ++n) {
    const char label = equation.result[n];
    if (!extents.contains(label)) return op.fail("label '{}' of the result stands in no term", label);
    if (equation.result.find(label, n + 1) != Labels::npos)
      return op.fail("label '{}' stands twice in the result", label);
  }
  return extents;
}

using Extents = std::map<char, std::int64_t>;

/// An operand on its way to the result: a value whose axes have the labels, no label twice.
struct Term {
  Shaped value;
  Labels labels;
};

bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }

/// The labels of `from` that pass, each once, in their order.
template <typename Predicate>
Labels chosen(const Labels& from, Predicate is_wanted) {
  Labels labels;
  for (const char label : from)
    if (is_wanted(label) && !has(labels, label)) labels.push_back(label);
  return labels;
}

/// Builds the expansion.
class Contraction {
 public:
  Contraction(const Application& op, Builder& builder, const Extents& extents)
      : parts_(op, builder), extents_(extents) {}

  /// One operand with the labels `kept`: repeated labels are its diagonal, others are summed over.
  Term reduce(const Shaped& value, const Labels& labels, const Labels& kept) {
    if (labels == kept) return {value, labels};
    Shape shape;
    for (const char label : kept) shape.push_back(value.shape[labels.find(label)]);
    const ValueId id = parts_.builder().add_node("hone", "Contract", {value.id}, 1,
                                                 attributes_of({{"from", labels}, {"to", kept}}))[0];
    return {{id, std::move(shape)}, kept};
  }

  /// The product of two operands, summed over the labels that are in both and not in `kept`: one matrix product.
  Term multiply(Term a, Term b, const Labels& kept) {
    a = without_single(a);
    b = without_single(b);
    const Labels shared = chosen(a.labels, [&](char l) { return has(b.labels, l); });
    const Labels batch = chosen(shared, [&](char l) { return has(kept, l); });
    const Labels inner = chosen(shared, [&](char l) { return !has(kept, l); });
    const Labels rows = chosen(a.labels, [&](char l) { return !has(shared, l); });
    const Labels columns = chosen(b.labels, [&](char l) { return !has(shared, l); });
    const Shaped left = arranged(a, {batch, rows, inner}), right = arranged(b, {batch, inner, columns});
    const Shape shape = {left.shape[0], left.shape[1], right.shape[2]};
    const Shaped product{parts_.builder().add("MatMul", {left.id, right.id}), shape};
    const Labels labels = batch + rows + columns;
    return {parts_.reshape(product, shape_of(labels)), labels};
  }

  /// The operand with its axes in the order of the labels; those it does not have get extent 1, then all are widened.
  Shaped finish(const Term& term, const Labels& labels) {
    const Labels own = chosen(labels, [&](char l) { return has(term.labels, l); });
    Shaped value = transposed(term, own);
    Shape with_ones;
    for (const char label : labels) with_ones.push_back(has(own, label) ? value.shape[own.find(label)] : 1);
    value = parts_.reshape(value, with_ones);
    const Shape wanted = shape_of(labels);
    if (value.shape == wanted) return value;
    return {parts_.builder().add("Expand", {value.id, parts_.builder().ints(wanted)}), wanted};
  }

 private:
  Shape shape_of(const Labels& labels) const {
    Shape shape;
    for (const char label : labels) shape.push_back(extents_.at(label));
    return shape;
  }

  /// Without the axes of extent 1 that stand for more: the other operand has the elements.
  Term without_single(const Term& term) {
    Labels labels;
    Shape shape;
    for (std::size_t axis = 0; axis < term.labels.size(); ++axis)
      if (term.value.shape[axis] != 1 || extents_.at(term.labels[axis]) == 1) {
        labels.push_back(term.labels[axis]);
        shape.push_back(term.value.shape[axis]);
      }
    return {parts_.reshape(term.value, shape), labels};
  }

  Shaped transposed(const Term& term, const Labels& order) {
    if (order == term.labels) return term.value;
    std::vector<std::int64_t> permutation;
    for (const char label : order) permutation.push_back(static_cast<std::int64_t>(term.labels.find(label)));
    return parts_.transpose(term.value, permutation);
  }

  /// Three axes, each of which holds one group of labels.
  Shaped arranged(const Term& term, const std::vector<Labels>& groups) {
    Labels order;
    Shape shape;
    for (const Labels& group : groups) {
      order += group;
      std::int64_t count = 1;
      for (const char label : group) count *= extents_.at(label);
      shape.push_back(count);
    }
    return parts_.reshape(transposed(term, order), shape);
  }

  Parts parts_;
  const Extents& extents_;
};

/// Multiplies from left to right, and sums over each label as soon as no later operand has it.
Result<std::vector<ValueId>> expand_einsum(const Application& op, Builder& builder) {
  for (std::size_t i = 1; i < op.input_count(); ++i)
    if (op.type(i) != op.type(0)) return op.fail("inputs 0 and {} have different types", i);
  HONE_TRY(const Equation equation, parse(op));
  HONE_TRY(const Extents extents, extents_of(op, equation));
  Contraction contraction(op, builder, extents);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < equation.terms.size(); ++i) {
    const auto is_needed = [&](char label) {
      if (has(equation.result, label)) return true;
      for (std::size_t other = 0; other < equation.terms.size(); ++other)
        if (other != i && has(equation.terms[other], label)) return true;
      return false;
    };
    terms.push_back(
        contraction.reduce({op.id(i), op.shape(i)}, equation.terms[i], chosen(equation.terms[i], is_needed)));
  }
  Term product = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    Labels kept = equation.result;
    for (std::size_t later = i + 1; later < terms.size(); ++later) kept += terms[later].labels;
    product = contraction.multiply(product, terms[i], kept);
  }
  // labels of extent 1 on one side may be left
  product = contraction.reduce(product.value, product.labels,
                               chosen(product.labels, [&](char label) { return has(equation.result, label); }));
  const Shaped result = contraction.finish(product, equation.result);
  return std::vector{result.id == op.id(0) ? builder.add("Identity", {result.id}) : result.id};
}

/// One operand with labels `from` summed to the labels `to`.
Result<std::vector<Tensor>> define_contract(const Application& op) {
  const Labels from = op.text("from", ""), to = op.text("to", "");
  const Tensor& x = op.tensor(0);
  if (from.size() != x.rank()) return op.fail("labels '{}' for {} axes", from, x.rank());
  Extents extents;
  for (std::size_t axis = 0; axis < from.size(); ++axis)
    if (extents.try_emplace(from[axis], x.extent(axis)).first->second != x.extent(axis))
      return op.fail("label '{}' has extents {} and {}, they must be equal", from[axis], extents.at(from[axis]),
                     x.extent(axis));
  std::vector<tensor::Axis> axes, reduced;
  Labels reduced_labels;
  for (const char label : to) {
    if (!extents.contains(label)) return op.fail("label '{}' is not in '{}'", label, from);
    axes.emplace_back(extents.at(label));
  }
  for (const auto& [label, extent] : extents)
    if (!has(to, label)) {
      reduced.emplace_back(extent);
      reduced_labels.push_back(label);
    }
  const ir::DType type = accumulator_type(x.type());
  const Tensor sum = tensor::compute("contract", axes, [&](const Indices& i) {
    return tensor::reduce_sum(reduced, [&](const Indices& r) {
      Indices at;
      for (const char label : from) at.push_back(has(to, label) ? i[to.find(label)] : r[reduced_labels.find(label)]);
      return ir::cast(type, x(at));
    });
  });
  return std::vector<Tensor>{converted(sum, x.type())};
}

}  // namespace

std::span<const Operator> einsum_operators() {
  static const Operator entries[] = {
      {.name = "Einsum", .schema = "Inputs...: T -> Output: T; equation; T: number", .expand = expand_einsum},
      {.name = "Contract", .domain = "hone", .schema = "x: T -> y: T; from, to; T: number", .define = define_contract},
  };
  return entries;
}

}  // namespace hone::graph
