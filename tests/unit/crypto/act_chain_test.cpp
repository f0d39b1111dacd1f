// The chain of the audit log: whatever is changed, moved or taken out is found, and where.
#include "shared/crypto/act_chain.h"

#include <functional>
#include <vector>

#include "shared/base/limits.h"
#include "tests/catch.h"
#include "tests/unit/says.h"

using namespace gleaner;
using protocol::Act;
using protocol::ChainPlace;

namespace {

struct Log {
  ChainPlace start = crypto::chain_start();
  std::vector<Act> acts;
  ChainPlace head = start;

  void add(const std::string& action) {
    head = {head.number + 1, (acts.push_back({head.number + 1, from_microseconds(5 * head.number + 7), "ann",
                                              "owner", action, "7", "running", head.digest}),
                              crypto::digest_of(acts.back()))};
  }
  [[nodiscard]] std::string fault() const {
    crypto::ActChain chain(start);
    for (const Act& act : acts)
      if (const Status fits = chain.add(act); !fits.ok()) return fits.error().message;
    const Status whole = chain.end(head);
    return whole.ok() ? "" : whole.error().message;
  }
};

Log log_of(int acts) {
  Log log;
  for (int i = 0; i < acts; ++i) log.add("problem pause");
  return log;
}

}  // namespace

TEST_CASE("digests of acts are what the header says") {
  // printf 'gleaner-act-1\n1:1\n1:7\n3:ann\n5:owner\n13:problem pause\n1:7\n7:running\n64:000...\n' |
  // sha256sum
  CHECK(log_of(1).head.digest == "c987bbf6c4a437e81037546d8fac745b1dbc88ea3d28a0287cd7c724099f476e");
}

TEST_CASE("a chain is whole, also one whose oldest acts are not kept any more") {
  CHECK(Log{}.fault().empty());
  CHECK(log_of(1).fault().empty());
  CHECK(log_of(9).fault().empty());
  Log log = log_of(static_cast<int>(limits::acts_kept) + 3);
  log.start = {3, log.acts[3].previous};
  log.acts.erase(log.acts.begin(), log.acts.begin() + 3);
  CHECK(log.fault().empty());
  log.start = {4, log.acts[1].previous};  // more than a server drops
  log.acts.erase(log.acts.begin());
  CHECK(says(log.fault(), "it begins with act 5, and a server drops none of the newest 100000"));
}

TEST_CASE("any change of any act is found, and its neighbour or itself is named") {
  const std::vector<std::function<void(Act&)>> changes = {
      [](Act& act) { act.at = from_microseconds(1); },
      [](Act& act) { act.actor = "bob"; },
      [](Act& act) { act.role = "viewer"; },
      [](Act& act) { act.action = "problem resume"; },
      [](Act& act) { act.object = "8"; },
      [](Act& act) { act.summary += " "; },
      [](Act& act) { act.previous = std::string(64, 'f'); },
      [](Act& act) { act.actor = "an", act.role = "nowner"; }};
  for (std::size_t at = 0; at < 4; ++at) {
    for (const auto& change : changes) {
      Log log = log_of(4);
      change(log.acts[at]);
      INFO(at << " " << log.fault());
      const bool link = log.acts[at].previous == std::string(64, 'f');
      const std::size_t found = link ? at + 1 : std::min<std::size_t>(at + 2, 4);
      CHECK(says(log.fault(), "act " + std::to_string(found) + " of the audit log does not fit"));
    }
  }
}

TEST_CASE("acts that are missing, moved or added are found") {
  for (std::size_t at = 0; at < 4; ++at) {
    Log log = log_of(4);
    log.acts.erase(log.acts.begin() + static_cast<std::ptrdiff_t>(at));
    CHECK(says(log.fault(), "act " + std::to_string(at + 1) + " of the audit log does not fit"));
  }
  Log log = log_of(4);
  std::swap(log.acts[1], log.acts[2]);
  CHECK(says(log.fault(), "act 2 of the audit log"));
  log = log_of(4);
  const ChainPlace head = log.head;
  log.add("token add");
  log.head = head;
  CHECK(says(log.fault(), "act 5 of the audit log does not fit: it is not what the server last wrote"));
  log = log_of(4);
  log.head.digest[0] = log.head.digest[0] == '0' ? '1' : '0';
  CHECK(says(log.fault(), "act 4 of the audit log"));
  log = log_of(4);
  log.start = {2, log.acts[2].previous};
  log.acts.erase(log.acts.begin(), log.acts.begin() + 2);
  CHECK(says(log.fault(), "the audit log was cut"));
}
