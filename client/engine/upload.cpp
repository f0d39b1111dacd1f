#include "client/engine/upload.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/io/compression.h"

namespace gleaner::engine {
namespace {

Result<protocol::UploadState> append(JobContext& context, const Server& server, const std::string& path,
                                     std::string_view bytes, std::int64_t offset) {
  const std::string_view piece = bytes.substr(static_cast<std::size_t>(offset), upload_piece_bytes);
  io::HttpRequest request;
  request.method = "PATCH";
  request.url = server.base_url + path;
  request.headers = {{"Content-Type", "application/octet-stream"},
                     {"Upload-Offset", std::to_string(offset)},
                     {"Upload-Length", std::to_string(bytes.size())}};
  request.body = io::compress(piece);
  if (request.body.size() < piece.size() * 9 / 10)
    request.headers.emplace_back("Content-Encoding", "deflate");
  else
    request.body = Bytes(piece);
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
    const std::int64_t offset = state.offset;
    const auto total = static_cast<std::int64_t>(bytes.size());
    if (offset < 0 || offset > total || (offset == total && total > 0))
      return Error{ErrorKind::unavailable, "the server has another idea of how long the upload is"};
    TRY_ASSIGN(state, append(context, server, path, bytes, offset));
    if (!state.complete && state.offset <= offset)
      return Error{ErrorKind::unavailable,
                   "the upload does not get on: the server stays at byte " + std::to_string(state.offset)};
  }
  return {};
}

}  // namespace gleaner::engine
