// The agent's end of the client's sockets: it looks for every client that may be there, the system's and the
// user's own, and tells each the same. A client may say lines, too (client/agent/report/notice.h); older ones
// say nothing. Nothing blocks: a client that does not read is left, and looked for again later. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/clock.h"
#include "shared/io/descriptor.h"
#include "shared/io/waiting.h"

namespace gleaner::agent {

class Uplink {
 public:
  explicit Uplink(std::vector<std::filesystem::path> sockets);

  // Looks for those that were not there, if it is time. True if somebody is new, who has been told nothing.
  [[nodiscard]] bool serve(SteadyTime now);
  void tell(const std::string& line);
  void tell(std::size_t client, const std::string& line);
  struct Heard {
    std::size_t client = 0;
    std::string line;
  };
  // What clients have said since the last call.
  [[nodiscard]] std::vector<Heard> take_heard() { return std::exchange(heard_, {}); }
  [[nodiscard]] std::vector<io::Waitable> waitables() const;  // ready: that client says something, or is gone
  [[nodiscard]] SteadyTime wait_until() const;                // max(): all are there
  [[nodiscard]] std::size_t clients() const;

  static constexpr Duration retry_interval = std::chrono::seconds{10};  // while nobody is there
  static constexpr Duration others_interval = std::chrono::minutes{1};  // for those that are missing

 private:
  struct Client {
    std::filesystem::path path;
    io::Descriptor connection;
    std::string line;  // that has begun
  };
  [[nodiscard]] bool hear(std::size_t number);  // false: it is gone, or says what is no line
  std::vector<Client> clients_;
  std::vector<Heard> heard_;
  SteadyTime retry_at_{};
};

// Where clients listen: the system's, and the one of this user.
[[nodiscard]] std::vector<std::filesystem::path> usual_sockets();

}  // namespace gleaner::agent
