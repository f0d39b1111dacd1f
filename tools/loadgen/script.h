// What the simulated hosts say, and what they make of the answers; the engine (engine.h) decides when, and
// over which connection. Implementations: enrolment.h, working.h. One thread.
#pragma once

#include <cstddef>
#include <string>

#include "shared/base/clock.h"
#include "tools/loadgen/response_parser.h"

namespace gleaner::loadgen {

enum class Manner : int {
  wait = 1,     // for the answer
  hang_up = 2,  // as soon as the request is sent
};

struct Request {
  std::string text;  // head and body
  Manner manner = Manner::wait;
};

// When a host speaks next.
struct Next {
  bool ever = true;
  Duration after{0};
};

class Script {
 public:
  virtual ~Script() = default;
  [[nodiscard]] virtual std::size_t hosts() const = 0;
  // What `host` has to say now. Asked again, the same, where no answer came.
  [[nodiscard]] virtual Request request(std::size_t host) = 0;
  // The answer; never one of 429 or 503, after which the host tries again.
  [[nodiscard]] virtual Next answered(std::size_t host, const Response& response) = 0;
};

}  // namespace gleaner::loadgen
