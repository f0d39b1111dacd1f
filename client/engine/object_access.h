// The server's object store, spoken to without the server: blobs are fetched from addresses there, and parts
// of results put to some. An address is believed only in a statement of the project's work key that answers a
// question for just that blob; what is fetched is not believed at all before it has its digest, which is the
// caller's to look at. The store is told nothing of this host: no token, no name of the program, no header of
// ours; redirects are not followed. An address is spoken to only if it is no nearer to this computer than the
// server is (io::Reach): no server of the world reaches what else is in somebody's network.
//
// Whatever goes wrong, the server itself is asked instead, and the store left alone for a while. Used on the
// data queue: everything may block.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/transport/server_call.h"
#include "shared/transport/workers.h"

namespace gleaner::engine {

class ObjectAccess {
 public:
  explicit ObjectAccess(const Clock& clock) : clock_(clock) {}

  struct Asker {
    transport::JobContext& context;
    const transport::Server& server;
    const Bytes& work_key;
    HostId host;
  };
  using Take = std::function<Status(int status, std::string_view bytes)>;
  // Has `take` take these bytes of a blob that has `all`, as they come. False: ask the server for what it did
  // not take. An error of `take` is the outcome, and nobody else's fault.
  [[nodiscard]] Result<bool> fetch(const Asker& asker, const std::string& digest, Range bytes,
                                   std::int64_t all, const Take& take);
  // Puts what is not there yet. The server still has to be told, and sent what could not be put: both is
  // transport::upload(), which asks it what is there.
  void put(const Asker& asker, const std::string& digest, std::string_view bytes);
  // It did what it must not: it is left alone for some minutes.
  void mistrust(const std::string& why);

 private:
  struct Place {
    std::string digest, address;
    io::Reach nearest = io::Reach::world;
    SteadyTime asked_at{};
  };
  [[nodiscard]] bool left_alone(const Asker& asker) const;
  [[nodiscard]] Status find(const Asker& asker, const std::string& digest);
  [[nodiscard]] Status get(const Asker& asker, Range bytes, std::int64_t all, const Take& take) const;
  [[nodiscard]] Status put_parts(const Asker& asker, const std::string& digest, std::string_view bytes) const;

  const Clock& clock_;
  std::optional<Place> place_;  // of the blob that was asked for last
  SteadyTime not_before_{};
};

}  // namespace gleaner::engine
