#include "shared/io/compression.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "shared/base/check.h"

namespace gleaner::io {
namespace {

// zlib takes non-const input in C, and never writes to it.
Bytef* input_of(std::string_view bytes) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
}

}  // namespace

Bytes compress(std::string_view bytes) {
  uLongf size = ::compressBound(static_cast<uLong>(bytes.size()));
  Bytes compressed(size, '\0');
  const int result = ::compress2(reinterpret_cast<Bytef*>(compressed.data()), &size, input_of(bytes),
                                 static_cast<uLong>(bytes.size()), Z_DEFAULT_COMPRESSION);
  CHECK_TRUE(result == Z_OK);  // only memory can be missing
  compressed.resize(size);
  compressed.shrink_to_fit();
  return compressed;
}

Result<Bytes> decompress(std::string_view bytes, std::int64_t bytes_max) {
  z_stream stream{};
  CHECK_TRUE(::inflateInit(&stream) == Z_OK);
  const std::unique_ptr<z_stream, int (*)(z_streamp)> owner(&stream, ::inflateEnd);
  Bytes whole;
  std::array<char, 64 << 10> piece;
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    if (stream.avail_in == 0 && !bytes.empty()) {
      const auto taken = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      stream.next_in = input_of(bytes);
      stream.avail_in = static_cast<uInt>(taken);
      bytes.remove_prefix(taken);
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    result = ::inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = piece.size() - stream.avail_out;
    if (result != Z_OK && result != Z_STREAM_END) {
      const bool early = result == Z_BUF_ERROR && bytes.empty();
      return Error{ErrorKind::invalid, early ? "the compressed data ends too early: send it again"
                                             : "the compressed data is damaged: send it again"};
    }
    if (std::cmp_greater(got, bytes_max - static_cast<std::int64_t>(whole.size())))
      return Error{ErrorKind::too_large, "the compressed data unpacks to more than the " +
                                             std::to_string(bytes_max) + " bytes allowed"};
    whole.append(piece.data(), got);
  }
  if (stream.avail_in > 0 || !bytes.empty())
    return Error{ErrorKind::invalid, "there is something behind the end of the compressed data"};
  return whole;
}

}  // namespace gleaner::io
