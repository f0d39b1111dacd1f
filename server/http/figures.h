// What the HTTPS server and its router count of themselves, for whoever watches them. Thread-safe; outlives
// both in late replies.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gleaner::http {

// Shared by the server's connections.
struct ConnectionFigures {
  std::atomic<std::int64_t> accepted{0};  // since the start
  std::atomic<std::int64_t> refused{0};   // of them, at once: too many were there, and none was idle
  std::atomic<std::int64_t> open{0};
  std::atomic<std::int64_t> certificate_not_after{0};  // seconds since 1970, of the server's own certificate
};

// What a request is about, by its path alone: a bounded set, whatever is asked.
enum class RequestKind {
  work,
  heartbeat,
  failure,
  leave,
  enrol,
  project,
  uploads,
  blobs,
  addresses,
  relay,
  admin,
  console,
  operations,  // /healthz, /readyz, /metrics
  other
};
inline constexpr std::array<std::string_view, 14> request_kinds{
    "work",  "heartbeat", "failure", "leave", "enrol",   "project",    "uploads",
    "blobs", "addresses", "relay",   "admin", "console", "operations", "other"};
[[nodiscard]] RequestKind kind_of(std::string_view path);

// Why a request was refused, by the status of its answer.
struct Refusal {
  int status;
  std::string_view reason;
};
inline constexpr std::array<Refusal, 4> refusals{
    {{401, "unauthorized"}, {403, "forbidden"}, {413, "too_large"}, {503, "unavailable"}}};

class RequestFigures {
 public:
  void answered(RequestKind kind, int status);
  // Answers of that class (2: 200 to 299, ...; REQUIRES: 1 to 5).
  [[nodiscard]] std::int64_t answers(RequestKind kind, int status_class) const;
  // REQUIRES: an index of `refusals`.
  [[nodiscard]] std::int64_t refused(std::size_t why) const { return refused_.at(why); }

 private:
  using Classes = std::array<std::atomic<std::int64_t>, 5>;
  std::array<Classes, request_kinds.size()> answers_{};
  std::array<std::atomic<std::int64_t>, refusals.size()> refused_{};
};

}  // namespace gleaner::http
