#include "tests/virtual/play.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "shared/crypto/keys.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/segment.h"

namespace gleaner::virtual_time {
namespace {

using protocol::ProblemState;
using service::Transaction;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t problems_open = 3;
constexpr std::size_t commits_sent = 16;  // in one request
constexpr std::size_t settled_kept = 4;
constexpr seconds tick_every{
    60};  // the server's own second, made longer: 86,400 a day would take all the time
constexpr hours drain_most{24 * 20};

// A chance of each contact.
constexpr double lost_request = 0.03, lost_reply = 0.03, sent_again = 0.02, failing_store = 0.04,
                 lying_sync = 0.01, restart = 0.002, vanishes = 0.0003, jump = 0.0002, pause = 0.002;

std::string word(std::int64_t item) {
  return "item-" + std::to_string(item);
}

protocol::CommitRequest results(UnitId unit, Range range, bool last) {
  Bytes segment;
  for (std::int64_t item = range.begin; item < range.end; ++item) protocol::append_item(segment, word(item));
  protocol::CommitRequest request;
  request.unit = unit;
  request.range = range;
  request.digest = crypto::sha256_hex(segment);
  request.bytes = static_cast<std::int64_t>(segment.size());
  request.data = io::compress(segment);
  request.compute_seconds = 1;
  request.last = last;
  return request;
}

std::string text_of(const protocol::Acknowledgement& answer) {
  return fmt::format("{} {}", static_cast<int>(answer.status), answer.items_accepted);
}

// What is open of a problem's stage, and all that was decided and delivered of it.
std::string unsettled(Transaction& tx, ProblemId id) {
  const auto& problem = tx.model.problems.at(id);
  const auto& stage = problem.stage->view();
  RangeSet open;
  for (const Range range : stage.ledger().accepted().missing({0, problem.stage_row.items})) open.add(range);
  for (const Range range : stage.ledger().disputed().ranges()) open.add(range);
  std::string lines =
      fmt::format("\n    {}, {} comparisons under way", problem.row.validation,
                  tx.model.underway.reviews.contains(id) ? tx.model.underway.reviews.at(id) : 0);
  for (const Range range : open.ranges()) {
    const bool disputed = stage.ledger().disputed().overlaps(range);
    lines += fmt::format("\n    {}-{} {}", range.begin, range.end, disputed ? "disputed" : "not accepted");
    for (const auto& segment : must(tx.store.segments_over(id, problem.row.stage, range)))
      lines += fmt::format("\n      segment {} of {}-{}, host {}, unit {}", segment.id.value,
                           segment.range.begin, segment.range.end, segment.host.value, segment.unit.value);
    for (const auto& verdict : must(tx.store.verdicts(id)))
      if (verdict.range.overlaps(range))
        lines +=
            fmt::format("\n      verdict of {}-{}: {}", verdict.range.begin, verdict.range.end, verdict.note);
    for (const auto& row : must(tx.store.decisions(id, 100'000)))
      if (row.decision.range.overlaps(range))
        lines += fmt::format("\n      {} of {}-{}, host {}, unit {}: {}", row.decision.kind,
                             row.decision.range.begin, row.decision.range.end, row.decision.host.value,
                             row.decision.unit.value, row.decision.reason);
  }
  for (const auto* unit : stage.open_units())
    lines += fmt::format("\n    unit {} of {}-{}, host {}, kind {}", unit->id.value, unit->range.begin,
                         unit->range.end, unit->host.value, static_cast<int>(unit->kind));
  return lines;
}

}  // namespace

Play::Play(const Options& options)
    : options_(options), random_(options.seed), server_(std::to_string(options.seed)) {
  for (int number = 0; number < options_.hosts; ++number) {
    Machine machine;
    machine.id = server_.add_host(number);
    machine.item_seconds = 60 * std::pow(10, random_.uniform());
    machine.next = server_.clock().steady() + seconds{random_.between(0, 600)};
    machines_.push_back(std::move(machine));
  }
}

void Play::require(bool held, const std::string& what) const {
  if (held) return;
  fprintf(stderr, "seed %llu, day %.4f: %s\n", static_cast<unsigned long long>(options_.seed),
          to_seconds(server_.now().time_since_epoch()) / 86'400, what.c_str());
  std::_Exit(1);
}

void Play::run() {
  const auto begun = std::chrono::steady_clock::now();
  const SteadyTime last = server_.now() + hours{24} * options_.days;
  ticked_ = server_.now();
  keep_problems();
  while (!over()) {
    const auto machine = std::min_element(machines_.begin(), machines_.end(),
                                          [](const auto& a, const auto& b) { return a.next < b.next; });
    if (faults_ && machine->next >= last) {
      pass_until(last);
      faults_ = false;
      for (auto& each : machines_) each.next = std::min(each.next, last + minutes{10});
      continue;
    }
    if (server_.now() > last + drain_most) tell_what_is_left();
    pass_until(std::max(machine->next, server_.now()));
    contact(*machine);
    if (faults_) disturb(*machine);
  }
  look_at_ledgers();
  server_.restart();
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  fmt::print("seed {}: {} days in {:.1f} s ({:.0f} an hour)", options_.seed, options_.days, took,
             options_.days * 3600 / took);
  for (const auto& [what, count] : counts_) fmt::print(", {} {}", count, what);
  fmt::print("\n");
}

bool Play::over() const {
  return !faults_ && ledgers_.empty();
}

void Play::pass_until(SteadyTime time) {
  while (ticked_ + tick_every <= time) {
    ticked_ += tick_every;
    server_.clock().advance(ticked_ - server_.now());
    server_.service().ticker().tick();
    server_.settle();
    if (++counts_["ticks"] % 10 == 0) keep_problems();
    if (counts_["ticks"] % 240 == 0) look_at_ledgers();
  }
  server_.clock().advance(time - server_.now());
}

// ---- Problems

void Play::keep_problems() {
  std::vector<ProblemId> finished;
  std::size_t open = 0;
  for (const auto& [id, ledger] : ledgers_) {
    const auto info = must(wait<protocol::ProblemInfo>(
        [&, number = id](auto done) { server_.service().problems().show(number, std::move(done)); }));
    require(info.state != ProblemState::failed && info.set_aside.empty(),
            fmt::format("problem {} has lost items: {}", id.value, info.message));
    if (info.state == ProblemState::paused || info.state == ProblemState::stopped)
      (void)wait<protocol::ProblemInfo>([&, number = id](auto done) {
        server_.service().problems().change(number, service::Problems::Action::resume, std::move(done));
      });
    if (info.state == ProblemState::finished)
      finished.push_back(id);
    else
      ++open;
  }
  for (const ProblemId id : finished) {
    const bool waits = std::any_of(machines_.begin(), machines_.end(), [&](const Machine& machine) {
      return std::any_of(machine.outbox.begin(), machine.outbox.end(),
                         [&](const Delivery& delivery) { return delivery.problem == id; });
    });
    if (!waits) close(id);
  }
  static const char* const validations[] = {"checks", "adaptive", "quorum:2", "spot:0.1"};
  static const char* const strategies[] = {"", "rts", "gss", "wis"};
  for (; faults_ && open < problems_open; ++open) {
    const std::int64_t items = random_.between(50, 400);
    protocol::AddProblem request;
    request.application = "numbers";
    request.parameters = fmt::format("{{\"count\":{}}}", items);
    request.validation = validations[random_.below(4)];
    request.strategy = strategies[random_.below(4)];
    const auto added = must(wait<protocol::ProblemInfo>(
        [&](auto done) { server_.service().problems().add(request, std::move(done)); }));
    ledgers_[added.id].items = items;
  }
}

// Everything that hosts had of it is acknowledged.
void Play::close(ProblemId id) {
  const Ledger& ledger = ledgers_.at(id);
  require(ledger.acknowledged == ledger.items,
          fmt::format("of {} items of problem {}, {} were acknowledged as accepted", ledger.items, id.value,
                      ledger.acknowledged));
  const auto info = must(wait<protocol::ProblemInfo>(
      [&](auto done) { server_.service().problems().show(id, std::move(done)); }));
  require(info.results.size() == 1, "a finished problem has no result");
  std::string expected;
  for (std::int64_t item = 0; item < ledger.items; ++item)
    expected += std::to_string(item) + ":" + word(item) + "\n";
  const auto result = server_.service().kernel().blobs().read(info.results[0].digest, 1 << 20);
  require(result.ok() && *result == expected, fmt::format("the result of problem {} is wrong", id.value));
  ++counts_["problems finished"];
  counts_["items"] += ledger.items;
  const auto removed = wait<bool>([&](service::Done<bool> done) {
    server_.service().problems().remove(
        id, [done](Status status) { done(status.ok() ? Result<bool>(true) : Result<bool>(status.error())); });
  });
  require(removed.ok(), "a finished problem cannot be removed");
  ledgers_.erase(id);
  for (Machine& machine : machines_)
    std::erase_if(machine.settled, [&](const auto& settled) { return settled.first.problem == id; });
}

void Play::tell_what_is_left() {
  std::string left;
  for (const auto& [id, ledger] : ledgers_) {
    const auto info = must(wait<protocol::ProblemInfo>(
        [&, number = id](auto done) { server_.service().problems().show(number, std::move(done)); }));
    std::size_t waiting = 0;
    for (const Machine& machine : machines_)
      waiting += static_cast<std::size_t>(
          std::count_if(machine.outbox.begin(), machine.outbox.end(),
                        [&, number = id](const Delivery& delivery) { return delivery.problem == number; }));
    left += fmt::format(
        "\n  problem {} is {}: {} of {} items accepted, {} free, {} acknowledged, {} deliveries "
        "wait: {}",
        id.value, protocol::name_of(info.state), info.accepted, ledger.items, info.free, ledger.acknowledged,
        waiting, info.message);
    left += server_.look<std::string>([number = id](Transaction& tx) { return unsettled(tx, number); });
  }
  require(false, "problems do not end, although nothing fails any more:" + left);
}

// The scheduler's ledger holds together, agrees with the store, and never goes back.
void Play::look_at_ledgers() {
  const auto accepted = server_.look<std::map<ProblemId, std::int64_t>>([](Transaction& tx) {
    std::map<ProblemId, std::int64_t> all;
    for (auto& [id, problem] : tx.model.problems) {
      if (!problem.stage) continue;
      const auto& stage = problem.stage->view();
      stage.check_invariants();
      RangeSet stored;
      for (const auto& row : must(tx.store.accepted(id, problem.row.stage))) stored.add(row.range);
      all[id] = stored.ranges() == stage.ledger().accepted().ranges() ? stored.total() : -1;
    }
    return all;
  });
  for (const auto& [id, items] : accepted) {
    Ledger& ledger = ledgers_.at(id);
    require(items >= 0, fmt::format("memory and store differ in what is accepted of problem {}", id.value));
    require(items >= ledger.accepted, fmt::format("items of problem {} were lost", id.value));
    require(items >= ledger.acknowledged,
            fmt::format("of problem {}, more is acknowledged than accepted", id.value));
    ledger.accepted = items;
  }
}

// ---- Hosts

void Play::compute(Machine& machine) {
  for (Held& held : machine.held) {
    const double passed = to_seconds(server_.now() - held.since);
    const auto done = std::min(static_cast<std::int64_t>(passed / machine.item_seconds), held.rest.size());
    if (done <= 0) continue;
    const Range range{held.rest.begin, held.rest.begin + done};
    machine.outbox.push_back({held.problem, results(held.unit, range, range.end == held.rest.end)});
    held.rest.begin = range.end;
    held.since += from_seconds(static_cast<double>(done) * machine.item_seconds);
  }
  std::erase_if(machine.held, [](const Held& held) { return held.rest.empty(); });
}

protocol::WorkRequest Play::request_of(const Machine& machine) const {
  protocol::WorkRequest request;
  request.platforms = {"x86_64-linux"};
  request.cores = 2;
  for (const Delivery& delivery : machine.outbox) {
    if (request.commits.size() == commits_sent) break;
    request.commits.push_back(delivery.request);
  }
  for (int slot = 0; slot < 2; ++slot)
    if (std::none_of(machine.held.begin(), machine.held.end(),
                     [&](const Held& held) { return held.slot == slot; }))
      request.slots.push_back({slot, true});
  for (const Held& held : machine.held) {
    protocol::UnitReport report;
    report.unit = held.unit;
    report.finished = held.rest.begin;
    report.rate = 1 / machine.item_seconds;
    request.units.push_back(report);
  }
  request.proposal.performance = 60'000 / machine.item_seconds;
  return request;
}

void Play::contact(Machine& machine) {
  compute(machine);
  machine.next = server_.now() + seconds{random_.between(60, 1200)};
  ++counts_["contacts"];
  if (faults_ && random_.chance(lost_request)) return;
  const bool heard = !faults_ || !random_.chance(lost_reply);
  const auto request = request_of(machine);
  const bool armed = faults_ && arm();
  const auto reply = wait<protocol::WorkReply>(
      [&](auto done) { server_.service().work().work(machine.id, request, std::move(done)); });
  if (armed && server_.store().failed()) ++counts_["failing calls of the store"];
  server_.store().heal();
  server_.settle();
  if (!reply.ok()) {
    ++counts_["requests refused"];
    require(reply.error().kind == ErrorKind::unavailable, "a host is told " + reply.error().message);
    return;
  }
  if (!heard) {
    ++counts_["lost replies"];
    return;
  }
  take(machine, *reply);
  if (faults_ && random_.chance(sent_again)) send_again(machine);
}

void Play::take(Machine& machine, const protocol::WorkReply& reply) {
  for (const auto& statement : reply.acknowledgements)
    take_answer(machine, must(protocol::decode<protocol::Acknowledgement>(statement.payload)));
  for (const auto& order : reply.units)
    for (Held& held : machine.held) {
      if (held.unit != order.unit || order.action == protocol::UnitAction::pause) continue;
      const std::int64_t end = order.action == protocol::UnitAction::cancel ? 0 : order.end;
      held.rest.end = std::clamp(end, held.rest.begin, held.rest.end);
    }
  std::erase_if(machine.held, [](const Held& held) { return held.rest.empty(); });
  for (std::size_t i = 0; i < reply.grants.size(); ++i) {
    const auto grant = must(protocol::decode<protocol::Grant>(reply.grants[i].payload));
    const auto ledger = ledgers_.find(grant.problem);
    require(ledger != ledgers_.end() && grant.range.begin >= 0 && !grant.range.empty() &&
                grant.range.end <= ledger->second.items,
            "a unit is of no items that there are");
    machine.held.push_back({grant.unit, grant.problem, grant.range, reply.grant_slots.at(i), server_.now()});
    ++counts_["units"];
  }
}

void Play::take_answer(Machine& machine, const protocol::Acknowledgement& answer) {
  const auto found =
      std::find_if(machine.outbox.begin(), machine.outbox.end(), [&](const Delivery& delivery) {
        const auto& sent = delivery.request;
        return sent.unit == answer.unit && sent.range == answer.range && sent.digest == answer.digest;
      });
  require(found != machine.outbox.end(), "something was acknowledged that was not sent");
  ++counts_[answer.status == protocol::CommitStatus::refused ? "commits refused" : "commits acknowledged"];
  if (answer.items_accepted > 0) ledgers_.at(found->problem).acknowledged += answer.items_accepted;
  if (answer.status != protocol::CommitStatus::refused)
    machine.settled.emplace_back(std::move(*found), text_of(answer));
  if (machine.settled.size() > settled_kept) machine.settled.erase(machine.settled.begin());
  machine.outbox.erase(found);
}

// What was acknowledged already is answered alike.
void Play::send_again(Machine& machine) {
  if (machine.settled.empty()) return;
  const auto& [delivery, said] = machine.settled[random_.below(machine.settled.size())];
  auto request = request_of(machine);
  request.slots.clear();
  request.commits = {delivery.request};
  const auto reply = must(wait<protocol::WorkReply>(
      [&](auto done) { server_.service().work().work(machine.id, request, std::move(done)); }));
  const auto answer = must(protocol::decode<protocol::Acknowledgement>(reply.acknowledgements.at(0).payload));
  require(text_of(answer) == said,
          "a commit that came twice was answered \"" + said + "\", then \"" + text_of(answer) + "\"");
  ++counts_["commits repeated"];
}

// ---- Faults

bool Play::arm() {
  if (random_.chance(failing_store)) {
    server_.store().fail_at(static_cast<int>(random_.between(1, 60)),
                            static_cast<int>(random_.between(1, 3)));
  } else if (random_.chance(lying_sync)) {
    server_.store().lie_at_commit();
  } else {
    return false;
  }
  return true;
}

void Play::disturb(Machine& machine) {
  if (random_.chance(restart)) {
    server_.restart();
    look_at_ledgers();
    ++counts_["restarts"];
  }
  if (random_.chance(jump)) {
    server_.clock().jump_calendar(minutes{random_.between(-300, 300)});
    ++counts_["jumps of the calendar"];
  }
  if (random_.chance(pause) && !ledgers_.empty())
    (void)wait<protocol::ProblemInfo>([&](auto done) {
      server_.service().problems().change(ledgers_.begin()->first, service::Problems::Action::pause,
                                          std::move(done));
    });
  if (random_.chance(vanishes)) {
    const Duration away = hours{random_.between(10, 240)};
    compute(machine);
    for (Held& held : machine.held) held.since += away;  // it is off
    machine.next = server_.now() + away;
    ++counts_["absences"];
  }
}

}  // namespace gleaner::virtual_time
