// Archives: 't' is followed by a tar archive, whose checksums are repaired and which is then compressed, so
// that mutations reach beyond the decompressor; anything else by the bytes of a tar.gz. Whatever comes,
// nothing appears outside the directory, nothing but files and directories inside, within the bounds, and
// nothing at all on failure.
#include <zlib.h>

#include <cstdio>
#include <filesystem>

#include "shared/archive/archive.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t bytes_max = 100'000;
constexpr int files_max = 20;
constexpr std::size_t block = 512;

// Every block that looks like a header gets the checksum it should have (POSIX ustar: the sum of its bytes,
// the checksum field taken as blanks).
void repair_checksums(Bytes& tar) {
  for (std::size_t at = 0; at + block <= tar.size(); at += block) {
    if (tar.compare(at + 257, 5, "ustar") != 0) continue;
    unsigned sum = 8 * ' ';
    for (std::size_t i = 0; i < block; ++i)
      if (i < 148 || i >= 156) sum += static_cast<std::uint8_t>(tar[at + i]);
    char field[9];
    std::snprintf(field, sizeof field, "%06o", sum & 0777777);
    tar.replace(at + 148, 8, Bytes(field) + Bytes("\0 ", 2));
  }
}

Bytes gzip(const Bytes& bytes) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  CHECK_TRUE(deflateInit2(&stream, 1, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  Bytes packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  Bytes input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  CHECK_TRUE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

void check_unpacked(const fs::path& into) {
  std::int64_t bytes = 0;
  int entries = 0;
  for (const auto& entry : fs::recursive_directory_iterator(into)) {
    const auto status = entry.symlink_status();
    CHECK_TRUE(status.type() == fs::file_type::regular || status.type() == fs::file_type::directory);
    CHECK_TRUE((status.permissions() & (fs::perms::set_uid | fs::perms::set_gid)) == fs::perms::none);
    if (status.type() != fs::file_type::regular) continue;
    bytes += static_cast<std::int64_t>(entry.file_size());
    ++entries;
  }
  CHECK_TRUE(bytes <= bytes_max && entries <= files_max);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path root = fuzz::scratch("archive");
  if (size == 0) return 0;
  Bytes archive(fuzz::text_of(data + 1, size - 1));
  if (data[0] == 't') {
    repair_checksums(archive);
    archive = gzip(archive);
  }
  fs::create_directories(root);
  const fs::path into = root / "into";
  const Status unpacked = archives::unpack(archive, into, bytes_max, files_max);
  if (unpacked.ok())
    check_unpacked(into);
  else
    CHECK_TRUE(!fs::exists(into) && !unpacked.error().message.empty());
  fs::remove_all(into);
  CHECK_TRUE(fs::is_empty(root));  // nothing escaped to beside it
  fs::remove(root);
  return 0;
}
