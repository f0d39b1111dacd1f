// The files that units need: blobs by digest, unpacked bundles, problem directories. Used on the data queue:
// every function may block on the network or the disk. Nothing is used unless its digest was checked in this
// run of the program: bundles are unpacked afresh after each start, and blobs hashed again before their
// first use. What comes of a blob is kept as it comes, and gone on with. One thread at a time. Errors:
// unavailable (the network: try again), untrusted (the bytes are not what was signed), io (this disk),
// not_found (the server does not have it).
#pragma once

#include <atomic>
#include <map>
#include <set>

#include "client/engine/object_access.h"
#include "client/engine/trust.h"
#include "client/state/state_directory.h"
#include "shared/bundle/bundle.h"
#include "shared/transport/piece_size.h"
#include "shared/transport/server_call.h"
#include "shared/transport/transfer_progress.h"
#include "shared/transport/workers.h"

namespace gleaner::engine {

struct Prepared {
  bundle::Manifest manifest;
  io::Path bundle_directory;
  io::Path kernel;             // in it
  std::string kernel_digest;   // as unpacked; checked again at each start
  io::Path problem_directory;  // of its stage: parameters.json, inputs/
};

class DownloadCache {
 public:
  DownloadCache(io::Files& files, const Clock& clock, state::ProjectDirectory directory,
                bundle::Unpack unpack, std::int64_t cache_bytes_max, std::int64_t free_bytes_min)
      : files_(files),
        directory_(std::move(directory)),
        unpack_(std::move(unpack)),
        clock_(clock),
        progress_(clock),
        objects_(clock),
        cache_bytes_max_(cache_bytes_max),
        free_bytes_min_(free_bytes_min) {}

  // Removes what the run before left that is rebuilt anyway.
  [[nodiscard]] Status clean();

  // Fetches, verifies, unpacks and lays out all that this unit needs. `platforms`: what can be executed here.
  [[nodiscard]] Result<Prepared> prepare(transport::JobContext& context, const transport::Server& server,
                                         const TrustedGrant& trusted,
                                         const std::vector<std::string>& platforms);

  // From any thread.
  void set_limits(std::int64_t cache_bytes_max, std::int64_t free_bytes_min) {
    cache_bytes_max_ = cache_bytes_max;
    free_bytes_min_ = free_bytes_min;
  }

  // From any thread.
  [[nodiscard]] const transport::TransferProgress& progress() const { return progress_; }

  static constexpr std::size_t problems_max = 8;  // directories kept

 private:
  // Whom a unit's files are asked of.
  struct Source {
    transport::JobContext& context;
    const transport::Server& server;
    const TrustedGrant& trusted;
  };
  enum class From { objects_too, server };
  [[nodiscard]] Status ensure_blob(const Source& source, const std::string& digest, std::int64_t bytes);
  [[nodiscard]] Status download(const Source& source, const std::string& digest, std::int64_t bytes);
  // untrusted: all is there, and it is not what it should be; it is gone.
  [[nodiscard]] Status download_from(From from, const Source& source, const std::string& digest,
                                     std::int64_t bytes);
  // A blob that comes, and how far it is.
  struct Coming {
    const std::string& digest;
    io::Path partial;
    std::int64_t at, bytes;
  };
  [[nodiscard]] Status fetch_piece(From from, const Source& source, Coming& blob);
  [[nodiscard]] Status piece_of_server(const Source& source, Coming& blob, std::int64_t end);
  [[nodiscard]] Status take(const Source& source, Coming& blob, std::int64_t end, std::string_view bytes);
  [[nodiscard]] Status check_blob(const std::string& digest, const io::Path& path, std::int64_t bytes) const;
  [[nodiscard]] Status lay_out(const Source& source, const io::Path& directory);
  [[nodiscard]] Status make_room(std::int64_t bytes);
  void forget_old_problems(const io::Path& in_use);

  io::Files& files_;
  state::ProjectDirectory directory_;
  bundle::Unpack unpack_;
  const Clock& clock_;
  transport::TransferProgress progress_;
  transport::PieceSize pieces_{transport::download_pieces};
  ObjectAccess objects_;
  std::atomic<std::int64_t> cache_bytes_max_;
  std::atomic<std::int64_t> free_bytes_min_;
  std::map<std::string, std::int64_t> checked_;  // blobs whose digest holds -> when last used (a counter)
  std::map<std::string, Prepared> bundles_;      // by digest
  std::map<io::Path, std::int64_t> problems_;    // directories -> when last used
  std::map<io::Path, std::string> placed_;       // inputs in them -> digest
  std::int64_t uses_ = 0;
};

// SHA-256 of a file, read in pieces.
[[nodiscard]] Result<std::string> digest_of_file(const io::Files& files, const io::Path& path);

// Names all that the directory's contents depend on, but for inputs, which are added. The first part is the
// problem's alone: a kernel sees everything below it.
[[nodiscard]] io::Path problem_directory_name(const protocol::Grant& grant);

}  // namespace gleaner::engine
