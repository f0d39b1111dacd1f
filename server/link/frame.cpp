#include "server/link/frame.h"

#include <cstring>

#include "shared/base/check.h"

namespace gleaner::link {
namespace {

constexpr std::size_t kept_buffer_bytes = 1 << 20;

bool is_known(std::uint8_t kind) {
  return (kind >= static_cast<std::uint8_t>(Kind::hello) && kind <= static_cast<std::uint8_t>(Kind::stop)) ||
         (kind >= static_cast<std::uint8_t>(Kind::done) && kind <= static_cast<std::uint8_t>(Kind::leaving));
}

}  // namespace

void append_frame(Bytes& to, std::uint64_t id, Kind kind, std::string_view body) {
  CHECK_TRUE(static_cast<std::int64_t>(body.size()) <= frame_bytes_max);
  char head[frame_head_bytes];
  const auto length = static_cast<std::uint32_t>(body.size());
  std::memcpy(head, &length, 4);
  std::memcpy(head + 4, &id, 8);
  head[12] = static_cast<char>(kind);
  to.append(head, sizeof head);
  to.append(body);
}

char* FrameReader::room(std::size_t bytes) {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (buffer_.size() > kept_buffer_bytes) Bytes().swap(buffer_);
  } else if (begin_ > 0 && buffer_.size() - end_ < bytes) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < bytes) buffer_.resize(end_ + bytes);
  return buffer_.data() + end_;
}

void FrameReader::received(std::size_t bytes) {
  end_ += bytes;
  CHECK_TRUE(end_ <= buffer_.size());
}

Status FrameReader::take(const std::function<void(const Frame&)>& use) {
  while (end_ - begin_ >= frame_head_bytes) {
    const char* const at = buffer_.data() + begin_;
    std::uint32_t length = 0;
    Frame frame;
    std::memcpy(&length, at, 4);
    std::memcpy(&frame.id, at + 4, 8);
    const auto kind = static_cast<std::uint8_t>(at[12]);
    if (static_cast<std::int64_t>(length) > frame_bytes_max || !is_known(kind))
      return Error{ErrorKind::invalid, "what comes over the link is none of its frames"};
    if (end_ - begin_ < frame_head_bytes + length) break;
    frame.kind = static_cast<Kind>(kind);
    frame.body = {at + frame_head_bytes, length};
    begin_ += frame_head_bytes + length;
    use(frame);
  }
  return {};
}

}  // namespace gleaner::link
