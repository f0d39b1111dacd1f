// Engine: what it says of itself to its owner.
#include "client/engine/engine.h"
#include "client/policy/prefetch.h"

namespace gleaner::engine {

using client_policy::RunMode;

namespace {

std::string seconds_text(Duration wait) {
  const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(wait).count());
  return std::to_string(seconds) + " s";
}

std::string signed_text(Duration drift) {
  return drift < Duration{0} ? "-" + client_policy::rough_text(-drift) : client_policy::rough_text(drift);
}

}  // namespace

std::string Engine::explain(SteadyTime now) const {
  if (decision_.mode == RunMode::pause) return "not computing: " + decision_.reason;
  int running = 0;
  std::string problem;
  for (const auto& slot : slots_)
    if (slot->unit() != nullptr && !slot->paused()) {
      running += slot->threads();
      problem = slot->unit()->grant().problem_name;
    }
  if (running > 0)
    return "computing " + problem + " on " + std::to_string(running) + " of " +
           std::to_string(slots_.size()) + (slots_.size() == 1 ? " core" : " cores") + ": " +
           decision_.reason;
  if (!no_network_.empty()) return "not computing: no work may be fetched: " + no_network_;
  if (!talk_.trouble().empty())
    return "not computing: the server cannot be asked for work (" + talk_.trouble() + ")";
  if (disk_low_) return "not computing: " + *disk_low_;
  for (const auto& [id, unit] : units_)
    if (unit->held_back && !unit->held->stopped()) return "not computing: " + unit->order_reason;
  for (const auto& [id, unit] : units_)
    if (unit->state == client_policy::UnitState::granted ||
        unit->state == client_policy::UnitState::preparing)
      return "not computing yet: fetching what " + unit->grant().problem_name + " needs" +
             (unit->order_reason.empty() ? "" : " (" + unit->order_reason + ")");
  if (controls_.finish) return "not computing: you asked to finish: `gleaner resume` takes work again";
  for (const auto& slot : slots_)
    if (slot->start_at() > now)
      return "not computing: a kernel failed lately; the next try is in " +
             seconds_text(slot->start_at() - now);
  if (!benchmark_) return "not computing yet: measuring how fast this computer is";
  const std::string& why = talk_.no_work_reason();
  if (talk_.work_at() > now || !why.empty())
    return "not computing: the server has no work now" + (why.empty() ? "" : " (" + why + ")");
  return "not computing yet: asking the server for work";
}

EngineStatus Engine::status() const {
  const SteadyTime now = services_.clock.steady();
  EngineStatus status;
  status.server = identity_.code.base_url();
  status.project = to_hex(identity_.code.root_fingerprint);
  if (trust_.knows_project()) status.project_name = trust_.project().document.name;
  status.host = identity_.host.host.value;
  status.host_name = identity_.name;
  status.mode = client_policy::name_of(decision_.mode);
  status.reason = explain(now);
  status.cpu_share = services_.settings.cpu_share;
  status.cores = services_.settings.cores;
  status.finishing = controls_.finish;
  status.revoked = revoked_.has_value();
  status.benchmark_mflops = benchmark_ ? benchmark_->mflops : 0;
  for (const auto& slot : slots_) {
    SlotStatus view;
    view.slot = slot->number();
    view.state = "idle";
    const Unit* unit = slot->unit();
    for (const auto& [id, other] : units_)
      if (unit == nullptr && other->slot == slot->number() &&
          other->state != client_policy::UnitState::committing)
        unit = other.get();
    if (unit != nullptr) {
      view.state = client_policy::name_of(unit->state);
      view.problem = unit->grant().problem_name;
      view.unit = unit->id().value;
      view.range = {unit->grant().range.begin, unit->held->end()};
      view.finished = unit->held->finished();
      if (unit->prepared)
        view.application = unit->prepared->manifest.name + "@" + unit->prepared->manifest.version;
      if (unit == slot->unit()) {
        view.rate = slot->rate().rate(now);
        if (const auto left = slot->remaining(now)) view.remaining_seconds = to_seconds(*left);
      }
      view.reason = decision_.mode == RunMode::pause ? decision_.reason : unit->order_reason;
    }
    status.slots.push_back(std::move(view));
  }
  status.problems = problems_;
  const Totals& totals = deliveries_.totals();
  status.items_accepted = totals.items_accepted;
  const Contribution contribution = deliveries_.receipts().contribution(services_.clock.now());
  status.items_today = contribution.today;
  status.items_week = contribution.week;
  status.items_total = contribution.total;
  status.commits_accepted = totals.commits_accepted;
  status.commits_duplicate = totals.commits_duplicate;
  status.commits_refused = totals.commits_refused;
  status.outbox = static_cast<std::int64_t>(deliveries_.waiting());
  status.units_in_hand = static_cast<std::int64_t>(units_.size());
  status.work_requests = talk_.work_requests();
  if (const auto contact = talk_.last_contact()) status.last_contact_seconds = to_seconds(now - *contact);
  status.uptime_seconds = to_seconds(now - opened_);
  status.trouble = talk_.trouble();
  status.details.push_back("confinement of kernels: " + services_.launcher.describe());
  if (!no_network_.empty()) status.details.push_back("network: " + no_network_);
  if (disk_low_) status.details.push_back(*disk_low_);
  for (const std::string& one : observed_) status.details.push_back(one);
  if (leap_)
    status.details.push_back("clock: moved by " + signed_text(leap_->by) + " " +
                             client_policy::rough_text(now - leap_->at) +
                             " ago: this computer slept, or its clock was set");
  // Not in the sentence: that stays as it is while time goes by.
  const SteadyTime ask_at = std::max(talk_.work_at(), talk_.silent_until());
  const bool wants_work = decision_.mode != RunMode::pause && cores_in_use() == 0 && !controls_.finish;
  if (wants_work && ask_at > now)
    status.details.push_back("work: asking again in " + seconds_text(ask_at - now));
  if (!talk_.trouble().empty()) status.details.push_back("connection: " + talk_.trouble());
  return status;
}

}  // namespace gleaner::engine
