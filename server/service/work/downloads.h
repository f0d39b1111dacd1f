// Blobs as they are given out, to hosts and administrators: only what is what its name says. Each file is
// read through before it is given out for the first time, and again when somebody touched it or a day has
// passed; who asks meanwhile waits for the same reading. What is damaged or gone is told to the writer
// (damage.h). Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "server/service/core/kernel.h"

namespace gleaner::service {

struct Download {
  io::Path path;
  std::int64_t bytes = 0;
};

class Downloads {
 public:
  explicit Downloads(Kernel& kernel) : kernel_(kernel) {}

  // At once, or later on the pool. not_found; unavailable: it is lost here, and being brought back if that
  // can be.
  void open(const std::string& digest, const Done<Download>& done);

 private:
  [[nodiscard]] Result<Download> ready(const std::string& digest) const;
  void verify(const std::string& digest);  // on the pool
  void answer(const std::string& digest, const Result<Download>& download);

  Kernel& kernel_;
  std::mutex mutex_;
  std::map<std::string, std::vector<Done<Download>>> waiting_;  // for a reading
};

}  // namespace gleaner::service
