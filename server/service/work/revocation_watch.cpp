#include "server/service/work/revocation_watch.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <system_error>
#include <utility>

#include "server/service/core/dispatch_terms.h"
#include "server/service/work/failures.h"
#include "shared/bundle/project_keys.h"

namespace gleaner::service {
namespace {

using protocol::ProblemState;

}  // namespace

Status stop_revoked(Transaction& tx) {
  for (auto& [id, problem] : tx.model.problems) {
    if (over(problem.row.state) || is_stopped(problem)) continue;
    const Status good = check_not_revoked(tx.model, tx.model.applications.at(problem.row.application));
    if (good.ok()) continue;
    if (problem.row.state != ProblemState::paused)
      problem.row.resume_to = std::exchange(problem.row.state, ProblemState::paused);
    problem.row.message = fmt::format(
        "{}{}: {}. Add a version that is not, and `gleaner-admin problem upgrade {} --app "
        "NAME@VERSION`, or `problem cancel {}`",
        stopped_mark, problem.application_name, good.error().message, id.value, id.value);
    tx.effects.warn(fmt::format("problem {} ({}) is {}", id.value, problem.row.name, problem.row.message));
    tx.effects.add(effect::EndManager{id});
    tell_dispatch(tx, problem);
    TRY(tx.store.update_problem(problem.row));
    tx.effects.add(effect::Announce{});
  }
  return {};
}

Status take_revocations(Transaction& tx, const crypto::Revocations& list) {
  if (list.number() <= tx.model.revocations.number()) return {};
  TRY(store_revocations(tx.store, list));
  tx.model.revocations = list;
  tx.effects.info(fmt::format("revocation list {} holds from now on", list.number()));
  tx.effects.add(effect::PublishRevocations{list});
  return stop_revoked(tx);
}

std::optional<crypto::Revocations> RevocationWatch::look_above() {
  const protocol::SignedStatement document = kernel_.parent()->project();
  if (document.payload == document_) return std::nullopt;
  document_ = document.payload;
  auto list = crypto::revocations_in(document, crypto::fingerprint(secrets_.root_key));
  if (list.ok() && list->number() > 0) return std::move(*list);
  if (!list.ok()) spdlog::error("{}; the list of before holds", list.error().message);
  return std::nullopt;
}

std::optional<crypto::Revocations> RevocationWatch::look() {
  if (kernel_.parent() != nullptr) return look_above();
  const io::Path path = kernel_.settings().directory.revocations();
  std::error_code failure;
  const auto changed = std::filesystem::last_write_time(path, failure);
  if (failure) return std::nullopt;
  const auto size = std::filesystem::file_size(path, failure);
  if (failure || (changed == changed_ && size == size_)) return std::nullopt;
  changed_ = changed;
  size_ = size;
  auto list = bundle::read_revocations(kernel_.files(), path, crypto::fingerprint(secrets_.root_key));
  if (list.ok()) return std::move(*list);
  spdlog::error("{}; the list of before holds", list.error().message);
  return std::nullopt;
}

void RevocationWatch::tick() {
  const auto list = look();
  if (!list) return;
  if (const Status own = check_own_keys(*list, secrets_); !own.ok()) spdlog::error("{}", own.error().message);
  kernel_.writer().submit_surely([list = *list](Transaction& tx) -> Status {
    if (list.number() < tx.model.revocations.number())
      tx.effects.warn(
          fmt::format("keys/revocations.json has list {}, and list {} is known here: the newer one "
                      "holds; put it back",
                      list.number(), tx.model.revocations.number()));
    return take_revocations(tx, list);
  });
}

}  // namespace gleaner::service
