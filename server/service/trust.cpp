#include "server/service/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

#include "server/policy/trust/witness.h"
#include "server/service/dispatch.h"
#include "server/service/life_cycle.h"
#include "shared/crypto/keys.h"

namespace gleaner::service {
namespace {

// Who was heard of since may still be asked for an opinion.
constexpr std::chrono::hours here_for{1};

// Nobody outside knows the key, so nobody can tell which items are drawn; the same delivery draws the same.
Random draw_for(const Model& model, std::string_view what, std::int64_t number) {
  const Bytes digest = crypto::sha256(fmt::format("{} {} {}", model.audit_key, what, number));
  std::uint64_t seed = 0;
  std::memcpy(&seed, digest.data(), sizeof seed);
  return Random(seed);
}

// It could be asked for an opinion now. One under a relay is not asked by the project.
bool is_here(const Host& host, Timestamp now) {
  return host.row.state == protocol::HostState::active && host.row.relay == HostId{} &&
         now - host.row.last_contact < here_for;
}

// Where the project has hosts of its own that are here, these alone make spot checks; else none is barred.
std::vector<HostId> strangers(const Model& model, Timestamp now) {
  std::vector<HostId> others;
  bool own_here = false;
  for (const auto& [id, host] : model.hosts) {
    if (host.row.state != protocol::HostState::active) continue;
    if (!model.reputation.is_own(id))
      others.push_back(id);
    else
      own_here = own_here || is_here(host, now);
  }
  return own_here ? others : std::vector<HostId>{};
}

// In order.
std::vector<HostId> hosts_here(const Model& model, Timestamp now) {
  std::vector<HostId> here;
  for (const auto& [id, host] : model.hosts)
    if (is_here(host, now)) here.push_back(id);
  return here;
}

std::string items_text(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " item" : " items");
}

int quorum_of(const Problem& problem) {
  const auto validation = policy::parse_validation(problem.row.validation);
  return validation.ok() ? validation->quorum : 1;
}

policy::Witnesses witnesses(const Model& model, const Problem& problem, Timestamp now) {
  return {model.reputation, model.parties, problem.row.application, quorum_of(problem), now};
}

// Where those who are here are too few parties for a verdict of the problem's: says so. Else empty.
std::string missing_parties(const Model& model, const Problem& problem, const std::vector<HostId>& here,
                            Timestamp now) {
  const int quorum = quorum_of(problem);
  if (quorum <= 1 && here.size() < 2) return {};  // said by how many may
  for (const HostId host : here)
    if (model.reputation.is_own(host)) return {};
  const std::size_t parties = witnesses(model, problem, now).parties_of(here);
  if (std::cmp_greater_equal(parties, std::max(quorum, 2))) return {};
  if (quorum > 1)
    return fmt::format(
        "{} asks for {} hosts of different owners and networks that agree, and those of the last hour are of "
        "{}",
        problem.row.validation, quorum, parties);
  return fmt::format(
      "the {} hosts of the last hour are newcomers of one owner or network, which count as one; a host of "
      "another, or one of the project's own (gleaner-admin code add NAME --own), may",
      here.size());
}

Status ask_for(Transaction& tx, Problem& problem, const std::vector<policy::Audit>& audits) {
  if (audits.empty()) return {};
  policy::Changes changes;
  for (const policy::Audit& audit : audits)
    problem.stage->dispute(audit.range, {audit.host}, tx.now, changes,
                           barred(tx.model, problem, {audit.host}, tx.now));
  return store_stage(tx, problem, changes);
}

Status keep(Transaction& tx, HostId host, const Problem& problem, const policy::Standing& standing) {
  return tx.store.put_standing(host, problem.row.application, standing);
}

// Its units of the application are given back: what it would still deliver would have to be computed again.
Status take_units(Transaction& tx, HostId host, Problem& problem) {
  if (!problem.stage) return {};
  policy::Changes changes;
  for (const UnitId unit : UnitSet(tx.model.hosts[host].units)) {
    const auto place = tx.model.open_units.find(unit);
    if (place == tx.model.open_units.end() || place->second != problem.row.id) continue;
    problem.stage->give_back(host, unit, policy::Stage::GiveBack::returned, 0,
                             "the host's results were found wrong", tx.now, changes);
  }
  return store_stage(tx, problem, changes);
}

Status take_back(Transaction& tx, HostId host, Problem& problem) {
  if (!problem.stage || !problem.audits) return {};
  policy::Changes changes;
  for (const Range range : problem.audits->doubtful(host)) {
    TRY_ASSIGN(const auto segments, tx.store.segments_over(problem.row.id, problem.row.stage, range));
    TRY(tx.store.unaccept(problem.row.id, problem.row.stage, range));
    for (const auto& segment : segments)
      if (segment.host == host && range.contains(segment.range)) TRY(tx.store.drop_segment(segment.id));
    problem.audits->reopened(range);
    problem.stage->count_use(host, range, policy::Stage::Use::none, changes);
    problem.stage->reject(range, "its host was found to deliver wrong results", tx.now, changes);
    tx.effects.warn(fmt::format("problem {}: items {}-{} are computed again: host {} was found wrong",
                                problem.row.id.value, range.begin, range.end, host.value));
  }
  return store_stage(tx, problem, changes);
}

Status distrust(Transaction& tx, HostId host, ApplicationId application) {
  for (auto& [id, problem] : tx.model.problems) {
    if (over(problem.row.state)) continue;
    if (problem.row.application == application) TRY(take_units(tx, host, problem));
    TRY(take_back(tx, host, problem));
  }
  tell_dispatch(tx, tx.model.hosts[host]);
  return {};
}

}  // namespace

void begin_audits(Problem& problem) {
  const auto validation = policy::parse_validation(problem.row.validation);
  problem.audits.emplace(problem.row.application, validation.ok() ? *validation : policy::Validation{});
}

Status restore_audits(Transaction& tx, Problem& problem) {
  if (!problem.stage) return {};
  begin_audits(problem);
  if (!problem.audits->wanted()) return {};
  TRY_ASSIGN(auto rows, tx.store.accepted(problem.row.id, problem.row.stage));
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.segment < b.segment; });
  TRY_ASSIGN(const auto segments,
             tx.store.segments_over(problem.row.id, problem.row.stage, {0, problem.stage_row.items}));
  std::unordered_map<SegmentId, HostId> hosts;
  for (const auto& segment : segments) hosts[segment.id] = segment.host;
  std::vector<policy::Audit> audits;
  for (const auto& row : rows) {
    const auto host = hosts.find(row.segment);
    if (host == hosts.end()) continue;  // said where the stage is combined
    Random draw = draw_for(tx.model, "segment", row.segment.value);
    const auto drawn = problem.audits->accepted(host->second, row.range, tx.model.reputation, draw, tx.now);
    audits.insert(audits.end(), drawn.begin(), drawn.end());
  }
  RangeSet verified;
  TRY_ASSIGN(const auto verdicts, tx.store.verdicts(problem.row.id));
  for (const auto& verdict : verdicts)
    if (verdict.stage == problem.row.stage && (verdict.agree || verdict.wrong_host.valid()))
      verified.add(verdict.range);
  for (const Range range : verified.ranges()) problem.audits->verified(range);
  std::vector<policy::Audit> left;
  for (const policy::Audit& audit : audits)
    for (const Range range : verified.missing(audit.range)) left.push_back({range, audit.host});
  return ask_for(tx, problem, left);
}

Status audit_accepted(Transaction& tx, Problem& problem, HostId host, SegmentId segment,
                      const std::vector<Range>& accepted) {
  if (!problem.stage || !problem.audits) return {};
  Random draw = draw_for(tx.model, "segment", segment.value);
  std::vector<policy::Audit> audits;
  for (const Range range : accepted) {
    const auto drawn = problem.audits->accepted(host, range, tx.model.reputation, draw, tx.now);
    audits.insert(audits.end(), drawn.begin(), drawn.end());
  }
  return ask_for(tx, problem, audits);
}

Result<bool> audit_rest(Transaction& tx, Problem& problem) {
  if (!problem.stage || !problem.audits || problem.stage_row.enough) return false;
  Random draw = draw_for(tx.model, "closing", problem.row.id.value);
  const auto audits = problem.audits->closing(tx.model.reputation, draw, tx.now);
  if (audits.empty()) return false;
  TRY(ask_for(tx, problem, audits));
  return true;
}

Status learn_from(Transaction& tx, Problem& problem, const ReviewFinding& finding) {
  const auto& right = finding.verdict.right;
  const auto& wrong = finding.verdict.wrong;
  std::set<HostId> agreed, refuted;
  for (const std::size_t index : right) agreed.insert(finding.opinions[index].host);
  for (const std::size_t index : wrong) refuted.insert(finding.opinions[index].host);
  const ApplicationId application = problem.row.application;
  if (agreed.size() + refuted.size() < 2 || !finding.verdict.independent) return {};
  if (problem.audits) problem.audits->verified(finding.range);
  const auto items = static_cast<double>(finding.range.size());
  for (const HostId host : agreed)
    TRY(keep(tx, host, problem, tx.model.reputation.verified(host, application, items, tx.now)));
  for (const HostId host : refuted) {
    Host& known = tx.model.hosts[host];
    if (std::exchange(known.row.own, false)) TRY(tx.store.update_host(known.row));
    TRY(keep(tx, host, problem, tx.model.reputation.found_wrong(host, application, tx.now)));
    TRY(distrust(tx, host, application));
  }
  return {};
}

policy::VerdictTerms verdict_terms(const Model& model, const Problem& problem, Timestamp now) {
  const policy::TrustRules rules;
  const int quorum = quorum_of(problem);
  policy::VerdictTerms terms{rules.odds, rules.coincidence, quorum};
  std::size_t here = 0;
  for (const auto& [id, host] : model.hosts) {
    if (is_here(host, now)) ++here;
    if (here == policy::opinions_most) break;
  }
  terms.opinions_max = policy::opinions_max(here, quorum);
  return terms;
}

policy::Opinion witness(const Model& model, const Problem& problem, HostId host, Timestamp now) {
  return witnesses(model, problem, now).of(host);
}

std::vector<HostId> barred(const Model& model, const Problem& problem, const std::vector<HostId>& asked,
                           Timestamp now) {
  const auto validation = policy::parse_validation(problem.row.validation);
  std::vector<HostId> all = witnesses(model, problem, now).partners(asked);
  if (!validation.ok() || validation->kind != policy::Validation::Kind::spot) return all;
  const std::vector<HostId> others = strangers(model, now);
  std::vector<HostId> both;
  std::set_union(all.begin(), all.end(), others.begin(), others.end(), std::back_inserter(both));
  return both;
}

std::string opinions_waited_for(const Model& model, const Problem& problem, Timestamp now) {
  const std::vector<HostId> here = hosts_here(model, now);
  std::int64_t wanted = 0, hopeless = 0, under_way = 0;
  std::size_t fewest = here.size();  // that may be asked
  for (const policy::OpenQuestion& question : policy::open_questions(problem.stage->view())) {
    if (question.under_way) {
      under_way += question.range.size();
      continue;
    }
    const std::set<HostId> settled(question.settled.begin(), question.settled.end());
    const std::size_t left = here.size() - static_cast<std::size_t>(std::count_if(
                                               settled.begin(), settled.end(), [&](HostId host) {
                                                 return std::binary_search(here.begin(), here.end(), host);
                                               }));
    fewest = std::min(fewest, left);
    wanted += question.range.size();
    if (left == 0) hopeless += question.range.size();
  }
  if (wanted == 0)
    return under_way > 0 ? fmt::format("another host computes {}, too", items_text(under_way))
                         : "results of several hosts are being compared";
  const std::string what =
      "another host must compute " + items_text(hopeless > 0 ? hopeless : wanted) + ", too";
  const std::string quorum = missing_parties(model, problem, here, now);
  if (!quorum.empty()) return what + ": " + quorum;
  if (hopeless == 0) return fmt::format("{}: {} of the {} of the last hour may", what, fewest, here.size());
  const bool one = here.size() == 1;
  return fmt::format("{}, and {} of the last hour {} answered, or could prove nothing", what,
                     one ? "the one" : fmt::format("all {}", here.size()), one ? "has" : "have");
}

}  // namespace gleaner::service
