// Applications: signed bundles that an administrator adds. The server checks the whole chain before it keeps
// one. Thread-safe.
#pragma once

#include <mutex>
#include <vector>

#include "server/service/core/kernel.h"
#include "shared/json/value.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::service {

class Applications {
 public:
  Applications(Kernel& kernel, const ProjectSecrets& secrets) : kernel_(kernel), secrets_(secrets) {}

  // The same version with the same contents may be added again; with others: conflict.
  void add(protocol::AddApplication request, Done<protocol::ApplicationInfo> done);
  void list(Done<std::vector<protocol::ApplicationInfo>> done);
  // NAME or NAME@VERSION, with its parameters and inputs.
  void show(std::string name, Done<protocol::ApplicationInfo> done);

 private:
  [[nodiscard]] Result<Application> install(const protocol::AddApplication& request);

  Kernel& kernel_;
  const ProjectSecrets& secrets_;
  std::mutex mutex_;  // of install()
};

}  // namespace gleaner::service
