// What an enrolment has to know of all other hosts, so that it looks at none of them: who has a key, how many
// joined with a code, how slow the slowest is. A part of the model (model.h): writer thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/storage/store.h"

namespace gleaner::service {

class HostIndex {
 public:
  // Whenever a host's key, code, state or speed has changed, or it is new.
  void put(const storage::HostRow& row);
  // Hosts with the public key, whatever their state.
  [[nodiscard]] std::vector<HostId> with_key(const Bytes& public_key) const;
  // How many joined with the code of that name, whatever their state.
  [[nodiscard]] std::int64_t with_code(const std::string& code) const;
  // MFLOP/s of the slowest active host that was measured; 0: none was.
  [[nodiscard]] double slowest() const { return speeds_.empty() ? 0 : *speeds_.begin(); }

 private:
  struct Counted {
    Bytes public_key;
    std::string code;
    double mflops = 0;  // 0: not among the speeds
  };
  void take_out(HostId host, const Counted& counted);

  std::unordered_map<HostId, Counted> hosts_;
  std::unordered_multimap<Bytes, HostId> keys_;
  std::map<std::string, std::int64_t> codes_;
  std::multiset<double> speeds_;
};

}  // namespace gleaner::service
