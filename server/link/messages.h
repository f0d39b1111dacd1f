// The bodies of the link's frames. Those that come out of unpack() point into the bytes they were read from.
// Errors (invalid) say which message it is. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/server.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/messages.h"

namespace gleaner::link {

// Raised when an old leader and a new front end would not understand each other.
inline constexpr std::int64_t version = 1;

struct Hello {
  std::int64_t version = link::version;
  std::string_view project;  // of the front end's certificate
};

// Who sent the request that an operation is for. The leader looks at it anew each time.
struct Caller {
  std::string_view token_digest;  // SHA-256 of the bearer token
  std::string_view peer, network;
};

// `who`, `heartbeat`, `failure`, `leave`; the first and the last have no body.
struct Call {
  Caller caller;
  std::string_view body;
};

struct WhoAnswer {
  HostId host;
  bool proven = false;  // it has delivered, or is the project's own
};

struct PlaceCall {
  Caller caller;
  UnitId unit;
};

// What is needed to check a result of the unit, and to have the application that does.
struct PlaceAnswer {
  ProblemId problem;
  int stage = 0;
  std::int64_t item_bytes_max = 0;
  std::string_view archive, program, parameters;
  std::vector<protocol::Input> inputs;
  std::string_view application;  // JSON: an AddApplication
};

// What a front end found of a commit.
struct Verdict {
  ProblemId problem;
  int stage = 0;
  bool enough = false;
  std::string_view refusal;  // empty: it is as it should be
  std::string_view bytes;    // the segment; empty if it is refused
};

// `work` and `commit`: the request without the segments' bytes, and a verdict on each of its commits.
struct CheckedCall {
  Caller caller;
  std::string_view request;  // JSON
  std::vector<Verdict> verdicts;
};

struct WorkAnswer {
  struct Unit {
    UnitId unit;
    ProblemId problem;
    int stage = 0;
  };
  std::string_view reply;   // JSON
  std::vector<Unit> units;  // that its grants are of
};

struct BlobCall {
  std::string_view digest;
  std::int64_t offset = 0;
};
inline constexpr std::int64_t blob_piece_bytes = 1 << 20;

struct BlobAnswer {
  std::int64_t size = 0;  // of the blob
  std::string_view bytes;
};

[[nodiscard]] Bytes pack(const Hello& message);
[[nodiscard]] Bytes pack(const Call& message);
[[nodiscard]] Bytes pack(const WhoAnswer& message);
[[nodiscard]] Bytes pack(const PlaceCall& message);
[[nodiscard]] Bytes pack(const PlaceAnswer& message);
[[nodiscard]] Bytes pack(const CheckedCall& message);
[[nodiscard]] Bytes pack(const WorkAnswer& message);
[[nodiscard]] Bytes pack(const BlobCall& message);
[[nodiscard]] Bytes pack(const BlobAnswer& message);
[[nodiscard]] Bytes pack(const Error& message);
// The error itself, or that this is none.
[[nodiscard]] Error unpack_error(std::string_view bytes);
[[nodiscard]] Bytes pack(const http::Request& message);
[[nodiscard]] Bytes pack(const http::Response& message);  // without file and feed

// For each of these.
template <typename Message>
[[nodiscard]] Result<Message> unpack(std::string_view bytes);

}  // namespace gleaner::link
