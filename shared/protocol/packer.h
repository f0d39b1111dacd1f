// Messages as bytes, for programs of one version that know each other: no names, no base64, nothing to parse.
// Field after field as their lists say (fields_*.h): numbers and whole numbers in eight bytes
// (little-endian), texts behind their length, lists behind their count, what may be absent behind whether it
// is there. Another field is another form, so that nobody keeps it. The counterpart of Unpacker. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/protocol/field_kinds.h"

namespace gleaner::protocol::codec {

class Packer {
 public:
  static constexpr bool writes = true;

  template <typename T, typename Kind = Plain>
  void operator()(const char*, const T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    write(value, kind);
  }
  template <typename T, typename Kind = Plain>
  void defaulted(const char*, const T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    write(value, kind);
  }
  void require(bool, const char*) {}  // what we say is checked by who reads it

  [[nodiscard]] Bytes take() { return std::move(bytes_); }

 private:
  template <typename T, typename Kind>
  void write(const T& value, const Kind& kind) {
    if constexpr (is_optional<T>) {
      write_whole(value ? 1 : 0);
      if (value) write(*value, kind);
    } else if constexpr (is_list<T>) {
      write_whole(static_cast<std::int64_t>(value.size()));
      for (const auto& each : value) write(each, kind.each);
    } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
      write_whole(static_cast<std::int64_t>(value.size()));
      for (const auto& [name, text] : value) {
        write_text(name);
        write_text(text);
      }
    } else if constexpr (is_id<T>) {
      write_whole(value.value);
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      write_whole(to_microseconds(value));
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      write_whole(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<T, double>) {
      write_number(within(value, kind));
    } else if constexpr (std::is_same_v<Kind, Prose>) {
      write_prose(value);
    } else if constexpr (std::is_same_v<Kind, Text>) {
      write_name(value);
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
      write_text(value);
    } else {
      visit(*this, value);
    }
  }
  void write_whole(std::int64_t value);
  void write_number(double value);
  void write_text(std::string_view value);
  void write_name(std::string_view value);   // cleaned, as in JSON
  void write_prose(std::string_view value);  // cleaned and cut, as in JSON

  Bytes bytes_;
};

}  // namespace gleaner::protocol::codec
