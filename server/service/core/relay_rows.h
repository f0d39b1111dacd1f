// Rows of a relay's store that reading the model needs: leases and manifests.
#pragma once

#include <string>
#include <vector>

#include "server/storage/store.h"

namespace gleaner::service {

// Under which name the store has an application's manifest: a relay has no bundles.
[[nodiscard]] inline std::string manifest_value(const std::string& archive) {
  return "manifest " + archive;
}

// Chooses, once, where this relay's unit numbers begin. No other relay uses these numbers, and this one does
// not use them again after it lost its store, since a host may know units of both. In the store's open
// transaction.
[[nodiscard]] Status number_units(storage::Store& store, HostId relay);

// The ranges of that stage that the parent leases to this relay now.
[[nodiscard]] Result<std::vector<Range>> leased_ranges(storage::Store& store, const storage::StageRow& row);

}  // namespace gleaner::service
