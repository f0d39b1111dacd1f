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

struct Sending {
  JobContext& context;
  const Server& server;
  const std::string path;
  std::string_view bytes;
  PieceSize& pieces;
  TransferProgress* progress;
};

Result<protocol::UploadState> append(const Sending& sending, std::int64_t offset) {
  const std::int64_t most =
      std::min(sending.pieces.next(), std::max<std::int64_t>(1, sending.context.left()));
  const std::string_view piece =
      sending.bytes.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(most));
  io::HttpRequest request;
  request.method = "PATCH";
  request.url = sending.server.base_url + sending.path;
  request.headers = {{"Content-Type", "application/octet-stream"},
                     {"Upload-Offset", std::to_string(offset)},
                     {"Upload-Length", std::to_string(sending.bytes.size())}};
  auto packed = compressed(piece);
  if (packed) request.headers.emplace_back("Content-Encoding", "deflate");
  request.body = packed ? std::move(*packed) : Bytes(piece);
  const auto sent = static_cast<std::int64_t>(request.body.size());
  // Nothing tells how far it is when this system has taken all of it.
  request.timeout = std::chrono::seconds{limits::request_seconds_max} + 4 * sending.pieces.expected(sent);
  const SteadyTime begun = system_clock().steady();
  auto state =
      understand<protocol::UploadState>(call(sending.context.http, sending.server, std::move(request)));
  if (state.ok())
    sending.pieces.moved(sent, system_clock().steady() - begun);
  else if (state.error().kind == ErrorKind::unavailable)
    sending.pieces.broken();
  return state;
}

// `reached`: as much as the server was seen to have.
Status send_rest(const Sending& sending, std::int64_t& reached) {
  TRY_ASSIGN(protocol::UploadState state,
             understand<protocol::UploadState>(
                 call(sending.context.http, sending.server, get_request(sending.server, sending.path))));
  reached = std::max(reached, state.offset);
  const auto all = static_cast<std::int64_t>(sending.bytes.size());
  if (sending.progress != nullptr)
    sending.progress->begin(std::clamp<std::int64_t>(state.offset, 0, all), all);
  while (!state.complete) {
    if (sending.context.stopping.load()) return Error{ErrorKind::unavailable, "the client is stopping"};
    if (sending.context.left() == 0) return held_back();
    // A server that was killed at the last byte has all of them and did not look at them: an empty piece at
    // the end has it do so. One that has more of it, from somebody else, drops them then.
    const std::int64_t offset = std::min(state.offset, all);
    if (offset < 0)
      return Error{ErrorKind::unavailable, "the server has another idea of how long the upload is"};
    TRY_ASSIGN(state, append(sending, offset));
    if (!state.complete && state.offset <= offset)
      return Error{ErrorKind::unavailable,
                   "the upload does not get on: the server stays at byte " + std::to_string(state.offset)};
    reached = std::max(reached, state.offset);
    if (sending.progress != nullptr) sending.progress->reach(std::clamp<std::int64_t>(state.offset, 0, all));
  }
  return {};
}

}  // namespace

Status upload(JobContext& context, const Server& server, const std::string& digest, std::string_view bytes,
              PieceSize& pieces, TransferProgress* progress) {
  const Sending sending{context, server, "/v1/uploads/" + digest, bytes, pieces, progress};
  Status sent;
  std::int64_t reached = -1;
  for (bool got_on = true; got_on;) {
    const std::int64_t before = reached;
    sent = send_rest(sending, reached);
    // Of a piece that broke off the server may have kept a part: it is asked.
    got_on = reached > before && !sent.ok() && sent.error().kind == ErrorKind::unavailable &&
             !context.stopping.load() && context.left() > 0;
  }
  if (progress != nullptr) progress->end();
  return sent;
}

}  // namespace gleaner::transport
