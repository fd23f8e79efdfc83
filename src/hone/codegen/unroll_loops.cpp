#include "hone/codegen/unroll_loops.h"

#include <charconv>

#include "hone/codegen/names.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"

namespace hone::codegen {

using namespace ir;

namespace {

constexpr std::string_view kUnroll = "unroll";

/// The result of unrolling a statement, and what it now amounts to.
struct Unrolled {
  Stmt stmt;
  std::int64_t statements = 0;  ///< that do something: stores and evaluations
  bool has_loops = false;
};

class Unroller {
 public:
  /// `budget`: how many statements unmarked loops may be unrolled to.
  Result<Unrolled> unroll(const Stmt& s, std::int64_t budget) {
    if (const For* loop = s.as<For>()) return unroll_loop(s, *loop, budget);
    Unrolled result;
    std::optional<Error> failed;
    result.stmt = map_children(s, [&](const Stmt& child) {
      if (failed) return child;
      Result<Unrolled> inner = unroll(child, budget);
      if (!inner) {
        failed = std::move(inner).error();
        return child;
      }
      result.statements += inner->statements;
      result.has_loops |= inner->has_loops;
      return inner->stmt;
    });
    if (failed) return *std::move(failed);
    if (s.as<Store>() || s.as<Evaluate>()) result.statements = 1;
    if (const Seq* sequence = result.stmt.as<Seq>(); sequence && !result.stmt.is(s)) result.stmt = seq(sequence->stmts);
    return result;
  }

 private:
  Result<Unrolled> unroll_loop(const Stmt& s, const For& loop, std::int64_t budget) {
    HONE_TRY(budget, budget_of(loop, budget));
    HONE_TRY(Unrolled body, unroll(loop.body, budget));
    const bool marked = loop.how == ForKind::Unrolled;
    const auto extent = as_int(loop.extent);
    if (marked && !extent)
      return error(ErrorCode::Unsupported, "unroll: the extent of loop '{}' is {}, only constants can be unrolled",
                   name_of(loop.var), to_text(loop.extent));

    const std::int64_t copies = extent.value_or(0) * std::max<std::int64_t>(body.statements, 1);
    const bool fits = loop.how == ForKind::Serial && extent && !body.has_loops && copies <= budget;
    if (!marked && !fits) {
      const Stmt rebuilt = map_children(s, [&](const Stmt&) { return body.stmt; });
      return Unrolled{rebuilt, body.statements, true};
    }
    if (copies > kMaxUnrolledStatements || *extent > kMaxUnrolledStatements)
      return error(ErrorCode::Unsupported, "unroll: loop '{}' would become {} statements, allowed are {}",
                   name_of(loop.var), copies, kMaxUnrolledStatements);

    std::vector<Stmt> result;
    for (std::int64_t i = 0; i < *extent; ++i) result.push_back(substitute(body.stmt, loop.var, imm(i)));
    return Unrolled{seq(std::move(result)), copies, body.has_loops};
  }

  static Result<std::int64_t> budget_of(const For& loop, std::int64_t outer) {
    const std::string* text = find(loop.annotations, kUnroll);
    if (!text) return outer;
    std::int64_t budget = 0;
    const auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), budget);
    if (status != std::errc() || end != text->data() + text->size() || budget < 0)
      return error(ErrorCode::InvalidArgument, "unroll: annotation 'unroll' of loop '{}' is '{}', not a number >= 0",
                   name_of(loop.var), *text);
    return budget;
  }
};

}  // namespace

Result<Function> unroll_loops(const Function& function) {
  HONE_TRY(Unrolled body, Unroller().unroll(function.body, 0));
  return with_unique_names({function.name, function.params, body.stmt});
}

}  // namespace hone::codegen
