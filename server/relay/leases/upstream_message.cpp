#include "server/relay/leases/upstream_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "server/relay/leases/upstream_failures.h"
#include "server/relay/leases/upstream_model.h"
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"

namespace gleaner::service {
namespace {

struct Below {
  double performance = 0;  // benchmarks of all slots of the hosts that are on
  std::int64_t hosts = 0;
};

Below all_below(const Model& model, Timestamp now) {
  constexpr Duration on_for = std::chrono::minutes{10};
  Below all;
  for (const auto& [id, host] : model.hosts) {
    if (host.row.state != protocol::HostState::active || host.row.last_contact + on_for < now) continue;
    ++all.hosts;
    all.performance += performance_of(model, host);
  }
  return all;
}

void add_all(std::vector<std::string>& to, const std::vector<std::string>& more) {
  for (const auto& each : more)
    if (std::find(to.begin(), to.end(), each) == to.end()) to.push_back(each);
}

// What some host under it offers, it offers: its own hosts get what they can compute.
void offer(const Model& model, protocol::WorkRequest& request) {
  std::vector<std::string> only;
  bool any = false;
  for (const auto& [id, its] : upstream_of(model).offers) {
    const auto host = model.hosts.find(id);
    if (host == model.hosts.end() || host->second.row.state != protocol::HostState::active) continue;
    add_all(request.platforms, its.platforms);
    add_all(request.capabilities, its.capabilities);
    request.memory_bytes = std::max(request.memory_bytes, its.memory_bytes);
    request.cores = std::max(request.cores, its.cores);
    any = any || !its.applications;
    if (its.applications) add_all(only, *its.applications);
  }
  if (request.capabilities.size() > static_cast<std::size_t>(limits::capabilities_max))
    request.capabilities.resize(static_cast<std::size_t>(limits::capabilities_max));
  if (!any && !only.empty()) request.applications = std::move(only);
}

protocol::UnitReport report_of(const policy::RelayReport& said, const storage::LeaseRow& lease) {
  protocol::UnitReport report;
  report.unit = said.unit;
  report.finished = lease.range.begin;
  report.state = said.rate > 0 ? protocol::RunState::running : protocol::RunState::paused;
  report.rate = said.rate;
  report.relay = protocol::RelayProgress{said.begun, said.seconds_left, said.rate, said.slots};
  return report;
}

// All that is done, and only has to be passed up. How fast its hosts are is what its parent sizes leases by.
protocol::UnitReport report_of_done(const Model& model, const storage::LeaseRow& lease, Timestamp now) {
  policy::RelayReport report{lease.unit, lease.range.end, 0, 0, 1};
  const auto problem = model.problems.find(lease.problem);
  if (problem != model.problems.end() && problem->second.stage != nullptr) {
    const auto counts = problem->second.stage->view().counts(now);
    report.rate = counts.rate;
    report.slots = static_cast<int>(std::max<std::int64_t>(1, counts.slots));
  }
  return report_of(report, lease);
}

std::optional<protocol::GivenUnit> grant_of(Upstream& upstream, UnitId lease) {
  const auto found = upstream.leases.find(lease);
  if (found == upstream.leases.end()) return std::nullopt;
  const auto chain = chain_of(upstream, found->second);
  if (!chain.ok()) return std::nullopt;
  return protocol::GivenUnit{(*chain)->statements.statements.front(), {}};
}

void say_results(Transaction& tx, UpMessage& message) {
  Upstream& upstream = upstream_of(tx.model);
  if (tx.now < upstream.sends_at) return;
  for (const SegmentId segment : upstream.to_send) {
    if (message.results.size() == static_cast<std::size_t>(limits::segments_per_relay_request_max)) break;
    const Owed& owed = upstream.owed.at(segment);
    const storage::DeliveryRow& row = owed.row;
    const auto statement = protocol::decode<protocol::SignedStatement>(row.statement);
    if (!statement.ok()) continue;
    protocol::CommitRequest commit;
    commit.unit = row.lease;
    commit.range = row.range;
    commit.digest = row.digest;
    commit.bytes = row.bytes;
    commit.compute_seconds = row.compute_seconds;
    commit.delivery = *statement;
    if (owed.with_grant) commit.given = grant_of(upstream, row.lease);
    message.request.commits.push_back(std::move(commit));
    message.results.push_back({segment, row.in_store, owed.packed});
  }
}

std::optional<protocol::ItemBytes> item_bytes(const Upstream& upstream) {
  if (!(upstream.item_up_bytes > 0)) return std::nullopt;
  return protocol::ItemBytes{upstream.item_down_bytes, upstream.item_up_bytes};
}

// What one stage has to say.
void say(Transaction& tx, ProblemId id, policy::Relay& relay, const Below& subtree, UpMessage& message) {
  Upstream& upstream = upstream_of(tx.model);
  policy::RelayMessage said = relay.say(subtree.performance, tx.now);
  const int stage = tx.model.problems.at(id).row.stage;
  message.said.push_back(id);
  for (auto& [segment, owed] : upstream.owed) {
    if (said.commits.empty()) break;
    if (owed.row.problem != id || owed.row.stage != stage || owed.held_since != Timestamp{}) continue;
    for (const policy::RelayCommit& commit : said.commits) {
      if (!commit.range.overlaps(owed.row.range)) continue;
      upstream.to_send.insert(segment);
      // Of an earlier lease it may be, of which the parent wants no more; the reverse would name one that a
      // restored parent never gave.
      const auto& lease = upstream.leases.at(commit.unit);
      if (lease.open && Range{lease.range.begin, lease.handed_end}.contains(owed.row.range))
        owed.row.lease = commit.unit;
    }
  }
  for (const auto& report : said.reports)
    message.request.units.push_back(report_of(report, upstream.leases.at(report.unit)));
  if (!said.ask) return;
  message.asked.push_back(id);
  if (message.request.slots.empty()) {
    message.request.slots.push_back({0, false});
    message.request.relay =
        protocol::RelayOffer{subtree.performance, said.ask->rate, said.ask->slots, item_bytes(upstream)};
  }
  auto& slot = message.request.slots.front();
  slot.urgent = slot.urgent || said.ask->urgent;
}

// Its own, or that of a relay under it.
std::optional<std::string> trouble_of(const Model& model) {
  if (!upstream_of(model).unable.empty()) return upstream_of(model).unable;
  for (const auto& [id, text] : model.troubles)
    if (const auto host = model.hosts.find(id); host != model.hosts.end())
      return protocol::clean_line(fmt::format("{} under it: {}", host->second.row.name, text),
                                  limits::text_length_max);
  return std::nullopt;
}

void say_measured(const Transaction& tx, protocol::WorkRequest& request) {
  std::vector<protocol::MeasuredHost> all;
  for (const HostId id : upstream_of(tx.model).measured) {
    if (all.size() == static_cast<std::size_t>(limits::measured_per_request_max)) break;
    const auto host = tx.model.hosts.find(id);
    if (host == tx.model.hosts.end()) continue;
    protocol::MeasuredHost one{id, {}, {}};
    if (host->second.row.mflops > 0)
      one.benchmark = protocol::Benchmark{host->second.row.mflops, host->second.row.benchmark_at};
    if (host->second.row.speeds != protocol::HostSpeeds{}) one.speeds = host->second.row.speeds;
    all.push_back(std::move(one));
  }
  if (!all.empty()) request.measured = std::move(all);
}

// It can store nothing: what it has goes up, and what it leases back, since the message does not name it.
UpMessage compose_unable(Transaction& tx) {
  Upstream& upstream = upstream_of(tx.model);
  UpMessage message;
  for (const auto& [segment, owed] : upstream.owed)
    if (owed.held_since == Timestamp{}) upstream.to_send.insert(segment);
  say_results(tx, message);
  message.request.trouble = trouble_of(tx.model);
  message.request.proofs = true;
  return message;
}

Timestamp due(const Transaction& tx) {
  const Upstream& upstream = upstream_of(tx.model);
  Timestamp first = Timestamp::max();
  if (!upstream.unable.empty())
    return upstream.to_send.empty() ? upstream.says_unable_at
                                    : std::min(upstream.says_unable_at, upstream.sends_at);
  if (!upstream.measured.empty()) first = std::min(first, upstream.tells_measured_at);
  for (const auto& [id, relay] : upstream.relays) first = std::min(first, relay.due(tx.now));
  if (upstream.relays.empty() && upstream.missed) first = std::min(first, upstream.asks_at);
  if (!upstream.to_send.empty()) first = std::min(first, upstream.sends_at);
  for (const auto& [segment, owed] : upstream.owed)
    if (owed.held_since != Timestamp{}) first = std::min(first, owed.held_since + owed.patience);
  return first;
}

UpMessage compose(Transaction& tx) {
  Upstream& upstream = upstream_of(tx.model);
  if (!upstream.unable.empty()) return compose_unable(tx);
  UpMessage message;
  const Below subtree = all_below(tx.model, tx.now);
  for (auto& [segment, owed] : upstream.owed)
    if (owed.held_since != Timestamp{} && owed.held_since + owed.patience <= tx.now) {
      owed.held_since = {};
      upstream.to_send.insert(segment);
    }
  for (auto& [id, relay] : upstream.relays)
    if (relay.due(tx.now) != Timestamp::max()) say(tx, id, relay, subtree, message);
  if (upstream.relays.empty() && upstream.missed && tx.now >= upstream.asks_at) {
    message.request.slots.push_back({0, true});
    message.request.relay = protocol::RelayOffer{subtree.performance, 0, 1, item_bytes(upstream)};
  }
  upstream.missed = false;
  say_results(tx, message);
  std::set<UnitId> named;
  for (const auto& report : message.request.units) named.insert(report.unit);
  for (const auto& [unit, lease] : upstream.leases)
    if (lease.open && !named.contains(unit))
      message.request.units.push_back(report_of_done(tx.model, lease, tx.now));
  offer(tx.model, message.request);
  message.request.proposal.performance = subtree.performance;
  message.request.proofs = true;
  say_measured(tx, message.request);
  message.request.trouble = trouble_of(tx.model);
  if (upstream.link != protocol::HostSpeeds{}) message.request.speeds = upstream.link;
  return message;
}

}  // namespace

void note_unable(Upstream& upstream, const std::string& why) {
  if (upstream.unable.empty() && !why.empty()) upstream.says_unable_at = {};
  upstream.unable = why;
}

Status next_message(Transaction& tx, NextMessage& next) {
  next.failures = next_failures(tx);
  next.until = due(tx);
  if (next.until > tx.now) return {};
  next.message = compose(tx);
  return {};
}

}  // namespace gleaner::service
