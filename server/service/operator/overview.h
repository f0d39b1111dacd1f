// What people look at: the whole project at one moment, as an immutable snapshot. However many look, the
// writer builds one at most once a second, and one every five seconds for the console's curves (views.h);
// decisions wait for nothing else. It looks at problems, and at no host but the first ones.
//
// Who looks is answered at once from the last snapshot if it is younger than ten seconds (and a newer one is
// then made for the next), otherwise as soon as a new one is there. What an administrator or a stage's end
// changes makes the present one too old at once (effect::Announce), and the administrator's own lists
// (problems.h, enrolment.h) come from the writer: whoever changed something sees it. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "server/policy/outlook/disk.h"
#include "server/service/core/kernel.h"
#include "server/service/work/scrub.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

struct ProjectSnapshot {
  static constexpr std::size_t hosts_max = 200;  // more than anybody reads
  protocol::ServerStatus status;
  std::vector<protocol::ProblemInfo> problems;
  std::vector<protocol::HostInfo> hosts;  // the first ones
  std::size_t hosts_total = 0;
  std::int64_t items_accepted = 0;           // by all hosts, ever
  std::int64_t failures = 0;                 // that hosts reported, since the store was last read
  std::int64_t cores_busy = 0;               // with a unit, of hosts that are heard of
  std::vector<protocol::ErrorGroup> errors;  // the newest first, at most limits::error_groups_max
};

class Overview {
 public:
  using Snapshot = std::shared_ptr<const ProjectSnapshot>;

  Overview(Kernel& kernel, const ProjectSecrets& secrets, const Scrub& scrub);
  void set_listening_port(int port) { port_ = port; }
  [[nodiscard]] int listening_port() const { return port_; }
  // `then` is called once, here or on the pool.
  void look(Done<Snapshot> then);
  // From the writer. A viewer is not told the join code.
  void status(Done<protocol::ServerStatus> done, protocol::Role asker);
  // The present snapshot is no longer true.
  void outdate();
  // Of the server's own certificate, which a renewal changes: until when it is valid, and whether clients
  // with this server's join codes believe it.
  void set_certificate(Timestamp end, bool believed) {
    certificate_end_ = end.time_since_epoch().count();
    certificate_believed_ = believed;
  }
  // What else is to be warned of when it fails. Before anybody looks; on any thread.
  void watch(std::function<Status()> check) { watched_.push_back(std::move(check)); }

 private:
  struct Waiting {
    std::uint64_t changes = 0;  // that the answer must show
    Done<Snapshot> then;
  };
  void build();
  void published(Result<ProjectSnapshot> built, std::uint64_t changes);
  void add_warnings(protocol::ServerStatus& status);
  void add_disk_warning(protocol::ServerStatus& status);

  Kernel& kernel_;
  const ProjectSecrets& secrets_;
  const Scrub& scrub_;
  const Timestamp started_at_;
  std::atomic<int> port_{0};
  std::atomic<Timestamp::rep> certificate_end_{0};  // 0: not known
  std::atomic<bool> certificate_believed_{true};
  std::vector<std::function<Status()>> watched_;
  std::mutex mutex_;  // of what follows
  policy::DiskOutlook disk_;
  Snapshot snapshot_;
  SteadyTime published_at_{};
  bool building_ = false;
  std::uint64_t changes_ = 0;       // outdate() was called so often
  std::uint64_t changes_seen_ = 0;  // by the snapshot
  std::vector<Waiting> waiting_;
};

}  // namespace gleaner::service
