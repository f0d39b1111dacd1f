#include "server/service/operator/host_administration.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "server/service/core/dispatch_terms.h"
#include "server/service/core/end_host.h"
#include "server/service/core/put_out.h"
#include "server/service/operator/describe.h"
#include "shared/base/limits.h"
#include "shared/protocol/text.h"

namespace gleaner::service {
namespace {

void change_host(Kernel& kernel, HostId id, std::function<void(Transaction&, Host&)> apply,
                 Done<protocol::HostInfo> done) {
  kernel.decide<protocol::HostInfo>(
      [id, apply = std::move(apply)](Transaction& tx, Result<protocol::HostInfo>& info) -> Status {
        const auto found = tx.model.hosts.find(id);
        if (found == tx.model.hosts.end()) {
          info = no_host(id);
          return {};
        }
        Host& host = found->second;
        apply(tx, host);
        TRY(tx.store.update_host(host.row));
        tell_dispatch(tx, host);
        info = describe(tx.model, host, tx.now);
        return {};
      },
      std::move(done));
}

}  // namespace

void HostAdministration::hold(HostId id, const protocol::HoldHost& request, Done<protocol::HostInfo> done) {
  std::string reason = protocol::clean_line(request.reason, limits::message_length_max);
  if (reason.empty()) reason = "no reason was given";
  change_host(
      kernel_, id,
      [reason](Transaction& tx, Host& host) {
        host.row.on_hold = reason;
        tx.model.index.put(host.row);
        tx.effects.info(fmt::format("host {} ({}) is on hold: {}", host.row.id.value, host.row.name, reason));
      },
      std::move(done));
}

void HostAdministration::release(HostId id, Done<protocol::HostInfo> done) {
  change_host(
      kernel_, id,
      [](Transaction& tx, Host& host) {
        if (!host.row.on_hold.empty())
          tx.effects.info(fmt::format("host {} ({}) is released", host.row.id.value, host.row.name));
        host.row.on_hold.clear();
        tx.model.index.put(host.row);
      },
      std::move(done));
}

void HostAdministration::tag(HostId id, protocol::TagHost request, Done<protocol::HostInfo> done) {
  auto& tags = request.tags;
  for (const std::string& tag : tags) {
    if (tag.empty() || protocol::clean_line(tag, limits::name_length_max) != tag)
      return done(Error{ErrorKind::invalid,
                        fmt::format("a tag has 1 to {} bytes, no control characters, and no blanks around it",
                                    limits::name_length_max)});
  }
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  change_host(
      kernel_, id, [tags](Transaction&, Host& host) { host.row.tags = tags; }, std::move(done));
}

void HostAdministration::list(Done<std::vector<protocol::HostInfo>> done) {
  kernel_.decide<std::vector<protocol::HostInfo>>(
      [](Transaction& tx, Result<std::vector<protocol::HostInfo>>& list) -> Status {
        std::vector<protocol::HostInfo> all;
        for (const auto& [id, host] : tx.model.hosts) all.push_back(describe(tx.model, host, tx.now));
        list = std::move(all);
        return {};
      },
      std::move(done));
}

void HostAdministration::show(HostId id, Done<protocol::HostInfo> done) {
  kernel_.decide<protocol::HostInfo>(
      [id](Transaction& tx, Result<protocol::HostInfo>& info) -> Status {
        const auto found = tx.model.hosts.find(id);
        if (found == tx.model.hosts.end()) {
          info = no_host(id);
        } else {
          info = describe(tx.model, found->second, tx.now);
        }
        return {};
      },
      std::move(done));
}

void HostAdministration::revoke(HostId id, protocol::RevokeHost request, Done<protocol::HostInfo> done) {
  kernel_.decide<protocol::HostInfo>(
      [id, request](Transaction& tx, Result<protocol::HostInfo>& info) -> Status {
        const auto found = tx.model.hosts.find(id);
        if (found == tx.model.hosts.end()) {
          info = no_host(id);
          return {};
        }
        Host& host = found->second;
        TRY(put_out_host(
            tx, host, request.may_return ? protocol::HostState::left : protocol::HostState::revoked,
            std::string("revoked by the administrator") + (request.may_return ? "; may return" : ""),
            "the administrator revoked the host"));
        tx.effects.info(fmt::format("host {} ({}) is {}", id.value, host.row.name, host.row.state_reason));
        info = describe(tx.model, host, tx.now);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
