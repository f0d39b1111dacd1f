#include "tools/loadgen/working.h"

#include <algorithm>

#include "shared/protocol/codec.h"
#include "tools/loadgen/http_text.h"

namespace gleaner::loadgen {
namespace {

constexpr Duration least_pause_without_work = std::chrono::milliseconds{50};
constexpr Duration pause_after_error = std::chrono::seconds{1};
constexpr Duration absence = std::chrono::seconds{10};

Outcome outcome_of(protocol::CommitStatus status) {
  switch (status) {
    case protocol::CommitStatus::accepted:
      return Outcome::accepted;
    case protocol::CommitStatus::duplicate:
      return Outcome::duplicate;
    case protocol::CommitStatus::refused:
      break;
  }
  return Outcome::refused;
}

std::vector<std::optional<crypto::PrivateKey>> keys_of(const std::vector<EnrolledHost>& hosts) {
  std::vector<std::optional<crypto::PrivateKey>> keys;
  for (const EnrolledHost& host : hosts) {
    auto key = crypto::PrivateKey::from_pem(host.key);
    keys.push_back(key.ok() ? std::optional(std::move(key).value()) : std::nullopt);
  }
  return keys;
}

}  // namespace

Working::Working(const WorkOptions& options, std::vector<EnrolledHost> hosts, std::string authority,
                 crypto::ProjectTrust trust, Ledger& ledger)
    : options_(options),
      enrolled_(std::move(hosts)),
      keys_(keys_of(enrolled_)),
      authority_(std::move(authority)),
      trust_(std::move(trust)),
      ledger_(ledger),
      random_(options.results.seed),
      states_(enrolled_.size()) {}

Request Working::request(std::size_t host) {
  HostState& state = states_[host];
  if (!state.composed) draw_trick(state);
  state.composed = true;
  Request request = compose(host);
  if (state.trick == Trick::hang_up) {
    request.manner = Manner::hang_up;
    state.trick = Trick::none;  // it says the same again, and waits
  }
  return request;
}

void Working::draw_trick(HostState& state) {
  state.trick = Trick::none;
  if (options_.errors <= 0 || !random_.chance(options_.errors)) return;
  if (options_.mode == Mode::cycle) state.trick = static_cast<Trick>(random_.between(1, 3));
  if (state.trick == Trick::repeat && state.acknowledged.empty()) state.trick = Trick::none;
  if (state.trick == Trick::spoil && state.held.empty()) state.trick = Trick::none;
}

Request Working::compose(std::size_t host) {
  HostState& state = states_[host];
  const std::string& token = enrolled_[host].token;
  if (options_.mode == Mode::project) return {request_text(authority_, "/v1/project", "", "")};
  const bool beats = options_.mode == Mode::heartbeat ? !state.held.empty() : state.beats_left > 0;
  if (!beats) return {request_text(authority_, "/v1/work", token, protocol::encode(work_request(host)))};
  protocol::HeartbeatRequest request;
  for (const Held& held : state.held) {
    protocol::UnitReport report;
    report.unit = held.unit;
    report.finished = held.range.begin;
    report.rate = 1;
    report.running_seconds = 1;
    request.units.push_back(std::move(report));
  }
  return {request_text(authority_, "/v1/heartbeat", token, protocol::encode(request))};
}

protocol::CommitRequest Working::result(std::size_t host, const Held& held) const {
  auto commit = make_result(options_.results, held.unit, held.range);
  if (!keys_[host]) return commit;
  const protocol::Delivery delivery{trust_.project, enrolled_[host].id, held.unit,     held.problem,
                                    held.stage,     held.range,         commit.digest, commit.bytes};
  commit.delivery =
      crypto::sign_statement(protocol::StatementType::delivery, protocol::encode(delivery), *keys_[host]);
  return commit;
}

protocol::WorkRequest Working::work_request(std::size_t host) const {
  const HostState& state = states_[host];
  protocol::WorkRequest request;
  if (options_.mode == Mode::cycle) {
    if (state.trick == Trick::repeat)
      for (const Held& again : state.acknowledged) request.commits.push_back(result(host, again));
    for (const Held& held : state.held) request.commits.push_back(result(host, held));
    if (state.trick == Trick::spoil) spoil(request.commits.back());
  }
  for (std::int64_t slot = 0; slot < options_.units_per_request; ++slot)
    request.slots.push_back({static_cast<int>(slot), true});
  request.platforms = {"x86_64-linux"};
  request.memory_bytes = std::int64_t{1} << 40;
  request.cores = static_cast<int>(options_.units_per_request);
  request.proofs = true;
  request.contexts.emplace();
  if (state.context != nullptr) request.contexts->push_back(*state.context);
  request.proposal.performance = 1000;
  return request;
}

Next Working::answered(std::size_t host, const Response& response) {
  const Next next = take_answer(host, response);
  const std::int64_t answers = ++states_[host].answers;
  if (options_.rounds > 0 && answers >= options_.rounds) return {false};
  return next;
}

Next Working::take_answer(std::size_t host, const Response& response) {
  HostState& state = states_[host];
  state.composed = false;
  if (response.status != 200) return refused(host, response.status);
  if (options_.mode == Mode::project) return {true, pause({})};
  const bool beat = options_.mode == Mode::heartbeat ? !state.held.empty() : state.beats_left > 0;
  if (!beat) return take_work(host, response);
  ++tally_.heartbeats;
  const auto reply = protocol::decode<protocol::HeartbeatReply>(response.body);
  if (!reply.ok()) blame(tally_.contradictions, reply.error().message);
  std::vector<Held> nothing;
  if (reply.ok() && reply->acknowledgements)
    for (const auto& statement : *reply->acknowledgements)
      take_acknowledgement(host, statement, false, nothing, nothing);
  if (options_.mode == Mode::heartbeat) return {true, pause({})};
  --state.beats_left;
  return {true, computing(state) / (options_.heartbeats + 1)};
}

Next Working::take_work(std::size_t host, const Response& response) {
  HostState& state = states_[host];
  auto reply = protocol::decode<protocol::WorkReply>(response.body);
  if (!reply.ok()) {
    blame(tally_.contradictions, "the answer cannot be read: " + reply.error().message);
    give_up(state, enrolled_[host].id);
    return {true, pause_after_error};
  }
  const bool verify = options_.verify_every > 0 && ++answers_ % options_.verify_every == 0;
  const std::int64_t untrusted_before = tally_.untrusted;
  std::vector<Held> open = std::move(state.held);
  if (options_.mode != Mode::cycle) open.clear();
  std::vector<Held> again = std::move(state.acknowledged);
  if (state.trick != Trick::repeat) again.clear();
  state.held.clear();
  state.acknowledged.clear();
  const std::size_t sent = open.size();
  for (const auto& statement : reply->acknowledgements)
    take_acknowledgement(host, statement, verify, open, again);
  if (reply->held)
    for (const auto& held : *reply->held) take_held(state, held, open);
  const bool taken = open.size() < sent;
  for (const Held& missing : open) {
    blame(tally_.contradictions,
          "unit " + std::to_string(missing.unit.value) + " was delivered, but not answered");
    ledger_.add(Outcome::unanswered, missing.unit, enrolled_[host].id, missing.range,
                make_result(options_.results, missing.unit, missing.range).digest);
  }
  take_grants(host, *reply, verify);
  state.trick = Trick::none;
  if (verify) ++tally_.verified;
  if (verify && tally_.untrusted != untrusted_before) return {true, pause_after_error};
  if (taken && !reply->grants.empty()) ++tally_.cycles;
  if (reply->grants.empty()) {
    ++tally_.idle;
    const Duration told = std::max(from_seconds(reply->retry_after_seconds), least_pause_without_work);
    return {true, options_.stubborn ? Duration{0} : told};
  }
  if (options_.errors > 0 && options_.mode == Mode::cycle && random_.chance(options_.errors / 4))
    return vanish(state);
  state.beats_left = options_.mode == Mode::cycle ? options_.heartbeats : 0;
  return {true, pause(computing(state) / (state.beats_left + 1))};
}

void Working::take_acknowledgement(std::size_t host, const protocol::SignedStatement& statement, bool verify,
                                   std::vector<Held>& open, std::vector<Held>& again) {
  HostState& state = states_[host];
  const HostId id = enrolled_[host].id;
  auto checked = verify ? crypto::check_acknowledgement(statement, trust_, id)
                        : protocol::decode<protocol::Acknowledgement>(statement.payload);
  if (!checked.ok()) return blame(verify ? tally_.untrusted : tally_.contradictions, checked.error().message);
  const protocol::Acknowledgement& answer = *checked;
  const auto is_it = [&](const Held& held) { return held.unit == answer.unit && held.range == answer.range; };
  if (const auto repeated = std::find_if(again.begin(), again.end(), is_it); repeated != again.end()) {
    ++tally_.repeated;
    again.erase(repeated);
    if (answer.status == protocol::CommitStatus::refused)
      blame(tally_.contradictions,
            "unit " + std::to_string(answer.unit.value) + ", sent again, was refused: " + answer.reason);
    return;
  }
  const auto awaited = std::find_if(state.with_relay.begin(), state.with_relay.end(), is_it);
  if (awaited != state.with_relay.end()) {
    open.push_back(*awaited);
    state.with_relay.erase(awaited);
  }
  const auto found = std::find_if(open.begin(), open.end(), is_it);
  if (found == open.end() && keys_[host]) return;  // a relay may say it again, for all it knows
  if (found == open.end())
    return blame(tally_.contradictions,
                 "unit " + std::to_string(answer.unit.value) + " was acknowledged, but not delivered");
  auto sent = make_result(options_.results, found->unit, found->range);
  const bool spoiled = state.trick == Trick::spoil && found + 1 == open.end() && answer.digest != sent.digest;
  if (spoiled) spoil(sent);
  tally_.spoiled += spoiled ? 1 : 0;
  const bool refused = answer.status == protocol::CommitStatus::refused;
  const std::string name =
      "unit " + std::to_string(answer.unit.value) + " of host " + std::to_string(id.value);
  if (answer.digest != sent.digest || (spoiled && !refused))
    blame(tally_.contradictions, name + " was accepted with other bytes than were sent");
  else if (refused && !spoiled)
    blame(tally_.refused, name + " was refused: " + answer.reason);
  ledger_.add(outcome_of(answer.status), found->unit, id, found->range, sent.digest);
  if (!refused) {
    ++tally_.units;
    state.acknowledged.push_back(*found);
  }
  open.erase(found);
}

void Working::take_held(HostState& state, const protocol::HeldResult& result, std::vector<Held>& open) {
  const auto found = std::find_if(open.begin(), open.end(), [&result](const Held& held) {
    return held.unit == result.unit && held.range == result.range;
  });
  if (found == open.end()) return;  // it was acknowledged with the same answer
  state.with_relay.push_back(*found);
  open.erase(found);
}

Next Working::refused(std::size_t host, int status) {
  HostState& state = states_[host];
  give_up(state, enrolled_[host].id);
  if (status != 401 && status != 403) return {true, pause_after_error};
  ++tally_.dismissed;
  return {false};
}

void Working::forget(HostState& state) {
  const std::int64_t answers = state.answers;
  state = {};
  state.answers = answers;
}

// What it holds, one unit beside the other.
Duration Working::computing(const HostState& state) const {
  std::int64_t items = 0;
  for (const Held& held : state.held) items = std::max(items, held.range.size());
  return options_.compute + options_.item * items;
}

Duration Working::pause(Duration least) {
  if (options_.think <= Duration{0}) return least;
  return least + from_seconds(random_.exponential(to_seconds(options_.think)));
}

// Its units are never delivered; when it comes back it does not know them, and the server gives them to
// others.
Next Working::vanish(HostState& state) {
  ++tally_.vanished;
  forget(state);
  return {true, absence};
}

void Working::give_up(HostState& state, HostId host) {
  if (options_.mode == Mode::cycle && state.beats_left == 0)
    for (const Held& held : state.held)
      ledger_.add(Outcome::unanswered, held.unit, host, held.range,
                  make_result(options_.results, held.unit, held.range).digest);
  forget(state);
}

void Working::close_books() {
  for (std::size_t host = 0; host < states_.size(); ++host)
    if (states_[host].composed) give_up(states_[host], enrolled_[host].id);
}

void Working::blame(std::int64_t& counter, const std::string& what) {
  ++counter;
  if (first_fault_.empty()) first_fault_ = what;
}

}  // namespace gleaner::loadgen
