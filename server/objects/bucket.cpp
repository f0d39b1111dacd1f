#include "server/objects/bucket.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>

#include "server/objects/xml.h"
#include "shared/crypto/keys.h"

namespace gleaner::objects {
namespace {

constexpr int tries_max = 4;
constexpr Duration first_pause = std::chrono::milliseconds{200};
constexpr Duration longest_pause = std::chrono::seconds{30};
constexpr Duration request_time = std::chrono::seconds{10};  // and what its bytes take at
constexpr std::int64_t bytes_per_second_min = 128 << 10;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return {};
  return value;
}

std::string header_of(const io::HttpReply& reply, const std::string& name) {
  const auto found = reply.headers.find(name);
  return found == reply.headers.end() ? "" : found->second;
}

std::string etag_of(const io::HttpReply& reply) {
  std::string tag = header_of(reply, "etag");
  std::erase(tag, '"');
  return tag;
}

// The store's own word for what is wrong, as "NoSuchKey".
std::string code_of(const io::HttpReply& reply) {
  const auto document = parse_xml(reply.body);
  return document.ok() && document->name == "Error" ? document->at("Code") : "";
}

bool may_pass(int status) {
  return status >= 500 || status == 408 || status == 429;
}

// "bytes 0-99/1234"
std::optional<std::int64_t> whole_size(const std::string& range) {
  const std::size_t slash = range.rfind('/');
  return slash == std::string::npos ? std::nullopt : whole_number(std::string_view(range).substr(slash + 1));
}

Error nonsense(const Place& place, const std::string& what) {
  return {ErrorKind::io, "the object store " + place.shown() + " " + what};
}

Error refused(const Place& place, int status, const std::string& code) {
  const std::string said = code.empty() ? "" : " (" + code + ")";
  const std::string what = "the object store refuses " + place.shown();
  if (status == 401 || status == 403)
    return {ErrorKind::forbidden,
            what + " with status " + std::to_string(status) + said +
                ": are the keys in the file right, may they use this bucket, and is this machine's clock?"};
  if (code == "NoSuchBucket")
    return {ErrorKind::forbidden, what + ": there is no such bucket; make it, or correct blobs.url"};
  return {ErrorKind::forbidden, what + " with status " + std::to_string(status) + said +
                                    ": is blobs.url (and blobs.region) right?"};
}

}  // namespace

std::optional<Timestamp> parse_time(const std::string& text) {
  std::tm parts{};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr) end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S", &parts);
  if (end == nullptr) return {};
  return Timestamp{std::chrono::seconds{timegm(&parts)}};
}

Bucket::Bucket(Place place, Credentials credentials, Outside outside)
    : place_(std::move(place)),
      credentials_(std::move(credentials)),
      outside_(std::move(outside)),
      random_(static_cast<std::uint64_t>(to_microseconds(outside_.clock.now()))) {}

Result<ObjectFacts> Bucket::look(const std::string& key) {
  Call call;
  call.method = "HEAD";
  call.key = key;
  TRY_ASSIGN(const auto reply, send(call));
  const auto bytes = whole_number(header_of(reply, "content-length"));
  if (!bytes) return nonsense(place_, "does not say how large " + key + " is");
  return ObjectFacts{*bytes, etag_of(reply),
                     parse_time(header_of(reply, "last-modified")).value_or(Timestamp{})};
}

Result<Piece> Bucket::get(const std::string& key, std::int64_t offset, std::int64_t bytes) {
  CHECK_TRUE(bytes > 0 && bytes <= piece_bytes && offset >= 0);
  Call call;
  call.key = key;
  call.headers.emplace_back("range", fmt::format("bytes={}-{}", offset, offset + bytes - 1));
  call.reply_bytes_max = bytes;
  TRY_ASSIGN(auto reply, send(call));
  if (reply.status == 416) return Piece{{}, offset};  // it ends here
  const auto got = static_cast<std::int64_t>(reply.body.size());
  if (reply.status == 200 && offset == 0) return Piece{std::move(reply.body), got};
  const auto all = whole_size(header_of(reply, "content-range"));
  if (reply.status != 206 || !all || offset + got > *all || (got < bytes && offset + got < *all))
    return nonsense(place_, "answers with another part of " + key + " than was asked for");
  return Piece{std::move(reply.body), *all};
}

Result<std::string> Bucket::put(const std::string& key, std::string_view bytes) {
  Call call;
  call.method = "PUT";
  call.key = key;
  call.body = bytes;
  TRY_ASSIGN(const auto reply, send(call));
  return etag_of(reply);
}

Status Bucket::remove(const std::string& key) {
  Call call;
  call.method = "DELETE";
  call.key = key;
  const auto reply = send(call);
  if (reply.ok() || reply.error().kind == ErrorKind::not_found) return {};
  return reply.error();
}

std::string Bucket::address(const std::string& origin, const std::string& method, const std::string& key,
                            const Fields& query, std::int64_t bytes, Duration valid) const {
  Unsigned request{method, origin.substr(origin.find("://") + 3), place_.path(key), query, {}};
  if (bytes >= 0) request.headers.emplace_back("content-length", std::to_string(bytes));
  return origin + presign(request, credentials_, outside_.clock.now(), valid);
}

Result<Listing> Bucket::list(const std::string& prefix, const std::string& from) {
  Call call;
  call.of_bucket = true;
  call.query = {{"list-type", "2"}, {"prefix", place_.prefix + prefix}};
  if (!from.empty()) call.query.emplace_back("continuation-token", from);
  TRY_ASSIGN(const auto reply, send(call));
  const auto document = parse_xml(reply.body);
  if (!document.ok() || document->name != "ListBucketResult")
    return nonsense(place_, "does not list its objects");
  Listing listing;
  for (const Element& each : document->children) {
    if (each.name != "Contents" || !each.at("Key").starts_with(place_.prefix)) continue;
    const auto bytes = whole_number(each.at("Size"));
    const auto modified = parse_time(each.at("LastModified"));
    if (!bytes || !modified) return nonsense(place_, "lists an object without size or time");
    listing.objects.push_back({each.at("Key").substr(place_.prefix.size()), *bytes, *modified});
  }
  if (document->at("IsTruncated") == "true") listing.next = document->at("NextContinuationToken");
  if (!listing.next.empty() && listing.next == from) return nonsense(place_, "lists the same for ever");
  return listing;
}

Status Bucket::ready_to_try() const {
  const std::lock_guard lock(mutex_);
  if (!away_ || outside_.clock.steady() >= next_try_) return {};
  return *away_;
}

bool Bucket::wants_probe() const {
  const std::lock_guard lock(mutex_);
  return away_ && outside_.clock.steady() >= next_try_;
}

Status Bucket::health() const {
  const std::lock_guard lock(mutex_);
  return away_ ? Status{*away_} : Status{};
}

BucketFigures Bucket::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

// Anything between half of it and all, so that not all come again at once.
Duration Bucket::pause_after(int failures) {
  const Duration whole = std::min(first_pause * (1 << std::min(failures, 10)), longest_pause);
  const std::lock_guard lock(mutex_);
  return whole / 2 + Duration{static_cast<std::int64_t>(
                         random_.below(static_cast<std::uint64_t>(whole.count() / 2 + 1)))};
}

void Bucket::note(const Status& outcome) {
  const Duration pause = pause_after(outcome.ok() ? 0 : failed_calls_ + 2);
  const std::lock_guard lock(mutex_);
  if (outcome.ok()) {
    away_.reset();
    failed_calls_ = 0;
    return;
  }
  away_ = outcome.error();
  failed_calls_ = std::min(failed_calls_ + 1, 20);
  next_try_ = outside_.clock.steady() + pause;
}

Result<io::HttpReply> Bucket::send(const Call& call) {
  TRY(ready_to_try());
  for (int failures = 0;; ++failures) {
    auto reply = send_once(call);
    if (!reply.ok() && reply.error().kind == ErrorKind::conflict) return reply;
    if (reply.ok() || reply.error().kind != ErrorKind::io) {
      const bool refuses = !reply.ok() && reply.error().kind == ErrorKind::forbidden;
      note(refuses ? Status{reply.error()} : Status{});
      return reply;
    }
    if (failures + 1 >= tries_max || call.method == "DELETE") {
      note(reply.error());
      return reply;
    }
    outside_.pause(pause_after(failures));
  }
}

// One request: good answers, and those that say that there is no such thing.
Result<io::HttpReply> Bucket::send_once(const Call& call) {
  Unsigned unsigned_request{call.method, place_.host,
                            call.of_bucket ? "/" + place_.bucket : place_.path(call.key), call.query,
                            call.headers};
  const Timestamp now = outside_.clock.now();
  if (call.method == "DELETE" && outside_.may_remove && !outside_.may_remove())
    return Error{ErrorKind::conflict, "nothing is removed from " + place_.shown() +
                                          ": this server cannot know that no other leads the project"};
  io::HttpRequest request;
  request.method = call.method;
  request.url = place_.scheme + "://" + place_.host + unsigned_request.path;
  if (!call.query.empty()) request.url += "?" + query_text(call.query);
  request.headers = call.headers;
  for (auto& field : sign(unsigned_request, crypto::sha256_hex(call.body), credentials_, now))
    request.headers.push_back(std::move(field));
  request.body = Bytes(call.body);
  request.reply_bytes_max =
      std::max<std::int64_t>(call.reply_bytes_max, 64 << 10);  // errors are some 500 bytes
  request.timeout =
      request_time +
      std::chrono::seconds{(static_cast<std::int64_t>(call.body.size()) + request.reply_bytes_max) /
                           bytes_per_second_min};

  std::unique_ptr<io::HttpClient> client;
  {
    const std::lock_guard lock(mutex_);
    ++figures_.requests;
    figures_.sent_bytes += static_cast<std::int64_t>(call.body.size());
    if (!idle_.empty()) {
      client = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!client) client = outside_.make_client();
  auto reply = client->send(request);
  const bool good = reply.ok() && !may_pass(reply->status);
  {
    const std::lock_guard lock(mutex_);
    if (reply.ok()) figures_.received_bytes += static_cast<std::int64_t>(reply->body.size());
    if (!good) ++figures_.failures;
    if (good) idle_.push_back(std::move(client));  // a connection that failed is not used again
  }
  if (!reply.ok()) return nonsense(place_, "is not to be had: " + reply.error().message);
  const int status = reply->status;
  if (status == 200 || status == 204 || status == 206 || status == 416) return reply;
  const std::string code = code_of(*reply);
  if (may_pass(status))
    return nonsense(place_,
                    "failed with status " + std::to_string(status) + (code.empty() ? "" : " (" + code + ")"));
  if (code == "RequestTimeout" || code == "OperationAborted") return nonsense(place_, "failed: " + code);
  if (status == 404 && code != "NoSuchBucket")
    return Error{ErrorKind::not_found, "the object store has no " + call.key};
  return refused(place_, status, code);
}

}  // namespace gleaner::objects
