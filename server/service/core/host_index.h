// What would have to be asked of all hosts otherwise, so that neither an enrolment nor whoever looks at the
// project looks at any of them: who has a key, how many joined with a code, how slow the slowest is, how many
// there are and were heard of lately. A part of the model (model.h): writer thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/service/core/relay_index.h"
#include "server/storage/store.h"
#include "shared/base/id_table.h"

namespace gleaner::service {

class HostIndex {
 public:
  HostIndex() = default;
  HostIndex(HostIndex&&) = default;
  HostIndex& operator=(HostIndex&&) = default;

  // Whenever a host's key, code, state, hold, relay or speed has changed, or it is new.
  void put(const storage::HostRow& row);
  // Every host with the public key, whatever its state; perhaps some with another one.
  [[nodiscard]] std::vector<HostId> with_key(const Bytes& public_key) const;
  // How many joined with the code of that name, whatever their state.
  [[nodiscard]] std::int64_t with_code(const std::string& code) const;
  // MFLOP/s of the slowest active host that was measured; 0: none was.
  [[nodiscard]] double slowest() const { return speeds_.empty() ? 0 : *speeds_.begin(); }
  [[nodiscard]] std::int64_t active() const { return active_; }
  // Of them, those that an administrator has put on hold.
  [[nodiscard]] std::int64_t on_hold() const { return on_hold_; }
  [[nodiscard]] const RelayIndex& relays() const { return relays_; }

 private:
  using Codes = std::map<std::string, std::int64_t>;
  struct Counted {  // one a host: small
    std::size_t key = 0;
    Codes::iterator code;
    double mflops = 0;  // 0: not among the speeds
    bool active = false;
    bool on_hold = false;  // and active
  };
  void take_out(HostId host, const Counted& counted);

  IdTable<HostId, Counted> hosts_;
  std::unordered_multimap<std::size_t, HostId> keys_;  // by their hash
  Codes codes_;
  std::multiset<double> speeds_;
  std::int64_t active_ = 0;
  std::int64_t on_hold_ = 0;
  RelayIndex relays_;
};

// How many active hosts were heard of in the last minutes, to the second.
class Contacts {
 public:
  static constexpr auto remembered = std::chrono::minutes{5};
  // A host is counted by its last contact, and no more by the one before (Timestamp{}: it was not counted).
  void heard(Timestamp before, Timestamp time, Timestamp now);
  // It is active no more.
  void forget(Timestamp time);
  [[nodiscard]] std::int64_t count(Timestamp now) const;

 private:
  std::map<std::chrono::sys_seconds, std::int64_t> seconds_;  // not empty ones; some hundreds
};

}  // namespace gleaner::service
