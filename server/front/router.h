// A front end's answers: what hosts ask is read, limited and checked here, and decided by the leader; all
// else passes to it. Nothing is kept that matters: whatever was under way when this process dies is asked
// again. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "server/front/checker.h"
#include "server/front/visitors.h"
#include "server/http/figures.h"
#include "server/service/core/load.h"

namespace gleaner::front {

class Router {
 public:
  explicit Router(const Checker::Surroundings& around, std::shared_ptr<http::ConnectionFigures> connections);
  void handle(http::Request request, http::Reply reply);
  [[nodiscard]] std::int64_t body_bytes_max(const http::Request& head) const;
  // Answers when it is known, if the leader knows it, who sends a large body.
  void introduce(const http::Request& head, const http::Reply& reply);
  [[nodiscard]] const service::ManagerSandbox& sandbox() const { return checker_.sandbox(); }
  // From now on /readyz says no.
  void begin_stop() { stopping_ = true; }

 private:
  using AskedPtr = std::shared_ptr<const Asked>;
  void metrics(const AskedPtr& asked);
  // A place for it, then `use` with what answers by a reply that holds the place.
  template <typename Use>
  void serve(const AskedPtr& asked, const Visitors::Known& who, Use use);
  void host_request(const AskedPtr& asked);
  // A host, by its token: of those that are known by its digest, or as the leader says.
  void know(const link::Caller& caller, const Bytes& digest,
            std::function<void(Result<Visitors::Known>)> then);
  void host_operation(const AskedPtr& asked);
  void work(const AskedPtr& asked);
  void send_work(const AskedPtr& asked, protocol::WorkRequest request,
                 const std::vector<service::SegmentCheck::Checked>& checked);
  void heartbeat(const AskedPtr& asked);
  void failure(const AskedPtr& asked);
  // The leader, and the one who asked gets that it was done.
  void tell(const AskedPtr& asked, link::Kind kind, const Bytes& call);
  void download(const AskedPtr& asked, const service::Load::Account& account);
  // router_pass.cpp
  void pass(const AskedPtr& asked);
  void refuse(const AskedPtr& asked, const Error& error);

  const Checker::Surroundings around_;
  const std::shared_ptr<http::ConnectionFigures> connections_;
  const std::shared_ptr<http::RequestFigures> requests_ = std::make_shared<http::RequestFigures>();
  service::Load load_;
  Visitors visitors_;
  Checker checker_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::int64_t> checked_ = 0, unchecked_ = 0;  // commits: here, and left to the leader
};

}  // namespace gleaner::front
