// Makes a granted unit ready for its kernel: checks the chain of trust, then has the download cache fetch,
// verify and lay out what the unit needs, on the data queue. The outcome is recorded in the unit's state.
// Not thread-safe.
#pragma once

#include "client/engine/download_cache.h"
#include "client/engine/services.h"
#include "client/engine/trust.h"
#include "client/engine/unit.h"
#include "client/policy/prefetch.h"
#include "shared/transport/server_call.h"

namespace gleaner::engine {

class UnitPreparation {
 public:
  UnitPreparation(Services& services, transport::Workers& workers, const state::ProjectDirectory& directory,
                  UnitBook& units, const Trust& trust, transport::Server server,
                  const transport::TransferAllowance& allowance)
      : services_(services),
        workers_(workers),
        directory_(directory),
        units_(units),
        trust_(trust),
        server_(std::move(server)),
        allowance_(allowance),
        cache_(services_.files, services_.clock, directory, services_.unpack,
               services_.settings.cache_bytes_max, services_.settings.free_bytes_min) {}

  // Removes what the run before left that is rebuilt anyway. Call once, first.
  [[nodiscard]] Status open() { return cache_.clean(); }
  enum class Network { none, available };
  // Begins with every unit that is due.
  void tick(SteadyTime now, Network network, Alarm& alarm);

  void set_cache(std::int64_t cache_bytes_max, std::int64_t free_bytes_min) {
    cache_.set_limits(cache_bytes_max, free_bytes_min);
  }
  // From grant to ready, recent mean.
  [[nodiscard]] Duration mean() const { return mean_.value(); }
  // How far the file is that is fetched now; nothing: none is.
  [[nodiscard]] std::optional<transport::TransferProgress::View> fetching() const {
    return cache_.progress().view();
  }

 private:
  [[nodiscard]] Status begin(Unit& unit, SteadyTime now);
  void submit(const Unit& unit, TrustedGrant trusted);
  // Network: whether there was still leave to use it when that ended.
  void finish(UnitId id, Result<Prepared> outcome, Network network, SteadyTime now);
  [[nodiscard]] std::optional<Prepared> prepared_already(const Unit& unit) const;

  Services& services_;
  transport::Workers& workers_;
  const state::ProjectDirectory& directory_;
  UnitBook& units_;
  const Trust& trust_;
  transport::Server server_;
  const transport::TransferAllowance& allowance_;
  DownloadCache cache_;  // used on the data queue only, but for its progress
  client_policy::RecentMean mean_{client_policy::preparation_weight};
  std::int64_t fetched_ = 0;  // bytes, at the last failure
};

}  // namespace gleaner::engine
