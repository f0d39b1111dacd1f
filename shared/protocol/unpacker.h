// Fills a message from the bytes that Packer made of one, within the bounds of its fields and no longer than
// there are bytes. One mistake spoils all that follows, so that a reader asks once, at the end. A
// std::string_view points into the bytes, and has no bound but theirs. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/clock.h"
#include "shared/protocol/field_kinds.h"

namespace gleaner::protocol::codec {

class Unpacker {
 public:
  static constexpr bool writes = false;

  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  template <typename T, typename Kind = Plain>
  void operator()(const char*, T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    read(value, kind);
  }
  template <typename T, typename Kind = Plain>
  void defaulted(const char*, T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    read(value, kind);
  }
  void require(bool holds, const char*) {
    if (!holds) failed_ = true;
  }
  // Everything was read, and as it should be.
  [[nodiscard]] bool complete() const { return !failed_ && left_.empty(); }

 private:
  template <typename T, typename Kind>
  void read(T& value, const Kind& kind) {
    if (failed_) return;
    if constexpr (is_optional<T>) {
      value.reset();
      if (whole({0, 1}) == 1) read(value.emplace(), kind);
    } else if constexpr (is_list<T>) {
      read_list(value, kind);
    } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
      read_map(value, kind);
    } else if constexpr (is_id<T>) {
      value.value = whole(bounds_of(kind));
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      value = from_microseconds(whole({0, timestamp_max}));
    } else if constexpr (std::is_same_v<T, bool>) {
      value = whole({0, 1}) == 1;
    } else if constexpr (std::is_enum_v<T>) {
      static_assert(count_of<T> > 0);
      value = static_cast<T>(whole({1, count_of<T>}));
    } else if constexpr (std::is_same_v<T, int>) {
      value = static_cast<int>(
          whole({bounds_of(kind).low,
                 std::min<std::int64_t>(bounds_of(kind).high, std::numeric_limits<int>::max())}));
    } else if constexpr (std::is_integral_v<T>) {
      value = whole(bounds_of(kind));
    } else if constexpr (std::is_same_v<T, double>) {
      value = number(kind);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      value = text();
    } else if constexpr (std::is_same_v<T, std::string>) {
      read_text(value, kind);
    } else {
      visit(*this, value);
    }
  }

  template <typename T, typename Each>
  void read_list(std::vector<T>& values, const List<Each>& kind) {
    values.clear();  // no room is made for what is not there
    const std::int64_t count = whole({0, static_cast<std::int64_t>(std::min(kind.count_max, left_.size()))});
    for (std::int64_t i = 0; i < count && !failed_; ++i) read(values.emplace_back(), kind.each);
  }
  void read_map(std::map<std::string, std::string>& values, const List<Plain>& kind);

  template <typename Kind>
  static Whole bounds_of(const Kind& kind) {
    if constexpr (std::is_same_v<Kind, Whole>)
      return kind;
    else
      return {};
  }
  std::int64_t whole(const Whole& kind);  // the lowest there may be, if it is none
  double number(const Number& kind);
  std::string_view text();
  void read_text(std::string& value, const Text& kind);
  void read_text(std::string& value, Prose kind);
  void read_text(std::string& value, const Document& kind);
  void read_text(std::string& value, Digest kind);
  void read_text(std::string& value, const Raw& kind);

  static constexpr std::int64_t timestamp_max = 253'402'300'799'999'999;  // the end of the year 9999

  std::string_view left_;
  bool failed_ = false;
};

}  // namespace gleaner::protocol::codec
