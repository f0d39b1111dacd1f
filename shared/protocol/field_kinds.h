// What a field may hold, apart from its C++ type: how it is written in JSON and its bounds. The field lists
// of messages (fields_*.h) and of decision logs (server/policy/journal/log_fields.h) name one for every
// field; JsonReader and JsonWriter obey them, and Packer and Unpacker, whose form is of bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "shared/base/limits.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/messages.h"

namespace gleaner::protocol::codec {

struct Plain {};  // the type says it all: bool, id, time, enumeration, Range, message

// Strings: UTF-8 of characters that can be shown (is_clean()).
struct Text {
  std::size_t bytes_max = limits::name_length_max;
};
// Sentences for people: may have line feeds and tabs. Cleaned and cut when written (clean_text()), so that a
// program's dying words can never make a message unreadable.
struct Prose {};
// Any UTF-8: JSON text.
struct Document {
  std::size_t bytes_max = limits::parameters_bytes_max;
};
// SHA-256: 64 characters 0-9 a-f.
struct Digest {};
// Raw bytes, base64url in JSON.
struct Raw {
  std::size_t bytes_min = 0;
  std::size_t bytes_max = 0;
};

// std::int64_t and int.
struct Whole {
  std::int64_t low = 0;
  std::int64_t high = limits::items_max;
};
// double.
struct Number {
  double low = 0;
  double high = 1e18;
};
// The number as writers put it: within the bounds that its reader checks. A measure that went wrong must not
// make the whole message unreadable. What is no number becomes the lower bound, which means "unknown" where a
// field may be negative.
[[nodiscard]] inline double within(double value, const Number& kind) {
  return value >= kind.low ? std::min(value, kind.high) : kind.low;
}

template <typename Each = Plain>
struct List {
  std::size_t count_max = 0;
  Each each = {};
};
List(std::size_t)->List<Plain>;  // clang 14 does not deduce these by itself
template <typename Each>
List(std::size_t, Each) -> List<Each>;

// For the lines of logs, which are the server's own words and many.
struct Real {};  // double: any that is finite; always with a point or an exponent
[[nodiscard]] inline double within(double value, Real) {
  return value;
}
struct Numbered {};  // an enumeration as its number
struct Row {};       // a message as the list of its fields' values, without their names

// Of the types of fields and kinds.
template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_list = false;
template <typename T>
inline constexpr bool is_list<std::vector<T>> = true;
template <typename T>
inline constexpr bool is_id = false;
template <typename Tag>
inline constexpr bool is_id<StrongId<Tag>> = true;

// What a field list's message parameter is: const for an archive that only looks.
template <typename Archive, typename Message>
using Of = std::conditional_t<Archive::writes, const Message, Message>;

// How messages are called in errors, and how many JSON values they may consist of.
template <typename Message>
inline constexpr const char* title = nullptr;
// What the published form says of a message where its title does not suffice.
template <typename Message>
inline constexpr const char* about = nullptr;
template <typename Message>
inline constexpr std::int64_t values_max = limits::json_values_max;

// Enumerations are numbered 1..count without gaps; in JSON they are their names.
template <typename Enumeration>
inline constexpr int count_of = 0;
template <>
inline constexpr int count_of<StatementType> = 14;
template <>
inline constexpr int count_of<CommitStatus> = 3;
template <>
inline constexpr int count_of<RunState> = 3;
template <>
inline constexpr int count_of<UnitAction> = 3;
template <>
inline constexpr int count_of<InstanceOrder> = 2;
template <>
inline constexpr int count_of<FailureKind> = 8;
template <>
inline constexpr int count_of<ProblemState> = 8;
template <>
inline constexpr int count_of<HostState> = 3;

// A range of items.
template <typename Archive>
void visit(Archive& archive, Of<Archive, Range>& range) {
  archive("begin", range.begin, Whole{});
  archive("end", range.end, Whole{});
  archive.require(range.begin <= range.end, "expected a range whose end is not before its begin");
}

}  // namespace gleaner::protocol::codec
