#include "server/service/upload_accounts.h"

#include <fmt/format.h>

#include <algorithm>

namespace gleaner::service {
namespace {

constexpr std::int64_t block_bytes = 4096;  // what the smallest file takes

}  // namespace

bool UploadAccounts::touch(HostId host, const std::string& digest, Timestamp now) {
  const std::lock_guard lock(mutex_);
  const auto account = accounts_.find(host);
  if (account == accounts_.end()) return false;
  const auto blob = account->second.find(digest);
  if (blob == account->second.end()) return false;
  blob->second.touched = now;
  return true;
}

Status UploadAccounts::open(HostId host, const std::string& digest, std::int64_t bytes,
                            std::int64_t allowance, Timestamp now) {
  const std::lock_guard lock(mutex_);
  auto& account = accounts_[host];
  std::int64_t taken = 0;
  for (const auto& [other, blob] : account)
    if (other != digest) taken += blob.bytes;
  const std::int64_t more = std::max(bytes, block_bytes);
  if (taken + more > allowance) {
    if (account.empty()) accounts_.erase(host);
    return Error{
        ErrorKind::unavailable,
        fmt::format("this host may have {} bytes of results here that are not committed, and has {}: "
                    "commit them first, or take work",
                    allowance, taken)};
  }
  account[digest] = {more, now};
  return {};
}

void UploadAccounts::close(HostId host, const std::string& digest) {
  const std::lock_guard lock(mutex_);
  const auto account = accounts_.find(host);
  if (account == accounts_.end()) return;
  account->second.erase(digest);
  if (account->second.empty()) accounts_.erase(account);
}

std::vector<UploadAccounts::Abandoned> UploadAccounts::expire(Timestamp before) {
  const std::lock_guard lock(mutex_);
  std::vector<Abandoned> expired;
  for (auto& [host, account] : accounts_)
    std::erase_if(account, [&, id = host](const auto& entry) {
      if (entry.second.touched >= before) return false;
      expired.push_back({id, entry.first});
      return true;
    });
  std::erase_if(accounts_, [](const auto& entry) { return entry.second.empty(); });
  return expired;
}

}  // namespace gleaner::service
