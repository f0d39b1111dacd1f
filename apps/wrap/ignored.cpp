#include "apps/wrap/ignored.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <string_view>

namespace gleaner::wrap {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t line_bytes_max = 1000;  // an expression's search may take a stack frame a byte
constexpr std::string_view lines_rule = "lines=";

// PNG (RFC 2083): a signature, then chunks: length, type, content, CRC.
constexpr std::string_view png_signature = "\x89PNG\r\n\x1a\n"sv;
constexpr std::array png_chunks{"tIME"sv, "tEXt"sv, "zTXt"sv, "iTXt"sv, "eXIf"sv};
constexpr std::size_t png_frame_bytes = 12;

Bytes without_png_texts(const Bytes& file) {
  if (!file.starts_with(png_signature)) return file;
  Bytes kept(png_signature);
  std::size_t at = png_signature.size();
  while (at + png_frame_bytes <= file.size()) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(file[at + i]);
    if (length > file.size() - at - png_frame_bytes) break;
    const std::string_view chunk = std::string_view(file).substr(at, length + png_frame_bytes);
    if (std::ranges::find(png_chunks, chunk.substr(4, 4)) == png_chunks.end()) kept += chunk;
    at += chunk.size();
  }
  return kept.append(file, at);
}

// RFC 1952: two bytes of identification, method, flags, then four of the time.
Bytes without_gzip_time(Bytes file) {
  if (file.starts_with("\x1f\x8b\x08"sv) && file.size() >= 10) file.replace(4, 4, 4, '\0');
  return file;
}

// POSIX.1-1988: headers of 512 bytes, with numbers as octal digits; a file's content fills whole blocks.
constexpr std::size_t tar_block_bytes = 512;

std::size_t octal(std::string_view digits) {
  std::size_t number = 0;
  for (const char digit : digits)
    if (digit >= '0' && digit <= '7') number = number * 8 + static_cast<std::size_t>(digit - '0');
  return number;
}

// User, group, time, and the names of both; then the sum of the header, which counts itself as blanks.
void clean_tar_header(Bytes& file, std::size_t at) {
  file.replace(at + 108, 8, "0000000\0"sv);
  file.replace(at + 116, 8, "0000000\0"sv);
  file.replace(at + 136, 12, "00000000000\0"sv);
  file.replace(at + 265, 64, 64, '\0');
  file.replace(at + 148, 8, 8, ' ');
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at);
  const unsigned sum = std::accumulate(begin, begin + tar_block_bytes, 0U, [](unsigned total, char c) {
    return total + static_cast<unsigned char>(c);
  });
  char digits[16];
  std::snprintf(digits, sizeof digits, "%06o", sum);
  file.replace(at + 148, 7, std::string_view(digits, 7));  // six digits and a zero byte, then a blank
}

Bytes without_tar_times(Bytes file) {
  for (std::size_t at = 0; at + tar_block_bytes <= file.size();) {
    if (std::string_view(file).substr(at + 257, 5) != "ustar") break;
    const std::size_t size = octal(std::string_view(file).substr(at + 124, 12));
    if (size > file.size()) break;
    clean_tar_header(file, at);
    at += tar_block_bytes * (1 + (size + tar_block_bytes - 1) / tar_block_bytes);
  }
  return file;
}

Bytes without_lines(const Bytes& file, const std::vector<std::regex>& expressions) {
  Bytes kept;
  for (std::size_t begin = 0; begin < file.size();) {
    const std::size_t end = std::min(file.find('\n', begin), file.size());
    const char* const line = file.data() + begin;
    const bool found =
        end - begin <= line_bytes_max && std::ranges::any_of(expressions, [&](const std::regex& each) {
          return std::regex_search(line, file.data() + end, each);
        });
    const std::size_t next = std::min(end + 1, file.size());
    if (!found) kept.append(file, begin, next - begin);
    begin = next;
  }
  return kept;
}

}  // namespace

Result<Ignored> Ignored::parse(const std::vector<std::string>& rules) {
  Ignored ignored;
  for (const std::string& rule : rules) {
    if (rule == "png") {
      ignored.png_ = true;
    } else if (rule == "gzip") {
      ignored.gzip_ = true;
    } else if (rule == "tar") {
      ignored.tar_ = true;
    } else if (rule.starts_with(lines_rule)) {
      try {
        ignored.lines_.emplace_back(rule.substr(lines_rule.size()));
      } catch (const std::regex_error&) {
        return Error{ErrorKind::invalid, rule + " has no regular expression (ECMAScript)"};
      }
    } else {
      return Error{ErrorKind::invalid, "nothing is known of how to ignore \"" + rule + "\""};
    }
  }
  return ignored;
}

Bytes Ignored::remove_from(Bytes file) const {
  if (png_) file = without_png_texts(file);
  if (gzip_) file = without_gzip_time(std::move(file));
  if (tar_) file = without_tar_times(std::move(file));
  if (!lines_.empty()) file = without_lines(file, lines_);
  return file;
}

}  // namespace gleaner::wrap
