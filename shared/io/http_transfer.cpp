#include "shared/io/http_transfer.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "shared/base/limits.h"

namespace gleaner::io {
namespace {

// A peer that gives a byte now and then holds a thread: beyond its patience a request moves this many a
// second in the mean, which is less than twelve computers behind one telephone line have each.
constexpr std::int64_t bytes_per_second_min = 256;

}  // namespace

bool HttpTransfer::take(std::string_view bytes) {
  if (request_.take && (reply.status == 200 || reply.status == 206)) {
    reply.taken += static_cast<std::int64_t>(bytes.size());
    if (reply.taken > request_.reply_bytes_max) {
      refusal_ = Error{ErrorKind::too_large,
                       "a body of more than " + std::to_string(request_.reply_bytes_max) + " bytes"};
      return false;
    }
    if (const Status taken = request_.take(reply.status, bytes); !taken.ok()) refusal_ = taken.error();
    return !refusal_;
  }
  if (std::cmp_greater(reply.body.size() + bytes.size(), request_.reply_bytes_max)) {
    refusal_ = Error{ErrorKind::too_large,
                     "a body of more than " + std::to_string(request_.reply_bytes_max) + " bytes"};
    return false;
  }
  reply.body.append(bytes);
  return true;
}

std::size_t HttpTransfer::on_body(char* data, std::size_t, std::size_t size, void* self) {
  return static_cast<HttpTransfer*>(self)->take({data, size}) ? size : 0;
}

std::size_t HttpTransfer::on_send(char* data, std::size_t, std::size_t room, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const std::size_t bytes = transfer.request_.body.copy(data, room, transfer.sent_);
  transfer.sent_ += bytes;
  return bytes;
}

std::size_t HttpTransfer::on_header(char* data, std::size_t, std::size_t size, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  transfer.header_bytes_ += static_cast<std::int64_t>(size);
  transfer.moved_at_ = system_clock().steady();
  if (transfer.header_bytes_ > limits::header_bytes_max) {
    transfer.refusal_ = Error{ErrorKind::too_large,
                              "headers of more than " + std::to_string(limits::header_bytes_max) + " bytes"};
    return 0;
  }
  transfer.add_header({data, size});
  return size;
}

void HttpTransfer::add_header(std::string_view line) {
  if (line.starts_with("HTTP/")) {  // also a final reply after "100 Continue"
    reply.headers.clear();
    const std::string_view status = line.substr(std::min(line.find(' '), line.size() - 1) + 1);
    (void)std::from_chars(status.data(), status.data() + status.size(), reply.status);
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto begin = line.find_first_not_of(" \t\r\n", colon + 1);
  const auto end = line.find_last_not_of(" \t\r\n");
  const std::string value(begin == std::string_view::npos ? "" : line.substr(begin, end - begin + 1));
  auto& known = reply.headers[name];
  known = known.empty() ? value : known + ", " + value;
}

bool HttpTransfer::still_moves(std::int64_t down, std::int64_t up, SteadyTime now) {
  if (down != down_ || up != up_) {
    down_ = down;
    up_ = up;
    moved_at_ = now;
  }
  const Duration earned = std::chrono::seconds{(down_ + up_) / bytes_per_second_min};
  return now - moved_at_ < patience_ && now - begun_ < 2 * patience_ + earned;
}

int HttpTransfer::on_progress(void* self, curl_off_t, curl_off_t down, curl_off_t, curl_off_t up) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  transfer.stalled_ = !transfer.still_moves(down, up, system_clock().steady());
  return transfer.stalled_ ? 1 : 0;
}

}  // namespace gleaner::io
