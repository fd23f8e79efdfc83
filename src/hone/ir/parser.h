/// The parser of the text form: recursive descent over tokens, checking types before it builds nodes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/ir/lexer.h"
#include "hone/ir/stmt.h"

namespace hone::ir {

/// Reads functions from a text. No text makes it crash: brackets nest at most kMaxNesting deep, and what is built by
/// loops instead of recursion (sums of many terms, scopes in scopes) is bounded by kMaxLength.
class Parser {
 public:
  static constexpr int kMaxNesting = 256;
  static constexpr int kMaxLength = 1024;

  explicit Parser(std::string_view text) : tokens_(tokenize(text)) {}

  Result<Function> function();
  bool is_at_end() const { return peek().kind == TokenKind::End; }
  /// The error of a text that goes on where it should end.
  Result<void> expect_end() const;

 private:
  /// Counts one level of brackets while it lives.
  struct Level {
    explicit Level(Parser& p) : parser(p) { ++parser.depth_; }
    ~Level() { --parser.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Parser& parser;
  };
  /// A Let or Allocate whose body is not read yet: it takes the statements from `position` on.
  struct Open {
    std::size_t position;
    Expr definition, value;
  };

  // Tokens.
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is_at(std::string_view text, std::size_t ahead = 0) const;
  bool is_at_name() const;
  bool accept(std::string_view text);
  Result<void> expect(std::string_view text);
  Result<std::string> name(std::string_view what);
  Result<DType> type();
  Error unexpected(std::string_view allowed) const;
  Error wrong(const Token& where, std::string_view message) const;
  Result<void> check_depth() const;
  template <typename T>
  Result<T> located(const Token& where, Result<T> result) const {
    return result ? std::move(result) : Result<T>(wrong(where, result.error().message));
  }

  // Names in scope.
  Result<void> define(std::string name, const Expr& e);
  const Expr* find(std::string_view name, Kind kind) const;

  // Expressions (parse_expr.cpp).
  Result<Expr> expr();
  Result<Expr> binary(int loosest);
  Result<Expr> negation();
  Result<Expr> primary();
  Result<Expr> parenthesis();
  Result<Expr> number(bool is_negative);
  Result<Expr> integer(const Token& token, DType type, bool is_negative);
  Result<Expr> word();
  Result<Expr> call();
  Result<Expr> call_intrinsic(const Token& where, std::string_view function, std::vector<Expr> args);
  Result<Expr> call_vector(const Token& where, std::string_view function, std::vector<Expr> args);
  Result<Expr> bitcast();
  Result<Expr> load();
  Result<Expr> buffer_name();
  Result<std::vector<Expr>> list(std::string_view close);
  Result<Expr> index_expr(std::string_view what);
  Result<Expr> condition(std::string_view what);

  // Statements (parse.cpp).
  Result<Stmt> braces();
  Result<Stmt> rest_of_braces();
  Result<std::vector<Stmt>> statements();
  Result<void> open_scope(std::vector<Open>& open, std::size_t position);
  Result<Stmt> statement();
  Result<Stmt> loop();
  Result<Stmt> block();
  Result<std::vector<Iter>> iters();
  Result<Stmt> branch();
  Result<Stmt> store();
  Result<Annotations> annotations();
  Result<Expr> declaration();
  Result<StorageAlign> align();
  Result<std::int64_t> plain_integer(std::int64_t most);
  Result<std::vector<Expr>> params();
  Result<void> sizes();

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;      ///< brackets around the current place
  int operators_ = 0;  ///< in the current expression
  std::vector<std::pair<std::string, Expr>> in_scope_;
};

}  // namespace hone::ir
