// What requests are checked against: who is banned, as of the last sync. From memory; thread-safe. Changed by
// effects alone, so that a ban counts exactly when the store says so.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/policy/networks/prefix.h"
#include "server/service/core/model.h"

namespace gleaner::service {

// For ever, or not yet over?
[[nodiscard]] bool counts(const protocol::Ban& ban, Timestamp now);
// The ban of this key, or of the code that its hosts joined with; null: none.
[[nodiscard]] const protocol::Ban* ban_of_key(const Model& model, const Bytes& key, Timestamp now);
[[nodiscard]] const protocol::Ban* ban_of_code(const Model& model, const std::string& code, Timestamp now);
// banned: what is kept out, until when and why.
[[nodiscard]] Error banned(const protocol::Ban& ban);

// Never changes.
class BanTable {
 public:
  explicit BanTable(const Model& model);
  [[nodiscard]] const protocol::Ban* of_address(const policy::Address& address, Timestamp now) const;
  // Of a host that a ban put out.
  [[nodiscard]] const protocol::Ban* of_token(const Bytes& digest, Timestamp now) const;
  [[nodiscard]] bool has_networks() const { return has_networks_; }

 private:
  policy::PrefixMap<protocol::Ban> networks_;
  bool has_networks_ = false;
  std::map<Bytes, protocol::Ban> tokens_;
};

class BanRegistry {
 public:
  void set(std::shared_ptr<const BanTable> table);
  // Whether anything is answered to this address. banned: why not.
  [[nodiscard]] Status check_address(const std::string& address, Timestamp now) const;
  [[nodiscard]] Status check_token(const Bytes& digest, Timestamp now) const;

 private:
  [[nodiscard]] std::shared_ptr<const BanTable> table() const;

  mutable std::mutex mutex_;
  std::shared_ptr<const BanTable> table_;
};

}  // namespace gleaner::service
