#include "client/policy/owner.h"

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;
using Kind = Observation::Kind;

constexpr SteadyTime start{std::chrono::hours{1000}};

Observation input(Duration idle, Duration age = 0s) {
  return {Kind::input, "terminal pts/1", age, idle, 0};
}
Observation screen(std::optional<Duration> idle) {
  return {Kind::screen, "seat0 (x11)", 0s, idle, 0};
}
OwnerRules when_idle() {
  OwnerRules rules;
  rules.run = RunWhen::idle;
  return rules;
}
bool runs(const OwnerVerdict& verdict) {
  return std::ranges::none_of(verdict.signals,
                              [](const Signal& one) { return one.allows == RunMode::pause; });
}
OwnerVerdict judge(const OwnerRules& rules, const std::vector<Observation>& seen) {
  return OwnerPolicy().judge({rules, seen, start, 0});
}

TEST_CASE("Nobody logged in is idle; input pauses until it is long enough ago") {
  CHECK(judge(when_idle(), {}).signals.empty());
  CHECK(judge(when_idle(), {input(5min)}).signals.empty());
  const auto verdict = judge(when_idle(), {input(2h), input(40s)});
  REQUIRE(verdict.signals.size() == 1);
  CHECK(verdict.signals[0].allows == RunMode::pause);
  CHECK(verdict.signals[0].sentence ==
        "somebody used this computer 40 seconds ago (terminal pts/1): it computes after 5 minutes without");
  CHECK(verdict.recheck == Duration{260s});
  CHECK(verdict.details.size() == 3);  // and that no temperature is seen
}

TEST_CASE("What is not known is the cautious side") {
  CHECK(judge(when_idle(), {screen({})}).signals.size() == 1);
  CHECK(judge(when_idle(), {screen(10min)}).signals.empty());
  Observation stale = screen(10min);
  stale.age = 3min;
  CHECK(judge(when_idle(), {stale}).signals.size() == 1);
  OwnerRules always;
  CHECK(judge(always, {screen({}), input(0s)}).signals.empty());
  OwnerRules never;
  never.run = RunWhen::never;
  CHECK(judge(never, {}).signals.size() == 1);
}

TEST_CASE("Battery and heat pause, and must be well for a minute") {
  OwnerPolicy policy;
  const OwnerRules rules = when_idle();
  const auto at = [&](Duration time, double discharging, double degrees) {
    const std::vector<Observation> seen = {{Kind::battery, "BAT0", 0s, {}, discharging},
                                           {Kind::temperature, "cpu", 0s, {}, degrees}};
    return runs(policy.judge({rules, seen, start + time, 0}));
  };
  CHECK(at(0s, 0, 50));
  CHECK_FALSE(at(1s, 1, 50));
  CHECK_FALSE(at(2s, 0, 50));
  CHECK_FALSE(at(60s, 0, 50));
  CHECK(at(61s, 0, 50));
  CHECK_FALSE(at(70s, 0, 85));
  CHECK_FALSE(at(200s, 0, 81));  // not cool enough yet
  CHECK_FALSE(at(201s, 0, 79));
  CHECK(at(261s, 0, 79));
}

TEST_CASE("Hours as people write them") {
  const auto minute = [](int day, int hour, int minutes = 0) { return (day * 24 + hour) * 60 + minutes; };
  OwnerRules rules;
  const auto computes = [&](const std::string& text, int at) {
    const auto hours = parse_hours(text);
    REQUIRE(hours);
    rules.hours = *hours;
    return OwnerPolicy().judge({rules, {}, start, at}).signals.empty();
  };
  CHECK(computes("mon-fri 18:00-08:00", minute(0, 18)));
  CHECK(computes("mon-fri 18:00-08:00", minute(1, 7, 59)));
  CHECK(computes("mon-fri 18:00-08:00", minute(5, 7, 59)));  // Friday's night ends on Saturday
  CHECK_FALSE(computes("mon-fri 18:00-08:00", minute(5, 8)));
  CHECK_FALSE(computes("mon-fri 18:00-08:00", minute(0, 7)));  // Sunday has no night
  CHECK(computes("sat,sun", minute(6, 23, 59)));
  CHECK_FALSE(computes("sat,sun", minute(0, 0)));
  CHECK(computes("sun 22-6", minute(0, 5)));
  CHECK(computes("22:30-6", minute(3, 22, 30)));
  CHECK(computes("fri-mon", minute(6, 1)));
  for (const char* wrong : {"", "monday", "8", "8-25", "8:60-9", "mon 8", "8-9 mon", "mon-fri 8-9 x", "8-8"})
    CHECK_FALSE(parse_hours(wrong));
  rules.hours = *parse_hours("8-9");
  const auto verdict = OwnerPolicy().judge({rules, {}, start, minute(0, 7)});
  CHECK(verdict.recheck == Duration{1h});
}

TEST_CASE("Outside of the owner's hours it says when they begin, by the clock") {
  OwnerRules rules;
  rules.hours = *parse_hours("mon-fri 18-8:30");
  const auto said = [&](int minute) {
    const auto verdict = OwnerPolicy().judge({rules, {}, start, minute});
    return verdict.signals.empty() ? "" : verdict.signals[0].sentence;
  };
  const std::string outside = "outside of the hours in the preferences; they begin ";
  CHECK(said(9 * 60) == outside + "at 18:00, in 9 hours");
  CHECK(said((24 + 8) * 60).empty());
  rules.hours = *parse_hours("mon 8:05-9");
  CHECK(said(9 * 60) == outside + "on Monday at 8:05, in 167 hours");
}

TEST_CASE("When electricity is dear it pauses; outside of the network's hours it only stays silent") {
  OwnerRules rules;
  rules.expensive_hours = *parse_hours("mon-fri 7-9");
  const auto dear = OwnerPolicy().judge({rules, {}, start, 8 * 60});
  REQUIRE(dear.signals.size() == 1);
  CHECK(dear.signals[0].sentence ==
        "electricity is dear now, say the preferences; that ends at 9:00, in 60 minutes");
  CHECK(dear.recheck == Duration{1h});
  CHECK(OwnerPolicy().judge({rules, {}, start, 9 * 60}).signals.empty());
  rules = {};
  rules.network_hours = *parse_hours("22-6");
  const auto silent = OwnerPolicy().judge({rules, {}, start, 12 * 60});
  CHECK(silent.signals.empty());
  CHECK(silent.no_network ==
        "outside of the network's hours in the preferences; they begin at 22:00, in 10 hours");
  CHECK(OwnerPolicy().judge({rules, {}, start, 23 * 60}).no_network.empty());
}

TEST_CASE("A network that costs by use is left alone unless it may be used") {
  OwnerRules rules;
  const std::vector<Observation> metered = {{Kind::metered, "network", 0s, {}, 1}};
  CHECK(judge(rules, metered).signals.empty());
  CHECK(judge(rules, metered).no_network.find("costs by use") != std::string::npos);
  CHECK(judge(rules, {{Kind::metered, "network", 0s, {}, 0}}).no_network.empty());
  rules.on_metered = true;
  CHECK(judge(rules, metered).no_network.empty());
}

TEST_CASE("Somebody who watches is somebody who is here") {
  const std::vector<Observation> watching = {{Kind::watching, "mpv fills the screen", 0s, {}, 0}, input(1h)};
  const auto verdict = judge(when_idle(), watching);
  REQUIRE(verdict.signals.size() == 1);
  CHECK(verdict.signals[0].sentence.starts_with("mpv fills the screen: somebody may be watching"));
  OwnerRules rules = when_idle();
  rules.when_watching = true;
  CHECK(judge(rules, watching).signals.empty());
  CHECK(judge(OwnerRules(), watching).signals.empty());  // always: beside them
}

TEST_CASE("Other programs' load pauses with hysteresis, and only who computes when idle minds") {
  OwnerPolicy policy;
  OwnerRules rules = when_idle();
  const auto at = [&](Duration time, double load) {
    const std::vector<Observation> seen = {{Kind::load, "other programs", 0s, {}, load}};
    return policy.judge({rules, seen, start + time, 0}).signals.empty();
  };
  CHECK(at(0s, 0.49));
  CHECK_FALSE(at(10s, 0.5));
  CHECK_FALSE(at(80s, 0.31));  // not calm enough yet
  CHECK_FALSE(at(90s, 0.29));  // calm, since ten seconds at most
  CHECK_FALSE(at(139s, 0.1));
  CHECK(at(140s, 0.1));
  rules.run = RunWhen::always;
  CHECK(at(200s, 1));
  rules = when_idle();
  rules.load_max = 1;
  CHECK(at(300s, 1));
}

TEST_CASE("A peak that is shorter than the grace pauses nothing") {
  OwnerPolicy policy;
  OwnerRules rules = when_idle();
  rules.load_grace = 30s;
  const auto at = [&](Duration time, double load) {
    const std::vector<Observation> seen = {{Kind::load, "other programs", 0s, {}, load}};
    return policy.judge({rules, seen, start + time, 0});
  };
  CHECK(runs(at(0s, 1)));
  CHECK(at(10s, 1).recheck == Duration{20s});
  CHECK(runs(at(20s, 0.4)));
  CHECK(runs(at(30s, 1)));
  CHECK(runs(at(59s, 1)));
  CHECK_FALSE(runs(at(60s, 1)));
  CHECK_FALSE(runs(at(70s, 0.35)));  // until it is calm, as ever
}

TEST_CASE("Memory that is waited for, and programs that want it alone, pause in every mode") {
  OwnerPolicy policy;
  const OwnerRules always;
  const auto at = [&](Duration time, double stalled) {
    const std::vector<Observation> seen = {{Kind::memory, "waiting for memory", 0s, {}, stalled}};
    return policy.judge({always, seen, start + time, 0}).signals.empty();
  };
  CHECK(at(0s, 9));
  CHECK_FALSE(at(1s, 10));
  CHECK_FALSE(at(2s, 2));
  CHECK_FALSE(at(3s, 0.5));
  CHECK(at(62s, 0.5));
  const auto verdict = judge(always, {{Kind::program, "steam", 0s, {}, 0}});
  REQUIRE(verdict.signals.size() == 1);
  CHECK(verdict.signals[0].sentence == "steam runs, which is to have it alone");
  CHECK(verdict.details[0] == "steam runs");
}

TEST_CASE("Other reasons are not taken for people") {
  OwnerPolicy policy;
  OwnerRules rules = when_idle();
  rules.hours = *parse_hours("18-8");
  CHECK_FALSE(policy.judge({rules, {}, start, 17 * 60 + 59}).signals.empty());
  CHECK(policy.judge({rules, {}, start + 1min, 18 * 60}).signals.empty());
}

TEST_CASE("On a battery that may be used its charge and an energy saver count") {
  OwnerRules rules;
  const auto said = [&](double used, std::optional<double> percent, bool saver) {
    std::vector<Observation> seen = {
        {Kind::battery, "BAT0", 0s, {}, used, "Not charging, and AC is offline", percent}};
    if (saver) seen.push_back({Kind::saver, "platform profile low-power", 0s, {}, 0});
    const auto verdict = judge(rules, seen);
    return verdict.signals.empty() ? verdict.details[0] : verdict.signals[0].sentence;
  };
  CHECK(said(1, 80, false) == "this computer runs on its battery (BAT0)");
  rules.on_battery = true;
  CHECK(said(1, 80, false) == "BAT0: Not charging, and AC is offline, 80 % charged");
  CHECK(said(1, 29, false) == "its battery (BAT0) is at 29 %: it computes from 30 % on");
  CHECK(said(1, 80, true) ==
        "this computer runs on its battery and saves energy (platform profile low-power)");
  CHECK(said(0, 5, true).starts_with("BAT0: "));  // on mains power neither counts
  CHECK(said(1, {}, false).starts_with("BAT0: "));
}

TEST_CASE("Where the system does not tell what waits for memory, what is available counts") {
  OwnerPolicy policy;
  const OwnerRules always;
  const auto at = [&](Duration time, double part) {
    return policy.judge({always, {{Kind::available, "memory", 0s, {}, part}}, start + time, 0});
  };
  CHECK(at(0s, 0.06).signals.empty());
  CHECK(at(0s, 0.06).details[0] == "memory: 6 % available");
  const auto verdict = at(1s, 0.04);
  REQUIRE(verdict.signals.size() == 1);
  CHECK(verdict.signals[0].sentence == "memory is short: 4 % of it is available; it computes above 10 %");
  CHECK_FALSE(at(120s, 0.09).signals.empty());
  CHECK_FALSE(at(130s, 0.11).signals.empty());  // for a moment only
  CHECK(at(190s, 0.11).signals.empty());
}

TEST_CASE("Daylight saving counts in when hours begin, and in how long that is") {
  OwnerRules rules;
  rules.hours = *parse_hours("8-20");
  const auto said = [&](int minute, std::vector<ClockShift> shifts) {
    const auto verdict = OwnerPolicy().judge({rules, {}, start, {minute, std::move(shifts)}});
    return (verdict.signals.empty() ? "" : verdict.signals[0].sentence) + " " +
           std::to_string(*verdict.recheck / std::chrono::minutes{1});
  };
  const std::string begin = "outside of the hours in the preferences; they begin at 8:00, in ";
  const int saturday = 5 * 24 * 60;
  CHECK(said(saturday + 20 * 60, {}) == begin + "12 hours 720");
  CHECK(said(saturday + 20 * 60, {{6 * 60, 60}}) == begin + "11 hours 660");   // spring forward at 2:00
  CHECK(said(saturday + 20 * 60, {{7 * 60, -60}}) == begin + "13 hours 780");  // fall back at 3:00
  // A span that begins in the hour that is left out begins with the hour after it; one in the hour that comes
  // twice begins with the first.
  rules.hours = *parse_hours("2:30-5");
  CHECK(said(saturday + 24 * 60, {{120, 60}}).ends_with("they begin at 3:00, in 2 hours 120"));
  CHECK(said(saturday + 24 * 60, {{180, -60}}).ends_with("they begin at 2:30, in 3 hours 150"));
  rules.hours = *parse_hours("3-5");
  CHECK(said(saturday + 24 * 60, {{180, -60}}).ends_with("they begin at 3:00, in 4 hours 240"));
}

TEST_CASE("A time in the future is no sign of life, beyond what clocks are corrected by") {
  const Timestamp now{std::chrono::hours{490'000}};
  CHECK(age_of(now - 5min, now) == Duration{5min});
  CHECK(age_of(now + 9s, now) == Duration{0});
  CHECK_FALSE(age_of(now + 11s, now));
  CHECK_FALSE(age_of(now + 2h, now));
}

// Times pass by themselves: a sentence that says them anew is not a new answer.
std::string without_times(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (c < '0' || c > '9') plain += c;
  for (const char* unit : {"seconds", "minutes", "minute", "second"})
    for (auto at = plain.find(unit); at != std::string::npos; at = plain.find(unit))
      plain.erase(at, std::string(unit).size());
  return plain;
}

// Ten minutes at a desk, second by second: what `gleaner why` says whenever the answer changes.
TEST_CASE("Ten minutes at a desk read like plain sense") {
  OwnerPolicy policy;
  OwnerRules rules = when_idle();
  rules.idle_after = 2min;
  std::vector<std::string> said;
  std::string before;
  Duration last_input = -10min;
  for (int second = 0; second <= 600; ++second) {
    const Duration now = std::chrono::seconds{second};
    if (second == 60 || (second >= 62 && second < 90)) last_input = now;  // somebody comes by, and types
    const bool active = now - last_input < 5s;
    std::vector<Observation> seen = {
        {Kind::input, "X11 display :0", 0s, active ? Duration{0} : now - last_input, 0},
        {Kind::battery, "BAT0", 0s, {}, second >= 300 && second < 330 ? 1.0 : 0.0},
        {Kind::temperature, "cpu", 0s, {}, second >= 450 && second < 460 ? 86.0 : 60.0}};
    if (second >= 520 && second < 540) seen.push_back({Kind::program, "steam", 0s, {}, 0});
    const auto verdict = policy.judge({rules, seen, start + now, 0});
    const auto decision = decide({}, verdict.signals);
    const std::string text = std::string(name_of(decision.mode)) + ": " + decision.reason;
    if (const std::string kind = without_times(text); kind != before) {
      said.push_back(std::to_string(second) + " " + text);
      before = kind;
    }
  }
  std::string story;
  for (const std::string& one : said) story += one + "\n";
  INFO(story);
  const std::string runs = " run: this computer is idle";
  const std::string waits = " pause: it waits 59 seconds more, to be sure that this is over: ";
  const std::vector<std::string> wanted = {
      "0" + runs,
      "60 pause: somebody used this computer 0 seconds ago (X11 display "
      ":0): it computes after 2 minutes without",
      "209" + runs,
      "300 pause: this computer runs on its battery (BAT0)",
      "330" + waits + "this computer runs on its battery (BAT0)",
      "389" + runs,
      "450 pause: it is too hot: 86 degrees (cpu); it computes below 80",
      "460" + waits + "it is too hot: 86 degrees (cpu); it computes below 80",
      "519" + runs,
      "520 pause: steam runs, which is to have it alone",
      "540" + waits + "steam runs, which is to have it alone",
      "599" + runs};
  CHECK(said == wanted);
}

TEST_CASE("Activity always pauses, unknown is the cautious side, and nothing swings faster than the dwell") {
  const std::uint64_t seed = 20261121;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    OwnerPolicy policy;
    OwnerRules rules = when_idle();
    rules.idle_after = std::chrono::seconds{random.between(1, 900)};
    rules.dwell = std::chrono::seconds{random.between(0, 120)};
    rules.on_battery = random.chance(0.3);
    rules.when_watching = random.chance(0.3);
    rules.load_max = 0.05 + 0.95 * random.uniform();
    SteadyTime now = start;
    SteadyTime last_input = start - 1h;
    std::optional<SteadyTime> paused;
    bool ran = false;
    for (int step = 0; step < 200; ++step) {
      now += std::chrono::seconds{random.between(1, 90)};
      if (random.chance(0.05)) last_input = now - std::chrono::seconds{random.between(0, 30)};
      const bool unknown = random.chance(0.03);
      const bool watching = random.chance(0.03);
      std::vector<Observation> seen = {input(std::chrono::duration_cast<Duration>(now - last_input))};
      if (unknown) seen.push_back(screen({}));
      if (watching) seen.push_back({Kind::watching, "mpv fills the screen", 0s, {}, 0});
      if (random.chance(0.9)) seen.push_back({Kind::battery, "BAT0", 0s, {}, random.chance(0.1) ? 1.0 : 0.0});
      if (random.chance(0.9)) seen.push_back({Kind::temperature, "cpu", 0s, {}, 60 + 30 * random.uniform()});
      if (random.chance(0.9)) seen.push_back({Kind::load, "other programs", 0s, {}, random.uniform() / 2});
      if (random.chance(0.9)) seen.push_back({Kind::memory, "memory", 0s, {}, 11 * random.uniform()});
      if (random.chance(0.03)) seen.push_back({Kind::program, "steam", 0s, {}, 0});
      for (std::size_t i = seen.size(); i > 1; --i) std::swap(seen[i - 1], seen[random.below(i)]);
      const auto verdict = policy.judge({rules, seen, now, 0});
      const bool running = runs(verdict);
      CHECK(verdict.details.size() >= seen.size());
      if (now - last_input < rules.idle_after || unknown) CHECK_FALSE(running);
      if (watching && !rules.when_watching) CHECK_FALSE(running);
      for (const Signal& signal : verdict.signals) CHECK_FALSE(signal.sentence.empty());
      if (!running && (ran || !paused)) paused = now;
      if (running && !ran && paused) CHECK((now - *paused >= rules.dwell || step == 0));
      ran = running;
    }
  }
}

}  // namespace
}  // namespace gleaner::client_policy
