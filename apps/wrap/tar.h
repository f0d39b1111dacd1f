// Files in one archive (POSIX.1-1988 ustar), written as they come; no owner and no time, so that equal
// content makes equal archives. Errors: io, invalid (a path of more than 100 bytes, a file beyond 8 GiB).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::wrap {

class TarWriter {
 public:
  [[nodiscard]] static Result<TarWriter> create(const std::filesystem::path& path);
  [[nodiscard]] Status add(const std::string& path, std::string_view content);
  // Where the next file's header will be.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  // The end marks, and `after` behind them, where no reader of archives looks. Nothing is added after it.
  [[nodiscard]] Status finish(std::string_view after = {});

 private:
  TarWriter(std::filesystem::path path, std::ofstream file)
      : path_(std::move(path)), file_(std::move(file)) {}
  [[nodiscard]] Status written() const;

  std::filesystem::path path_;
  std::ofstream file_;
  std::int64_t bytes_ = 0;
};

}  // namespace gleaner::wrap
