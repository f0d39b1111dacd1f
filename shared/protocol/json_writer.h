// Writes a message, or a log's line, as JSON text, field by field; the counterpart of JsonReader. Fields keep
// the order of their list. Numbers are kept within the bounds of their field. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "shared/json/text.h"
#include "shared/protocol/field_kinds.h"
#include "shared/protocol/json_reader.h"
#include "shared/protocol/text.h"

namespace gleaner::protocol::codec {

class JsonWriter {
 public:
  static constexpr bool writes = true;

  template <typename T, typename Kind = Plain>
  void operator()(const char* name, const T& value, const Kind& kind = {},
                  const char* /*meaning*/ = nullptr) {
    if constexpr (is_optional<T>) {
      if (value) (*this)(name, *value, kind);
    } else {
      begin_field(name);
      write(value, kind);
    }
  }
  template <typename T, typename Kind = Plain>
  void defaulted(const char* name, const T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    (*this)(name, value, kind);
  }
  void require(bool, const char*) {}  // what we say is checked by who reads it

  // An object around the fields that follow: the root, which alone is opened and closed by the caller.
  void open() { text_ += '{'; }
  void close() { text_ += '}'; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  template <typename T, typename Kind>
  void write(const T& value, const Kind& kind) {
    if constexpr (is_list<T>) {
      text_ += '[';
      for (const auto& each : value) {
        if (text_.back() != '[') text_ += ',';
        write(each, kind.each);
      }
      text_ += ']';
    } else if constexpr (is_id<T>) {
      write_leaf(value.value, Whole{});
    } else if constexpr (std::is_same_v<Kind, Numbered>) {
      write_leaf(static_cast<int>(value), Whole{});
    } else if constexpr (std::is_same_v<Kind, Row>) {
      const bool outer = std::exchange(row_, true);
      text_ += '[';
      visit(*this, value);
      text_ += ']';
      row_ = outer;
    } else if constexpr (std::is_enum_v<T>) {
      write_text(name_of(value));
    } else if constexpr (std::is_same_v<Kind, Plain> && !std::is_same_v<T, bool> &&
                         !std::is_same_v<T, Timestamp>) {
      const bool outer = std::exchange(row_, false);
      open();
      visit(*this, value);
      close();
      row_ = outer;
    } else {
      write_leaf(value, kind);
    }
  }

  void write_leaf(bool value, Plain) { text_ += value ? "true" : "false"; }
  void write_leaf(Timestamp value, Plain) { write_leaf(to_microseconds(value), Whole{}); }
  void write_leaf(Timestamp value, const Whole& kind) { write_leaf(to_microseconds(value), kind); }
  void write_leaf(std::int64_t value, const Whole&);
  void write_leaf(double value, const Number&);
  void write_leaf(double value, Real) { json::write_double(text_, value); }
  void write_leaf(const std::string& value, const Text&) { write_text(without_invisible(value)); }
  void write_leaf(const std::string& value, Prose);
  void write_leaf(const std::string& value, const Document&) { write_text(value); }
  void write_leaf(const std::string& value, Digest) { write_text(value); }
  void write_leaf(const std::string& value, const Raw&);

  void begin_field(const char* name);
  void write_text(std::string_view value) { json::write_string(text_, value); }

  std::string text_;
  bool row_ = false;  // names are left out
};

}  // namespace gleaner::protocol::codec
