// Fills a message, or what a log's line says, from parsed JSON, field by field, and remembers the first fault
// with its path. Driven by field lists (field_kinds.h). One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/json/value.h"
#include "shared/protocol/field_kinds.h"

namespace gleaner::protocol::codec {

class JsonReader {
 public:
  static constexpr bool writes = false;
  using Node = json::Value;

  // `root` must live as long as the reader. Faults begin with the title, if there is one.
  explicit JsonReader(const Node& root, const char* message_title = "")
      : object_(&root), title_(message_title) {}

  // A field that must be there, unless it is a std::optional.
  template <typename T, typename Kind = Plain>
  void operator()(const char* name, T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    field(name, value, kind, !is_optional<T>);
  }
  // A field that keeps its default if it is not there.
  template <typename T, typename Kind = Plain>
  void defaulted(const char* name, T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    field(name, value, kind, false);
  }
  void require(bool holds, const char* expected) {
    if (!holds) fail(expected);
  }
  // The root must be an object with the "version" that we speak.
  void check_version();

  [[nodiscard]] bool failed() const { return failure_.has_value(); }
  // REQUIRES: failed().
  [[nodiscard]] const std::string& failure() const { return *failure_; }

 private:
  static constexpr int numbered_max = 99;
  struct Step {
    const char* name = nullptr;  // null: the element `index` of a list
    std::size_t index = 0;
  };

  template <typename T, typename Kind>
  void field(const char* name, T& value, const Kind& kind, bool required) {
    if (failed()) return;
    const Node* node = member(name);
    push({name, 0});
    if (node != nullptr)
      read(*node, value, kind);
    else if (required)
      fail("is missing");
    --depth_;
  }

  template <typename T, typename Kind>
  void read(const Node& node, T& value, const Kind& kind) {
    if constexpr (is_optional<T>) {
      read(node, value.emplace(), kind);
    } else if constexpr (is_list<T>) {
      read_list(node, value, kind);
    } else if constexpr (is_id<T>) {
      if constexpr (std::is_same_v<Kind, Whole>)
        read_leaf(node, value.value, kind);
      else
        read_leaf(node, value.value, Whole{});
    } else if constexpr (std::is_same_v<Kind, Numbered>) {
      int number = 0;
      read_leaf(node, number, Whole{1, numbered_max});
      if (!failed()) value = static_cast<T>(number);
    } else if constexpr (std::is_enum_v<T>) {
      read_enumeration(node, value);
    } else if constexpr (std::is_same_v<Kind, Row>) {
      const Node* outer = enter_row(node);
      if (failed()) return;
      const std::size_t outer_next = std::exchange(next_, 0);
      visit(*this, value);
      require(next_ == node.size(), "expected a list without more values");
      next_ = outer_next;
      object_ = outer;
    } else if constexpr (std::is_same_v<Kind, Plain> && !std::is_same_v<T, bool> &&
                         !std::is_same_v<T, Timestamp>) {
      const Node* outer = enter(node);
      if (failed()) return;
      visit(*this, value);
      object_ = outer;
    } else {
      read_leaf(node, value, kind);
    }
  }

  template <typename T, typename Each>
  void read_list(const Node& node, std::vector<T>& values, const List<Each>& kind) {
    const std::size_t count = count_of_list(node, kind.count_max);
    values.clear();
    values.reserve(count);
    for (std::size_t i = 0; i < count && !failed(); ++i) {
      push({nullptr, i});
      read(element(node, i), values.emplace_back(), kind.each);
      --depth_;
    }
  }

  template <typename Enumeration>
  void read_enumeration(const Node& node, Enumeration& value) {
    static_assert(count_of<Enumeration> > 0);
    std::string names;
    for (int i = 1; i <= count_of<Enumeration>; ++i) {
      const char* name = name_of(static_cast<Enumeration>(i));
      if (is_text(node, name)) {
        value = static_cast<Enumeration>(i);
        return;
      }
      names += (i == 1 ? "" : ", ") + std::string(name);
    }
    fail("expected one of " + names);
  }

  void read_leaf(const Node& node, bool& value, Plain kind);
  void read_leaf(const Node& node, Timestamp& value, Plain kind);
  void read_leaf(const Node& node, Timestamp& value, const Whole& kind);  // microseconds
  void read_leaf(const Node& node, std::int64_t& value, const Whole& kind);
  void read_leaf(const Node& node, int& value, const Whole& kind);
  void read_leaf(const Node& node, double& value, const Number& kind);
  void read_leaf(const Node& node, double& value, Real kind);
  void read_leaf(const Node& node, std::string& value, const Text& kind);
  void read_leaf(const Node& node, std::string& value, Prose kind);
  void read_leaf(const Node& node, std::string& value, const Document& kind);
  void read_leaf(const Node& node, std::string& value, Digest kind);
  void read_leaf(const Node& node, std::string& value, const Raw& kind);

  [[nodiscard]] const Node* member(const char* name);  // of a row: its next value; null: not there
  const Node* enter(const Node& node);                 // makes it the object in hand; returns the one before
  const Node* enter_row(const Node& node);
  [[nodiscard]] std::size_t count_of_list(const Node& node, std::size_t count_max);
  [[nodiscard]] static const Node& element(const Node& node, std::size_t index);
  [[nodiscard]] static bool is_text(const Node& node, const char* text);
  std::optional<std::string_view> text_of(const Node& node, std::size_t bytes_max);  // nothing: failed
  void push(Step step);
  void fail(const std::string& what);

  const Node* object_;    // or row
  std::size_t next_ = 0;  // value of the row
  const char* title_;
  std::array<Step, limits::json_depth_max> path_{};
  std::size_t depth_ = 0;
  std::optional<std::string> failure_;
};

}  // namespace gleaner::protocol::codec
