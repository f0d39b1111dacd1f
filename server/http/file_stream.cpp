#include "server/http/file_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace gleaner::http {
namespace {

Error file_error(const io::Path& path, const char* what, int error_number) {
  const auto kind = error_number == ENOENT || error_number == ENOTDIR ? ErrorKind::not_found : ErrorKind::io;
  return {kind, std::string("cannot ") + what + " " + path.string() + ": " +
                    std::generic_category().message(error_number)};
}

}  // namespace

FileStream::FileStream(int descriptor, const Response::FilePart& part)
    : descriptor_(descriptor), offset_(part.offset), rest_(part.bytes) {}

FileStream::~FileStream() {
  ::close(descriptor_);
}

Result<std::unique_ptr<FileStream>> FileStream::open(const Response::FilePart& part) {
  if (part.offset < 0 || part.bytes < 0) {
    return Error{ErrorKind::invalid, "a negative part of " + part.path.string() + " was asked for"};
  }
  const int descriptor = ::open(part.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return file_error(part.path, "open", errno);
  std::unique_ptr<FileStream> stream(new FileStream(descriptor, part));
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return file_error(part.path, "look at", errno);
  if (!S_ISREG(status.st_mode)) return Error{ErrorKind::io, part.path.string() + " is not a file"};
  if (part.offset > status.st_size || part.bytes > status.st_size - part.offset) {
    return Error{ErrorKind::invalid, part.path.string() + " is shorter than the part that was asked for"};
  }
  return stream;
}

Result<std::string_view> FileStream::next() {
  if (rest_ == 0) return std::string_view{};
  const auto wanted = static_cast<std::size_t>(std::min(rest_, piece_bytes));
  if (!piece_) piece_ = std::make_unique_for_overwrite<char[]>(wanted);  // the first piece is the largest
  ssize_t got = 0;
  do {
    got = ::pread(descriptor_, piece_.get(), wanted, static_cast<off_t>(offset_));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return Error{ErrorKind::io, "reading a file: " + std::generic_category().message(errno)};
  if (got == 0) return Error{ErrorKind::io, "reading a file: it became shorter while it was sent"};
  offset_ += got;
  rest_ -= got;
  return std::string_view(piece_.get(), static_cast<std::size_t>(got));
}

}  // namespace gleaner::http
