#include "shared/terminal/print.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <streambuf>

#include "shared/base/clean_text.h"
#include "shared/terminal/streams.h"

namespace gleaner::terminal {
namespace {

constexpr char escape = '\x1b';
constexpr std::array<std::string_view, 6> tint_sequences = {"\x1b[0m",  "\x1b[1m",  "\x1b[2m",
                                                            "\x1b[31m", "\x1b[32m", "\x1b[33m"};

// Collects until a line or more is whole, so that no character is cleaned in halves.
class CleanBuffer final : public std::streambuf {
 public:
  explicit CleanBuffer(std::FILE* to) : to_(to) {}

  bool write(Control control) {
    if (sync() != 0) return false;
    terminal::write(to_, control);
    return true;
  }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    pending_.append(text, static_cast<std::size_t>(size));
    constexpr std::size_t pending_max = 1 << 16;
    if (pending_.size() < pending_max) return size;
    const auto end = pending_.rfind('\n');
    return put(end == std::string::npos ? pending_.size() : end + 1) ? size : 0;
  }
  int sync() override { return put(pending_.size()) && std::fflush(to_) == 0 ? 0 : -1; }

 private:
  bool put(std::size_t size) {
    const bool done = size == 0 || terminal::write(to_, std::string_view(pending_).substr(0, size));
    pending_.erase(0, size);
    return done;
  }

  std::FILE* to_;
  std::string pending_;
};

// Never destroyed: streams are flushed when the program ends.
void clean(std::ostream& stream, std::FILE* to) {
  if (dynamic_cast<CleanBuffer*>(stream.rdbuf()) == nullptr) stream.rdbuf(new CleanBuffer(to));
}

}  // namespace

std::string shown(std::string_view text, Tints tints) {
  if (is_clean(text, "\n\t")) return std::string(text);
  if (tints == Tints::no) return clean_text(text, text_unbounded);
  std::string clean;
  while (!text.empty()) {
    const auto* const tint =
        std::find_if(tint_sequences.begin(), tint_sequences.end(),
                     [&](std::string_view sequence) { return text.starts_with(sequence); });
    const std::size_t length =
        tint != tint_sequences.end() ? tint->size() : std::min(text.find(escape, 1), text.size());
    clean += tint != tint_sequences.end() ? std::string(*tint)
                                          : clean_text(text.substr(0, length), text_unbounded);
    text.remove_prefix(length);
  }
  return clean;
}

bool write(std::FILE* to, std::string_view text) {
  const std::string clean = shown(text, is_terminal(to) ? Tints::yes : Tints::no);
  return std::fwrite(clean.data(), 1, clean.size(), to) == clean.size();
}

void write(std::FILE* to, Control control) {
  std::fputs(control.sequence, to);
}

std::ostream& operator<<(std::ostream& to, Control control) {
  auto* const buffer = dynamic_cast<CleanBuffer*>(to.rdbuf());
  if (buffer == nullptr) return to << control.sequence;
  if (!buffer->write(control)) to.setstate(std::ios::badbit);
  return to;
}

void clean_streams() {
  clean(std::cout, stdout);
  clean(std::cerr, stderr);
}

}  // namespace gleaner::terminal
