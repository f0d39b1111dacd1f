#include "server/service/work/upload_accounts.h"

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

Status UploadAccounts::check(HostId host, const std::string& digest, std::int64_t more,
                             const Terms& terms) const {
  std::int64_t taken = 0, newcomers = 0, network = 0;
  for (const auto& [id, account] : accounts_)
    for (const auto& [name, blob] : account) {
      if (id == host && name == digest) continue;
      if (id == host) taken += blob.bytes;
      if (blob.network) newcomers += blob.bytes;
      if (blob.network && blob.network == terms.network) network += blob.bytes;
    }
  const auto refused = [](std::string why) { return Error{ErrorKind::unavailable, std::move(why)}; };
  if (taken + more > terms.allowance)
    return refused(
        fmt::format("this host may have {} bytes of results here that are not committed, and has {}: "
                    "commit them first, or take work",
                    terms.allowance, taken));
  if (!terms.network) return {};
  const auto exceeds = [&](std::int64_t held, std::int64_t part) {
    return held > 0 && held + more > terms.room / part;
  };
  if (exceeds(network, network_part))
    return refused(
        fmt::format("newcomers of this network have {} bytes of results here that are not committed, "
                    "as much as the disk has for them: try again when they have",
                    network));
  if (exceeds(newcomers, newcomers_part))
    return refused(
        fmt::format("newcomers have {} bytes of results here that are not committed, as much as the "
                    "disk has for them: try again when they have",
                    newcomers));
  return {};
}

Status UploadAccounts::open(HostId host, const std::string& digest, std::int64_t bytes, const Terms& terms,
                            Timestamp now) {
  const std::lock_guard lock(mutex_);
  const std::int64_t more = std::max(bytes, block_bytes);
  TRY(check(host, digest, more, terms));
  accounts_[host][digest] = {more, now, terms.network};
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
