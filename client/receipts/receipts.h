// What the server acknowledged, as it signed it: the proof of what this computer contributed. Kept in
// receipts/ of the project's directory: `log` has a line of JSON each, {"problem","application","statement"};
// when it is full it becomes log.1 (and that log.2 ...), the oldest goes, and what they count stays in
// `totals`; keys/KEY.json are the project documents that vouch for the work keys which signed. Bounded by
// files_max times log_bytes_max. A receipt that cannot be written is no reason to stop: results matter more.
// Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/state/state_directory.h"
#include "shared/protocol/messages.h"

namespace gleaner::receipts {

struct Contribution {  // items accepted from this computer
  std::int64_t today = 0;
  std::int64_t week = 0;  // the last seven days, today included
  std::int64_t total = 0;
};

class Receipts {
 public:
  Receipts(io::Files& files, const state::ProjectDirectory& project);

  // Counts what is there. Call once, first.
  void open();
  // The document that vouches for the work key which signs from now on.
  void know_project(const protocol::SignedStatement& project) { project_ = project; }
  // `acknowledgement` is the checked content of `statement`, for a part of `grant`.
  [[nodiscard]] Status add(const protocol::SignedStatement& statement,
                           const protocol::Acknowledgement& acknowledgement, const protocol::Grant& grant);
  [[nodiscard]] Contribution contribution(Timestamp now) const;

  static constexpr std::int64_t log_bytes_max = 1 << 20;
  static constexpr int files_max = 8;

 private:
  void count(const protocol::Acknowledgement& acknowledgement);
  [[nodiscard]] Status turn_over();

  io::Files& files_;
  io::Path directory_;
  std::int64_t log_bytes_ = 0;
  std::int64_t total_ = 0;
  std::map<std::int64_t, std::int64_t> days_;  // days since 1970 (UTC) -> items; the last fourteen
  std::optional<protocol::SignedStatement> project_;
  Bytes vouched_;  // the work key whose project document was stored last
};

enum class Verdict { genuine, unknown_key, forged };

struct Receipt {
  protocol::Acknowledgement acknowledgement;  // as signed
  std::string problem;                        // as the client noted; not signed
  std::string application;
  Verdict verdict = Verdict::forged;
};

// All that are kept, oldest first, each checked against the project's chain of keys. Lines that are damaged
// are left out and counted.
struct ReceiptBook {
  std::vector<Receipt> receipts;
  int damaged = 0;
};
[[nodiscard]] Result<ReceiptBook> read_receipts(const io::Files& files,
                                                const state::ProjectDirectory& project,
                                                std::string_view root_fingerprint,
                                                const std::vector<HostId>& hosts);

}  // namespace gleaner::receipts
