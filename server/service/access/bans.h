// Bans: codes, keys and networks that are kept out, for a while or for good. A ban of a network refuses every
// request from it; one of a key ends its hosts, which may not return while it lasts; one of a code withdraws
// the code and does the same to all its hosts. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "server/service/core/ban_registry.h"
#include "server/service/core/kernel.h"

namespace gleaner::service {

class Bans {
 public:
  Bans(Kernel& kernel, const BanRegistry& registry, const ProjectSecrets& secrets)
      : kernel_(kernel), registry_(registry), secrets_(secrets) {}

  // Whether anything is answered to this address. From memory. banned: why not.
  [[nodiscard]] Status check_address(const std::string& address) const {
    return registry_.check_address(address, kernel_.clock().now());
  }

  void list(Done<std::vector<protocol::Ban>> done);
  // By whom, and the address that this is asked from. A ban of the same subject is replaced. conflict: the
  // asker would keep himself out.
  void add(protocol::AddBan request, const std::string& by, const std::string& asker,
           Done<protocol::Ban> done);
  void remove(const std::string& kind, const std::string& subject, Done<protocol::Ban> done);

 private:
  Kernel& kernel_;
  const BanRegistry& registry_;
  const ProjectSecrets& secrets_;
};

}  // namespace gleaner::service
