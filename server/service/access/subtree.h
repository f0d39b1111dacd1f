// The hosts under a relay, as the relay itself has them. The project admits them and gives them their
// numbers, asked through the parent; the relay keeps a row of each under that number, and gives those that
// join here a token of its own. One thread speaks with the parent, so that who leaves and comes back is told
// in this order, and nothing else waits for it. At the project's server it does nothing. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "server/service/core/kernel.h"
#include "server/service/core/project_directory.h"
#include "shared/base/thread_pool.h"
#include "shared/protocol/messages.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

class Subtree {
 public:
  Subtree(Kernel& kernel, const ProjectSecrets& secrets);

  // Whom the parent is still to be told of. Before the writer starts.
  [[nodiscard]] Status restore(storage::Store& store);
  // Who waits for the parent is answered: not now. Before the kernel stops.
  void stop();

  // The project's nonce, by the parent. unavailable: it cannot be asked.
  void nonce(Done<protocol::EnrolmentNonce> done);
  // A host, or a relay, joins here. As Enrolment::enrol(); unavailable: the parent cannot be asked.
  void enrol(protocol::EnrolRequest request, const std::string& network, Done<protocol::EnrolReply> done);
  // One joins through a relay under this one. As Relays::join().
  void join(HostId asker, protocol::EnrolRequest request, const std::string& network,
            Done<protocol::RelayHostReply> done);
  // Of a relay under this one. As Relays::certificate().
  void certificate(HostId asker, HostId relay, Done<protocol::SignedStatement> done);
  // note_departure() is stored: tells the parent.
  void departed(HostId host);
  // Tells the parent of who left, as far as it has not heard it.
  void tell();

 private:
  using Store = std::function<void(const protocol::EnrolRequest&, protocol::RelayHostReply)>;
  // Asks the parent for it, on the thread; then `store`, or the error.
  void ask(protocol::EnrolRequest request, Store store, std::function<void(const Error&)> refuse);
  void on_thread(std::function<void()> job);
  void tell_all();

  Kernel& kernel_;
  const ProjectSecrets& secrets_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> telling_ = false;   // it will be done
  std::set<HostId> departed_;           // the thread's: whom the parent is to hear of
  std::unique_ptr<ThreadPool> thread_;  // null: there is no parent
};

}  // namespace gleaner::service
