#include "server/relay/uplink.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>
#include <random>
#include <set>
#include <utility>

#include "server/relay/leases/upstream_failures.h"
#include "server/relay/leases/upstream_results.h"
#include "server/service/core/departures.h"
#include "shared/base/limits.h"
#include "shared/base/thread_name.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/statements.h"
#include "shared/io/compression.h"
#include "shared/protocol/stage_costs.h"

namespace gleaner::relay {
namespace {

// Hosts' words within it go up in one message.
constexpr Duration glance = std::chrono::milliseconds{200};
// The calendar may jump, and nobody tells this thread.
constexpr Duration longest_rest = std::chrono::seconds{10};
constexpr Duration failures_again = std::chrono::seconds{10};
constexpr Duration first_silence = std::chrono::seconds{1}, longest_silence = std::chrono::minutes{2};
// base64 makes a third more of it, and statements stand beside.
constexpr std::int64_t message_bytes_max =
    limits::json_message_bytes_max / 2 - limits::inline_segment_bytes_max;
// What is larger is not expected to fit a message, however well it packs.
constexpr std::int64_t tried_bytes_max = 16 * limits::inline_segment_bytes_max;

// Of this run (policy/instances.h).
protocol::Instance new_instance() {
  std::int64_t id = 0;
  for (const char byte : crypto::random_secret(6)) id = id << 8 | static_cast<unsigned char>(byte);
  return {std::max<std::int64_t>(1, id), 0};
}

}  // namespace

Uplink::Uplink(service::Service& service, ParentCalls& parent, Bytes root_fingerprint, Standing standing)
    : service_(service),
      parent_(parent),
      root_fingerprint_(std::move(root_fingerprint)),
      standing_(std::move(standing)),
      instance_(new_instance()),
      carrier_(parent, [this] { stir(); }),
      random_(std::random_device{}()) {}

Uplink::~Uplink() {
  stop();
}

void Uplink::start() {
  http_ = parent_.make_client();
  carrier_.start();
  thread_ = std::thread([this] {
    name_this_thread("uplink");
    service_.kernel().writer().watch([this, own = std::this_thread::get_id()] {
      if (std::this_thread::get_id() != own) stir();
    });
    run();
    service_.kernel().writer().watch({});
  });
}

void Uplink::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  carrier_.stop();
  if (thread_.joinable()) thread_.join();
}

void Uplink::run() {
  while (!stopping_) {
    {
      const std::lock_guard lock(mutex_);
      stirred_ = false;  // what happens from now on may come behind what is asked now
    }
    const Pause pause = speak();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, pause.least, [this] { return stopping_.load(); });
    if (pause.most > pause.least)
      wake_.wait_for(lock, pause.most - pause.least, [this] { return stopping_ || stirred_; });
  }
}

void Uplink::stir() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stirred_, true)) return;
  }
  wake_.notify_all();
}

template <typename Value>
Result<Value> Uplink::decide(std::function<Status(service::Transaction&, Result<Value>&)> operation) {
  std::promise<Result<Value>> answer;
  service_.kernel().decide<Value>(std::move(operation),
                                  [&answer](Result<Value> value) { answer.set_value(std::move(value)); });
  return answer.get_future().get();
}

Uplink::Pause Uplink::speak() {
  using service::NextMessage;
  const Status room = service_.kernel().can_store();
  auto next = decide<NextMessage>([link = parent_.link(), arrived = carrier_.arrived(), key = work_key(),
                                   unable = room.ok() ? std::string() : room.error().message](
                                      service::Transaction& tx, Result<NextMessage>& value) -> Status {
    service::note_unable(upstream_of(tx.model), unable);
    upstream_of(tx.model).link = link;
    upstream_of(tx.model).work_key = key;
    if (arrived) upstream_of(tx.model).sends_at = tx.now;
    NextMessage found;
    TRY(service::next_message(tx, found));
    value = std::move(found);
    return {};
  });
  constexpr Duration second = std::chrono::seconds{1};
  if (!next.ok()) return {second, second};
  const bool more = !next->failures.empty();
  if (more) tell_failures(std::move(next->failures));
  if (!next->message && more) return {glance, glance};
  if (!next->message)
    return {glance, std::min<Duration>(longest_rest, next->until - service_.kernel().clock().now())};
  Status heard = exchange(*next->message);
  // Who was put out does not come back by itself, whatever the parent forgets later.
  if (!heard.ok() && heard.error().kind == ErrorKind::forbidden) put_out_ = true;
  if (!heard.ok() && heard.error().kind == ErrorKind::unauthorized && !put_out_)
    heard = take_unknown(heard.error());
  if (heard.ok()) {
    silences_ = 0;
    return {};
  }
  const Duration longest = std::min(longest_silence, first_silence * (1 << std::min(silences_, 7)));
  ++silences_;
  const Duration pause = longest / 2 + from_seconds(random_.uniform() * to_seconds(longest) / 2);
  const auto told = decide<bool>([message = std::move(*next->message), why = heard.error().message, pause](
                                     service::Transaction& tx, Result<bool>& value) -> Status {
    service::take_silence(tx, message, why, tx.now + pause);
    value = true;
    return {};
  });
  static_cast<void>(told);  // a model that was read back knows of no message
  return {glance, glance};
}

Status Uplink::take_unknown(const Error& error) {
  const Status joined = standing_.join_again();
  if (!joined.ok()) return joined.error().within(error.message);
  stopping_ = true;
  return {};
}

void Uplink::tell_failures(std::vector<protocol::FailureReport> failures) {
  Duration pause{0};
  std::vector<protocol::FailureReport> told;
  for (auto& report : failures) {
    const auto answer =
        transport::call(*http_, parent_.server(),
                        transport::json_request(parent_.server(), "/v1/failure", protocol::encode(report)));
    if (!answer.reply.ok()) {
      const Error& error = answer.reply.error();
      if (error.kind == ErrorKind::unavailable) {
        pause = failures_again;
        break;
      }
      spdlog::warn("the parent does not take that item {} of unit {} failed: {}", report.item,
                   report.unit.value, error.message);
    }
    told.push_back(std::move(report));
  }
  const auto noted =
      decide<bool>([told = std::move(told), pause](service::Transaction& tx, Result<bool>& value) -> Status {
        service::failures_told(tx, told, tx.now + pause);
        value = true;
        return {};
      });
  static_cast<void>(noted);  // a model that was read back knows of no failure
}

Status Uplink::exchange(service::UpMessage& message) {
  add_bytes(message);
  ++instance_.sequence;
  message.request.instance = instance_;
  const auto request =
      transport::json_request(parent_.server(), "/v1/work", protocol::encode(message.request));
  for (auto& commit : message.request.commits) commit.data.reset();
  TRY_ASSIGN(auto reply,
             transport::understand<protocol::WorkReply>(transport::call(*http_, parent_.server(), request)));
  if (reply.instance == protocol::InstanceOrder::renew) instance_ = new_instance();
  if (reply.instance == protocol::InstanceOrder::part) {
    if (!stopping_.exchange(true)) standing_.copied();
    return Error{ErrorKind::conflict, "the parent serves another relay with this one's identity"};
  }
  parent_.heard(reply.revocations.value_or(0));
  TRY_ASSIGN(auto leases, service::read_leases(reply));
  if (!reply.acknowledgements.empty() || !leases.empty()) {
    TRY_ASSIGN(const auto trust, trust_for(reply, leases));
    TRY(check_answers(reply, trust));
  }
  std::vector<service::LeasedStage> stages;
  std::set<std::pair<ProblemId, int>> seen;
  for (const auto& lease : leases) {
    if (!seen.insert({lease.grant.problem, lease.grant.stage}).second) continue;
    auto stage = look_up(lease.grant.problem, lease.grant.stage);
    if (stage.ok())
      stages.push_back(std::move(*stage));
    else
      spdlog::warn("problem {}, stage {}: {}", lease.grant.problem.value, lease.grant.stage,
                   stage.error().message);
  }
  using Hosts = std::vector<HostId>;
  const auto gone =
      decide<Hosts>([message, reply = std::move(reply), leases = std::move(leases),
                     stages = std::move(stages)](service::Transaction& tx, Result<Hosts>& value) -> Status {
        TRY(service::take_reply(tx, message, reply, leases, stages));
        Hosts hosts;
        if (reply.put_out) TRY(service::take_put_out(tx, *reply.put_out, hosts));
        value = std::move(hosts);
        return {};
      });
  if (!gone.ok()) return gone.error();
  for (const HostId host : *gone) service_.subtree().departed(host);
  service_.work().serve_waiting();
  return {};
}

Bytes Uplink::work_key() {
  const auto document = parent_.project();
  if (document.payload == document_) return work_key_;
  const auto trust = crypto::check_project(document, root_fingerprint_, service_.kernel().clock().now());
  if (!trust.ok()) return {};
  document_ = document.payload;
  return work_key_ = trust->work_key;
}

Result<crypto::ProjectTrust> Uplink::trust_for(const protocol::WorkReply& reply,
                                               const std::vector<service::LeasedUnit>& leases) {
  const auto document = [this] {
    return crypto::check_project(parent_.project(), root_fingerprint_, service_.kernel().clock().now());
  };
  auto trust = document();
  const auto known = [&trust](const protocol::SignedStatement& statement) {
    return statement.type == protocol::StatementType::relay_grant || statement.key == trust->work_key ||
           crypto::former_work_certificate(*trust, statement.key) != nullptr;
  };
  const auto all_known = [&known](const std::vector<protocol::SignedStatement>& statements) {
    return std::all_of(statements.begin(), statements.end(), known);
  };
  const bool good = trust.ok() && all_known(reply.acknowledgements) &&
                    std::all_of(leases.begin(), leases.end(), [&](const service::LeasedUnit& lease) {
                      return known(lease.statement) && all_known(lease.above);
                    });
  if (good) return trust;
  if (const Status fetched = parent_.fetch_document(); !fetched.ok())
    return fetched.error().within("the project's document cannot be fetched");
  return document();
}

Status Uplink::check_answers(protocol::WorkReply& reply, const crypto::ProjectTrust& trust) {
  const auto others = std::erase_if(
      reply.acknowledgements, [&trust](const auto& statement) { return statement.key != trust.work_key; });
  if (others > 0) {
    constexpr const char* line =
        "the parent sends answers that another work key signed: their results are sent again";
    if (const auto text = other_key_.say(line, service_.kernel().clock().steady())) spdlog::warn("{}", *text);
  }
  const Status checked = crypto::check_acknowledgements(reply.acknowledgements, trust);
  if (!checked.ok()) return checked.error().within("an acknowledgement is not the project's");
  return {};
}

// ---- Results

Result<Bytes> Uplink::bytes_of(const protocol::CommitRequest& commit,
                               const service::UpMessage::Result& result) {
  service::Kernel& kernel = service_.kernel();
  auto bytes = result.in_store ? kernel.store().segment_bytes(result.segment)
                               : kernel.blobs().read(commit.digest, commit.bytes);
  if (!bytes.ok() && bytes.error().kind == ErrorKind::io) return bytes;
  // As its host signed it, or the project would refuse it in this relay's name.
  if (bytes.ok() && crypto::sha256_hex(*bytes) == commit.digest) return bytes;
  const auto told =
      decide<bool>([segment = result.segment](service::Transaction& tx, Result<bool>& value) -> Status {
        value = true;
        return service::lose_result(tx, segment);
      });
  static_cast<void>(told);  // else it is found again with the next message
  return Error{ErrorKind::not_found, "it is damaged or gone here"};
}

void Uplink::add_bytes(service::UpMessage& message) {
  auto& commits = message.request.commits;
  std::vector<protocol::CommitRequest> kept;
  std::vector<service::UpMessage::Result> results;
  std::int64_t all = 0;
  for (std::size_t i = 0; i < commits.size() && all <= message_bytes_max; ++i) {
    auto& commit = commits[i];
    if (!add_bytes(commit, message.results[i])) {
      message.in_vain = true;
      continue;
    }
    if (commit.data) all += static_cast<std::int64_t>(commit.data->size());
    if (commit.given) all += static_cast<std::int64_t>(protocol::encode(commit.given->grant).size());
    kept.push_back(std::move(commit));
    results.push_back(message.results[i]);
  }
  commits = std::move(kept);
  message.results = std::move(results);
}

bool Uplink::add_bytes(protocol::CommitRequest& commit, const service::UpMessage::Result& result) {
  if (result.packed) {
    commit.data = *result.packed;
    return true;
  }
  const auto place = carrier_.place(commit.digest);
  if (place == ResultCarrier::Place::above) carrier_.named(commit.digest);
  if (place != ResultCarrier::Place::here) return place == ResultCarrier::Place::above;
  if (commit.bytes <= tried_bytes_max) {
    const auto bytes = bytes_of(commit, result);
    if (!bytes.ok()) {
      if (const auto line = unread_.say(bytes.error().message, service_.kernel().clock().steady()))
        spdlog::error("a result that was to go up cannot be read: {}", *line);
      return false;
    }
    if (Bytes packed = io::compress(*bytes);
        static_cast<std::int64_t>(packed.size()) <= limits::inline_segment_bytes_max) {
      commit.data = std::move(packed);
      return true;
    }
  }
  carrier_.bring(commit.digest, [this, commit, result] { return bytes_of(commit, result); });
  return false;
}

// ---- Stages

Result<service::LeasedStage> Uplink::look_up(ProblemId problem, int stage) {
  const auto path = fmt::format("/v1/relay/stages/{}/{}", problem.value, stage);
  service::LeasedStage found;
  TRY_ASSIGN(found.description,
             transport::understand<protocol::StageDescription>(
                 transport::call(*http_, parent_.server(), transport::get_request(parent_.server(), path))));
  const auto& description = found.description;
  if (description.problem != problem || description.stage != stage)
    return Error{ErrorKind::unavailable, "the parent described another stage"};
  TRY_ASSIGN(found.manifest, bundle::parse_manifest(description.manifest, "the parent's manifest"));
  if (description.costs) {
    TRY_ASSIGN(found.costs, costs(problem, stage, description.items));
  }
  return found;
}

Result<std::vector<double>> Uplink::costs(ProblemId problem, int stage, std::int64_t items) {
  if (items > limits::hinted_items_max)
    return Error{ErrorKind::too_large, "the parent names costs of more items than there may be"};
  std::vector<double> all;
  while (static_cast<std::int64_t>(all.size()) < items) {
    const auto path = fmt::format("/v1/relay/stages/{}/{}/costs?from={}", problem.value, stage, all.size());
    const auto answer =
        transport::call(*http_, parent_.server(), transport::get_request(parent_.server(), path));
    if (!answer.reply.ok()) return answer.reply.error();
    constexpr auto bytes_max = static_cast<std::int64_t>(protocol::costs_per_reply_max * sizeof(double));
    TRY_ASSIGN(const Bytes raw, io::decompress(answer.reply->body, bytes_max));
    TRY_ASSIGN(const auto some, protocol::unpack_costs(raw));
    all.insert(all.end(), some.begin(), some.end());
  }
  if (static_cast<std::int64_t>(all.size()) != items)
    return Error{ErrorKind::unavailable, "the parent sent the costs of more items than there are"};
  return all;
}

}  // namespace gleaner::relay
