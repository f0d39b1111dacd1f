#include "server/storage/blob_note.h"

namespace gleaner::storage {
namespace {

constexpr std::int64_t place_bytes_max = 4096;

io::Path note_path(const io::Path& directory) {
  return directory / "blobs.place";
}

}  // namespace

Result<std::string> read_blob_note(const io::Files& files, const io::Path& directory) {
  auto text = files.read(note_path(directory), place_bytes_max);
  if (!text.ok() && text.error().kind == ErrorKind::not_found) return std::string();
  if (text.ok() && text->ends_with("\n")) text->pop_back();
  return text;
}

Status write_blob_note(io::Files& files, const io::Path& directory, std::string_view place) {
  if (place.empty()) return files.remove(note_path(directory));
  TRY_ASSIGN(const std::string noted, read_blob_note(files, directory));
  if (noted == place) return {};
  return files.write(note_path(directory), std::string(place) + "\n", io::Mode::normal);
}

Error not_moved(const std::string& to, const std::string& from) {
  return {ErrorKind::invalid,
          "blobs.url says " + to + ", and this project's blobs are in " + from +
              ": move them with `gleaner-server migrate --blobs`, or put the setting back"};
}

}  // namespace gleaner::storage
