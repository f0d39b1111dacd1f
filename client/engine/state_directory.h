// Where the client keeps what must survive it. Everything is private to the user that runs it (0700).
//
//   identity/   join-code, host.key, host.json (EnrolReply: present = joined), machine, name, project.json,
//   revoked units/ID/   grant.json as received, journal (journal.h), segment-BEGIN-END (a cut too large to
//   ride along) blobs/      DIGEST, DIGEST.partial bundles/    DIGEST/ unpacked; problems/ID-.../ what
//   kernels read; both are rebuilt at every start slots/N/    working directories of kernels receipts/ what
//   the server acknowledged (receipts.h) preferences, benchmark, view (client/view), control.sock, lock
#pragma once

#include <string>

#include "shared/base/ids.h"
#include "shared/io/files.h"

namespace gleaner::engine {

struct StateDirectory {
  io::Path root;

  [[nodiscard]] io::Path identity() const { return root / "identity"; }
  [[nodiscard]] io::Path units() const { return root / "units"; }
  [[nodiscard]] io::Path unit(UnitId id) const { return units() / std::to_string(id.value); }
  [[nodiscard]] io::Path blobs() const { return root / "blobs"; }
  [[nodiscard]] io::Path bundles() const { return root / "bundles"; }
  [[nodiscard]] io::Path problems() const { return root / "problems"; }
  [[nodiscard]] io::Path receipts() const { return root / "receipts"; }
  [[nodiscard]] io::Path slots() const { return root / "slots"; }
  [[nodiscard]] io::Path slot(int number) const { return slots() / std::to_string(number); }
  [[nodiscard]] io::Path preferences() const { return root / "preferences"; }
  [[nodiscard]] io::Path benchmark() const { return root / "benchmark"; }
  [[nodiscard]] io::Path socket() const { return root / "control.sock"; }
  [[nodiscard]] io::Path lock() const { return root / "lock"; }
};

}  // namespace gleaner::engine
