// The agent's end of the client's sockets: it looks for every client that may be there, the system's and the
// user's own, and tells each the same. Nothing blocks: a client that does not read is left, and looked for
// again later. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/io/descriptor.h"

namespace gleaner::agent {

class Uplink {
 public:
  explicit Uplink(std::vector<std::filesystem::path> sockets);

  // Looks for those that were not there, if it is time. True if somebody is new, who has been told nothing.
  [[nodiscard]] bool serve(SteadyTime now);
  void tell(const std::string& line);
  [[nodiscard]] std::vector<int> descriptors() const;  // readable: that client is gone
  [[nodiscard]] SteadyTime wait_until() const;         // max(): all are there
  [[nodiscard]] std::size_t clients() const;

  static constexpr Duration retry_interval = std::chrono::seconds{10};  // while nobody is there
  static constexpr Duration others_interval = std::chrono::minutes{1};  // for those that are missing

 private:
  struct Client {
    std::filesystem::path path;
    io::Descriptor connection;
  };
  std::vector<Client> clients_;
  SteadyTime retry_at_{};
};

// Where clients listen: the system's, and the one of this user.
[[nodiscard]] std::vector<std::filesystem::path> usual_sockets();

}  // namespace gleaner::agent
