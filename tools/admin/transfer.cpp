#include "tools/admin/transfer.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/text.h"

namespace gleaner::admin {
namespace {

// Offsets that the server corrects, or answers that get lost, in one upload.
constexpr int resumptions_max = 8;

// Adds the file's bytes to the digest and says how many there were.
Result<std::int64_t> digest_file(const io::Files& files, const io::Path& path, crypto::Sha256& digest) {
  std::int64_t size = 0;
  for (;;) {
    TRY_ASSIGN(const Bytes piece, files.read_range(path, size, transfer_piece_bytes));
    digest.update(piece);
    size += static_cast<std::int64_t>(piece.size());
    if (std::cmp_less(piece.size(), transfer_piece_bytes)) return size;
    if (size > limits::blob_bytes_max)
      return Error{ErrorKind::too_large, path.string() + " has more than the " +
                                             std::to_string(limits::blob_bytes_max) + " bytes allowed"};
  }
}

bool has_content(const io::Files& files, const io::Path& path, const protocol::ResultFile& result) {
  const auto blob = blob_of_file(files, path);
  return blob.ok() && blob->digest == result.digest && blob->bytes == result.bytes;
}

// Fills `part` up to the whole blob. What is in it already counts; the digest is checked at the end.
Status fetch_part(Api& api, io::Files& files, const protocol::ResultFile& result, const io::Path& part,
                  const TransferProgress& progress) {
  crypto::Sha256 digest;
  std::int64_t have = 0;
  if (files.exists(part)) {
    TRY_ASSIGN(have, digest_file(files, part, digest));
    if (have > result.bytes) {
      TRY(files.remove(part));
      digest = crypto::Sha256();
      have = 0;
    }
  }
  if (have == 0) TRY(files.write_at(part, 0, ""));
  progress(have, result.bytes);
  while (have < result.bytes) {
    const std::int64_t bytes = std::min(transfer_piece_bytes, result.bytes - have);
    TRY_ASSIGN(const Bytes piece, api.blob_range(result.digest, have, bytes));
    TRY(files.write_at(part, have, piece));
    digest.update(piece);
    have += bytes;
    progress(have, result.bytes);
  }
  if (digest.finish_hex() == result.digest) return files.sync(part);
  TRY(files.remove(part));
  return Error{ErrorKind::untrusted,
               "what the server sent for " + result.name +
                   " does not have its digest, and was thrown away: run the command again; " +
                   "if it stays so, the server's storage is damaged"};
}

}  // namespace

Result<BlobName> blob_of_file(const io::Files& files, const io::Path& path) {
  crypto::Sha256 digest;
  TRY_ASSIGN(const std::int64_t size, digest_file(files, path, digest));
  return BlobName{digest.finish_hex(), size};
}

Status upload_file(Api& api, const io::Files& files, const io::Path& path, const BlobName& blob,
                   const TransferProgress& progress) {
  TRY_ASSIGN(protocol::UploadState state, api.upload_state(blob.digest));
  int resumptions = 0;
  while (!state.complete) {
    progress(state.offset, blob.bytes);
    // Nothing is left to send where the server was killed at the last byte: an empty piece ends the upload.
    const std::int64_t offset = std::min(state.offset, blob.bytes);
    const std::int64_t bytes = std::min<std::int64_t>(blob.bytes - offset, transfer_piece_bytes);
    TRY_ASSIGN(const Bytes piece, files.read_range(path, offset, bytes));
    if (std::cmp_not_equal(piece.size(), bytes))
      return Error{ErrorKind::conflict,
                   path.string() + " became shorter while it was sent: run the command again"};
    auto next = api.append_upload(blob.digest, offset, blob.bytes, piece);
    if (next.ok() && (next->complete || next->offset > state.offset)) {
      state = *next;
      continue;
    }
    // The answer got lost, or somebody else sends the same blob: go on from where the server says it is.
    const bool resumable =
        next.ok() || next.error().kind == ErrorKind::unavailable || next.error().kind == ErrorKind::conflict;
    const Error error = next.ok()
                            ? Error{ErrorKind::unavailable, "the upload does not get on: try again later"}
                            : next.error();
    if (!resumable || ++resumptions > resumptions_max) return error.within("uploading " + path.string());
    TRY_ASSIGN(state, api.upload_state(blob.digest));
  }
  progress(blob.bytes, blob.bytes);
  return {};
}

Status check_result_name(const std::string& name) {
  const bool plain = !name.empty() && name.front() != '.' && name.find('/') == std::string::npos &&
                     std::cmp_less_equal(name.size(), limits::file_name_length_max) &&
                     protocol::clean_line(name, limits::file_name_length_max) == name;
  if (plain) return {};
  return Error{ErrorKind::untrusted,
               "a result is called \"" + protocol::clean_line(name, limits::name_length_max) +
                   "\", which is no plain file name: its application's manager must not do that"};
}

Error is_there_already(const io::Path& path) {
  return {ErrorKind::conflict, path.string() + " is there already with other content: name another " +
                                   "directory with -o, or replace it with --force"};
}

Result<io::Path> download_result(Api& api, io::Files& files, const protocol::ResultFile& result,
                                 const io::Path& directory, Overwrite overwrite,
                                 const TransferProgress& progress) {
  TRY(check_result_name(result.name));
  const io::Path path = directory / result.name;
  if (files.exists(path)) {
    if (has_content(files, path, result)) return path;
    if (overwrite == Overwrite::no) return is_there_already(path);
  }
  TRY(files.make_directories(directory));
  // The digest in its name: never continue another result's part.
  const io::Path part = directory / ("." + result.digest.substr(0, 16) + ".part");
  TRY(fetch_part(api, files, result, part, progress));
  TRY(files.rename(part, path));
  return path;
}

}  // namespace gleaner::admin
