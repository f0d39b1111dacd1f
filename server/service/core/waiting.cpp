#include "server/service/core/waiting.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/limits.h"

namespace gleaner::service {

bool may_pass(const Error& error) {
  return error.kind == ErrorKind::io;
}

Status put_off_job(Transaction& tx, Problem& problem, const std::string& why) {
  const int seconds =
      std::min(limits::job_wait_seconds_min << problem.jobs_in_vain, limits::job_wait_seconds_max);
  if (seconds < limits::job_wait_seconds_max) ++problem.jobs_in_vain;
  problem.job_at = tx.now + std::chrono::seconds{seconds};
  return say_it_waits(tx, problem, why + "; it is tried again by itself");
}

Status say_it_waits(Transaction& tx, Problem& problem, const std::string& why) {
  const bool says_other = !problem.row.message.empty() && !problem.row.message.starts_with(waiting_mark);
  std::string message = std::string(waiting_mark) + why;
  if (says_other || problem.row.message == message) return {};
  problem.row.message = std::move(message);
  tx.effects.warn(
      fmt::format("problem {} ({}) {}", problem.row.id.value, problem.row.name, problem.row.message));
  tx.effects.add(effect::Announce{});
  return tx.store.update_problem(problem.row);
}

Status goes_on(Transaction& tx, Problem& problem) {
  problem.job_at = {};
  problem.jobs_in_vain = 0;
  if (!problem.row.message.starts_with(waiting_mark)) return {};
  problem.row.message.clear();
  tx.effects.info(fmt::format("problem {} ({}) continues", problem.row.id.value, problem.row.name));
  tx.effects.add(effect::Announce{});
  return tx.store.update_problem(problem.row);
}

}  // namespace gleaner::service
