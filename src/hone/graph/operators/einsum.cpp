#include <algorithm>
#include <map>
#include <string>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"

namespace hone::graph {

using ir::Expr;
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

Result<std::vector<Tensor>> define_einsum(const Application& op) {
  HONE_TRY(const Equation equation, parse(op));
  HONE_TRY(const auto extents, extents_of(op, equation));
  const ir::DType stored = op.tensor(0).type(), type = accumulator_type(stored);
  for (std::size_t i = 1; i < op.input_count(); ++i)
    if (op.tensor(i).type() != stored) return op.fail("inputs 0 and {} have different types", i);

  std::vector<tensor::Axis> axes, reduced;
  Labels reduced_labels;
  for (const char label : equation.result) axes.emplace_back(extents.at(label));
  for (const auto& [label, extent] : extents)
    if (equation.result.find(label) == Labels::npos) {
      reduced.emplace_back(extent);
      reduced_labels.push_back(label);
    }
  const Tensor sum = tensor::compute("einsum", axes, [&](const Indices& i) {
    return tensor::reduce_sum(reduced, [&](const Indices& r) {
      std::map<char, Expr> at;
      for (std::size_t n = 0; n < i.size(); ++n) at.emplace(equation.result[n], i[n]);
      for (std::size_t n = 0; n < r.size(); ++n) at.emplace(reduced_labels[n], r[n]);
      Expr product;
      for (std::size_t t = 0; t < equation.terms.size(); ++t) {
        Indices indices;
        for (std::size_t axis = 0; axis < equation.terms[t].size(); ++axis)
          indices.push_back(op.shape(t)[axis] == 1 ? ir::imm(0) : at.at(equation.terms[t][axis]));
        const Expr factor = ir::cast(type, op.tensor(t)(indices));
        product = product ? product * factor : factor;
      }
      return product;
    });
  });
  return std::vector<Tensor>{converted(sum, stored)};
}

}  // namespace

std::span<const Operator> einsum_operators() {
  static const Operator entries[] = {
      {.name = "Einsum", .schema = "Inputs...: T -> Output: T; equation; T: number", .define = define_einsum},
  };
  return entries;
}

}  // namespace hone::graph
