// The kernel process of a slot: verified, launched, paused, resumed and ended. It serves one unit after
// another of the same problem, and knows nothing of units' states. Not thread-safe.
#pragma once

#include <memory>

#include "client/engine/download_cache.h"
#include "client/engine/services.h"
#include "shared/contract/kernel_session.h"
#include "shared/protocol/messages.h"

namespace gleaner::engine {

class KernelProcess {
 public:
  KernelProcess(Services& services, int slot) : services_(services), slot_(slot) {}
  ~KernelProcess() { end(); }
  KernelProcess(const KernelProcess&) = delete;
  KernelProcess& operator=(const KernelProcess&) = delete;

  // An empty working directory, for what the kernel is to find there. What an earlier kernel made of the last
  // one and cannot be removed is set aside. REQUIRES: !running().
  [[nodiscard]] Status make_directory();
  // untrusted: it is not what was unpacked. REQUIRES: !running(), make_directory().
  [[nodiscard]] Status start(const Prepared& prepared, ProblemId problem);
  void end();

  [[nodiscard]] bool running() const { return session_ != nullptr; }
  // Can it compute for this problem, with this application?
  [[nodiscard]] bool serves(const Prepared& prepared, ProblemId problem) const;
  // REQUIRES of all that follow: running(). Tells it where the problem lies, if it was told another place.
  void set_problem(const Prepared& prepared);
  [[nodiscard]] contract::KernelSession& session() const { return *session_; }
  [[nodiscard]] Duration cpu_time() const { return session_->process().cpu_time(); }
  [[nodiscard]] io::TreeUse use() const { return services_.machine.use(tree_); }
  // What it takes beyond what it may, in words; empty: nothing.
  [[nodiscard]] std::string excess(const io::TreeUse& use) const;
  // Where its files are found while it runs.
  [[nodiscard]] io::Path written() const {
    return services_.launcher.written_by(launch_, session_->process());
  }

  // It stops, it goes on.
  void hold() { services_.gate.pause(tree_); }
  void release() { services_.gate.resume(tree_); }
  // Why it was killed although it was to stand still; empty: it was not.
  [[nodiscard]] std::string offence() const { return services_.gate.offence(tree_); }

  [[nodiscard]] io::Waitable output_waitable() const;     // not valid if it does not run
  [[nodiscard]] int threads() const { return threads_; }  // of the one that ran last
  [[nodiscard]] io::Path directory() const { return services_.state.slot(slot_); }

 private:
  Services& services_;
  int slot_;
  std::unique_ptr<contract::KernelSession> session_;
  host::KernelLaunch launch_;   // its bundle is its project's own
  ProblemId problem_;           // that it serves
  io::Path problem_directory_;  // told to it last
  io::TreeHandle tree_;
  int threads_ = 1;
};

}  // namespace gleaner::engine
