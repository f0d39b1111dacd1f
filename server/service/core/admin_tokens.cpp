#include "server/service/core/admin_tokens.h"

#include <mutex>

#include "shared/base/figures.h"
#include "shared/crypto/keys.h"

namespace gleaner::service {

namespace {

// The administrator, if the token still counts.
Result<Admin> counting(const storage::TokenRow& row, Timestamp now) {
  const std::string state = state_of(row, now);
  if (state == "expired")
    return Error{ErrorKind::unauthorized, "the admin token " + row.name + " expired on " +
                                              utc_text(row.expires_at) +
                                              ": ask an owner of the project for another"};
  if (state == "withdrawn")
    return Error{ErrorKind::unauthorized,
                 "the admin token " + row.name + " was withdrawn: ask an owner of the project for another"};
  return Admin{row.name, row.role};
}

}  // namespace

std::string state_of(const storage::TokenRow& row, Timestamp now) {
  if (row.withdrawn_at != Timestamp{}) return "withdrawn";
  if (row.expires_at != Timestamp{} && row.expires_at <= now) return "expired";
  return "valid";
}

void AdminTokens::rebuild(const Model& model) {
  const std::unique_lock lock(mutex_);
  rows_ = model.admin_tokens;
}

void AdminTokens::put(const storage::TokenRow& row) {
  const std::unique_lock lock(mutex_);
  rows_[row.name] = row;
}

const storage::TokenRow* AdminTokens::row_of(const std::string& token) const {
  const Bytes digest = crypto::sha256(token);
  const storage::TokenRow* found = nullptr;
  for (const auto& [name, row] : rows_)
    if (equal_constant_time(row.digest, digest)) found = &row;
  return found;
}

std::string AdminTokens::owner_of(const std::string& token) const {
  const std::shared_lock lock(mutex_);
  const storage::TokenRow* const found = row_of(token);
  return found == nullptr ? "" : found->name;
}

Result<Admin> AdminTokens::find(const std::string& token, Timestamp now) const {
  const std::shared_lock lock(mutex_);
  const storage::TokenRow* const found = row_of(token);
  if (found == nullptr)
    return Error{ErrorKind::unauthorized,
                 "the admin token is missing or wrong: it is in admin/token of the project, or was shown to "
                 "you when an owner made it"};
  return counting(*found, now);
}

Result<Admin> AdminTokens::named(const std::string& name, Timestamp now) const {
  const std::shared_lock lock(mutex_);
  const auto found = rows_.find(name);
  if (found == rows_.end())
    return Error{ErrorKind::unauthorized, "the admin token " + name + " is not known here any more"};
  return counting(found->second, now);
}

}  // namespace gleaner::service
