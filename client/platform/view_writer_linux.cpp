#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "client/platform/view_writer.h"

namespace gleaner::platform {
namespace {

Error failure(const std::string& what, const io::Path& path) {
  return {ErrorKind::io, what + " " + path.string() + ": " + std::strerror(errno)};
}

}  // namespace

Result<std::unique_ptr<ViewWriter>> ViewWriter::create(const io::Path& path) {
  std::error_code ignored;  // absent is what we want
  std::filesystem::remove(path, ignored);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor < 0) return failure("cannot make", path);
  std::unique_ptr<ViewWriter> writer(new ViewWriter(path, descriptor));
  if (::fchmod(descriptor, 0644) != 0) return failure("cannot open to readers", path);  // the umask says less
  return writer;
}

ViewWriter::~ViewWriter() {
  ::close(descriptor_);
  std::error_code ignored;  // it may have been removed by hand
  std::filesystem::remove(path_, ignored);
}

Status ViewWriter::put(std::string_view bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return failure("cannot write", path_);
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += put;
  }
  return {};
}

Status ViewWriter::write_head(std::string_view head) {
  return put(head, 0);
}

Status ViewWriter::write_rows(std::string_view pixels, int width, view::Band rows) {
  if (rows.empty()) return {};
  const std::int64_t row_bytes = std::int64_t{3} * width;
  const std::string_view changed =
      pixels.substr(static_cast<std::size_t>(rows.begin * row_bytes),
                    static_cast<std::size_t>((rows.end - rows.begin) * row_bytes));
  return put(changed, view::head_bytes + rows.begin * row_bytes);
}

Status ViewWriter::drop_picture() {
  if (::ftruncate(descriptor_, view::head_bytes) != 0) return failure("cannot cut", path_);
  return {};
}

io::Path view_file_of(const io::Path& state) {
  const char* const runtime = std::getenv("RUNTIME_DIRECTORY");
  const std::string directory = runtime == nullptr ? "" : runtime;
  // systemd may name several, separated by colons.
  if (!directory.empty()) return io::Path(directory.substr(0, directory.find(':'))) / "view";
  return state / "view";
}

}  // namespace gleaner::platform
