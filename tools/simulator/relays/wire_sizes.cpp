#include "tools/simulator/relays/wire_sizes.h"

#include <string>

#include "shared/protocol/codec.h"

namespace gleaner::simulator {
namespace {

template <typename Message>
double size_of(const Message& message) {
  return static_cast<double>(protocol::encode(message).size());
}

// Of a grown project: numbers of seven digits, digests and keys as long as they are.
constexpr std::int64_t number = 5'000'000;
const std::string digest(32, 'd'), key(32, 'k'), signature(64, 's');

WireSizes measure() {
  using namespace protocol;
  WireSizes sizes;
  WorkRequest request;
  request.platforms = {"linux-x86_64"};
  request.memory_bytes = 8'000'000'000;
  request.cores = 8;
  request.proposal.performance = 4321.5;
  request.proposal.watts = 12.5;
  sizes.request = size_of(request);
  WorkRequest with = request;
  CommitRequest commit;
  commit.unit = {number};
  commit.range = {number, number + 1000};
  commit.digest = digest;
  commit.bytes = number;
  commit.compute_seconds = 1234.5;
  with.commits.push_back(commit);
  sizes.commit = size_of(with) - sizes.request;
  with = request;
  UnitReport report;
  report.unit = {number};
  report.finished = number;
  report.rate = 0.1234;
  report.item_seconds = 12.345;
  report.item_share = 0.1234;
  report.running_seconds = 1234.5;
  with.units.push_back(report);
  sizes.report = size_of(with) - sizes.request;
  with = request;
  with.slots.push_back({});
  sizes.slot = size_of(with) - sizes.request;

  const auto signed_by_us = [](StatementType type, std::string payload) {
    SignedStatement statement;
    statement.type = type;
    statement.payload = std::move(payload);
    statement.key = key;
    statement.signature = signature;
    return statement;
  };
  WorkReply reply;
  reply.slowest_performance = 1234.5;
  sizes.reply = size_of(reply);
  WorkReply answer = reply;
  Acknowledgement acknowledgement;
  acknowledgement.unit = {number};
  acknowledgement.host = {number};
  acknowledgement.range = commit.range;
  acknowledgement.digest = digest;
  acknowledgement.status = CommitStatus::accepted;
  acknowledgement.items_accepted = 1000;
  answer.acknowledgements.push_back(signed_by_us(StatementType::acknowledgement, encode(acknowledgement)));
  sizes.acknowledgement = size_of(answer) - sizes.reply;
  answer = reply;
  answer.units.push_back({{number}, UnitAction::go_on, number, {}});
  sizes.order = size_of(answer) - sizes.reply;
  answer = reply;
  Grant grant;
  grant.unit = {number};
  grant.host = {number};
  grant.problem = {100};
  grant.problem_name = "a problem";
  grant.range = commit.range;
  grant.parameters_digest = digest;
  grant.cost = 1234.5;
  grant.reason = "70 % of the time that remains, at this host's rate";
  grant.context = digest;
  answer.grants.push_back(signed_by_us(StatementType::grant, encode(grant)));
  answer.grant_slots.push_back(0);
  sizes.grant = size_of(answer) - sizes.reply;
  return sizes;
}

}  // namespace

const WireSizes& wire_sizes() {
  static const WireSizes sizes = measure();
  return sizes;
}

}  // namespace gleaner::simulator
