#include "client/engine/object_access.h"

#include <spdlog/spdlog.h>

#include "shared/base/limits.h"
#include "shared/crypto/statements.h"

namespace gleaner::engine {
namespace {

constexpr Duration left_alone_for = std::chrono::minutes{10};
constexpr Duration used_for =
    std::chrono::seconds{limits::address_seconds / 2};  // then a new one is asked for
constexpr Duration answer_time = std::chrono::seconds{20};
constexpr std::int64_t bytes_per_second_on_the_way = 64 << 10;

// Without a byte. What this system has taken of a body is still on its way, and nothing tells how far.
Duration patience_with(std::int64_t body_bytes) {
  return answer_time + std::chrono::seconds{body_bytes / bytes_per_second_on_the_way};
}

struct Told {
  protocol::SignedStatement statement;
  io::Reach reach = io::Reach::world;  // of the server that told it
};

Result<Told> ask(const ObjectAccess::Asker& asker, io::HttpRequest request) {
  const transport::Answer answer = transport::call(asker.context.http, asker.server, std::move(request));
  TRY_ASSIGN(auto statement, transport::understand<protocol::SignedStatement>(answer));
  return Told{std::move(statement), answer.reply->reach};
}

std::string question(const std::string& digest) {
  return "/v1/addresses/" + digest;
}

}  // namespace

bool ObjectAccess::left_alone(const Asker& asker) const {
  return asker.context.objects == nullptr || clock_.steady() < not_before_;
}

void ObjectAccess::mistrust(const std::string& why) {
  spdlog::warn("the object store is not used for some minutes, but the server: {}", why);
  place_.reset();
  not_before_ = clock_.steady() + left_alone_for;
}

Status ObjectAccess::find(const Asker& asker, const std::string& digest) {
  const SteadyTime now = clock_.steady();
  if (place_ && place_->digest == digest && now - place_->asked_at < used_for) return {};
  place_.reset();
  TRY_ASSIGN(const Told told, ask(asker, transport::get_request(asker.server, question(digest))));
  TRY_ASSIGN(auto found,
             crypto::check_blob_address(told.statement, asker.work_key, asker.host, digest, clock_.now()));
  place_ = Place{digest, std::move(found.address), told.reach, now};
  return {};
}

Status ObjectAccess::get(const Asker& asker, Range bytes, std::int64_t all, const Take& take) const {
  io::HttpRequest request;
  request.url = place_->address;
  request.headers = {{"Range", "bytes=" + std::to_string(bytes.begin) + "-" + std::to_string(bytes.end - 1)}};
  request.reply_bytes_max = bytes.size();
  request.timeout = answer_time;
  request.nearest = place_->nearest;
  const bool whole = bytes.begin == 0 && bytes.end == all;
  request.take = [&](int status, std::string_view piece) -> Status {
    if (status == 206 || whole) return take(status, piece);
    return Error{ErrorKind::unavailable, "it answered with all of it"};
  };
  TRY_ASSIGN(const io::HttpReply reply, asker.context.objects->send(request));
  if (reply.status != 206 && !(reply.status == 200 && whole))
    return Error{ErrorKind::unavailable, "it answered with status " + std::to_string(reply.status)};
  if (reply.taken != bytes.size()) return Error{ErrorKind::unavailable, "it sent fewer bytes than asked for"};
  return {};
}

Result<bool> ObjectAccess::fetch(const Asker& asker, const std::string& digest, Range bytes, std::int64_t all,
                                 const Take& take) {
  if (left_alone(asker)) return false;
  Status got = find(asker, digest);
  if (got.ok()) got = get(asker, bytes, all, take);
  if (got.ok()) return true;
  if (got.error().kind == ErrorKind::io) return got.error();  // this computer's disk
  if (asker.context.left() == 0) return transport::held_back();
  mistrust(got.error().message);
  return false;
}

Status ObjectAccess::put_parts(const Asker& asker, const std::string& digest, std::string_view bytes) const {
  const auto all = static_cast<std::int64_t>(bytes.size());
  TRY_ASSIGN(const Told told,
             ask(asker, transport::json_request(asker.server, question(digest),
                                                protocol::encode(protocol::PutRequest{all}))));
  TRY_ASSIGN(const auto places, crypto::check_put_addresses(told.statement, asker.work_key, asker.host,
                                                            digest, all, clock_.now()));
  for (const auto& part : places.parts) {
    if (asker.context.stopping.load()) return Error{ErrorKind::unavailable, "the client is stopping"};
    if (asker.context.left() < part.bytes) return {};  // the server gets as much of the rest as is allowed
    io::HttpRequest request;
    request.method = "PUT";
    request.url = part.address;
    request.body =
        Bytes(bytes.substr(static_cast<std::size_t>(part.offset), static_cast<std::size_t>(part.bytes)));
    request.reply_bytes_max = 64 << 10;
    request.timeout = patience_with(part.bytes);
    request.nearest = told.reach;
    TRY_ASSIGN(const io::HttpReply reply, asker.context.objects->send(request));
    if (reply.status < 200 || reply.status > 204)
      return Error{ErrorKind::unavailable, "it answered with status " + std::to_string(reply.status)};
  }
  return {};
}

void ObjectAccess::put(const Asker& asker, const std::string& digest, std::string_view bytes) {
  if (left_alone(asker)) return;
  if (const Status done = put_parts(asker, digest, bytes); !done.ok() && !asker.context.stopping.load())
    mistrust(done.error().message);
}

}  // namespace gleaner::engine
