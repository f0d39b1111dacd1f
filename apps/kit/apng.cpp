#include "apps/kit/apng.h"

#include <zlib.h>

#include "shared/base/check.h"
#include "shared/base/paths.h"

namespace gleaner::kit {
namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);
constexpr std::uint32_t chunk_bytes_max = 64 << 20;

template <typename T>
void append_big_endian(Bytes& bytes, T value) {
  for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(value >> shift & 0xff));
}

struct Chunk {
  std::string type;
  Bytes data;
};

// The next chunk of a file that was just written: its checksums are not looked at.
Result<Chunk> read_chunk(std::ifstream& file) {
  char head[8];
  std::uint32_t length = 0;
  if (file.read(head, sizeof head)) {
    for (int i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(head[i]);
    if (length <= chunk_bytes_max) {
      Chunk chunk{std::string(head + 4, 4), Bytes(length, '\0')};
      char checksum[4];
      if (file.read(chunk.data.data(), length) && file.read(checksum, sizeof checksum)) return chunk;
    }
  }
  return Error{ErrorKind::invalid, "a frame is no PNG file"};
}

}  // namespace

Result<ApngWriter> ApngWriter::create(const std::filesystem::path& path, std::int64_t frames,
                                      std::int64_t frame_milliseconds) {
  CHECK_TRUE(frames >= 1 && frames < 1 << 30 && frame_milliseconds >= 1 && frame_milliseconds <= 65535);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return Error{ErrorKind::io, "cannot create " + utf8_text(path)};
  file.write(signature.data(), signature.size());
  return ApngWriter(std::move(file), frames, frame_milliseconds);
}

void ApngWriter::chunk(std::string_view type, std::string_view data) {
  Bytes bytes;
  append_big_endian(bytes, static_cast<std::uint32_t>(data.size()));
  bytes += type;
  bytes += data;
  const auto* checked = reinterpret_cast<const Bytef*>(bytes.data() + 4);
  append_big_endian(bytes,
                    static_cast<std::uint32_t>(crc32(0, checked, static_cast<uInt>(bytes.size() - 4))));
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The whole picture, shown for some time, replacing what was there.
void ApngWriter::frame_control() {
  Bytes data;
  append_big_endian(data, sequence_++);
  data += header_.substr(0, 8);  // width and height
  append_big_endian(data, std::uint64_t{0});
  append_big_endian(data, static_cast<std::uint16_t>(frame_milliseconds_));
  append_big_endian(data, std::uint16_t{1000});
  data += std::string_view("\0\0", 2);
  chunk("fcTL", data);
}

Status ApngWriter::add(const std::filesystem::path& picture) {
  CHECK_TRUE(frames_left_ > 0);
  const bool first = frames_left_-- == frames_;
  std::ifstream file(picture, std::ios::binary);
  char start[8] = {};
  file.read(start, sizeof start);
  if (!file || std::string_view(start, sizeof start) != signature)
    return Error{ErrorKind::invalid, "a frame is no PNG file"};
  for (;;) {
    TRY_ASSIGN(const Chunk read, read_chunk(file));
    if (read.type == "IEND") break;
    if (read.type == "IHDR") {
      if (first) {
        header_ = read.data;
        chunk("IHDR", header_);
        Bytes control;
        append_big_endian(control, static_cast<std::uint32_t>(frames_));
        append_big_endian(control, std::uint32_t{0});
        chunk("acTL", control);
      } else if (read.data != header_) {
        return Error{ErrorKind::invalid, "the frames are not of one size"};
      }
      frame_control();
    } else if (read.type == "IDAT") {
      if (first) {
        chunk("IDAT", read.data);
        continue;
      }
      Bytes data;
      append_big_endian(data, sequence_++);
      data += read.data;
      chunk("fdAT", data);
    }
  }
  if (!file_) return Error{ErrorKind::io, "cannot write the animation (is the disk full?)"};
  return {};
}

Status ApngWriter::finish() {
  CHECK_TRUE(frames_left_ == 0);
  chunk("IEND", "");
  file_.close();
  if (file_.fail()) return Error{ErrorKind::io, "cannot write the animation (is the disk full?)"};
  return {};
}

}  // namespace gleaner::kit
