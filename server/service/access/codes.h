// Enrolment codes: what an administrator gives to those who are to join. A code has a name, and may have a
// quota of hosts, an end, tags for its hosts, and a word on whether they are the project's own; or it admits
// one relay (relays.h), and new hosts under that count as joined with it. Its secret is shown once, inside a
// join code, when it is made; the store has its digest.
//
// The code "default" is that of keys/enrolment.secret, as `init` makes it: whatever that file says at a start
// counts. Rotating or withdrawing it removes the file. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "server/service/core/kernel.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

// A name of a code or of an admin token, which is a piece of a path. invalid: what is expected.
[[nodiscard]] Status check_name(const std::string& name);
// At each start, before the model is read: the default code as its file says, unless just that was given up.
[[nodiscard]] Status store_default_code(storage::Store& store, const ProjectSecrets& secrets, Timestamp now);

// Which secret keys/enrolment.secret has, by its digest in hex; empty: there is no file.
[[nodiscard]] std::string file_digest(const ProjectSecrets& secrets);
// Nobody joins with it any more. `file`: file_digest(). REQUIRES: there is such a code.
[[nodiscard]] Status withdraw_code(Transaction& tx, const std::string& name, const std::string& file);

class Codes {
 public:
  // `port`: on which hosts reach this server.
  Codes(Kernel& kernel, std::function<int()> port, const ProjectSecrets& secrets)
      : kernel_(kernel), port_(std::move(port)), secrets_(secrets) {}

  void list(Done<std::vector<protocol::CodeInfo>> done);
  void show(const std::string& name, Done<protocol::CodeInfo> done);
  // conflict: there was one of this name.
  void add(protocol::AddCode request, Done<protocol::MadeCode> done);
  // One that admits a relay, once. conflict: there was a code of this name.
  void add_relay(const protocol::AddRelay& request, Done<protocol::MadeCode> done);
  // A new secret; its hosts stay. conflict: it is withdrawn.
  void rotate(const std::string& name, Done<protocol::MadeCode> done);
  // Nobody joins with it any more. Withdrawing it again is no mistake.
  void withdraw(const std::string& name, protocol::WithdrawCode request, Done<protocol::CodeInfo> done);

 private:
  // `children`: as of CodeRow.
  void add(protocol::AddCode request, std::int64_t children, Done<protocol::MadeCode> done);
  // Stores the row that `change` makes, with a new secret, and tells the join code.
  void make(std::function<Result<storage::CodeRow>(Transaction&)> change, Done<protocol::MadeCode> done);
  Kernel& kernel_;
  const std::function<int()> port_;
  const ProjectSecrets& secrets_;
};

}  // namespace gleaner::service
