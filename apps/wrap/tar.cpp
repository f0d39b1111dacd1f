#include "apps/wrap/tar.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <utility>

namespace gleaner::wrap {
namespace {

constexpr std::size_t block_bytes = 512;
constexpr std::uint64_t size_max = (std::uint64_t{1} << 33) - 1;  // eleven octal digits
using Block = std::array<char, block_bytes>;

void put(Block& block, std::size_t at, std::string_view text) {
  std::memcpy(block.data() + at, text.data(), text.size());
}

// POSIX.1-1988, "ustar Interchange Format": name, mode, owner, group, size, time, checksum, type, magic.
Block header_of(const std::string& path, std::uint64_t size) {
  Block block{};
  put(block, 0, path);
  put(block, 100, "0000644");
  put(block, 108, "0000000");
  put(block, 116, "0000000");
  char digits[16];
  std::snprintf(digits, sizeof digits, "%011llo", static_cast<unsigned long long>(size));
  put(block, 124, digits);
  put(block, 136, "00000000000");
  put(block, 148, "        ");  // what the sum counts here
  put(block, 156, "0");
  put(block, 257, std::string_view("ustar\00000", 8));
  const int sum = std::accumulate(block.begin(), block.end(), 0,
                                  [](int total, char c) { return total + static_cast<unsigned char>(c); });
  std::snprintf(digits, sizeof digits, "%06o", static_cast<unsigned>(sum));
  put(block, 148, std::string_view(digits, 7));  // six digits and a zero byte, then a blank
  return block;
}

}  // namespace

Result<TarWriter> TarWriter::create(const std::filesystem::path& path) {
  TarWriter writer(path, std::ofstream(path, std::ios::binary | std::ios::trunc));
  TRY(writer.written());
  return writer;
}

Status TarWriter::add(const std::string& path, std::string_view content) {
  if (path.size() >= 100 || content.size() > size_max)
    return Error{ErrorKind::invalid, path + " does not fit into an archive"};
  const Block header = header_of(path, content.size());
  file_.write(header.data(), header.size());
  file_.write(content.data(), static_cast<std::streamsize>(content.size()));
  const Block nothing{};
  const std::size_t padding = (block_bytes - content.size() % block_bytes) % block_bytes;
  file_.write(nothing.data(), static_cast<std::streamsize>(padding));
  bytes_ += static_cast<std::int64_t>(block_bytes + content.size() + padding);
  return written();
}

Status TarWriter::finish(std::string_view after) {
  const Block nothing{};
  for (int i = 0; i < 2; ++i) file_.write(nothing.data(), nothing.size());
  file_.write(after.data(), static_cast<std::streamsize>(after.size()));
  file_.close();
  return written();
}

Status TarWriter::written() const {
  if (file_) return {};
  return Error{ErrorKind::io, "cannot write " + path_.string() + " (is the disk full?)"};
}

}  // namespace gleaner::wrap
