// What a server or relay runs with.
#pragma once

#include <functional>
#include <memory>

#include "server/service/core/configuration.h"
#include "server/service/core/project_directory.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace gleaner::service {

class Origin;  // origin.h

struct Settings {
  ProjectDirectory directory;
  Configuration configuration;
  HostId relay = {};  // as which host its parent knows it; 0: it is the project's server
  std::function<std::unique_ptr<Origin>()> make_origin = {};  // where its items come from; set by Service
  Timestamp work_certificate_expires = Timestamp::max();  // a relay's never ends: its parent granted the work
  // Least time between two beginnings of transactions: what comes meanwhile shares the next one. 0: none.
  Duration gather{0};
};

}  // namespace gleaner::service
