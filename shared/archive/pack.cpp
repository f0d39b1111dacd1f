#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>

#include "shared/archive/archive.h"
#include "shared/archive/archive_parts.h"
#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/io/system_error.h"

namespace gleaner::archives {
namespace {

namespace fs = std::filesystem;

struct FoundFile {
  std::string name;  // relative, with '/'
  bool is_directory = false;
  bool is_executable = false;
};

struct FreeWriter {
  void operator()(archive* handle) const { archive_write_free(handle); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using Writer = std::unique_ptr<archive, FreeWriter>;
using Entry = std::unique_ptr<archive_entry, FreeEntry>;

Result<std::vector<FoundFile>> find_files(const io::Path& directory) {
  std::vector<FoundFile> found;
  std::error_code code;
  fs::recursive_directory_iterator position(directory, code);
  for (; !code && position != fs::recursive_directory_iterator{}; position.increment(code)) {
    const fs::file_status status = position->symlink_status(code);
    if (code) break;
    const std::string name = utf8_text(position->path().lexically_relative(directory).generic_u8string());
    if (!is_portable_path(name))
      return Error{ErrorKind::invalid, "cannot pack " + shown_path(name) +
                                           ": names must be printable ASCII without backslash; rename it"};
    if (!fs::is_directory(status) && !fs::is_regular_file(status))
      return Error{ErrorKind::invalid, "cannot pack " + shown_path(name) +
                                           ": only files and directories can be; copy what a link " +
                                           "points to, or take it out"};
    const bool executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
    found.push_back({name, fs::is_directory(status), executable});
    if (std::cmp_greater(found.size(), limits::bundle_files_max))
      return Error{ErrorKind::too_large, "cannot pack " + utf8_text(directory) + ": it has more than " +
                                             std::to_string(limits::bundle_files_max) + " files"};
  }
  if (code) return io::system_error("read directory " + utf8_text(directory), code.value());
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

la_ssize_t append_to_bytes(archive*, void* bytes, const void* data, std::size_t size) {
  static_cast<Bytes*>(bytes)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

Error failure(const Writer& writer) {
  return {ErrorKind::internal, "cannot write the archive: " + reason_of(writer.get())};
}

Result<Writer> open_writer(Bytes& into) {
  Writer writer(archive_write_new());
  CHECK_TRUE(writer != nullptr);
  // Restricted pax is plain ustar wherever that suffices; no time of packing in the gzip header.
  if (archive_write_set_format_pax_restricted(writer.get()) != ARCHIVE_OK ||
      archive_write_add_filter_gzip(writer.get()) != ARCHIVE_OK ||
      archive_write_set_options(writer.get(), "gzip:!timestamp,gzip:compression-level=9") != ARCHIVE_OK ||
      archive_write_set_bytes_in_last_block(writer.get(), 1) != ARCHIVE_OK ||
      archive_write_open(writer.get(), &into, nullptr, append_to_bytes, nullptr) != ARCHIVE_OK)
    return failure(writer);
  return writer;
}

Status add(const Writer& writer, const FoundFile& file, std::string_view content) {
  const Entry entry(archive_entry_new());
  CHECK_TRUE(entry != nullptr);
  archive_entry_set_pathname(entry.get(), (file.name + (file.is_directory ? "/" : "")).c_str());
  archive_entry_set_filetype(entry.get(), file.is_directory ? AE_IFDIR : AE_IFREG);
  archive_entry_set_perm(entry.get(), file.is_directory || file.is_executable ? 0755 : 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_mtime(entry.get(), 0, 0);
  if (archive_write_header(writer.get(), entry.get()) != ARCHIVE_OK) return failure(writer);
  const la_ssize_t put = archive_write_data(writer.get(), content.data(), content.size());
  if (put != static_cast<la_ssize_t>(content.size())) return failure(writer);
  return {};
}

}  // namespace

Result<Bytes> pack_directory(const io::Path& directory) {
  TRY_ASSIGN(const auto found, find_files(directory));
  Bytes packed;
  TRY_ASSIGN(const Writer writer, open_writer(packed));
  std::int64_t bytes_left = limits::bundle_bytes_max;
  for (const auto& file : found) {
    Bytes content;
    if (!file.is_directory) {
      auto read = io::real_files().read(directory / utf8_path(file.name), bytes_left);
      if (!read.ok() && read.error().kind == ErrorKind::too_large)
        return Error{ErrorKind::too_large, "cannot pack " + utf8_text(directory) + ": it has more than " +
                                               std::to_string(limits::bundle_bytes_max) + " bytes"};
      TRY_ASSIGN(content, std::move(read));
      bytes_left -= static_cast<std::int64_t>(content.size());
    }
    TRY(add(writer, file, content));
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK) return failure(writer);
  return packed;
}

}  // namespace gleaner::archives
