#include <archive.h>
#include <archive_entry.h>

#include "shared/archive/archive.h"
#include "shared/archive/archive_parts.h"
#include "shared/base/check.h"

namespace gleaner::archives {
namespace {

Error no_tar(const Reader& reader) {
  return {ErrorKind::invalid, "this is no tar archive, or it is damaged (" + reason_of(reader.get()) + ")"};
}

// What is there is there in memory already, so its size needs no bound.
Result<Bytes> content_of(const Reader& reader, archive_entry* entry, std::size_t bytes_max) {
  const la_int64_t size = archive_entry_size(entry);
  if (size < 0 || static_cast<std::uint64_t>(size) > bytes_max) return no_tar(reader);
  Bytes content(static_cast<std::size_t>(size), '\0');
  if (archive_read_data(reader.get(), content.data(), content.size()) != size) return no_tar(reader);
  return content;
}

}  // namespace

Result<std::vector<TarMember>> read_tar(std::string_view archive) {
  const Reader reader(archive_read_new());
  CHECK_TRUE(reader != nullptr);
  CHECK_TRUE(archive_read_support_format_tar(reader.get()) == ARCHIVE_OK);
  if (archive_read_open_memory(reader.get(), archive.data(), archive.size()) != ARCHIVE_OK)
    return no_tar(reader);
  std::vector<TarMember> members;
  archive_entry* entry = nullptr;
  int result = archive_read_next_header(reader.get(), &entry);
  for (; result == ARCHIVE_OK; result = archive_read_next_header(reader.get(), &entry)) {
    const char* const path = archive_entry_pathname(entry);
    if (path == nullptr || archive_entry_filetype(entry) != AE_IFREG ||
        archive_entry_hardlink(entry) != nullptr)
      return Error{ErrorKind::invalid, "the tar archive has something that is no file"};
    TRY_ASSIGN(Bytes content, content_of(reader, entry, archive.size()));
    members.push_back({path, std::move(content)});
  }
  if (result != ARCHIVE_EOF) return no_tar(reader);
  return members;
}

}  // namespace gleaner::archives
