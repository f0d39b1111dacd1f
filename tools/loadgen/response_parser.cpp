#include "tools/loadgen/response_parser.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "shared/base/limits.h"

namespace gleaner::loadgen {
namespace {

constexpr std::string_view head_end = "\r\n\r\n";

Error invalid(const std::string& what) {
  return {ErrorKind::invalid, "the server's answer is no HTTP/1.1 response: " + what};
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() && number >= 0;
}

}  // namespace

Result<bool> ResponseParser::take(std::string_view bytes) {
  if (!in_body_) {
    const std::size_t before = head_.size();
    head_.append(bytes);
    const std::size_t end = head_.find(head_end, before < 3 ? 0 : before - 3);
    if (end == std::string::npos) {
      if (std::cmp_greater(head_.size(), limits::header_bytes_max))
        return Error{ErrorKind::too_large, "the head of the server's answer is too long"};
      return false;
    }
    TRY(read_head(std::string_view(head_).substr(0, end + 2)));
    in_body_ = true;
    bytes.remove_prefix(end + head_end.size() - before);
    head_.resize(end + head_end.size());
    response_.body.reserve(static_cast<std::size_t>(length_));
  }
  response_.body.append(bytes);
  if (std::cmp_greater(response_.body.size(), length_)) return invalid("there is more than it announced");
  return std::cmp_equal(response_.body.size(), length_);
}

Response ResponseParser::finish() {
  response_.bytes = static_cast<std::int64_t>(head_.size() + response_.body.size());
  Response done = std::move(response_);
  reset();
  return done;
}

Status ResponseParser::read_head(std::string_view head) {
  const std::size_t first = head.find("\r\n");
  const std::string_view line = head.substr(0, first);
  const bool framed =
      line.starts_with("HTTP/1.1 ") && line.size() >= 12 && read_number(line.substr(9, 3), response_.status);
  if (!framed || response_.status < 200)
    return invalid("it begins with \"" + std::string(line.substr(0, 40)) + "\"");
  for (head.remove_prefix(first + 2); !head.empty();) {
    const std::size_t end = head.find("\r\n");
    const std::string_view field = head.substr(0, end);
    head.remove_prefix(end + 2);
    const std::size_t colon = field.find(':');
    if (colon == std::string_view::npos) return invalid("a header without a colon");
    std::string_view value = field.substr(colon + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    TRY(read_field(field.substr(0, colon), value));
  }
  if (response_.status == 204 || response_.status == 304) length_ = 0;
  if (length_ < 0) return invalid("it does not say how long it is");
  return {};
}

Status ResponseParser::read_field(std::string_view name, std::string_view value) {
  if (equal_ignoring_case(name, "Content-Length")) {
    if (!read_number(value, length_)) return invalid("its length is no number");
    if (length_ > 2 * limits::json_message_bytes_max)
      return Error{ErrorKind::too_large, "the server's answer is too long"};
  } else if (equal_ignoring_case(name, "Transfer-Encoding")) {
    return invalid("it comes in chunks");
  } else if (equal_ignoring_case(name, "Connection")) {
    response_.closes = equal_ignoring_case(value, "close");
  } else if (equal_ignoring_case(name, "Retry-After")) {
    if (!read_number(value, response_.retry_after_seconds))
      return invalid("Retry-After is no number of seconds");
  }
  return {};
}

}  // namespace gleaner::loadgen
