// Who is logged in to the console: links that were made for it, each good once and for two minutes, and the
// sessions that came of them. All of it is in memory, secrets as digests only: a restart logs everybody out.
// Thread-safe. Times are steady ones; what is over is forgotten when somebody comes by.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/base/limits.h"
#include "shared/base/result.h"

namespace gleaner::console {

struct SessionRules {
  Duration link = std::chrono::seconds{limits::console_link_seconds};
  Duration idle = std::chrono::seconds{limits::console_idle_seconds};         // since it was last used
  Duration absolute = std::chrono::seconds{limits::console_session_seconds};  // since log-in
  std::size_t links_max = limits::console_links_max;
  std::size_t sessions_max = limits::console_sessions_max;
  // Of one administrator: nobody's log-ins end another's.
  std::size_t links_of_one_max = limits::console_links_of_one_max;
  std::size_t sessions_of_one_max = limits::console_sessions_of_one_max;
};

struct Session {
  std::string admin;  // whose token made it; what that may do is asked of the token each time
  std::string guard;  // what the page shows with each change, and other sites cannot know
};

struct OpenedSession {
  std::string secret;  // for the cookie; 256 bits
  Session session;
};

class Sessions {
 public:
  explicit Sessions(SessionRules rules = {}) : rules_(rules) {}

  // A secret of 256 bits that stands for that administrator, once.
  [[nodiscard]] std::string make_link(const std::string& admin, SteadyTime now);
  // Whose it is; it counts no more. unauthorized: it was used, is too old, or never was.
  [[nodiscard]] Result<std::string> take_link(const std::string& secret, SteadyTime now);
  // The same, and it is good for one use still.
  [[nodiscard]] Result<std::string> owner_of_link(const std::string& secret, SteadyTime now) const;
  [[nodiscard]] OpenedSession open(const std::string& admin, SteadyTime now);
  // The session goes on. unauthorized: there is none of this secret any more.
  [[nodiscard]] Result<Session> find(const std::string& secret, SteadyTime now);
  void close(const std::string& secret);
  [[nodiscard]] std::size_t count() const;

 private:
  struct Link {
    std::string admin;
    SteadyTime made;
  };
  struct Kept {
    Session session;
    SteadyTime opened, used;
  };
  [[nodiscard]] bool over(const Kept& kept, SteadyTime now) const;

  const SessionRules rules_;
  mutable std::mutex mutex_;
  std::map<Bytes, Link> links_;     // by digest: a look-up tells by its time nothing of the secret
  std::map<Bytes, Kept> sessions_;  // by digest
};

}  // namespace gleaner::console
