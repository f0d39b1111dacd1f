#include "client/engine/outside_watch.h"

#include <spdlog/spdlog.h>

#include "shared/base/clean_text.h"

namespace gleaner::engine {
namespace {
constexpr std::size_t shown_max = 40;  // of what it said
}  // namespace

void OutsideWatch::set(const std::string& where, Duration interval) {
  interval_ = interval;
  if (where == where_) return;
  where_ = where;
  answer_.reset();
  trouble_.clear();
  detail_.clear();
  ask_at_ = services_.clock.steady();
}

void OutsideWatch::ask(SteadyTime now) {
  asking_ = true;
  ask_at_ = now + interval_;
  services_.workers.submit(transport::Queue::background,
                           [this, outside = services_.outside, where = where_,
                            round = round_](transport::JobContext&) -> transport::Completion {
                             return [this, where, round, said = outside->ask(where)] {
                               take(where, round, said);
                             };
                           });
}

void OutsideWatch::forget() {
  ++round_;
  answer_.reset();
  ask_at_ = services_.clock.steady();
}

void OutsideWatch::take(const std::string& where, int round, const Result<std::string>& said) {
  asking_ = false;
  if (where != where_ || round != round_) return;  // it was set anew meanwhile, or this computer slept
  const auto answer = said.ok() ? client_policy::parse_outside(*said) : std::nullopt;
  if (answer) {
    answer_ = answer;
    answered_at_ = services_.clock.steady();
    trouble_.clear();
    return;
  }
  const std::string trouble = said.ok() ? "its first line is not yes, no or a share like 40%: \"" +
                                              clean_line(*said, shown_max) + "\""
                                        : said.error().message;
  if (trouble != trouble_) spdlog::warn("the outside signal {}: {}", where, trouble);
  trouble_ = trouble;
}

std::optional<client_policy::Signal> OutsideWatch::look(SteadyTime now, Alarm& alarm) {
  if (where_.empty() || services_.outside == nullptr) return std::nullopt;
  if (!asking_ && now >= ask_at_) ask(now);
  alarm.at(std::max(ask_at_, now + std::chrono::seconds{1}));
  auto verdict = client_policy::judge_outside({where_, interval_, answer_, answered_at_, trouble_, now});
  detail_ = std::move(verdict.detail);
  return std::move(verdict.signal);
}

}  // namespace gleaner::engine
