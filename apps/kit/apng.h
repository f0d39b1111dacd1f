// Moving pictures as animated PNG (W3C, Portable Network Graphics (PNG) Specification, third edition, 2025):
// made of finished PNG files of one size and kind, whose compressed bytes are copied. Programs that know no
// animation show the first frame. Memory is one chunk. Errors: io (the disk), invalid (not such a file).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::kit {

class ApngWriter {
 public:
  // It repeats without end. REQUIRES: 1 <= frames < 2^30, 1 <= frame_milliseconds <= 65535.
  [[nodiscard]] static Result<ApngWriter> create(const std::filesystem::path& path, std::int64_t frames,
                                                 std::int64_t frame_milliseconds);
  // The next frame, a PNG file as PngWriter makes it. REQUIRES: fewer than `frames` were added.
  [[nodiscard]] Status add(const std::filesystem::path& picture);
  // REQUIRES: all frames were added.
  [[nodiscard]] Status finish();

 private:
  ApngWriter(std::ofstream file, std::int64_t frames, std::int64_t frame_milliseconds)
      : file_(std::move(file)),
        frames_left_(frames),
        frames_(frames),
        frame_milliseconds_(frame_milliseconds) {}
  void chunk(std::string_view type, std::string_view data);
  void frame_control();

  std::ofstream file_;
  std::int64_t frames_left_;
  std::int64_t frames_;
  std::int64_t frame_milliseconds_;
  std::uint32_t sequence_ = 0;
  Bytes header_;  // IHDR, of the first frame
};

}  // namespace gleaner::kit
