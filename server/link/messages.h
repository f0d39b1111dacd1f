// The bodies of the link's frames; those of `who` and `leave` are a Caller. What is a std::string_view after
// unpack() points into the bytes it was read from. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/server.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/messages.h"

namespace gleaner::link {

// Raised when an old leader and a new front end would not understand each other.
inline constexpr std::int64_t version = 5;

struct Hello {
  std::int64_t version = link::version;
  std::string_view project;  // of the front end's certificate
};

// Who sent the request that an operation is for. The leader looks at it anew each time. It is the token
// itself: its digest is in the store and its backups, and must be of no use to who has only these.
struct Caller {
  std::string_view token;
  std::string_view peer, network;
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
  std::string archive, program, parameters;
  std::vector<protocol::Input> inputs;
  protocol::AddApplication application;
};

// What a front end found of a commit.
struct Verdict {
  ProblemId problem;
  int stage = 0;
  bool enough = false;
  std::string_view refusal;  // empty: it is as it should be
  std::string_view bytes;    // the segment; empty if it is refused
};

struct WorkCall {
  Caller caller;
  protocol::WorkRequest request;  // its commits without their data
  std::vector<Verdict> verdicts;  // on each of them
};

struct WorkAnswer {
  struct Unit {
    UnitId unit;
    ProblemId problem;
    int stage = 0;
    std::int64_t inputs = 0;  // of the problem, and of all of the stage; more: rows were appended
  };
  protocol::WorkReply reply;
  std::vector<Unit> units;  // that its grants are of
};

// The answer is a HeartbeatReply.
struct HeartbeatCall {
  Caller caller;
  protocol::HeartbeatRequest request;
};

struct FailureCall {
  Caller caller;
  protocol::FailureReport report;
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

// For each of these, Caller, Error, http::Request, http::Response (without file and feed), and
// HeartbeatReply. invalid: these bytes are no such message.
template <typename Message>
[[nodiscard]] Bytes pack(const Message& message);
template <typename Message>
[[nodiscard]] Result<Message> unpack(std::string_view bytes);
// The error itself, or that this is none.
[[nodiscard]] Error unpack_error(std::string_view bytes);

}  // namespace gleaner::link
