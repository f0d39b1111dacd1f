#include "server/service/core/copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/service/core/tokens.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

constexpr Duration told_for = std::chrono::hours{24};
constexpr std::size_t copies_told_max = 8;

std::string named(const storage::HostRow& row) {
  return fmt::format("{} {} ({})", row.children > 0 ? "relay" : "host", row.id.value, row.name);
}

}  // namespace

policy::Heard hear_instance(Transaction& tx, Host& host, const std::optional<protocol::Instance>& said) {
  if (!said) return policy::Heard::well;
  const auto before = host.instances.copied_at();
  const policy::Heard heard = host.instances.hear(said->id, said->sequence, tx.now);
  const auto after = host.instances.copied_at();
  if (after == before) return heard;
  if (!before || *after - *before > told_for)
    tx.effects.warn(fmt::format("{}: two computers use its identity, as after its {} was copied: {}",
                                named(host.row), host.row.children > 0 ? "directory" : "disk",
                                host.row.children > 0 ? "one of them is not served any more"
                                                      : "one of them joins as a host of its own"));
  tx.model.copied.try_emplace(host.row.id);
  return heard;
}

std::optional<protocol::InstanceOrder> order_of(policy::Heard heard) {
  switch (heard) {
    case policy::Heard::again:
      return protocol::InstanceOrder::renew;
    case policy::Heard::copy:
      return protocol::InstanceOrder::part;
    case policy::Heard::well:
    case policy::Heard::returned:
      break;
  }
  return std::nullopt;
}

void note_parted(Transaction& tx, const storage::HostRow& joined, HostId original) {
  const auto found = tx.model.copied.find(original);
  const auto host = tx.model.hosts.find(original);
  if (found == tx.model.copied.end() || host == tx.model.hosts.end()) return;
  // Nobody signs whose copy it was: it is told, and nothing follows from it.
  auto& copies = found->second;
  const bool told = std::find(copies.begin(), copies.end(), joined.id) != copies.end();
  if (told || copies.size() == copies_told_max) return;
  copies.push_back(joined.id);
  tx.effects.info(fmt::format("{} says that it was a copy of {}", named(joined), named(host->second.row)));
}

std::string copied_text(const Model& model, const Host& host, Timestamp now) {
  const auto at = host.instances.copied_at();
  if (!at || now - *at > told_for) return {};
  if (host.row.children > 0)
    return "two relays use its identity, as after its directory was copied: one of them is not served. Join "
           "with each from a directory of its own";
  const std::string text = "two computers use its identity, as after its disk was copied: the copy ";
  const auto copies = model.copied.find(host.row.id);
  if (copies == model.copied.end() || copies->second.empty()) return text + "joins as a host of its own";
  std::string ids;
  for (const HostId id : copies->second) ids += (ids.empty() ? "" : ", ") + std::to_string(id.value);
  return text + "has joined as host " + ids;
}

std::vector<std::string> copy_warnings(const Model& model, Timestamp now) {
  // Whoever joins can claim it: the project's own come first, then those that have delivered.
  std::vector<std::string> own, proven, others;
  for (const auto& [id, copies] : model.copied) {
    const auto host = model.hosts.find(id);
    if (host == model.hosts.end()) continue;
    if (std::string text = copied_text(model, host->second, now); !text.empty())
      (host->second.row.own          ? own
       : is_proven(host->second.row) ? proven
                                     : others)
          .push_back(named(host->second.row) + ": " + text);
  }
  for (const auto* const more : {&proven, &others}) own.insert(own.end(), more->begin(), more->end());
  if (own.size() <= limits::copied_hosts_told_max) return own;
  const std::size_t more = own.size() - limits::copied_hosts_told_max;
  own.resize(limits::copied_hosts_told_max);
  own.push_back(fmt::format("{} more hosts are used by two computers each", more));
  return own;
}

}  // namespace gleaner::service
