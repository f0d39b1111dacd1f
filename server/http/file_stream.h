// A part of a file, read piece by piece, so that a large download never is in memory as a whole. Reads block
// (a local disk). One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "server/http/server.h"
#include "shared/base/result.h"

namespace gleaner::http {

class FileStream {
 public:
  static constexpr std::int64_t piece_bytes =
      256 << 10;  // large enough for a disk, small beside a connection's rest

  // Errors: not_found; io; invalid if the file does not have the part.
  [[nodiscard]] static Result<std::unique_ptr<FileStream>> open(const Response::FilePart& part);
  ~FileStream();
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  // The next piece, valid until the next call; empty at the end of the part. Error io, also if the file was
  // cut.
  [[nodiscard]] Result<std::string_view> next();

 private:
  FileStream(int descriptor, const Response::FilePart& part);

  int descriptor_;
  std::int64_t offset_;
  std::int64_t rest_;
  std::unique_ptr<char[]> piece_;
};

}  // namespace gleaner::http
