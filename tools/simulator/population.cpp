#include "tools/simulator/population.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tools/simulator/simulated_host.h"

namespace gleaner::simulator {
namespace {

constexpr double minute = 60, hour = 3600, day = 86400, week = 7 * day;
constexpr double never = std::numeric_limits<double>::infinity();
// Long absences need days to reach the steady state, what happens inside a session hours.
constexpr double warm_up = 14 * day, warm_up_inside = 3 * hour;
constexpr double vanish_early = 0.01;
constexpr double loaded_share = 0.5, slow_share = 0.01;

double lognormal(Random& random, double median, double deviation) {
  return median * std::exp(random.normal(0, deviation));
}

double weibull(Random& random, double shape, double mean) {
  const double scale = mean / std::tgamma(1 + 1 / shape);
  return scale * std::pow(-std::log(1 - random.uniform()), 1 / shape);
}

bool weekend(double hour_of_week) {
  return hour_of_week >= 5 * 24;
}

}  // namespace

const char* name_of(HostClass kind) {
  switch (kind) {
    case HostClass::always:
      return "always";
    case HostClass::office:
      return "office";
    case HostClass::home:
      return "home";
    case HostClass::lab:
      return "lab";
  }
  return "unknown";
}

Habits habits_of(HostClass kind) {
  Habits habits;
  switch (kind) {
    case HostClass::always:
      habits.pause_gap = never;
      break;
    case HostClass::office:
      habits.pause_gap = 40 * minute;
      habits.pause_length = 15 * minute;
      habits.pause_deviation = 1.2;
      break;
    case HostClass::home:
      habits.pause_gap = 60 * minute;
      habits.pause_length = 20 * minute;
      habits.pause_deviation = 1;
      break;
    case HostClass::lab:
      habits.pause_gap = 25 * minute;
      habits.pause_length = 15 * minute;
      habits.pause_deviation = 1;
      break;
  }
  return habits;
}

OwnerTrace::OwnerTrace(const Owner& owner) : owner_(owner), random_(owner.seed) {
  const Habits habits = owner.habits ? *owner.habits : habits_of(owner.kind);
  pause_ = {habits.pause_gap, habits.pause_length, habits.pause_deviation};
  load_ = {habits.load_gap, habits.load_length, 0};
  slow_ = {habits.slow_gap / owner.harsh, habits.slow_length, 0};
  vanish_at_ = random_.exponential(habits.vanish_mean / owner.harsh);
  if (random_.chance(vanish_early * owner.harsh)) vanish_at_ = std::min(vanish_at_, random_.uniform() * hour);
  overnight_ = !random_.chance(0.65);
  session_end_ = -warm_up * (1 + random_.uniform());
  while (session_end_ <= 0) next_session();
}

double OwnerTrace::local_hour(double at) const {
  const double seconds = std::fmod(at + (owner_.start_hour + owner_.zone) * hour, week);
  return (seconds < 0 ? seconds + week : seconds) / hour;
}

// On at 8:00 to 9:30 of the next working day after `after`, off at about 17:30.
void OwnerTrace::office_session(double after) {
  double midnight = after - std::fmod(local_hour(after), 24) * hour;
  for (;; midnight += day) {
    if (weekend(local_hour(midnight + 12 * hour))) continue;
    session_begin_ = midnight + (8 + 1.5 * random_.uniform()) * hour;
    session_end_ = midnight + 17.5 * hour + random_.normal(0, 30 * minute);
    if (session_begin_ > after && session_end_ > session_begin_) return;
  }
}

void OwnerTrace::next_session() {
  const double before = session_end_;
  switch (owner_.kind) {
    case HostClass::always:
      session_begin_ = before + lognormal(random_, 30 * minute, 1);
      session_end_ = session_begin_ + random_.exponential(12 * day);
      return;
    case HostClass::office: {
      const double absent = random_.chance(0.03) ? random_.exponential(5 * day) : 0;
      const double reboot = random_.exponential(30 * hour);
      const double hours = std::fmod(local_hour(before), 24);
      const bool at_work = !weekend(local_hour(before)) && hours > 8 && hours < 17;
      if (absent > 0 || (!overnight_ && !at_work)) {
        office_session(before + absent);
      } else {  // rebooted: back in some minutes, till the evening
        session_begin_ = before + lognormal(random_, 5 * minute, 0.5);
        session_end_ = before + (17.5 - hours) * hour + random_.normal(0, 30 * minute);
      }
      if (overnight_) session_end_ = session_begin_ + reboot;
      session_end_ = std::max(std::min(session_end_, session_begin_ + reboot), session_begin_ + minute);
      return;
    }
    case HostClass::home: {
      session_begin_ = before + lognormal(random_, 2.5 * hour, 1);
      if (random_.chance(0.05)) session_begin_ += random_.exponential(4 * day);
      for (;;) {
        const double hours = std::fmod(local_hour(session_begin_), 24);
        if (random_.chance(hours < 7 ? 0.1 : hours < 17 ? 0.5 : 1)) break;
        session_begin_ += random_.exponential(hour);
      }
      session_end_ = session_begin_ + weibull(random_, 0.7, 3 * hour);
      return;
    }
    case HostClass::lab: {
      session_begin_ = before + random_.exponential(1.2 * hour);
      if (random_.chance(0.03)) session_begin_ += random_.exponential(5 * day);
      const double hours = std::fmod(local_hour(session_begin_), 24);
      if (weekend(local_hour(session_begin_)) || hours < 8 || hours >= 20) {
        double opening = session_begin_ + (hours < 8 ? 8 - hours : 32 - hours) * hour;
        while (weekend(local_hour(opening))) opening += day;
        session_begin_ = opening + random_.exponential(30 * minute);
      }
      session_end_ = session_begin_ + weibull(random_, 0.8, 3 * hour);
      return;
    }
  }
}

void OwnerTrace::start(Spell& spell, double at) {
  spell.active = false;
  spell.next = spell.gap < never ? at + random_.exponential(spell.gap) : never;
}

void OwnerTrace::toggle(Spell& spell) {
  spell.active = !spell.active;
  spell.next += !spell.active         ? random_.exponential(spell.gap)
                : spell.deviation > 0 ? lognormal(random_, spell.length, spell.deviation)
                                      : random_.exponential(spell.length);
}

void OwnerTrace::begin_session() {
  on_ = true;
  const double from = std::max(session_begin_, -warm_up_inside);
  for (Spell* spell : {&pause_, &load_, &slow_}) start(*spell, from);
}

bool OwnerTrace::owner_comes(double at) {
  if (!owner_.habits || owner_.habits->present.empty()) return true;
  const auto& present = owner_.habits->present;
  return random_.chance(present[static_cast<std::size_t>(local_hour(at)) % present.size()]);
}

bool OwnerTrace::inside(HostEvent& event) {
  const double next = std::min({pause_.next, load_.next, slow_.next});
  if (next >= session_end_) return false;
  if (next == pause_.next) {
    if (!pause_.active && !owner_comes(next)) {
      start(pause_, next);
      return inside(event);
    }
    toggle(pause_);
    event = {next, pause_.active ? HostEventKind::pause : HostEventKind::resume};
  } else {
    toggle(next == load_.next ? load_ : slow_);
    event = {next, HostEventKind::slow, (load_.active ? loaded_share : 1) * (slow_.active ? slow_share : 1)};
  }
  return true;
}

bool OwnerTrace::next(HostEvent& event) {
  if (told_.vanished) return false;
  if (!started_) {  // how things are at time 0, told in up to three events
    if (initial_ == 0 && session_begin_ <= 0) {
      begin_session();
      HostEvent past;
      while (std::min({pause_.next, load_.next, slow_.next}) <= 0 && inside(past)) told_.apply(past);
    }
    ++initial_;
    if (on_ && initial_ == 1) {
      event = {0, HostEventKind::on};
      return true;
    }
    if (on_ && initial_ == 2 && told_.paused) {
      event = {0, HostEventKind::pause};
      return true;
    }
    if (on_ && initial_ <= 3 && told_.factor < 1) {
      event = {0, HostEventKind::slow, told_.factor};
      initial_ = 3;
      started_ = true;
      return true;
    }
    started_ = true;
  }
  const bool was_on = on_;
  if (!was_on) {
    begin_session();
    event = {session_begin_, HostEventKind::on};
  } else if (!inside(event)) {
    event = {session_end_, HostEventKind::off};
    on_ = false;
    next_session();
  }
  if (event.at >= vanish_at_) {
    event = {vanish_at_, HostEventKind::vanish};
    told_.vanished = true;
  }
  return true;
}

std::vector<GridHost> make_population(const PopulationSetup& setup) {
  const double sum = setup.mix.always + setup.mix.office + setup.mix.home + setup.mix.lab;
  CHECK_TRUE(setup.hosts >= 1 && sum > 0);
  const double half_span = std::sqrt(10.0);
  Random random(setup.seed);
  std::map<HostClass, std::shared_ptr<const Habits>> habits;
  for (const HostClass kind : host_classes) {
    if (!setup.change) continue;
    Habits changed = habits_of(kind);
    setup.change(changed);
    habits[kind] = std::make_shared<const Habits>(std::move(changed));
  }
  std::vector<GridHost> hosts(static_cast<std::size_t>(setup.hosts));
  for (GridHost& host : hosts) {
    host.speed = std::clamp(lognormal(random, 1, 0.6), 1 / half_span, half_span);
    host.performance = host.speed * lognormal(random, 1, 0.2);
    const double core = random.uniform();
    host.slots = setup.slots > 0 ? setup.slots : core < 0.1 ? 1 : core < 0.4 ? 2 : core < 0.8 ? 4 : 8;
    const double place = random.uniform() * sum;
    Owner owner;
    owner.kind = place < setup.mix.always                                       ? HostClass::always
                 : place < setup.mix.always + setup.mix.office                  ? HostClass::office
                 : place < setup.mix.always + setup.mix.office + setup.mix.home ? HostClass::home
                                                                                : HostClass::lab;
    if (setup.change) owner.habits = habits[owner.kind];
    owner.harsh = setup.harsh;
    owner.start_hour = setup.start_hour;
    if (owner.kind == HostClass::home) owner.zone = static_cast<double>(random.below(24));
    owner.seed = random.next();
    host.owner = owner;
  }
  return hosts;
}

}  // namespace gleaner::simulator
