#include "shared/transport/upload.h"

#include <algorithm>
#include <optional>

#include "shared/base/limits.h"
#include "shared/io/compression.h"

namespace gleaner::transport {
namespace {

constexpr std::size_t sample_bytes = 32 << 10;

bool smaller(const Bytes& packed, std::string_view bytes) {
  return packed.size() < bytes.size() * 9 / 10;
}

// Dense numbers hardly compress, and trying takes longer than sending them: a part of the piece tells.
std::optional<Bytes> compressed(std::string_view piece) {
  const std::string_view sample = piece.substr(piece.size() / 2, sample_bytes);
  if (!smaller(io::compress(sample), sample)) return std::nullopt;
  Bytes packed = io::compress(piece);
  return smaller(packed, piece) ? std::optional(std::move(packed)) : std::nullopt;
}

Result<protocol::UploadState> append(JobContext& context, const Server& server, const std::string& path,
                                     std::string_view bytes, std::int64_t offset) {
  const std::string_view piece = bytes.substr(static_cast<std::size_t>(offset), upload_piece_bytes);
  io::HttpRequest request;
  request.method = "PATCH";
  request.url = server.base_url + path;
  request.headers = {{"Content-Type", "application/octet-stream"},
                     {"Upload-Offset", std::to_string(offset)},
                     {"Upload-Length", std::to_string(bytes.size())}};
  auto packed = compressed(piece);
  if (packed) request.headers.emplace_back("Content-Encoding", "deflate");
  request.body = packed ? std::move(*packed) : Bytes(piece);
  request.timeout = std::chrono::seconds{limits::request_seconds_max};
  return understand<protocol::UploadState>(call(context.http, server, std::move(request)));
}

}  // namespace

Status upload(JobContext& context, const Server& server, const std::string& digest, std::string_view bytes) {
  const std::string path = "/v1/uploads/" + digest;
  TRY_ASSIGN(protocol::UploadState state,
             understand<protocol::UploadState>(call(context.http, server, get_request(server, path))));
  while (!state.complete) {
    if (context.stopping.load()) return Error{ErrorKind::unavailable, "the client is stopping"};
    // A server that was killed at the last byte has all of them and did not look at them: an empty piece at
    // the end has it do so. One that has more of it, from somebody else, drops them then.
    const std::int64_t offset = std::min(state.offset, static_cast<std::int64_t>(bytes.size()));
    if (offset < 0)
      return Error{ErrorKind::unavailable, "the server has another idea of how long the upload is"};
    TRY_ASSIGN(state, append(context, server, path, bytes, offset));
    if (!state.complete && state.offset <= offset)
      return Error{ErrorKind::unavailable,
                   "the upload does not get on: the server stays at byte " + std::to_string(state.offset)};
  }
  return {};
}

}  // namespace gleaner::transport
