// Where the client keeps what must survive it. Everything is private to the user that runs it (0700).
//
//   projects/KEY/   one joined project each (ProjectDirectory); KEY: 16 digits of its root key's fingerprint
//   slots/N/        working directories of kernels
//   interpreters/   of the program that looks for interpreters, while it runs
//   (client/platform/interpreters.h) shares          what each project had of this computer (usage.h) days
//   what it contributed day by day (days.h) notices         notifications to the owner (notices.h)
//   preferences, preferences.toml, benchmark, speeds, view (client/view), control.sock, lock
#pragma once

#include <string>

#include "shared/base/ids.h"
#include "shared/base/paths.h"
#include "shared/io/files.h"

namespace gleaner::state {

//   identity/       join-code, host.key, host.json (EnrolReply: present = joined), machine, name, computer,
//                   project.json, relay.json (RelayCertificate, if the server is a relay),
//                   revocations.json (the newest list ever seen), revoked, unheard (since when the relay
//                   has not answered, in microseconds), moved (why it is served by another place now),
//                   copy (another computer uses this identity: the key that both have), former (numbers that
//                   this host had before), rejoined (when it joined again by itself, in microseconds)
//   units/ID/       grant.json as received, lease.json (what stands behind a relay's), journal (journal.h),
//                   segment-BEGIN-END (a cut too large to piggyback)
//   blobs/          DIGEST, DIGEST.partial
//   bundles/        DIGEST/ unpacked; problems/ID-.../ what kernels read; both are rebuilt at every start
//   receipts/       what the server acknowledged (receipts.h)
struct ProjectDirectory {
  io::Path root;

  [[nodiscard]] std::string key() const { return utf8_text(root.filename()); }
  [[nodiscard]] io::Path identity() const { return root / "identity"; }
  [[nodiscard]] io::Path units() const { return root / "units"; }
  [[nodiscard]] io::Path unit(UnitId id) const { return units() / std::to_string(id.value); }
  [[nodiscard]] io::Path blobs() const { return root / "blobs"; }
  [[nodiscard]] io::Path bundles() const { return root / "bundles"; }
  [[nodiscard]] io::Path problems() const { return root / "problems"; }
  [[nodiscard]] io::Path receipts() const { return root / "receipts"; }
};

struct StateDirectory {
  io::Path root;

  [[nodiscard]] io::Path projects() const { return root / "projects"; }
  [[nodiscard]] ProjectDirectory project(const std::string& key) const {
    return {projects() / utf8_path(key)};
  }
  [[nodiscard]] io::Path slots() const { return root / "slots"; }
  [[nodiscard]] io::Path slot(int number) const { return slots() / std::to_string(number); }
  [[nodiscard]] io::Path interpreters() const { return root / "interpreters"; }
  [[nodiscard]] io::Path shares() const { return root / "shares"; }
  [[nodiscard]] io::Path days() const { return root / "days"; }
  [[nodiscard]] io::Path notices() const { return root / "notices"; }
  [[nodiscard]] io::Path traffic() const { return root / "traffic"; }
  [[nodiscard]] io::Path preferences() const { return root / "preferences"; }
  [[nodiscard]] io::Path benchmark() const { return root / "benchmark"; }
  [[nodiscard]] io::Path speeds() const { return root / "speeds"; }
  [[nodiscard]] io::Path socket() const { return root / "control.sock"; }
  [[nodiscard]] io::Path lock() const { return root / "lock"; }
};

}  // namespace gleaner::state
