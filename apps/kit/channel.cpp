#include "apps/kit/channel.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "shared/base/check.h"

namespace gleaner::kit {
namespace {

constexpr std::size_t gathered_bytes_max = 64 << 10;
constexpr std::chrono::milliseconds gathered_age_max{50};
constexpr std::size_t read_bytes_step = 64 << 10;

Error system_error(const std::string& what) {
  return {ErrorKind::io, what + ": " + std::strerror(errno)};
}

}  // namespace

Result<bool> Channel::fill(Wait wait) {
  if (closed_) return false;
  if (wait == Wait::no) {
    pollfd descriptor{input_, POLLIN, 0};
    int ready = 0;
    do ready = ::poll(&descriptor, 1, 0);
    while (ready < 0 && errno == EINTR);
    if (ready < 0) return system_error("cannot poll the input");
    if (ready == 0) return false;
  }
  if (start_ > 0) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  const std::size_t held = buffer_.size();
  buffer_.resize(held + read_bytes_step);
  ssize_t count = 0;
  do count = ::read(input_, buffer_.data() + held, read_bytes_step);
  while (count < 0 && errno == EINTR);
  buffer_.resize(held + static_cast<std::size_t>(count > 0 ? count : 0));
  if (count < 0) return system_error("cannot read the input");
  if (count == 0) closed_ = true;
  return count > 0;
}

Result<std::optional<std::string>> Channel::read_line(Wait wait) {
  for (;;) {
    const std::size_t newline = buffer_.find('\n', start_);
    const std::size_t length = (newline == std::string::npos ? buffer_.size() : newline + 1) - start_;
    if (length > line_bytes_max) return Error{ErrorKind::invalid, "a line is longer than 65536 bytes"};
    if (newline != std::string::npos) {
      std::optional<std::string> line = buffer_.substr(start_, newline - start_);
      start_ = newline + 1;
      return line;
    }
    TRY_ASSIGN(const bool more, fill(wait));
    if (!more) return std::optional<std::string>{};
  }
}

Result<Bytes> Channel::read_bytes(std::int64_t length) {
  CHECK_TRUE(length >= 0);
  const auto wanted = static_cast<std::size_t>(length);
  while (buffer_.size() - start_ < wanted) {
    TRY_ASSIGN(const bool more, fill(Wait::yes));
    if (!more) return Error{ErrorKind::invalid, "the input ended within announced bytes"};
  }
  Bytes bytes = buffer_.substr(start_, wanted);
  start_ += wanted;
  return bytes;
}

Status Channel::write_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::write(output_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("cannot write the output");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Status Channel::put_line(std::string_view line) {
  gathered_.append(line).push_back('\n');
  return gathered_.size() >= gathered_bytes_max ? flush() : Status{};
}

Status Channel::put_item(std::int64_t index, std::string_view bytes) {
  gathered_.append("item " + std::to_string(index) + " " + std::to_string(bytes.size()) + "\n");
  if (bytes.size() >= gathered_bytes_max) {  // large results are not copied
    TRY(flush());
    return write_all(bytes);
  }
  gathered_.append(bytes);
  const bool old = std::chrono::steady_clock::now() - flushed_ >= gathered_age_max;
  return old || gathered_.size() >= gathered_bytes_max ? flush() : Status{};
}

Status Channel::flush() {
  const Status written = write_all(gathered_);
  gathered_.clear();
  flushed_ = std::chrono::steady_clock::now();
  return written;
}

}  // namespace gleaner::kit
