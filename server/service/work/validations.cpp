#include "server/service/work/validations.h"

#include <utility>

namespace gleaner::service {
namespace {

constexpr std::size_t asked_at_once = 64;  // then those are answered who waited

}  // namespace

void Validations::ask(Question question) {
  const ProblemId problem = question.manager.problem;
  {
    const std::lock_guard lock(mutex_);
    Line& line = lines_[problem];
    line.waiting.push_back(std::move(question));
    if (std::exchange(line.served, true)) return;
  }
  on_pool_([this, problem] { serve(problem); });
}

void Validations::ask_now(const Question& question) {
  contract::Validation validation;
  const Status asked = managers_.with(question.manager, [&](contract::ManagerSession& manager) -> Status {
    TRY_ASSIGN(validation, manager.validate(question.stage, question.range, *question.segment));
    return {};
  });
  question.done(asked.ok() ? Result<contract::Validation>(std::move(validation)) : asked.error());
}

std::vector<Validations::Question> Validations::next(ProblemId problem) {
  std::vector<Question> questions;
  const std::lock_guard lock(mutex_);
  const auto line = lines_.find(problem);
  auto& waiting = line->second.waiting;
  while (!waiting.empty() && questions.size() < asked_at_once) {
    questions.push_back(std::move(waiting.front()));
    waiting.pop_front();
  }
  if (questions.empty()) lines_.erase(line);
  return questions;
}

// Once, and again behind what the pool has to do by then: so that questions which are on their way are asked
// together, since waking a manager costs more than its answer.
void Validations::serve(ProblemId problem) {
  const std::vector<Question> questions = next(problem);
  if (questions.empty()) return;
  std::vector<contract::ManagerSession::Segment> segments;
  for (const Question& question : questions)
    segments.push_back({question.stage, question.range, *question.segment});
  std::vector<Result<contract::Validation>> outcomes;
  const Status asked =
      managers_.with(questions.front().manager, [&](contract::ManagerSession& manager) -> Status {
        outcomes = manager.validate(segments);
        return {};
      });
  for (std::size_t i = 0; i < questions.size(); ++i)
    questions[i].done(asked.ok() ? std::move(outcomes[i]) : Result<contract::Validation>(asked.error()));
  on_pool_([this, problem] { serve(problem); });
}

}  // namespace gleaner::service
