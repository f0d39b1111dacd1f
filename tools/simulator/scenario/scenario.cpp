#include "tools/simulator/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "server/policy/strategies.h"
#include "server/policy/trust/validation.h"
#include "shared/base/random.h"
#include "shared/planning/serving.h"
#include "tools/simulator/fluid.h"
#include "tools/simulator/scenario/reader.h"

namespace gleaner::simulator {
namespace {

constexpr double most = 1e12;
constexpr std::size_t scenario_bytes_max = 1 << 20;
constexpr std::int64_t hosts_max = 20'000'000;
constexpr std::int64_t lively_max = 2'000'000;
constexpr double give_up_ideals = 6, give_up_extra = 6 * 3600;  // tools/simulator/MODEL.md

// "mon 10:00" as the hour of the week.
Result<double> start_from(const std::string& text) {
  static const char* const days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
  for (int day = 0; day < 7; ++day) {
    if (text.size() != 9 || text.compare(0, 4, std::string(days[day]) + " ") != 0 || text[6] != ':') continue;
    const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9' ? text[i] - '0' : 99; };
    const int hours = 10 * digit(4) + digit(5), minutes = 10 * digit(7) + digit(8);
    if (hours < 24 && minutes < 60) return day * 24.0 + hours + minutes / 60.0;
  }
  return Error{ErrorKind::invalid, fmt::format("expected a time like \"mon 10:00\", got \"{}\"", text)};
}

void read_problem(TableReader& reader, Scenario& scenario, const ReadFile& read_file) {
  ProblemSetup problem;
  problem.name = fmt::format("problem {}", scenario.problems.size() + 1);
  reader.text("name", problem.name);
  std::string profile;
  reader.text("profile", profile, [&](const std::string& text) -> Status {
    TRY_ASSIGN(problem.job.profile, profile_from(text));
    return {};
  });
  double hours = 0;
  const bool sized = reader.has("ideal_hours"), counted = reader.has("items");
  reader.number("ideal_hours", hours, 1e-4, 10'000);
  problem.job.ideal_seconds = hours * 3600;
  reader.whole("items", problem.items, 1, 1'000'000'000);
  const bool listed = reader.has("costs");
  std::string costs;
  reader.text("costs", costs, [&](const std::string& name) -> Status {
    if (!read_file) return Error{ErrorKind::invalid, "there are no files of costs here"};
    TRY_ASSIGN(const std::string text, read_file(name));
    TRY_ASSIGN(problem.job.given, read_costs(text, name));
    problem.items = static_cast<std::int64_t>(problem.job.given.costs.size());
    return {};
  });
  bool hints = true;
  reader.flag("hints", hints);
  if (!hints) problem.job.given.hints.clear();
  if (listed && (sized || counted || reader.has("profile"))) {
    reader.mistake("costs",
                   "the file says how many items there are, of what costs: leave out profile, items "
                   "and ideal_hours");
  } else if (!listed && reader.has("hints")) {
    reader.mistake("hints", "expected together with costs; profiles have hints of their own");
  }
  if (!listed && sized == counted)
    reader.mistake(sized ? "items" : "ideal_hours", "give either ideal_hours or items");
  reader.number("item_seconds", problem.job.item_seconds, 1e-6, 1e7);
  reader.number("transfer_share", problem.job.transfer_share, 0, 100);
  reader.number("bytes_in", problem.bytes_in, 0, 1e12);
  reader.number("bytes_out", problem.bytes_out, 0, 1e12);
  reader.flag("checkpoint", problem.checkpoint);
  reader.flag("progress", problem.progress);
  reader.flag("may_split", problem.may_split);
  reader.text("validation", problem.validation, [](const std::string& text) -> Status {
    TRY(policy::parse_validation(text));
    return {};
  });
  reader.number("weight", problem.weight, 1e-6, 1e6);
  reader.whole("priority", problem.priority, -8, 8);
  reader.number("arrives", problem.arrives, 0, most);
  scenario.problems.push_back(std::move(problem));
}

// Keys that replace one of every class's habits.
void read_habits(TableReader& reader, FleetSetup& fleet) {
  static constexpr struct {
    const char* key;
    double Habits::*habit;
  } keys[] = {{"pause_gap", &Habits::pause_gap},    {"pause_length", &Habits::pause_length},
              {"load_gap", &Habits::load_gap},      {"load_length", &Habits::load_length},
              {"slow_gap", &Habits::slow_gap},      {"slow_length", &Habits::slow_length},
              {"vanish_mean", &Habits::vanish_mean}};
  std::vector<std::pair<double Habits::*, double>> changes;
  for (const auto& [key, habit] : keys) {
    double value = 0;
    if (reader.number(key, value, 1, most)) changes.emplace_back(habit, value);
  }
  std::vector<double> present;
  if (reader.numbers("present", present, 0, 1) && present.size() != 24 && present.size() != 168)
    reader.mistake("present",
                   fmt::format("expected 24 (hours of a day) or 168 (of a week), got {}", present.size()));
  if (changes.empty() && present.empty()) return;
  fleet.habits = [changes, present](Habits& habits) {
    for (const auto& [habit, value] : changes) habits.*habit = value;
    habits.present = present;
  };
}

void read_outages(TableReader& reader, FleetSetup& fleet) {
  const auto listed = [&](const char* key, std::vector<double>& times) {
    if (!reader.numbers(key, times, 0, most)) return;
    const bool rises = std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) == times.end();
    if (times.size() % 2 != 0 || !rises)
      reader.mistake(key, "expected seconds in pairs that rise: from, until, from, until");
  };
  const auto drawn = [&](const char* gap, const char* length, Outages& outages) {
    const bool gaps = reader.number(gap, outages.gap, 1, most);
    if (gaps != reader.number(length, outages.length, 1, most))
      reader.mistake(gaps ? gap : length, fmt::format("expected both {} and {}", gap, length));
  };
  listed("outages", fleet.outages.power.listed);
  drawn("outage_gap", "outage_length", fleet.outages.power);
  listed("cuts", fleet.outages.network.listed);
  drawn("cut_gap", "cut_length", fleet.outages.each_cut);
}

void read_fleet(TableReader& reader, Scenario& scenario, const ReadFile& read_file) {
  FleetSetup fleet;
  const bool drawn = reader.has("hosts"), listed = reader.has("speeds"), traced = reader.has("trace");
  reader.whole("hosts", fleet.hosts, 1, hosts_max);
  const bool mixed = reader.has("mix");
  reader.table("mix", [&](TableReader& mix) {
    mix.number("always", fleet.mix.always, 0, 1);
    mix.number("office", fleet.mix.office, 0, 1);
    mix.number("home", fleet.mix.home, 0, 1);
    mix.number("lab", fleet.mix.lab, 0, 1);
  });
  reader.number("harsh", fleet.harsh, 0.001, 1000);
  read_habits(reader, fleet);
  reader.numbers("speeds", fleet.speeds, 1e-9, most);
  const auto listed_numbers = [&](const char* key, std::vector<double>& numbers, double least) {
    reader.numbers(key, numbers, least, most);
    if (!numbers.empty() && numbers.size() != fleet.speeds.size())
      reader.mistake(key, fmt::format("expected as many as there are speeds, {}, got {}", fleet.speeds.size(),
                                      numbers.size()));
  };
  listed_numbers("benchmarks", fleet.benchmarks, 1e-9);
  listed_numbers("joins", fleet.joins, 0);
  listed_numbers("queues", fleet.queues, 1);
  std::string trace;
  reader.text("trace", trace, [&](const std::string& name) -> Status {
    if (!read_file) return Error{ErrorKind::invalid, "there are no trace files here"};
    TRY_ASSIGN(const std::string text, read_file(name));
    TRY_ASSIGN(fleet.traced, read_trace(text, name));
    return {};
  });
  reader.whole("slots", fleet.slots, 1, 1024);
  reader.number("latency", fleet.latency, 0, 3600);
  reader.number("down_mbit", fleet.down_mbit, 0, 1e6);
  reader.number("up_mbit", fleet.up_mbit, 0, 1e6);
  reader.number("wrong", fleet.wrong, 0, 1);
  reader.number("liars", fleet.liars, 0, 1);
  read_outages(reader, fleet);
  reader.number("rate_noise", fleet.rate_noise, 0, 10);
  reader.flag("own", fleet.own);
  std::string cheats;
  reader.text("cheats", cheats, [&](const std::string& text) -> Status {
    TRY_ASSIGN(fleet.cheats, cheat_from(text));
    return {};
  });
  reader.number("boast", fleet.boast, 1e-6, 1e6);
  reader.number("boasters", fleet.boasters, 0, 1);
  reader.number("watts", fleet.watts, 0, 1e6);
  reader.number("watts_spread", fleet.watts_spread, 0, 10);
  reader.flag("steady", fleet.steady);
  if (fleet.steady && (listed || traced))
    reader.mistake("steady",
                   "expected together with hosts: listed ones are always on, traces say what befalls them");
  if (drawn && !fleet.steady && fleet.hosts > lively_max)
    reader.mistake("hosts", fmt::format("expected at most {}, or steady = true", lively_max));
  const double sum = fleet.mix.always + fleet.mix.office + fleet.mix.home + fleet.mix.lab;
  if (static_cast<int>(drawn) + static_cast<int>(listed) + static_cast<int>(traced) != 1) {
    reader.mistake("hosts", "give one of hosts (with mix), speeds and trace");
  } else if (drawn && !(std::abs(sum - 1) < 1e-6)) {
    reader.mistake("mix", mixed ? fmt::format("its shares have to add up to 1, not {:g}", sum)
                                : "expected shares, for example { office = 0.9, always = 0.1 }");
  }
  scenario.fleets.push_back(std::move(fleet));
}

void read_server(TableReader& reader, Scenario& scenario) {
  reader.text("strategy", scenario.strategy, [](const std::string& text) -> Status {
    TRY(policy::strategy_kind(text));
    return {};
  });
  reader.text("straggler", scenario.straggler, [](const std::string& text) -> Status {
    TRY_ASSIGN(const auto rule, policy::straggler_from(text));
    static_cast<void>(rule);
    return {};
  });
  reader.numbers("restarts", scenario.restarts, 0, most);
  reader.number("service_seconds", scenario.service_seconds, 0, 3600);
  reader.flag("knows_benchmark", scenario.knows_benchmark);
  policy::EndgameRules& rules = scenario.rules;
  reader.table("rules", [&](TableReader& table) {
    table.number("rate_memory", rules.rate_memory, 1, 1e7);
    table.number("heartbeat", rules.heartbeat, 0.1, 1e6);
    table.number("heartbeat_endgame", rules.heartbeat_endgame, 0.1, 1e6);
    table.number("heartbeat_late", rules.heartbeat_late, 0.1, 1e7);
    table.number("copy_budget", rules.copy_budget, 0, 100);
    table.number("guided_fraction", rules.guided_fraction, 0.001, 1);
    table.number("unit_minimum", rules.unit_minimum, 0.001, 1e7);
    table.number("unit_maximum", rules.unit_maximum, 0.001, 1e7);
    table.number("lease", rules.lease, 1, 1e9);
    table.number("park", rules.park, 0.001, 1e6);
    std::int64_t holders = rules.holders_max;
    if (table.whole("holders_max", holders, 1, 1000)) rules.holders_max = static_cast<int>(holders);
  });
}

void read_relays(TableReader& reader, RelaysSetup& relays) {
  relays.given = true;
  reader.numbers("children", relays.children, 1, 1e6);
  if (relays.children.size() > 8) reader.mistake("children", "expected at most 8 levels");
  for (const double count : relays.children)
    if (count != std::floor(count)) reader.mistake("children", "expected whole numbers");
  reader.text("service", relays.service, [](const std::string& name) -> Status {
    TRY(planning::make_serving_rule(name));
    return {};
  });
  reader.number("horizon", relays.rules.horizon, 0.1, 1e7);
  reader.number("deliver", relays.rules.deliver, 0, 1e7);
  std::int64_t pieces = relays.rules.pieces;
  if (reader.whole("pieces", pieces, 1, 1'000'000)) relays.rules.pieces = static_cast<int>(pieces);
  reader.number("latency", relays.latency, 0, 3600);
  reader.number("up_mbit", relays.up_mbit, 0, 1e6);
  reader.number("down_mbit", relays.down_mbit, 0, 1e6);
  const auto drawn = [&](const char* gap, const char* length, double& gap_value, double& length_value) {
    const bool gaps = reader.number(gap, gap_value, 1, most);
    if (gaps != reader.number(length, length_value, 0.1, most))
      reader.mistake(gaps ? gap : length, fmt::format("expected both {} and {}", gap, length));
  };
  drawn("cut_gap", "cut_length", relays.cut_gap, relays.cut_length);
  drawn("off_gap", "off_length", relays.off_gap, relays.off_length);
  reader.number("vanish_mean", relays.vanish_mean, 1, most);
  reader.number("until", relays.until, 0.1, most);
}

void read_top(TableReader& reader, Scenario& scenario, const ReadFile& read_file) {
  reader.text("name", scenario.name);
  std::string start;
  reader.text("start", start, [&](const std::string& text) -> Status {
    TRY_ASSIGN(scenario.start_hour, start_from(text));
    return {};
  });
  if (!reader.has("problem")) reader.mistake("problem", "expected a table [problem]");
  reader.tables("problem", [&](TableReader& table) { read_problem(table, scenario, read_file); });
  if (!reader.has("fleet")) reader.mistake("fleet", "expected one or more tables [[fleet]]");
  reader.tables("fleet", [&](TableReader& table) { read_fleet(table, scenario, read_file); });
  reader.table("server", [&](TableReader& table) { read_server(table, scenario); });
  reader.table("relays", [&](TableReader& table) { read_relays(table, scenario.relays); });
  reader.table("network", [&](TableReader& table) {
    table.number("request_delay", scenario.request_delay, 0, 3600);
    table.flag("prefetch", scenario.prefetch);
    table.number("commit_seconds", scenario.commit_seconds, 0, 1e7);
  });
  reader.table("failures", [&](TableReader& table) {
    table.number("kernel", scenario.kernel_failures, 0, 1);
    table.number("lost", scenario.lost, 0, 0.99);
    table.number("lost_retry", scenario.lost_retry, 0.001, 1e6);
    table.number("late", scenario.late, 0, 1);
    table.number("late_seconds", scenario.late_seconds, 0.001, 1e7);
  });
  reader.finish();
}

Result<toml::table> parse(std::string_view text, const std::string& file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return Error{ErrorKind::invalid,
                 fmt::format("{}:{}: {}", file, error.source().begin.line, error.description())};
  }
}

// Puts `from` into `into`, table by table; a table put into a list of tables goes into each.
void merge(toml::table& into, toml::table&& from) {
  for (auto&& [key, node] : from) {
    toml::node* old = into.get(key.str());
    if (old != nullptr && node.is_table() && old->is_table()) {
      merge(*old->as_table(), std::move(*node.as_table()));
    } else if (old != nullptr && node.is_table() && old->is_array_of_tables()) {
      for (toml::node& element : *old->as_array()) {
        toml::table copy = *node.as_table();
        merge(*element.as_table(), std::move(copy));
      }
    } else {
      node.visit([&, name = key.str()](auto&& value) {
        into.insert_or_assign(name, std::move(value));  // moved values keep where they are from
      });
    }
  }
}

void add_fleet(const Scenario& scenario, const FleetSetup& fleet, Random& seeds, std::vector<GridHost>& all) {
  std::vector<GridHost> hosts = fleet.traced;
  for (std::size_t i = 0; i < fleet.speeds.size(); ++i) {
    hosts.emplace_back();
    hosts.back().speed = fleet.speeds[i];
    hosts.back().performance = fleet.benchmarks.empty() ? fleet.speeds[i] : fleet.benchmarks[i];
    if (!fleet.joins.empty()) hosts.back().joins_at = fleet.joins[i];
    if (!fleet.queues.empty()) hosts.back().queue = fleet.queues[i];
  }
  for (GridHost& host : hosts) host.slots = static_cast<int>(std::max<std::int64_t>(1, fleet.slots));
  if (fleet.hosts > 0) {
    PopulationSetup setup;
    setup.hosts = static_cast<int>(fleet.hosts);
    setup.slots = static_cast<int>(fleet.slots);
    setup.mix = fleet.mix;
    setup.harsh = fleet.harsh;
    setup.start_hour = scenario.start_hour;
    setup.change = fleet.habits;
    setup.seed = seeds.next();
    hosts = make_population(setup);
  }
  const auto byte_seconds = [](double mbit) { return mbit > 0 ? 8 / (mbit * 1e6) : 0; };
  std::shared_ptr<FleetOutages> outages;
  if (fleet.outages.any()) {
    outages = std::make_shared<FleetOutages>(fleet.outages);
    outages->seed = seeds.next();
  }
  std::vector<GridHost*> cheats;
  for (GridHost& host : hosts) {
    if (fleet.steady) host.owner.reset();
    cheats.push_back(&host);
    host.own = fleet.own;
    host.outages = outages;
    if (outages) host.outage_seed = seeds.next();
    host.rate_noise = fleet.rate_noise;
    if (fleet.boast != 1 && seeds.chance(fleet.boasters)) {
      host.boast = fleet.boast;
      host.performance *= fleet.boast;
    }
    if (fleet.watts > 0) host.watts = fleet.watts * std::exp(seeds.normal(0, fleet.watts_spread));
    host.latency = fleet.latency;
    host.download_byte_seconds = byte_seconds(fleet.down_mbit);
    host.upload_byte_seconds = byte_seconds(fleet.up_mbit);
    if (fleet.wrong > 0 && seeds.chance(fleet.liars)) host.wrong_chance = fleet.wrong;
  }
  make_cheats(fleet.cheats, cheats);
  all.insert(all.end(), std::make_move_iterator(hosts.begin()), std::make_move_iterator(hosts.end()));
}

}  // namespace

Result<Scenario> read_scenario(std::string_view text, const std::string& file,
                               const std::vector<Override>& overrides, const ReadFile& read_file) {
  if (text.size() > scenario_bytes_max)
    return Error{ErrorKind::too_large, fmt::format("{}: a scenario has at most 1 MiB", file)};
  TRY_ASSIGN(toml::table table, parse(text, file));
  for (const Override& change : overrides) {
    const std::string source = fmt::format("--set {}={}", change.key, change.value);
    auto given = parse(fmt::format("{} = {}", change.key, change.value), source);
    // A word needs no quotes on the command line.
    if (!given.ok()) given = parse(fmt::format("{} = '{}'", change.key, change.value), source);
    if (!given.ok()) return given.error();
    merge(table, std::move(*given));
  }
  Scenario scenario;
  Mistakes mistakes(file);
  TableReader reader(table, "", mistakes);
  read_top(reader, scenario, read_file);
  TRY(mistakes.status());
  return scenario;
}

Result<GridInstance> make_instance(const Scenario& scenario, std::uint64_t seed) {
  GridInstance instance;
  Random seeds(seed);
  for (const FleetSetup& fleet : scenario.fleets) add_fleet(scenario, fleet, seeds, instance.hosts);
  for (const ProblemSetup& setup : scenario.problems) {
    const bool first = &setup == &scenario.problems.front();
    JobSetup job = setup.job;
    job.seed = seed + static_cast<std::uint64_t>(&setup - scenario.problems.data());
    if (setup.items > 0) job.ideal_seconds = 0;
    TRY(first ? set_job(job, setup.items, instance) : add_job(job, setup.items, instance));
    GridProblem& problem = first ? instance : instance.more.back();
    problem.bytes_in = setup.bytes_in;
    problem.bytes_out = setup.bytes_out;
    problem.may_split = setup.may_split;
    problem.validation = setup.validation;
    problem.checkpoint = setup.checkpoint;
    problem.progress = setup.progress;
    problem.weight = setup.weight;
    problem.priority = static_cast<int>(setup.priority);
    problem.arrives_at = setup.arrives;
  }
  instance.benchmark_known = scenario.knows_benchmark;
  instance.sizing = scenario.strategy;
  TRY_ASSIGN(instance.straggler, policy::straggler_from(scenario.straggler));
  instance.rules = scenario.rules;
  instance.rules.request_delay = std::min(instance.rules.request_delay, scenario.request_delay);
  instance.request_delay = scenario.request_delay;
  instance.service_seconds = scenario.service_seconds;
  instance.prefetch = scenario.prefetch;
  instance.commit_seconds = scenario.commit_seconds;
  instance.failure_chance = scenario.kernel_failures;
  instance.loss_chance = scenario.lost;
  instance.loss_retry = scenario.lost_retry;
  instance.late_chance = scenario.late;
  instance.late_seconds = scenario.late_seconds;
  instance.restarts = scenario.restarts;
  instance.seed = seeds.next();
  instance.give_up_after = give_up_ideals * instance.ideal_seconds + give_up_extra;
  for (const ProblemSetup& setup : scenario.problems) instance.give_up_after += setup.arrives;
  instance.keep_decisions = false;
  return instance;
}

}  // namespace gleaner::simulator
