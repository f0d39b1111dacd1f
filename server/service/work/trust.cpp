#include "server/service/work/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <unordered_map>
#include <utility>

#include "server/service/core/dispatch_terms.h"
#include "server/service/core/stage_changes.h"
#include "shared/crypto/keys.h"

namespace gleaner::service {
namespace {

// Where those who are here are too few parties for a verdict of the problem's: says so. Else empty.
std::string missing_parties(const Model& model, const Problem& problem, const std::vector<HostId>& here,
                            Timestamp now) {
  const int quorum = model.project->validation(problem.row.id).quorum;
  if (quorum <= 1 && here.size() < 2) return {};  // said by how many may
  for (const HostId host : here)
    if (model.project->reputation().is_own(host)) return {};
  const std::size_t parties = model.project->witnesses(problem.row.id, now).parties_of(here);
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

// What a host delivered is worth nothing: its results are deleted, and none of the items is accepted.
Status take_back(Transaction& tx, const policy::ProjectChanges::Doubted& doubted) {
  const auto& [id, host, range] = doubted;
  const int stage = tx.model.problems.at(id).row.stage;
  TRY_ASSIGN(const auto segments, tx.store.segments_over(id, stage, range));
  TRY(tx.store.unaccept(id, stage, range));
  for (const auto& segment : segments)
    if (segment.host == host && range.contains(segment.range)) TRY(tx.store.drop_segment(segment.id));
  tx.effects.warn(fmt::format("problem {}: items {}-{} are computed again: host {} was found wrong", id.value,
                              range.begin, range.end, host.value));
  return {};
}

}  // namespace

std::uint64_t draw_for(const Model& model, std::string_view what, std::int64_t number) {
  const Bytes digest = crypto::sha256(fmt::format("{} {} {}", model.audit_key, what, number));
  std::uint64_t seed = 0;
  std::memcpy(&seed, digest.data(), sizeof seed);
  return seed;
}

Status store_decided(Transaction& tx, const policy::ProjectChanges& changes) {
  for (const auto& [host, application, standing] : changes.standings)
    TRY(tx.store.put_standing(host, application, standing));
  for (const HostId id : changes.refuted) {
    Host& host = tx.model.hosts.at(id);
    if (std::exchange(host.row.own, false)) TRY(tx.store.update_host(host.row));
    tell_dispatch(tx, host);
  }
  for (const auto& doubted : changes.doubted) TRY(take_back(tx, doubted));
  for (const auto& [id, changed] : changes.stages) TRY(store_stage(tx, tx.model.problems.at(id), changed));
  return {};
}

Status restore_audits(Transaction& tx, Problem& problem) {
  if (!problem.stage) return {};
  const ProblemId id = problem.row.id;
  tx.model.project->begin_stage(id);
  if (!tx.model.project->audits(id)) return {};
  TRY_ASSIGN(auto rows, tx.store.accepted(id, problem.row.stage));
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.segment < b.segment; });
  TRY_ASSIGN(const auto segments,
             tx.store.segments_over(id, problem.row.stage, {0, problem.stage_row.items}));
  std::unordered_map<SegmentId, HostId> hosts;
  for (const auto& segment : segments) hosts[segment.id] = segment.host;
  policy::AuditedEvent event{id, {}, {}};
  for (const auto& row : rows) {
    const auto host = hosts.find(row.segment);
    if (host == hosts.end()) continue;  // said where the stage is combined
    event.deliveries.push_back({host->second, row.range, draw_for(tx.model, "segment", row.segment.value)});
  }
  TRY_ASSIGN(const auto verdicts, tx.store.verdicts(id));
  for (const auto& verdict : verdicts)
    if (verdict.stage == problem.row.stage && (verdict.agree || verdict.wrong_host.valid()))
      event.verified.push_back(verdict.range);
  return store_decided(tx, tx.model.project->apply(event, tx.now));
}

Status note_delivery(Transaction& tx, const Problem& problem, HostId host, SegmentId segment,
                     const std::vector<Range>& accepted) {
  const std::uint64_t draw = draw_for(tx.model, "segment", segment.value);
  return store_decided(
      tx, tx.model.project->apply(policy::DeliveredEvent{problem.row.id, host, accepted, draw}, tx.now));
}

Result<bool> audit_rest(Transaction& tx, const Problem& problem) {
  if (problem.stage_row.enough) return false;
  const ProblemId id = problem.row.id;
  const policy::CompletedEvent event{id, draw_for(tx.model, "closing", id.value)};
  const policy::ProjectChanges changes = tx.model.project->apply(event, tx.now);
  TRY(store_decided(tx, changes));
  return !changes.stages.empty();
}

std::string opinions_waited_for(const Model& model, const Problem& problem, Timestamp now) {
  const std::vector<HostId> here = model.project->hosts_here(now);
  std::int64_t wanted = 0, hopeless = 0, under_way = 0;
  Timestamp strangers_until = Timestamp::max();  // the least
  std::size_t fewest = here.size();              // that may be asked
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
    strangers_until = std::min(strangers_until, question.strangers_until);
    if (left == 0) hopeless += question.range.size();
  }
  if (wanted == 0)
    return under_way > 0 ? fmt::format("another host computes {}, too", items_text(under_way))
                         : "results of several hosts are being compared";
  if (hopeless == 0 && now < strangers_until)
    return fmt::format(
        "a host of the project's own must compute {}, too; if none does, others may in {:.0f} min",
        items_text(wanted), std::ceil(to_seconds(strangers_until - now) / 60));
  const std::string what =
      "another host must compute " + items_text(hopeless > 0 ? hopeless : wanted) + ", too";
  const std::string quorum = missing_parties(model, problem, here, now);
  if (!quorum.empty()) return what + ": " + quorum;
  if (hopeless == 0)
    return fmt::format("{}: {} of the {} hosts of the last hour can prove it", what, fewest, here.size());
  const bool one = here.size() == 1;
  return fmt::format(
      "{}, and {} of the last hour {} answered, or could prove nothing: a host of another network helps, or "
      "one "
      "of your own (`gleaner-admin code add NAME --own`)",
      what, one ? "the one" : fmt::format("all {}", here.size()), one ? "has" : "have");
}

}  // namespace gleaner::service
