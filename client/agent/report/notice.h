// What the client has an agent show to the session's user, and what became of it: one JSON object on a line
// each. To the agent, which said in its report that it takes them, and back:
//   {"version":1,"notice":7,"title":"Gleaner cannot work","text":"Room 12 has revoked this computer."}
//   {"version":1,"answer":7,"shown":false,"why":"no program shows notifications in this session"}
// Texts are bounded and made printable as a report's. Pure. Private to this computer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::agent {

inline constexpr std::size_t notice_line_bytes_max = 2048;
inline constexpr std::size_t notice_title_max = 100;  // bytes
inline constexpr std::size_t notice_text_max = 400;

struct Notice {
  std::int64_t number = 0;
  std::string title, text;
  friend bool operator==(const Notice&, const Notice&) = default;
};
struct NoticeAnswer {
  std::int64_t number = 0;
  bool shown = false;
  std::string why;  // not
  friend bool operator==(const NoticeAnswer&, const NoticeAnswer&) = default;
};

// Without '\n'.
[[nodiscard]] std::string encode(const Notice& notice);
[[nodiscard]] std::string encode(const NoticeAnswer& answer);
// invalid with a sentence that says what is wrong.
[[nodiscard]] Result<Notice> decode_notice(std::string_view line);
[[nodiscard]] Result<NoticeAnswer> decode_answer(std::string_view line);
// Is it an answer, and no report?
[[nodiscard]] bool is_answer(std::string_view line);

}  // namespace gleaner::agent
