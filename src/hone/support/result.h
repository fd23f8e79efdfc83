/// Result<T>: a value or an Error, with the members of std::expected, and HONE_TRY to pass errors up.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "hone/support/error.h"

namespace hone {

/// Either a `T` or the Error that prevented it.
template <typename T>
class [[nodiscard]] Result {
 public:
  template <typename U = T>
    requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
             !std::is_same_v<std::remove_cvref_t<U>, Error>)
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  /// The value; a mistake of the caller if there is none.
  T& value() & { return check_value(), std::get<0>(state_); }
  const T& value() const& { return check_value(), std::get<0>(state_); }
  T&& value() && { return check_value(), std::move(std::get<0>(state_)); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// The error; a mistake of the caller if there is a value.
  const Error& error() const& { return check_error(), std::get<1>(state_); }
  Error&& error() && { return check_error(), std::move(std::get<1>(state_)); }

  T value_or(T other) const& { return has_value() ? **this : std::move(other); }

 private:
  void check_value() const { HONE_CHECK(has_value(), "no value but an error: {}", std::get<1>(state_).message); }
  void check_error() const { HONE_CHECK(!has_value(), "no error but a value"); }

  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const { HONE_CHECK(has_value(), "no value but an error: {}", error_->message); }
  const Error& error() const& { return check_error(), *error_; }
  Error&& error() && { return check_error(), std::move(*error_); }

 private:
  void check_error() const { HONE_CHECK(error_.has_value(), "no error but success"); }

  std::optional<Error> error_;
};

}  // namespace hone

#define HONE_CONCAT_(a, b) a##b
#define HONE_CONCAT(a, b) HONE_CONCAT_(a, b)

#define HONE_TRY_VALUE_(result, target, ...) \
  auto result = (__VA_ARGS__);               \
  if (!result) [[unlikely]]                  \
    return std::move(result).error();        \
  target = *std::move(result)

#define HONE_TRY_VOID_(result, ...)                      \
  if (auto result = (__VA_ARGS__); !result) [[unlikely]] \
  return std::move(result).error()

#define HONE_TRY_PICK_(_1, _2, name, ...) name
#define HONE_TRY_1_(expression) HONE_TRY_VOID_(HONE_CONCAT(hone_result_, __LINE__), expression)
#define HONE_TRY_2_(target, expression) HONE_TRY_VALUE_(HONE_CONCAT(hone_result_, __LINE__), target, expression)

/// `HONE_TRY(T x, f())` or `HONE_TRY(x, f())` stores the value of a Result, `HONE_TRY(g())` only checks it; each
/// returns the error from the enclosing function if there is one.
#define HONE_TRY(...) HONE_TRY_PICK_(__VA_ARGS__, HONE_TRY_2_, HONE_TRY_1_, )(__VA_ARGS__)
