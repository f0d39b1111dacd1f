// A JSON document as a tree: what is read where no message describes it (parameters, state files, answers of
// the client), and what is built to be written. The wire's messages have their own, stricter way:
// shared/protocol/codec.h. Members keep their order; a name occurs once. A value type; thread-compatible.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "shared/base/check.h"

namespace gleaner::json {

class Value {
 public:
  using Member = std::pair<std::string, Value>;

  // Implicit, so that documents are written as they look: {{"version", 1}, {"hosts", hosts}}.
  // NOLINTBEGIN(google-explicit-constructor)
  Value(std::nullptr_t = nullptr) {}
  Value(std::same_as<bool> auto value) : tree_(value) {}
  Value(std::integral auto value) requires(!std::same_as<decltype(value), bool>) {
    if (std::in_range<std::int64_t>(value))
      tree_ = static_cast<std::int64_t>(value);
    else
      tree_ = static_cast<std::uint64_t>(value);
  }
  Value(double value) : tree_(value) {}
  Value(std::string value) : tree_(std::move(value)) {}
  Value(std::string_view value) : tree_(std::string(value)) {}
  Value(const char* value) : tree_(std::string(value)) {}
  template <typename T>
  Value(const std::vector<T>& elements) {
    auto& list = tree_.emplace<Elements>();
    list.reserve(elements.size());
    for (const T& each : elements) list.emplace_back(each);
  }
  Value(std::initializer_list<Member> members);
  // NOLINTEND(google-explicit-constructor)
  [[nodiscard]] static Value array(std::initializer_list<Value> elements = {});
  [[nodiscard]] static Value array(std::vector<Value> elements);
  [[nodiscard]] static Value object(std::vector<Member> members = {});  // of a repeated name the last counts

  [[nodiscard]] bool is_null() const { return is<std::monostate>(); }
  [[nodiscard]] bool is_boolean() const { return is<bool>(); }
  [[nodiscard]] bool is_integer() const { return is<std::int64_t>(); }  // that fits
  [[nodiscard]] bool is_number() const { return is_integer() || is<std::uint64_t>() || is<double>(); }
  [[nodiscard]] bool is_string() const { return is<std::string>(); }
  [[nodiscard]] bool is_array() const { return is<Elements>(); }
  [[nodiscard]] bool is_object() const { return is<Members>(); }
  [[nodiscard]] bool is_fraction() const { return is<double>(); }  // written with a point or an exponent
  // REQUIRES: is_...(); number() takes any.
  [[nodiscard]] bool boolean() const { return as<bool>(); }
  [[nodiscard]] std::int64_t integer() const { return as<std::int64_t>(); }
  [[nodiscard]] double number() const;
  [[nodiscard]] const std::string& string() const { return as<std::string>(); }

  // Of arrays and objects; empty of all else.
  [[nodiscard]] const std::vector<Value>& elements() const;
  [[nodiscard]] const std::vector<Member>& members() const;
  [[nodiscard]] std::size_t size() const { return elements().size() + members().size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }

  // Null, too, if it is not there or this is no object.
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] const Value& operator[](std::string_view name) const;
  // REQUIRES: index < elements().size().
  [[nodiscard]] const Value& operator[](std::size_t index) const;

  // Building: what is null becomes an object or an array. REQUIRES: it is null, or one already.
  Value& operator[](std::string_view name);
  void push_back(Value element);
  void erase(std::string_view name);

  friend bool operator==(const Value&, const Value&) = default;

 private:
  using Elements = std::vector<Value>;
  using Members = std::vector<Member>;

  template <typename T>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<T>(tree_);
  }
  template <typename T>
  [[nodiscard]] const T& as() const {
    CHECK_TRUE(is<T>());
    return *std::get_if<T>(&tree_);
  }

  friend class Writer;
  // Whole numbers are uint64 only where int64 is too small.
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Elements, Members>
      tree_;
};

}  // namespace gleaner::json
