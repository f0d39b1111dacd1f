// One bucket of an S3-compatible store, by the requests that they all understand. Whatever goes wrong on the
// way is tried again a few times, with growing, random pauses. A store that does not answer even then is left
// alone for a while, the longer the more often: until then every call fails at once, so that nobody waits for
// a store that is away. Thread-safe; every call blocks. Keys are those of this bucket without the place's
// prefix, of letters, digits and "-._/".
//
// Errors: not_found (there is no such object, or no such upload); forbidden (the store refuses the keys, the
// bucket or the request: somebody has to do something; said as the store said it); io (it is away, too slow
// or answers nonsense: try again later).
//
// What it answers is not believed: digests are the caller's to compare.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/objects/place.h"
#include "shared/base/clock.h"
#include "shared/base/random.h"
#include "shared/base/result.h"
#include "shared/io/http_client.h"

namespace gleaner::objects {

// Of each request's body and answer: bounds memory. Stores take no smaller parts than 5 MiB but the last.
inline constexpr std::int64_t piece_bytes = 8 << 20;

// What was signed, and has not come, the store takes no longer than that: a quarter of an hour, and as long
// again for a clock that is off by as much as stores forgive.
inline constexpr Duration removal_valid = std::chrono::minutes{30};

struct ObjectFacts {
  std::int64_t bytes = 0;
  std::string etag;  // without quotes
  Timestamp modified{};
};

struct Piece {
  Bytes bytes;  // fewer than asked for only at the end
  std::int64_t all = 0;
};

struct Listed {
  std::string key;
  std::int64_t bytes = 0;
  Timestamp modified{};
};

struct Listing {
  std::vector<Listed> objects;  // ascending by key
  std::string next;             // what goes on behind them; empty: that was all
};

struct Part {
  int number = 0;  // from 1
  std::int64_t bytes = 0;
  std::string etag;
};

struct OpenUpload {
  std::string key, id;
  Timestamp begun{};
};

struct BucketFigures {
  std::int64_t requests = 0;  // answered or not
  std::int64_t failures = 0;  // of these, not answered as they should be
  std::int64_t sent_bytes = 0, received_bytes = 0;
};

class Bucket {
 public:
  struct Outside {
    std::function<std::unique_ptr<io::HttpClient>()> make_client;
    Clock& clock;
    std::function<void(Duration)> pause;  // blocks
    // Asked at once before something is removed: does this process still have the say here? Empty: always.
    std::function<bool()> may_remove = {};
  };
  Bucket(Place place, Credentials credentials, Outside outside);

  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] Result<ObjectFacts> look(const std::string& key);
  // REQUIRES: 0 < bytes <= piece_bytes.
  [[nodiscard]] Result<Piece> get(const std::string& key, std::int64_t offset, std::int64_t bytes);
  // The ETag that the store gave it. REQUIRES: no more than piece_bytes.
  [[nodiscard]] Result<std::string> put(const std::string& key, std::string_view bytes);
  // Absent is success. Tried once, so that nothing of it is under way when it has failed; signed with the
  // time of before may_remove() was asked, so that the store refuses what a process sends that stood still
  // after (for how long: removal_valid). conflict: may_remove() said no.
  [[nodiscard]] Status remove(const std::string& key);
  // An address under `origin` ("https://HOST[:PORT]") by which anybody may do this to the object for `valid`.
  // `query`: of a part. `bytes`: the body must have just so many; negative: there is none. No request.
  [[nodiscard]] std::string address(const std::string& origin, const std::string& method,
                                    const std::string& key, const Fields& query, std::int64_t bytes,
                                    Duration valid) const;
  // Up to 1,000; `from`: Listing::next of the ones before.
  [[nodiscard]] Result<Listing> list(const std::string& prefix, const std::string& from);

  // Large objects in parts (bucket_parts.cpp), which stay at the store until they are completed or aborted.
  [[nodiscard]] Result<std::vector<OpenUpload>> uploads(const std::string& prefix);  // up to 1,000
  [[nodiscard]] Result<std::string> begin_upload(const std::string& key);            // its id
  [[nodiscard]] Result<std::vector<Part>> parts(const std::string& key, const std::string& id);
  [[nodiscard]] Result<std::string> put_part(const std::string& key, const std::string& id, int number,
                                             std::string_view bytes);
  [[nodiscard]] Result<std::string> complete(const std::string& key, const std::string& id,
                                             const std::vector<Part>& parts);
  [[nodiscard]] Status abort(const std::string& key, const std::string& id);

  // Why nothing can be had from it just now; success: it answered last.
  [[nodiscard]] Status health() const;
  // It is away, and it is time to try again.
  [[nodiscard]] bool wants_probe() const;
  [[nodiscard]] BucketFigures figures() const;

 private:
  struct Call {
    std::string method = "GET";
    std::string key;  // with `of_bucket`: none
    bool of_bucket = false;
    Fields query, headers;
    std::string_view body;
    std::int64_t reply_bytes_max = 4 << 20;
  };
  [[nodiscard]] Result<io::HttpReply> send(const Call& call);
  [[nodiscard]] Result<io::HttpReply> send_once(const Call& call);
  [[nodiscard]] Status ready_to_try() const;
  void note(const Status& outcome);
  [[nodiscard]] Duration pause_after(int failures);

  const Place place_;
  const Credentials credentials_;
  const Outside outside_;
  mutable std::mutex mutex_;  // guards what follows; never held during a request
  std::vector<std::unique_ptr<io::HttpClient>> idle_;
  Random random_;
  std::optional<Error> away_;  // since the last answer
  int failed_calls_ = 0;
  SteadyTime next_try_{};
  BucketFigures figures_;
};

// "2026-11-25T20:00:00.000Z" of listings, "Wed, 25 Nov 2026 20:00:00 GMT" of headers; absent: neither.
[[nodiscard]] std::optional<Timestamp> parse_time(const std::string& text);

}  // namespace gleaner::objects
