// The agent's loop: every source of a session's state on one side, the clients on the other. What changed is
// told at once; what did not, once a minute, so that a silent agent can be told from a calm session. Nothing
// here waits for a source that stands still.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/agent/notifier.h"
#include "client/agent/source.h"
#include "client/agent/uplink.h"
#include "client/agent/watched_source.h"

namespace gleaner::agent {

class SessionWatch {
 public:
  // `session`: logind's name of it, or empty. Sources that are not there are left out; see missing().
  SessionWatch(const SourceSettings& settings, std::string session, Uplink uplink, Clock& clock);

  // Takes in and tells what is new. False when nothing is left to watch: the session is over.
  [[nodiscard]] bool turn();
  [[nodiscard]] std::vector<io::Waitable> waitables() const;
  [[nodiscard]] Duration wait_time() const;
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }  // in sentences
  [[nodiscard]] bool empty() const { return sources_.empty(); }
  [[nodiscard]] SessionReport report() const;

  // Called with every line that is told, whether a client is there or not.
  std::function<void(const std::string& line)> on_report;

 private:
  void serve_notices(SteadyTime now);

  Clock& clock_;
  std::string session_;
  std::string display_;
  Uplink uplink_;
  Notifier notifier_;
  // Who asked for a notice: its number here, the client, its number there.
  struct Asked {
    std::int64_t number;
    std::size_t client;
    std::int64_t of_client;
  };
  std::vector<Asked> asked_;
  std::int64_t last_notice_ = 0;
  std::vector<std::unique_ptr<WatchedSource>> sources_;
  std::vector<std::string> missing_;
  SessionReport told_;
  SteadyTime tell_at_{};
};

}  // namespace gleaner::agent
