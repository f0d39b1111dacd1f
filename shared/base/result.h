// Errors as values. A function that can fail for a reason its caller must expect returns Result<T>;
// exceptions are left to bugs and to a start-up that cannot go on. "Absent" is an optional inside the
// Result, never an error. Thread-compatible, as any value.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "shared/base/check.h"

namespace gleaner {

// A kind exists only because some caller reacts to it differently. Numbers are fixed: they are logged and
// stored.
enum class ErrorKind : int {
  invalid = 1,       // the input is wrong; sending it again cannot help
  unauthorized = 2,  // who you are is unknown or revoked: join again
  forbidden = 3,     // known, but not allowed
  not_found = 4,     // no such thing
  conflict = 5,      // contradicts what is already there
  too_large = 6,     // over a limit
  unavailable = 7,   // may work later: retry with back-off
  untrusted = 8,     // signature, chain, digest or validity period does not hold: never use the data
  io = 9,            // this machine's disk or processes failed (a full disk, a missing file)
  internal = 10,     // our own fault
  banned = 11,       // kept out for a while, or for good: ask again rarely, if at all
};

[[nodiscard]] const char* name_of(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  // one sentence for a person: what is wrong and what to do

  // The same error, seen from further up: "reading config: " + message.
  [[nodiscard]] Error within(const std::string& context) const { return {kind, context + ": " + message}; }
  friend bool operator==(const Error&, const Error&) = default;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor): `return value;`
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor): `return error;`

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  [[nodiscard]] const T& value() const& {
    CHECK_TRUE(ok());
    return *std::get_if<T>(&state_);
  }
  [[nodiscard]] T& value() & {
    CHECK_TRUE(ok());
    return *std::get_if<T>(&state_);
  }
  [[nodiscard]] T&& value() && {
    CHECK_TRUE(ok());
    return std::move(*std::get_if<T>(&state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  // REQUIRES: !ok().
  [[nodiscard]] const Error& error() const {
    CHECK_TRUE(!ok());
    return *std::get_if<Error>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor): `return error;`

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  // REQUIRES: !ok().
  [[nodiscard]] const Error& error() const {
    CHECK_TRUE(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace gleaner

// Leaves the enclosing function with the error of `expression`, if it has one.
#define GLEANER_CONCAT_INNER(a, b) a##b
#define GLEANER_CONCAT(a, b) GLEANER_CONCAT_INNER(a, b)
#define GLEANER_TRY(result, expression)                                  \
  do {                                                                   \
    if (auto result = (expression); !result.ok()) return result.error(); \
  } while (false)
#define TRY(expression) GLEANER_TRY(GLEANER_CONCAT(try_result_, __COUNTER__), expression)
// TRY_ASSIGN(auto value, expression): the same, else binds the value.
#define TRY_ASSIGN(declaration, expression)                                                \
  auto GLEANER_CONCAT(try_, __LINE__) = (expression);                                      \
  if (!GLEANER_CONCAT(try_, __LINE__).ok()) return GLEANER_CONCAT(try_, __LINE__).error(); \
  declaration = std::move(GLEANER_CONCAT(try_, __LINE__)).value()
