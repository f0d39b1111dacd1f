// Which token stands for which administrator. Thread-safe; from memory. Changed by effects alone, so that a
// token counts exactly when the store says so.
#pragma once

#include <map>
#include <shared_mutex>
#include <string>

#include "server/service/core/model.h"

namespace gleaner::service {

// Who administers, with which role.
struct Admin {
  std::string name;
  protocol::Role role = protocol::Role::view;
};

class AdminTokens {
 public:
  void rebuild(const Model& model);
  void put(const storage::TokenRow& row);
  // All tokens are compared, by digests, whichever it is: the time says nothing of them. unauthorized: why
  // not.
  [[nodiscard]] Result<Admin> find(const std::string& token, Timestamp now) const;
  // The same of the token of this name, for who proved before to have it.
  [[nodiscard]] Result<Admin> named(const std::string& name, Timestamp now) const;
  // Whose it is or was; empty: nobody's.
  [[nodiscard]] std::string owner_of(const std::string& token) const;

 private:
  [[nodiscard]] const storage::TokenRow* row_of(const std::string& token) const;  // with the lock

  mutable std::shared_mutex mutex_;
  std::map<std::string, storage::TokenRow> rows_;
};

// "valid", "expired" or "withdrawn".
[[nodiscard]] std::string state_of(const storage::TokenRow& row, Timestamp now);

}  // namespace gleaner::service
