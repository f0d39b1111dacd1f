// All that a program prints for people goes through here, and is cleaned on its way
// (shared/base/clean_text.h), whoever wrote it: no manifest, host name or server's answer can steer the
// reader's terminal. Line feeds and tabs stay, and on a terminal our own tints. A text of others that is part
// of a line is made one line where it is put in (clean_line()). JSON passes as it is: json::write() has
// escaped what a terminal must not see. Used by one thread at a time, as the streams are.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace gleaner::terminal {

enum class Tints { no, yes };

// What is printed of `text`. Of escape sequences only our own tints stay (Tints::yes): bold, dim, red, green,
// yellow, and their end. None of them hides or moves anything.
[[nodiscard]] std::string shown(std::string_view text, Tints tints);

// False: it could not be written (a full disk, a reader that is gone).
bool write(std::FILE* to, std::string_view text);

template <typename... Values>
void print(std::FILE* to, fmt::format_string<Values...> form, Values&&... values) {
  write(to, fmt::format(form, std::forward<Values>(values)...));
}
template <typename... Values>
void print(fmt::format_string<Values...> form, Values&&... values) {
  write(stdout, fmt::format(form, std::forward<Values>(values)...));
}

// A sequence of ours that moves the cursor or clears what was drawn: written as it is.
struct Control {
  const char* sequence;
};
void write(std::FILE* to, Control control);
std::ostream& operator<<(std::ostream& to, Control control);

// From now on std::cout and std::cerr write through write(). Called by run() (run.h).
void clean_streams();

}  // namespace gleaner::terminal
