// Lines and raw bytes over two descriptors, as apps/CONTRACT.md frames them. Input can be looked at without
// blocking; output is gathered and leaves at 64 KiB, when it is 50 ms old (asked at each put_item) or at
// flush(): what a crash can lose took less than 50 ms to compute. Not thread-safe. Errors: io (the other side
// is gone), invalid (a line over 65,536 bytes, or bytes cut short).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::kit {

inline constexpr std::size_t line_bytes_max = 65536;

enum class Wait { no, yes };

class Channel {
 public:
  Channel(int input, int output) : input_(input), output_(output) {}

  // The next line without its '\n'. Nothing: the input has ended, or (Wait::no) no whole line is there yet.
  [[nodiscard]] Result<std::optional<std::string>> read_line(Wait wait);
  // Exactly `length` bytes, waiting for them.
  [[nodiscard]] Result<Bytes> read_bytes(std::int64_t length);
  // True once the other side has closed and every whole line was read.
  [[nodiscard]] bool ended() const { return closed_ && buffer_.find('\n', start_) == std::string::npos; }

  [[nodiscard]] Status put_line(std::string_view line);
  [[nodiscard]] Status put_item(std::int64_t index, std::string_view bytes);
  [[nodiscard]] Status flush();

 private:
  // Reads what is available; false if nothing came (Wait::no) or the input ended.
  [[nodiscard]] Result<bool> fill(Wait wait);
  [[nodiscard]] Status write_all(std::string_view bytes) const;

  int input_;
  int output_;
  std::string buffer_;
  std::size_t start_ = 0;
  bool closed_ = false;
  std::string gathered_;
  std::chrono::steady_clock::time_point flushed_{};
};

}  // namespace gleaner::kit
