#include "server/service/work/waiting_requests.h"

#include <algorithm>
#include <utility>

namespace gleaner::service {

std::optional<WaitingRequest> WaitingRequests::keep(WaitingRequest request) {
  const std::lock_guard lock(mutex_);
  if (request.number == 0) request.number = ++last_;
  if (closed_) return request;
  const auto found = all_.find(request.host);
  if (found == all_.end()) {
    if (all_.size() == most) return request;
    const HostId host = request.host;
    all_.emplace(host, std::move(request));
    return {};
  }
  if (found->second.number > request.number) return request;
  return std::exchange(found->second, std::move(request));
}

std::optional<WaitingRequest> WaitingRequests::end(HostId host) {
  const std::lock_guard lock(mutex_);
  auto node = all_.extract(host);
  if (node.empty()) return {};
  return std::move(node.mapped());
}

std::vector<WaitingRequest> WaitingRequests::take() {
  std::vector<WaitingRequest> taken;
  const std::lock_guard lock(mutex_);
  taken.reserve(all_.size());
  for (auto& [host, request] : all_) taken.push_back(std::move(request));
  all_.clear();
  std::sort(taken.begin(), taken.end(),
            [](const WaitingRequest& a, const WaitingRequest& b) { return a.number < b.number; });
  return taken;
}

std::vector<WaitingRequest> WaitingRequests::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  return take();
}

std::size_t WaitingRequests::size() const {
  const std::lock_guard lock(mutex_);
  return all_.size();
}

}  // namespace gleaner::service
