#include "shared/io/files.h"

namespace gleaner::io {

Status FaultyFiles::ask(std::string_view operation, const Path& path) const {
  return before_change ? before_change(operation, path) : Status{};
}

Result<Bytes> FaultyFiles::read(const Path& path, std::int64_t bytes_max) const {
  return base_.read(path, bytes_max);
}

Result<Bytes> FaultyFiles::read_plain(const Path& path, std::int64_t bytes_max) const {
  return base_.read_plain(path, bytes_max);
}

Result<Bytes> FaultyFiles::read_range(const Path& path, std::int64_t offset, std::int64_t bytes) const {
  return base_.read_range(path, offset, bytes);
}

Status FaultyFiles::write(const Path& path, std::string_view bytes, Mode mode) {
  TRY(ask("write", path));
  return base_.write(path, bytes, mode);
}

Status FaultyFiles::write_at(const Path& path, std::int64_t offset, std::string_view bytes) {
  TRY(ask("write_at", path));
  return base_.write_at(path, offset, bytes);
}

Status FaultyFiles::sync(const Path& path) {
  TRY(ask("sync", path));
  return base_.sync(path);
}

Status FaultyFiles::rename(const Path& from, const Path& to) {
  TRY(ask("rename", to));
  return base_.rename(from, to);
}

Status FaultyFiles::make_directories(const Path& path) {
  TRY(ask("make_directories", path));
  return base_.make_directories(path);
}

Status FaultyFiles::remove(const Path& path) {
  TRY(ask("remove", path));
  return base_.remove(path);
}

Status FaultyFiles::remove_all(const Path& path) {
  TRY(ask("remove_all", path));
  return base_.remove_all(path);
}

bool FaultyFiles::exists(const Path& path) const {
  return base_.exists(path);
}

Result<std::int64_t> FaultyFiles::size(const Path& path) const {
  return base_.size(path);
}

Result<std::vector<std::string>> FaultyFiles::list(const Path& directory) const {
  return base_.list(directory);
}

Result<std::int64_t> FaultyFiles::free_bytes(const Path& path) const {
  return free ? Result<std::int64_t>(*free) : base_.free_bytes(path);
}

}  // namespace gleaner::io
