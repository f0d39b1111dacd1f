#include "client/engine/download_cache.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/crypto/keys.h"

namespace gleaner::engine {
namespace {

constexpr const char* partial_suffix = ".partial";

// A link costs nothing; a copy where the file system has no links.
Status place_file(const io::Path& from, const io::Path& to) {
  std::error_code error;
  std::filesystem::create_hard_link(from, to, error);
  if (error) std::filesystem::copy_file(from, to, error);
  if (error) return Error{ErrorKind::io, "cannot place " + utf8_text(to) + ": " + error.message()};
  return {};
}

}  // namespace

Result<std::string> digest_of_file(const io::Files& files, const io::Path& path) {
  crypto::Sha256 digest;
  for (std::int64_t at = 0;;) {
    TRY_ASSIGN(const Bytes piece, files.read_range(path, at, 1 << 20));
    if (piece.empty()) break;
    digest.update(piece);
    at += static_cast<std::int64_t>(piece.size());
  }
  return digest.finish_hex();
}

io::Path problem_directory_name(const protocol::Grant& grant) {
  return io::Path(std::to_string(grant.problem.value)) /
         (std::to_string(grant.stage) + "-" + grant.parameters_digest.substr(0, 16));
}

Status DownloadCache::clean() {
  TRY(files_.remove_all(directory_.bundles()));
  TRY(files_.remove_all(directory_.problems()));
  for (const io::Path& path :
       {directory_.blobs(), directory_.bundles(), directory_.problems(), directory_.units()})
    TRY(files_.make_directories(path));
  return {};
}

Status DownloadCache::check_blob(const std::string& digest, const io::Path& path, std::int64_t bytes) const {
  TRY_ASSIGN(const std::int64_t size, files_.size(path));
  if (size == bytes) {
    TRY_ASSIGN(const std::string found, digest_of_file(files_, path));
    if (found == digest) return {};
  }
  return Error{ErrorKind::untrusted, "the file " + digest +
                                         " does not have its digest: the server's copy is damaged, "
                                         "or somebody changed it on the way"};
}

Status DownloadCache::make_room(std::int64_t bytes) {
  TRY_ASSIGN(const std::vector<std::string> names, files_.list(directory_.blobs()));
  std::int64_t total = bytes;
  std::vector<std::pair<std::int64_t, std::string>> by_use;  // oldest first
  for (const std::string& name : names) {
    const auto size = files_.size(directory_.blobs() / utf8_path(name));
    if (size.ok()) total += *size;
    const auto used = checked_.find(name);
    by_use.emplace_back(used == checked_.end() ? 0 : used->second, name);
  }
  std::sort(by_use.begin(), by_use.end());
  for (const auto& [used, name] : by_use) {
    if (total <= cache_bytes_max_) break;
    const auto size = files_.size(directory_.blobs() / utf8_path(name));
    TRY(files_.remove(directory_.blobs() / utf8_path(name)));
    checked_.erase(name);
    if (size.ok()) total -= *size;
  }
  TRY_ASSIGN(const std::int64_t free, files_.free_bytes(directory_.blobs()));
  if (free - bytes < free_bytes_min_)
    return Error{ErrorKind::io, "the disk is nearly full: " + std::to_string(bytes >> 20) +
                                    " MiB are needed and " + std::to_string(free >> 20) +
                                    " MiB are free, of which " + std::to_string(free_bytes_min_ >> 20) +
                                    " MiB are left alone: free some space"};
  return {};
}

Status DownloadCache::take(const Source& source, Coming& blob, std::int64_t end, std::string_view bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (size > end - blob.at)
    return Error{ErrorKind::unavailable, "the server sent another range than asked for"};
  TRY(files_.write_at(blob.partial, blob.at, bytes));
  blob.at += size;
  progress_.reach(blob.at);
  if (blob.at < end && source.context.left() == 0) return transport::held_back();
  return {};
}

Status DownloadCache::piece_of_server(const Source& source, Coming& blob, std::int64_t end) {
  io::HttpRequest request = transport::get_request(source.server, "/v1/blobs/" + blob.digest);
  request.headers.emplace_back("Range", "bytes=" + std::to_string(blob.at) + "-" + std::to_string(end - 1));
  request.reply_bytes_max = end - blob.at;
  request.timeout = std::chrono::seconds{limits::request_seconds_max};
  // A whole answer to a request for a range is for the first range only.
  const bool whole = blob.at == 0 && end == blob.bytes;
  request.take = [&](int status, std::string_view bytes) -> Status {
    if (status == 206 || whole) return take(source, blob, end, bytes);
    return Error{ErrorKind::unavailable, "the server sent another range than asked for"};
  };
  const transport::Answer answer = transport::call(source.context.http, source.server, std::move(request));
  if (!answer.reply.ok()) return answer.reply.error();
  if (blob.at != end) return Error{ErrorKind::unavailable, "the server sent another range than asked for"};
  return {};
}

// As large a piece as suits the line. What came before a connection broke is there, and counts.
Status DownloadCache::fetch_piece(From from, const Source& source, Coming& blob) {
  const std::int64_t begin = blob.at;
  const std::int64_t most = std::min(pieces_.next(), std::max<std::int64_t>(1, source.context.left()));
  const std::int64_t end = std::min(blob.bytes, begin + most);
  const SteadyTime begun = clock_.steady();
  if (from == From::objects_too) {
    const ObjectAccess::Asker asker{source.context, source.server, source.trusted.work_key,
                                    source.trusted.grant.host};
    TRY(objects_.fetch(asker, blob.digest, {begin, end}, blob.bytes,
                       [&](int, std::string_view bytes) { return take(source, blob, end, bytes); }));
  }
  const Status got = blob.at < end ? piece_of_server(source, blob, end) : Status();
  if (got.ok()) {
    pieces_.moved(end - begin, clock_.steady() - begun);
    return got;
  }
  if (source.context.left() > 0) pieces_.broken();
  // A connection that got on is made again at once: the next one may get on, too.
  const bool again = got.error().kind == ErrorKind::unavailable && blob.at > begin;
  return again ? Status() : Status(got.error().within("downloading " + blob.digest));
}

Status DownloadCache::download(const Source& source, const std::string& digest, std::int64_t bytes) {
  if (source.trusted.grant.direct.value_or(false)) {
    const Status done = download_from(From::objects_too, source, digest, bytes);
    if (done.ok() || done.error().kind != ErrorKind::untrusted) return done;
    objects_.mistrust("it gave other bytes than those of " + digest);
  }
  return download_from(From::server, source, digest, bytes);
}

Status DownloadCache::download_from(From from, const Source& source, const std::string& digest,
                                    std::int64_t bytes) {
  const io::Path partial = directory_.blobs() / utf8_path(digest + partial_suffix);
  std::int64_t at = files_.size(partial).ok() ? *files_.size(partial) : 0;
  if (at > bytes) {
    TRY(files_.remove(partial));
    at = 0;
  }
  TRY(make_room(bytes - at));
  if (bytes == 0) TRY(files_.write_at(partial, 0, ""));
  Coming blob{digest, partial, at, bytes};
  progress_.begin(at, bytes);
  Status got;
  while (got.ok() && blob.at < bytes)
    got = source.context.stopping.load() ? Status(Error{ErrorKind::unavailable, "the client is stopping"})
          : source.context.left() == 0   ? Status(transport::held_back())
                                         : fetch_piece(from, source, blob);
  progress_.end();
  TRY(got);
  TRY(files_.sync(partial));
  if (const Status checked = check_blob(digest, partial, bytes); !checked.ok()) {
    TRY(files_.remove(partial));  // wrong bytes must not be resumed
    return checked;
  }
  return files_.rename(partial, directory_.blobs() / utf8_path(digest));
}

Status DownloadCache::ensure_blob(const Source& source, const std::string& digest, std::int64_t bytes) {
  if (bytes < 0 || bytes > limits::blob_bytes_max)
    return Error{ErrorKind::untrusted, "the grant names a file of an impossible size"};
  const io::Path path = directory_.blobs() / utf8_path(digest);
  if (files_.exists(path)) {
    if (checked_.contains(digest) || check_blob(digest, path, bytes).ok()) {
      checked_[digest] = ++uses_;
      return {};
    }
    spdlog::warn("the cached file {} is damaged: fetching it again", digest);
    TRY(files_.remove(path));
  }
  TRY(download(source, digest, bytes));
  checked_[digest] = ++uses_;
  return {};
}

Status DownloadCache::lay_out(const Source& source, const io::Path& directory) {
  const protocol::Grant& grant = source.trusted.grant;
  TRY(files_.make_directories(directory / "inputs"));
  if (!files_.exists(directory / "parameters.json"))
    TRY(files_.write(directory / "parameters.json", grant.parameters, io::Mode::normal));
  for (const protocol::Input& input : grant.inputs) {
    if (input.range && !input.range->overlaps(grant.range)) continue;
    const io::Path path = directory / "inputs" / utf8_path(input.name);
    if (files_.exists(path)) {
      if (placed_[path] == input.digest) continue;  // laid out for an earlier unit
      TRY(files_.remove(path));
    }
    TRY(ensure_blob(source, input.digest, input.bytes));
    TRY(place_file(directory_.blobs() / utf8_path(input.digest), path));
    placed_[path] = input.digest;
  }
  return {};
}

void DownloadCache::forget_old_problems(const io::Path& in_use) {
  problems_[in_use] = ++uses_;
  while (problems_.size() > problems_max) {
    const auto oldest = std::min_element(problems_.begin(), problems_.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (const Status removed = files_.remove_all(oldest->first); !removed.ok())
      spdlog::warn("{}", removed.error().message);
    std::erase_if(placed_,
                  [&](const auto& file) { return file.first.parent_path().parent_path() == oldest->first; });
    problems_.erase(oldest);
  }
}

Result<Prepared> DownloadCache::prepare(transport::JobContext& context, const transport::Server& server,
                                        const TrustedGrant& trusted,
                                        const std::vector<std::string>& platforms) {
  const Source source{context, server, trusted};
  const std::string& archive = trusted.application.archive;
  auto known = bundles_.find(archive);
  if (known == bundles_.end()) {
    if (trusted.application.archive_bytes > limits::bundle_bytes_max)
      return Error{ErrorKind::untrusted, "the application's archive is larger than any may be"};
    TRY(ensure_blob(source, archive, trusted.application.archive_bytes));
    Prepared prepared;
    prepared.bundle_directory = directory_.bundles() / utf8_path(archive);
    TRY_ASSIGN(prepared.manifest,
               bundle::install_bundle(directory_.blobs() / utf8_path(archive), trusted.application,
                                      prepared.bundle_directory, unpack_));
    const std::string kernel = prepared.manifest.kernel_for(platforms);
    if (kernel.empty())
      return Error{ErrorKind::not_found,
                   "the application " + trusted.application.name + " has no kernel for " +
                       (platforms.empty() ? std::string("this machine") : platforms.front())};
    prepared.kernel = prepared.bundle_directory / utf8_path(kernel);
    TRY_ASSIGN(prepared.kernel_digest, digest_of_file(files_, prepared.kernel));
    known = bundles_.emplace(archive, prepared).first;
  }
  Prepared prepared = known->second;
  prepared.problem_directory = directory_.problems() / problem_directory_name(trusted.grant);
  TRY(lay_out(source, prepared.problem_directory));
  forget_old_problems(prepared.problem_directory);
  return prepared;
}

}  // namespace gleaner::engine
