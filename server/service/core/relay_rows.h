// What a relay keeps in its store of what its parent leases to it, as far as the model is read from it.
#pragma once

#include <string>
#include <vector>

#include "server/storage/store.h"

namespace gleaner::service {

// Under which name the store has an application's manifest: a relay has no bundles.
[[nodiscard]] inline std::string manifest_value(const std::string& archive) {
  return "manifest " + archive;
}

// Once: units of this relay have numbers that no other relay gives, nor this one after it lost its store, for
// a host is told of both. In the store's open transaction.
[[nodiscard]] Status number_units(storage::Store& store, HostId relay);

// Of that stage: what its parent leases to it now, for restoring the stage.
[[nodiscard]] Result<std::vector<Range>> leased_ranges(storage::Store& store, const storage::StageRow& row);

}  // namespace gleaner::service
