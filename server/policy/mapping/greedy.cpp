#include "server/policy/mapping/greedy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server/policy/estimation/clamps.h"

namespace gleaner::policy {
namespace {

constexpr double beta_max = 10;

// An open task with its best host.
struct Candidate {
  std::size_t task;
  std::size_t host;
  double value;
};

void look_for_host(const MappingCosts& costs, const MappingDraft& plan, const Score& score, Candidate& one) {
  bool first = true;
  for (const std::size_t host : costs.hosts()) {
    if (!std::isfinite(costs(one.task, host))) continue;
    const double value = score.value(plan, one.task, host);
    if (!first && !clearly_less(value, one.value)) continue;
    first = false;
    one.value = value;
    one.host = host;
  }
}

}  // namespace

Result<GreedyOptions> GreedyOptions::read(StrategyOptions& options, bool takes_error_weight) {
  GreedyOptions read;
  read.takes_error_weight = takes_error_weight;
  TRY_ASSIGN(const int of, options.choice("case", {"best", "worst"}, 0));
  read.of = static_cast<Case>(of);
  TRY_ASSIGN(const int literal, options.choice("literal", {"false", "true"}, 0));
  read.literal = literal == 1;
  if (!takes_error_weight) return read;
  TRY_ASSIGN(read.beta, options.number("beta", 0, beta_max, read.beta));
  TRY_ASSIGN(const int weight, options.choice("error_weight", {"thesis", "et"}, 0));
  read.relative_to_ccr = weight == 0;
  return read;
}

std::vector<std::string> GreedyOptions::explain(bool takes_error_weight) {
  std::vector<std::string> lines{
      "case=best|worst  computation as estimated (default), or longer by the predicted error",
      "literal=true|false  algorithm 4.1 as printed: last open task first, on its best host (default false)"};
  if (takes_error_weight) {
    lines.insert(lines.begin(), "beta=NUMBER  power of the error weight, 0 to 10, default 0.1");
    lines.emplace_back(
        "error_weight=thesis|et  error over computation to communication (default), or error alone");
  }
  return lines;
}

std::string GreedyOptions::text(const std::string& name) const {
  std::string text = name;
  if (takes_error_weight) text += fmt::format(",beta={}", beta);
  text += fmt::format(",case={},literal={}", of == Case::best ? "best" : "worst", literal);
  if (takes_error_weight) text += fmt::format(",error_weight={}", relative_to_ccr ? "thesis" : "et");
  return text;
}

double error_weight_of(const MappingInput& input, std::size_t task, std::size_t host, bool relative_to_ccr) {
  const double error = input.error.rows() > 0 ? input.error(task, host) : 1;
  if (!relative_to_ccr) return clamped_error(error);
  const double communication = input.communication.rows() > 0 ? input.communication(task, host) : 0;
  return error_weight(error, input.computation(task, host), communication);
}

Matrix error_weights(const MappingInput& input, const GreedyOptions& options, double beta) {
  Matrix weights(input.tasks(), input.hosts(), 1);
  if (beta == 0) return weights;
  for (std::size_t task = 0; task < input.tasks(); ++task) {
    for (std::size_t host = 0; host < input.hosts(); ++host) {
      const double weight = error_weight_of(input, task, host, options.relative_to_ccr);
      weights(task, host) = beta == 1 ? weight : std::pow(weight, beta);
    }
  }
  return weights;
}

Schedule place_by_score(const MappingInput& input, const MappingCosts& costs, Score& score,
                        const GreedyOptions& options, const std::string& name) {
  MappingDraft plan(input, costs);
  std::vector<std::size_t> tasks = costs.tasks();
  std::vector<Candidate> open;
  for (const std::size_t task : tasks) open.push_back({task, 0, infinity});
  constexpr std::size_t everywhere = static_cast<std::size_t>(-1);
  std::size_t used = everywhere;  // the host of the last placement
  while (!open.empty()) {
    score.begin(plan, tasks);
    std::size_t chosen = open.size() - 1;
    if (options.literal) {
      look_for_host(costs, plan, score, open.back());
    } else {
      for (Candidate& one : open) {
        if (used == everywhere || !score.is_local() || one.host == used)
          look_for_host(costs, plan, score, one);
      }
      chosen = 0;
      for (std::size_t i = 1; i < open.size(); ++i) {
        if (clearly_less(open[i].value, open[chosen].value)) chosen = i;
      }
    }
    used = open[chosen].host;
    plan.place(open[chosen].task, used);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
    tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return std::move(plan).done(name);
}

}  // namespace gleaner::policy
