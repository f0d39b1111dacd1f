// From finished items to signed acknowledgements: cuts segments when they are due, prepares them for the
// wire (small ones are piggybacked on requests, large ones uploaded on the data queue), and discards a
// result only on a verified, signed answer that names exactly that unit, range and digest. What a relay holds
// stays until then, and is delivered again after hours without that. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/engine/object_access.h"
#include "client/engine/services.h"
#include "client/engine/trust.h"
#include "client/engine/unit.h"
#include "client/receipts/receipts.h"
#include "shared/transport/piece_size.h"
#include "shared/transport/server_call.h"
#include "shared/transport/transfer_progress.h"

namespace gleaner::engine {

struct Totals {
  std::int64_t items_accepted = 0;  // credited
  std::int64_t commits_accepted = 0;
  std::int64_t commits_duplicate = 0;
  std::int64_t commits_refused = 0;
  std::string last_refusal;  // why, of the last of these
};

enum class Closing { no, yes };

// Under a relay every result, and every kernel that failed, goes with the word of the host itself; to the
// project what a relay gave does.
struct HostSigner {
  std::string project;
  HostId host;
  crypto::PrivateKey key;
  std::vector<HostId> former = {};  // numbers that it had before; a restored server may give one again
};

class Deliveries {
 public:
  Deliveries(Services& services, transport::Workers& workers, const state::ProjectDirectory& directory,
             UnitBook& units, const Trust& trust, transport::Server server,
             const transport::TransferAllowance& allowance)
      : services_(services),
        workers_(workers),
        units_(units),
        trust_(trust),
        server_(std::move(server)),
        allowance_(allowance),
        objects_(services.clock),
        sending_(services.clock),
        receipts_(services.files, directory) {}

  // Whether the server is a relay. REQUIRES: called before anything is delivered.
  enum class To { project, relay };
  void sign_as(HostSigner signer, To to) {
    signer_ = std::move(signer);
    to_ = to;
  }
  // A unit from an earlier run. `same`: what is held of it is with the relay that is the server now.
  enum class Holder { same, another };
  void resume(Unit& unit, Holder holder) const;

  // Writes journals, cuts, starts uploads, closes units with nothing left. Closing: everything finished is
  // cut.
  void tick(SteadyTime now, Closing closing, Alarm& alarm);

  // A unit that was refused when it was granted: there is nothing of it but this report.
  void refuse(protocol::FailureReport report);

  [[nodiscard]] bool commit_due(SteadyTime now) const;
  [[nodiscard]] bool failure_due(SteadyTime now) const;
  // Commits that can be sent now and are not under way; marks them as under way.
  [[nodiscard]] std::vector<protocol::CommitRequest> take_piggybacked(SteadyTime now);
  // One of those that must travel alone. REQUIRES: commit_due(now), and none can be piggybacked.
  [[nodiscard]] protocol::CommitRequest take_one(SteadyTime now);
  [[nodiscard]] protocol::FailureReport next_failure(SteadyTime now);  // REQUIRES: failure_due(now)
  // What became of them.
  void acknowledged(const protocol::SignedStatement& statement, SteadyTime now);
  void held(const protocol::HeldResult& result, SteadyTime now);
  void answered(const std::vector<UnitId>& units, const Status& outcome, SteadyTime now);
  void failure_reported(const protocol::FailureReport& report, const Status& outcome, SteadyTime now);

  // Final commits wait until then for the next work request, if one is near.
  void hold_for_piggyback(SteadyTime until) { piggyback_until_ = until; }

  // May large results be uploaded? Small ones go with what the session sends.
  void allow_uploads(bool allowed) { may_upload_ = allowed; }
  // How fast this host's line is; 0: not known.
  void know_line(double upload_bytes_per_second) { line_ = upload_bytes_per_second; }
  // How far the result is that is uploaded now; nothing: none is.
  [[nodiscard]] std::optional<transport::TransferProgress::View> sending() const { return sending_.view(); }

  [[nodiscard]] bool under_way() const;       // something could still be acknowledged soon
  [[nodiscard]] std::size_t waiting() const;  // units with cuts that are not acknowledged
  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] receipts::Receipts& receipts() { return receipts_; }
  [[nodiscard]] const receipts::Receipts& receipts() const { return receipts_; }
  [[nodiscard]] const std::optional<std::string>& disk_trouble() const { return disk_trouble_; }
  void report_disk_trouble(const Error& error);
  [[nodiscard]] bool doubts_project() const {
    return doubts_project_;
  }  // an answer did not verify: fetch it again
  void project_renewed() { doubts_project_ = false; }

 private:
  void save(SteadyTime now, Alarm& alarm);
  [[nodiscard]] Status probe_disk();
  void prepare_cut(Unit& unit, SteadyTime now, Closing closing);
  void recall(Unit& unit, SteadyTime now, Closing closing, Alarm& alarm) const;
  void start_upload(Unit& unit, Bytes segment);
  [[nodiscard]] bool ready(const Unit& unit, SteadyTime now) const;
  [[nodiscard]] std::int64_t piggyback_bytes_max() const;
  [[nodiscard]] static bool failure_ready(const Unit& unit, SteadyTime now);
  static void end_delivery(Unit& unit, SteadyTime now);
  [[nodiscard]] protocol::CommitRequest request(Unit& unit);
  // A relay gave it that is not the server any more.
  [[nodiscard]] bool of_former_relay(const Unit& unit) const;
  [[nodiscard]] protocol::SignedStatement signed_failure(const Unit& unit) const;

  Services& services_;
  transport::Workers& workers_;
  UnitBook& units_;
  const Trust& trust_;
  transport::Server server_;
  const transport::TransferAllowance& allowance_;
  ObjectAccess objects_;  // used on the data queue only, as what follows
  transport::PieceSize pieces_{transport::upload_pieces};
  transport::TransferProgress sending_;  // read from any thread
  receipts::Receipts receipts_;
  std::optional<HostSigner> signer_;
  To to_ = To::project;
  Totals totals_;
  std::vector<protocol::FailureReport> refused_;  // of units that are not in the book
  std::optional<std::string> disk_trouble_;
  SteadyTime save_at_{};
  SteadyTime piggyback_until_{};
  bool doubts_project_ = false;
  bool may_upload_ = true;
  double line_ = 0;
};

}  // namespace gleaner::engine
