// The link between a project's leader and its front ends carries frames, in both directions: a length, an id,
// what it is, a body. The front end chooses the id of each operation; what answers it bears the same. Frames
// that are ready together are one write, and what has come is read at once, so that under load a system call
// serves many. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "shared/base/encoding.h"
#include "shared/base/limits.h"
#include "shared/base/result.h"

namespace gleaner::link {

// Written by hand, never reused.
enum class Kind : std::uint8_t {
  // From a front end:
  hello = 1,  // first, and again each second: is there anybody?
  who = 2,
  place = 3,
  work = 4,
  // 5 was a result without a request for work.
  heartbeat = 6,
  failure = 7,
  leave = 8,
  pass = 9,   // a whole request
  blob = 10,  // a piece of one
  stop = 11,  // of the operation of this id nothing more is wanted
  // From the leader:
  done = 64,     // the answer
  error = 65,    // or why there is none
  piece = 66,    // one of many; the operation goes on
  leaving = 67,  // of no operation: what has come is answered still; send no more, and find the next leader
};

struct Frame {
  std::uint64_t id = 0;
  Kind kind = Kind::hello;
  std::string_view body;  // of the bytes it was read from
};

// A whole message of the API, what goes with it, and a piece of an upload.
inline constexpr std::int64_t frame_bytes_max = limits::json_message_bytes_max + (1 << 20);
inline constexpr std::size_t frame_head_bytes = 13;

// REQUIRES: the body is at most frame_bytes_max.
void append_frame(Bytes& to, std::uint64_t id, Kind kind, std::string_view body);

// Out of a stream of bytes. Not thread-safe.
class FrameReader {
 public:
  // Where at most `bytes` that were received next are to be put; then received() says how many came.
  [[nodiscard]] char* room(std::size_t bytes);
  void received(std::size_t bytes);
  // Each frame that is complete by now. invalid: this is no stream of frames.
  [[nodiscard]] Status take(const std::function<void(const Frame&)>& use);

 private:
  Bytes buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is not taken yet
};

}  // namespace gleaner::link
