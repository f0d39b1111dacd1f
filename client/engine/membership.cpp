#include "client/engine/membership.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"

namespace gleaner::engine {

using client_policy::UnitState;

namespace {
constexpr Duration relay_renewal_retry = std::chrono::hours{1};
constexpr Duration readings_interval = std::chrono::seconds{30};
constexpr std::size_t outbox_max = 256;  // results without an answer: then no more is taken

transport::Server server_of(const state::Identity& identity) {
  return {identity.code.base_url(), identity.host.token};
}
}  // namespace

Membership::Membership(Services& services, Joined joined, int slots)
    : services_(services),
      slots_(slots),
      directory_(std::move(joined.directory)),
      identity_(std::move(joined.identity)),
      names_(state::names_of(directory_, identity_)),
      trust_(identity_.code.root_fingerprint, identity_.host.host, identity_.revocations),
      allowance_(joined.link),
      deliveries_(services_, *joined.workers, directory_, units_, trust_, server_of(identity_), allowance_),
      preparation_(services_, *joined.workers, directory_, units_, trust_, server_of(identity_), allowance_),
      session_(services_, *joined.workers, server_of(identity_), trust_, state::relay_of(identity_),
               identity_.unheard),
      link_(std::move(joined.link)),
      refused_(std::move(joined.refused)),
      pinned_(std::move(joined.pinned)),
      move_(std::move(joined.move)),
      join_again_(std::move(joined.join_again)),
      part_(std::move(joined.part)),
      standing_(identity_.copy ? Standing::copy : Standing::served) {}

Status Membership::open(int& next_slot) {
  TRY(preparation_.open());
  deliveries_.receipts().open();
  if (identity_.project) {
    deliveries_.receipts().know_project(*identity_.project);
    if (const Status known = trust_.accept_project(*identity_.project, services_.clock.now()); !known.ok())
      spdlog::warn("the stored project document is fetched again: {}", known.error().message);
  }
  plan_relay_renewal();
  TRY_ASSIGN(crypto::PrivateKey key, state::load_or_make_key(services_.files, directory_));
  deliveries_.sign_as(
      {to_hex(identity_.code.root_fingerprint), identity_.host.host, std::move(key), identity_.former},
      identity_.relay ? Deliveries::To::relay : Deliveries::To::project);
  load_units(next_slot);
  return {};
}

void Membership::load_units(int& next_slot) {
  const auto names = services_.files.list(directory_.units());
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    auto held = HeldUnit::load(services_.files, directory_.units() / utf8_path(name));
    if (!held.ok()) {
      spdlog::warn("discarded a held unit that cannot be read: {}", held.error().message);
      if (const Status gone = services_.files.remove_all(directory_.units() / utf8_path(name)); !gone.ok())
        spdlog::warn("{}", gone.error().message);
      continue;
    }
    auto unit = std::make_unique<Unit>(std::move(held).value());
    contexts_.learn(unit->held->granted().of_project());
    unit->slot = next_slot++ % slots_;
    const bool same = relay_of(unit->held->granted()) == state::relay_of(identity_);
    deliveries_.resume(*unit, same ? Deliveries::Holder::same : Deliveries::Holder::another);
    if (const Status good = trust_.check_not_revoked(unit->held->granted(), unit->grant()); !good.ok()) {
      spdlog::warn("unit {} cannot continue: {}", unit->id().value, good.error().message);
      unit->stop();
    } else {
      spdlog::info("unit {} of {} continues at item {} of {}-{}", unit->id().value,
                   unit->grant().problem_name, unit->held->finished(), unit->grant().range.begin,
                   unit->held->end() - 1);
    }
    // What another number of this host was given is delivered, and not gone on with.
    const bool former = unit->grant().host != identity_.host.host;
    if (former || standing_ == Standing::copy || unit->held->stopped() || unit->held->complete())
      unit->stop();
    units_.emplace(unit->id(), std::move(unit));
  }
}

void Membership::set_terms(OwnerTerms terms) {
  terms_ = std::move(terms);
  allowance_.allow(terms_.no_network.empty() ? terms_.bytes_left : 0);
}

void Membership::prepare(SteadyTime now, Alarm& alarm) {
  using Network = UnitPreparation::Network;
  if (standing_ != Standing::served || terms_.suspended) return;
  preparation_.tick(now, terms_.no_network.empty() ? Network::available : Network::none, alarm);
}

void Membership::deliver(SteadyTime now, SteadyTime piggyback_until, Closing closing, Alarm& alarm) {
  const auto going_back = [this] {
    return std::ranges::count_if(units_, [](const auto& entry) { return entry.second->goes_back; });
  };
  const auto before = going_back();
  deliveries_.hold_for_piggyback(piggyback_until);
  deliveries_.allow_uploads(terms_.no_network.empty());
  if (link_) deliveries_.know_line(link_->upload());
  deliveries_.tick(now, standing_ == Standing::copy ? Closing::yes : closing, alarm);
  if (going_back() < before) gives_back_ = true;  // the next request says what is held
}

Exchange Membership::due(bool work_wanted, SteadyTime now, Alarm& alarm) const {
  if (standing_ == Standing::revoked || moved_ || !terms_.no_network.empty()) return Exchange::none;
  Outgoing outgoing;
  outgoing.move = must_move(now);
  if (standing_ == Standing::unknown && !outgoing.move) return Exchange::none;
  outgoing.project = deliveries_.doubts_project() || relay_to_be_renewed();
  outgoing.failure = deliveries_.failure_due(now);
  outgoing.work = work_wanted;
  outgoing.units = !units_.empty();
  outgoing.commit = deliveries_.commit_due(now) || gives_back_;
  const Exchange due = session_.due(outgoing, now, alarm);
  return due == Exchange::commit ? Exchange::work : due;
}

void Membership::request_work(protocol::WorkRequest request, SteadyTime now) {
  request.commits = deliveries_.take_piggybacked(now);
  if (now < session_.work_at()) request.slots.clear();  // only results are due
  // A result that must travel alone asks for no unit: a server that refuses it still grants the next request.
  if (request.commits.empty() && request.slots.empty() && deliveries_.commit_due(now))
    request.commits.push_back(deliveries_.take_one(now));
  protocol::HostSpeeds speeds = request.speeds.value_or(protocol::HostSpeeds{});
  if (link_) {
    speeds.download_bytes_per_second = link_->download();
    speeds.upload_bytes_per_second = link_->upload();
  }
  request.speeds = speeds_.unreported(speeds);
  request.contexts = contexts_.known();
  if (request.readings) readings_at_ = now + readings_interval;
  session_.send(request);
}

void Membership::send_heartbeat(protocol::HeartbeatRequest request, SteadyTime now) {
  if (request.readings) readings_at_ = now + readings_interval;
  if (auto saved = take_saved(); !saved.empty()) request.saved = std::move(saved);
  session_.send(request, now);
}

void Membership::send(Exchange other, SteadyTime now) {
  switch (other) {
    case Exchange::move:
      return send_move();
    case Exchange::project:
      return session_.fetch_project(now);
    case Exchange::failure:
      return session_.send(deliveries_.next_failure(now));
    case Exchange::none:
    case Exchange::work:
    case Exchange::heartbeat:
    case Exchange::commit:
      break;
  }
  CHECK_TRUE(other == Exchange::none);
}

// If it gets lost on its way, what is saved next is told instead. Too much to tell stays here.
std::vector<protocol::SavedItem> Membership::take_saved() {
  std::vector<protocol::SavedItem> items;
  for (const auto& [id, unit] : units_) {
    if (!unit->saved || items.size() == static_cast<std::size_t>(limits::saved_per_heartbeat_max)) continue;
    const LocalCheckpoint saved = *std::exchange(unit->saved, std::nullopt);
    if (saved.item != unit->held->finished()) continue;
    const auto data = services_.files.read(saved.path, limits::saved_bytes_max);
    if (!data.ok()) continue;  // it is of use here all the same, or is being gone on with
    Bytes packed = io::compress(*data);
    if (static_cast<std::int64_t>(packed.size()) > limits::saved_inline_bytes_max) continue;
    items.push_back({id, saved.item, saved.fraction, std::move(packed)});
  }
  return items;
}

void Membership::secure_units() {
  for (const auto& [id, unit] : units_)
    if (const Status safe = unit->held->uncut() > 0 ? unit->held->sync() : Status(); !safe.ok())
      spdlog::warn("unit {} before sleep: {}", id.value, safe.error().message);
}

void Membership::set_cache(std::int64_t cache_bytes_max, std::int64_t free_bytes_min) {
  preparation_.set_cache(cache_bytes_max, free_bytes_min);
}

// Half of its period, as relays renew theirs; a relay that could not yet is asked again now and then.
bool Membership::relay_to_be_renewed() const {
  return relay_renewal_ && services_.clock.now() >= *relay_renewal_;
}

void Membership::plan_relay_renewal() {
  if (!identity_.relay) return;
  const auto certificate = protocol::decode<protocol::RelayCertificate>(identity_.relay->payload);
  const Timestamp now = services_.clock.now();
  relay_renewal_ = now;
  if (!certificate.ok()) return;
  const Timestamp half = certificate->not_before + (certificate->not_after - certificate->not_before) / 2;
  relay_renewal_ = std::max(half, now + relay_renewal_retry);
}

bool Membership::holds(const Unit& unit) const {
  const auto found = units_.find(unit.id());
  return found != units_.end() && found->second.get() == &unit;
}

bool Membership::clock_is_early(const Unit& unit) const {
  return trust_.clock_is_early(unit.held->granted(), services_.clock.now());
}

Status Membership::check(const Unit& unit) const {
  const auto trusted = trust_.check_grant(unit.held->granted(), services_.clock.now());
  return trusted.ok() ? Status() : Status(trusted.error());
}

bool Membership::must_move(SteadyTime now) const {
  if (standing_ == Standing::unknown) return join_again_ != nullptr;
  if (standing_ == Standing::copy && units_.empty()) return part_ != nullptr;
  return move_ && session_.silence().for_good(terms_.relay_patience, services_.clock.now(), now);
}

void Membership::send_move() {
  using Because = ServerSession::Because;
  if (standing_ == Standing::unknown)
    return session_.move(join_again_, names_.name + ": joining again with the code of before",
                         Because::identity);
  if (standing_ == Standing::copy && units_.empty())
    return session_.move(part_, names_.name + ": joining as a host of its own", Because::identity);
  const auto since = session_.silence().since();
  session_.move(move_,
                names_.server + " has not answered since " + (since ? local_text(*since) : "long") +
                    ": another place of its project is asked",
                Because::relay);
}

bool Membership::settled() const {
  return standing_ == Standing::revoked || standing_ == Standing::unknown || moved_ ||
         (!session_.busy() && !deliveries_.under_way());
}

bool Membership::askable(SteadyTime now, bool urgent) const {
  return terms_.share > 0 && !terms_.suspended && standing_ == Standing::served && !moved_ &&
         deliveries_.waiting() < outbox_max && session_.askable(now, urgent);
}

}  // namespace gleaner::engine
