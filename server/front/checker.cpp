#include "server/front/checker.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "shared/archive/bundle_archive.h"
#include "shared/base/limits.h"
#include "shared/bundle/bundle.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::front {
namespace {

constexpr std::size_t units_max = 500'000;  // some 50 bytes each
constexpr std::size_t places_max = 256;     // with parameters of up to 1 MiB each
constexpr std::size_t managers_max = 32;    // processes

}  // namespace

Checker::Checker(Surroundings around)
    : around_(std::move(around)),
      depot_(around_.blobs, around_.leader),
      managers_(around_.files, around_.processes, around_.blobs, around_.settings.directory,
                around_.settings.configuration),
      check_(
          around_.blobs, managers_,
          [this](std::function<void()> job) { (void)around_.pool.submit(std::move(job)); },
          [](ProblemId problem, const std::string& why) {
            spdlog::warn("results of problem {} cannot be checked here: {}", problem.value, why);
          }) {}

bool Checker::can(const protocol::CommitRequest& commit) {
  return commit.data && !commit.delivery && commit.bytes <= limits::kept_segment_bytes_max;
}

void Checker::learn(const link::WorkAnswer::Unit& unit) {
  const std::lock_guard lock(mutex_);
  if (units_.size() >= units_max) {  // the leader is asked again
    units_.clear();
    inputs_.clear();
  }
  const Part part{unit.problem, unit.stage};
  units_[unit.unit] = part;
  if (std::exchange(inputs_[part], unit.inputs) != unit.inputs) places_.erase(part);  // rows were appended
}

std::shared_ptr<const Checker::Place> Checker::known(UnitId unit, Part& part) {
  const std::lock_guard lock(mutex_);
  const auto found = units_.find(unit);
  if (found == units_.end()) return nullptr;
  part = found->second;
  const auto place = places_.find(part);
  return place == places_.end() ? nullptr : place->second;
}

void Checker::check(const std::shared_ptr<const Asked>& asked, protocol::CommitRequest commit, Then then) {
  Part part;
  const auto place = known(commit.unit, part);
  if (!place) return ask_place(asked, std::move(commit), std::move(then));
  auto job = [this, part, place, commit = std::move(commit), then]() mutable {
    check_at(part, *place, std::move(commit), std::move(then));
  };
  if (!around_.pool.submit(std::move(job))) then(Error{ErrorKind::unavailable, "this front end ends"});
}

void Checker::ask_place(const std::shared_ptr<const Asked>& asked, protocol::CommitRequest commit,
                        Then then) {
  const Bytes question = link::pack(link::PlaceCall{asked->caller(), commit.unit});
  around_.leader.ask(
      link::Kind::place, question,
      [this, commit = std::move(commit), then = std::move(then)](link::Kind kind, std::string_view body) {
        if (kind == link::Kind::error) return then(link::unpack_error(body));
        auto answer = link::unpack<link::PlaceAnswer>(body);
        if (!answer.ok()) return then(answer.error());
        const Part part{answer->problem, answer->stage};
        auto place = std::make_shared<const Place>(
            Place{answer->item_bytes_max,
                  {answer->problem, std::move(answer->archive), std::move(answer->program),
                   std::move(answer->parameters), std::move(answer->inputs)},
                  std::move(answer->application)});
        const bool taken = around_.pool.submit([this, part, place, commit, then] {
          if (const Status ready = prepare(*place); !ready.ok()) {
            spdlog::warn("results of problem {} cannot be checked here: {}", part.problem.value,
                         ready.error().message);
            return then(ready.error());
          }
          {
            const std::lock_guard lock(mutex_);
            if (places_.size() >= places_max) places_.clear();
            places_[part] = place;
            units_[commit.unit] = part;
          }
          check_at(part, *place, commit, then);
        });
        if (!taken) then(Error{ErrorKind::unavailable, "this front end ends"});
      });
}

Status Checker::prepare(const Place& place) {
  const std::lock_guard lock(preparing_);
  const io::Path into = around_.settings.directory.bundle(place.manager.archive);
  TRY_ASSIGN(const auto statement,
             crypto::check_application(place.application.application, place.application.signer,
                                       around_.root_key, around_.project, around_.clock.now()));
  if (statement.archive != place.manager.archive)
    return Error{ErrorKind::untrusted, "the leader named an application that is not the signed one"};
  if (!bundle::read_bundle(into).ok()) {
    TRY_ASSIGN(const io::Path archive, depot_.fetch(place.manager.archive));
    TRY(around_.files.remove_all(into));
    TRY(bundle::install_bundle(archive, statement, into, archives::unpack_bundle));
  }
  for (const auto& input : place.manager.inputs) TRY(depot_.fetch(input.digest));
  return {};
}

void Checker::check_at(const Part& part, const Place& place, protocol::CommitRequest commit, Then then) {
  use(part.problem);
  service::CommitPlace at;
  at.prepared.request = std::move(commit);
  at.prepared.problem = part.problem;
  at.prepared.stage = part.stage;
  at.item_bytes_max = place.item_bytes_max;
  at.manager = place.manager;
  check_.check(std::move(at), std::move(then));
}

void Checker::use(ProblemId problem) {
  std::optional<ProblemId> oldest;
  {
    const std::lock_guard lock(mutex_);
    used_[problem] = ++uses_;
    if (used_.size() <= managers_max) return;
    oldest = std::min_element(used_.begin(), used_.end(), [](const auto& a, const auto& b) {
               return a.second < b.second;
             })->first;
    used_.erase(*oldest);
  }
  managers_.end(*oldest, service::Managers::Keep::no);
}

}  // namespace gleaner::front
