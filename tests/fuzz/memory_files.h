// Files in memory, for targets that read and write a few small ones millions of times: whole files by their
// paths, nothing of permissions or directories. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shared/io/files.h"

namespace gleaner::fuzz {

class MemoryFiles final : public io::Files {
 public:
  std::map<io::Path, Bytes> files;

  Result<Bytes> read(const io::Path& path, std::int64_t bytes_max) const override {
    const auto found = files.find(path);
    if (found == files.end()) return Error{ErrorKind::not_found, path.string() + ": no such file"};
    if (static_cast<std::int64_t>(found->second.size()) > bytes_max)
      return Error{ErrorKind::too_large, path.string() + " is too large"};
    return found->second;
  }
  Result<Bytes> read_plain(const io::Path& path, std::int64_t bytes_max) const override {
    return read(path, bytes_max);
  }
  Result<Bytes> read_range(const io::Path& path, std::int64_t offset, std::int64_t bytes) const override {
    TRY_ASSIGN(const Bytes all, read(path, std::int64_t{1} << 30));
    if (offset < 0 || offset > static_cast<std::int64_t>(all.size())) return Bytes();
    return all.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
  }
  Status write(const io::Path& path, std::string_view bytes, io::Mode) override {
    files[path] = bytes;
    return {};
  }
  Status write_at(const io::Path& path, std::int64_t offset, std::string_view bytes) override {
    Bytes& file = files[path];
    if (offset < 0 || offset > static_cast<std::int64_t>(file.size()))
      return Error{ErrorKind::invalid, path.string() + ": a hole"};
    file.replace(static_cast<std::size_t>(offset), bytes.size(), bytes);
    return {};
  }
  Status sync(const io::Path&) override { return {}; }
  Status rename(const io::Path& from, const io::Path& to) override {
    auto moved = files.extract(from);
    if (moved.empty()) return Error{ErrorKind::not_found, from.string() + ": no such file"};
    files[to] = std::move(moved.mapped());
    return {};
  }
  Status make_directories(const io::Path&) override { return {}; }
  Status remove(const io::Path& path) override {
    files.erase(path);
    return {};
  }
  Status remove_all(const io::Path& path) override {
    std::erase_if(files, [&](const auto& file) { return file.first.string().starts_with(path.string()); });
    return {};
  }
  bool exists(const io::Path& path) const override { return files.contains(path); }
  Result<std::int64_t> size(const io::Path& path) const override {
    TRY_ASSIGN(const Bytes all, read(path, std::int64_t{1} << 30));
    return static_cast<std::int64_t>(all.size());
  }
  Result<std::vector<std::string>> list(const io::Path& directory) const override {
    std::vector<std::string> names;
    for (const auto& [path, bytes] : files)
      if (path.parent_path() == directory) names.push_back(path.filename().string());
    return names;
  }
  Result<std::int64_t> free_bytes(const io::Path&) const override { return std::int64_t{1} << 40; }
};

}  // namespace gleaner::fuzz
