#include "server/service/operator/views.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "server/console/item_cells.h"
#include "server/service/operator/contribution_days.h"
#include "server/service/operator/describe.h"
#include "server/service/operator/error_groups.h"
#include "server/service/operator/relay_figures.h"
#include "server/service/operator/suitable_hosts.h"

namespace gleaner::service {
namespace {

constexpr std::uint64_t sample_ticks = 5;
constexpr auto map_age_max = std::chrono::seconds{1};
constexpr auto hosts_age_max = std::chrono::seconds{5};  // it looks at every host
constexpr std::size_t looked_at_max = 64;                // problems that somebody looks at just now

// Of a stage that nobody computes any more, from the store.
Status count_stored(Transaction& tx, const Problem& problem, console::ItemCounter& counter) {
  const bool finished = problem.row.state == protocol::ProblemState::finished ||
                        problem.row.state == protocol::ProblemState::combining;
  if (finished) counter.accept({0, problem.stage_row.items});
  if (finished || problem.row.state == protocol::ProblemState::planning) return {};
  TRY_ASSIGN(const auto rows, tx.store.accepted(problem.row.id, problem.row.stage));
  for (const auto& row : rows) counter.accept(row.range);
  for (const Range range : problem.stage_row.set_aside) counter.put_aside(range);
  return {};
}

void count_live(const policy::Stage& stage, console::ItemCounter& counter) {
  const policy::Ledger& ledger = stage.ledger();
  const Range all{0, ledger.items()};
  ledger.accepted().visit_within(all, [&](Range range) { counter.accept(range); });
  ledger.set_aside().visit_within(all, [&](Range range) { counter.put_aside(range); });
  for (const policy::Unit* unit : stage.open_units())
    ledger.accepted().visit_missing({unit->committed, unit->range.end},
                                    [&](Range range) { counter.hold(range, unit->host); });
}

Status draw_map(Transaction& tx, ProblemId id, Result<protocol::ItemMap>& result) {
  const auto found = tx.model.problems.find(id);
  if (found == tx.model.problems.end()) {
    result = no_problem(id);
    return {};
  }
  const Problem& problem = found->second;
  protocol::ItemMap map{id, problem.row.stage, problem.stage_row.name, problem.stage_row.items, 1, {}, {}, {},
                        {}};
  console::ItemCounter counter(map.items, limits::map_cells_max);
  if (problem.stage)
    count_live(problem.stage->view(), counter);
  else
    TRY(count_stored(tx, problem, counter));
  console::ItemCells cells = std::move(counter).cells();
  map.items_per_cell = cells.items_per_cell;
  map.accepted = std::move(cells.accepted);
  map.held = std::move(cells.held);
  map.set_aside = std::move(cells.set_aside);
  map.holders = std::move(cells.holders);
  result = std::move(map);
  return {};
}

// Open ones first, then the newest: whoever has thousands looks at these.
std::vector<protocol::ProblemInfo> most_telling(const std::vector<protocol::ProblemInfo>& all) {
  std::vector<protocol::ProblemInfo> chosen(all.rbegin(), all.rend());
  std::stable_partition(chosen.begin(), chosen.end(), [](const auto& info) { return !over(info.state); });
  if (chosen.size() > limits::problems_live_max) chosen.resize(limits::problems_live_max);
  return chosen;
}

protocol::ProblemSample sample_of(const protocol::ProblemInfo& info, Timestamp now) {
  const double done = info.cost > 0 ? std::clamp(info.cost_accepted / info.cost, 0.0, 1.0) : 0;
  return {now, info.stage, done, info.rate, info.eta_seconds, info.eta_low_seconds, info.eta_high_seconds};
}

}  // namespace

Views::Views(Kernel& kernel, Overview& overview, Notices& notices)
    : kernel_(kernel),
      overview_(overview),
      notices_(notices),
      host_pages_(kernel),
      table_pages_(kernel),
      flows_(kernel),
      maps_(kernel.clock(), map_age_max, looked_at_max),
      suitable_(kernel.clock(), hosts_age_max, looked_at_max),
      limits_(kernel.clock(), hosts_age_max, looked_at_max),
      samples_(limits::samples_max) {}

void Views::live(Done<protocol::LiveView> done) {
  overview_.look([this, done = std::move(done)](Result<Overview::Snapshot> snapshot) {
    if (!snapshot.ok()) return done(snapshot.error());
    const ProjectSnapshot& seen = **snapshot;
    protocol::LiveView view{seen.status,
                            most_telling(seen.problems),
                            static_cast<std::int64_t>(seen.problems.size()),
                            seen.errors,
                            {}};
    {
      const std::lock_guard lock(mutex_);
      view.sample = newest_;
    }
    done(std::move(view));
  });
}

void Views::item_map(ProblemId id, Done<protocol::ItemMap> done) {
  maps_.ask(id, std::move(done), [this, id](Done<protocol::ItemMap> made) {
    kernel_.decide<protocol::ItemMap>(
        [id](Transaction& tx, Result<protocol::ItemMap>& map) { return draw_map(tx, id, map); },
        std::move(made));
  });
}

void Views::problem_hosts(ProblemId id, Done<protocol::ProblemHosts> done) {
  suitable_.ask(id, std::move(done), [this, id](Done<protocol::ProblemHosts> made) {
    kernel_.decide<protocol::ProblemHosts>(
        [id](const Transaction& tx, Result<protocol::ProblemHosts>& hosts) -> Status {
          const auto found = tx.model.problems.find(id);
          if (found == tx.model.problems.end())
            hosts = no_problem(id);
          else
            hosts = suitable_hosts(tx.model, found->second, tx.now);
          return {};
        },
        std::move(made));
  });
}

void Views::relay_limit(const std::string& relay, Done<protocol::RelayLimit> done) {
  limits_.ask(relay, std::move(done), [this, relay](Done<protocol::RelayLimit> made) {
    kernel_.decide<RelayFigures>(
        [relay](Transaction& tx, Result<RelayFigures>& figures) { return gather_relay(tx, relay, figures); },
        [made = std::move(made)](const Result<RelayFigures>& figures) {
          made(figures.ok() ? explain_relay(*figures) : Result<protocol::RelayLimit>(figures.error()));
        });
  });
}

void Views::host_units(HostId host, int count_max, Done<std::vector<protocol::UnitInfo>> done) {
  kernel_.decide<std::vector<protocol::UnitInfo>>(
      [host, count_max](Transaction& tx, Result<std::vector<protocol::UnitInfo>>& units) -> Status {
        if (!tx.model.hosts.contains(host)) {
          units = no_host(host);
          return {};
        }
        TRY_ASSIGN(const auto places, tx.store.host_units(host, count_max));
        std::vector<protocol::UnitInfo> all;
        for (const auto& place : places) all.push_back(describe(tx.model, place));
        units = std::move(all);
        return {};
      },
      std::move(done));
}

void Views::days(Done<std::vector<protocol::DayInfo>> done) {
  kernel_.decide<std::vector<protocol::DayInfo>>(
      [](Transaction& tx, Result<std::vector<protocol::DayInfo>>& days) -> Status {
        days = describe_days(tx);
        return {};
      },
      std::move(done));
}

void Views::errors(Done<std::vector<protocol::ErrorGroup>> done) {
  kernel_.decide<std::vector<protocol::ErrorGroup>>(
      [](const Transaction& tx, Result<std::vector<protocol::ErrorGroup>>& errors) -> Status {
        errors = group_errors(tx.model);
        return {};
      },
      std::move(done));
}

namespace {

// Of server.toml as the server writes it: comments before a setting say what it means.
std::vector<protocol::SettingInfo> settings_of(const Configuration& configuration) {
  std::vector<protocol::SettingInfo> all;
  const std::string text = render_configuration(configuration);
  std::string table, meaning;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('[')) {
      table = line.substr(1, line.find(']') - 1);
      meaning.clear();
    } else if (line.starts_with('#')) {
      const std::size_t words = std::min(line.find_first_not_of("# "), line.size());
      meaning += (meaning.empty() ? "" : " ") + line.substr(words);
    } else if (!line.empty() && equals != std::string::npos) {
      std::string value = line.substr(equals + 3);
      if (const auto comment = value.find("  #"); comment != std::string::npos) value.resize(comment);
      all.push_back({table + "." + line.substr(0, line.find_last_not_of(' ', equals) + 1),
                     std::move(value),
                     std::exchange(meaning, {}),
                     {}});
    } else {
      meaning.clear();
    }
  }
  return all;
}

}  // namespace

std::vector<protocol::SettingInfo> Views::settings() const {
  auto all = settings_of(kernel_.settings().configuration);
  const auto defaults = settings_of({});
  for (std::size_t i = 0; i < std::min(all.size(), defaults.size()); ++i)
    if (all[i].name == defaults[i].name) all[i].default_value = defaults[i].value;
  return all;
}

std::vector<protocol::OverviewSample> Views::history() const {
  const std::lock_guard lock(mutex_);
  return samples_.samples();
}

std::vector<protocol::ProblemSample> Views::history(ProblemId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = problem_samples_.find(id);
  if (found == problem_samples_.end()) return {};
  return found->second.samples();
}

protocol::OverviewSample Views::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

// Each when it is new, and once a day. What changes in it are numbers.
void Views::log_warnings(const protocol::ServerStatus& status) {
  constexpr Duration again = std::chrono::hours{24};
  const std::lock_guard lock(mutex_);
  std::map<std::string, Timestamp> warned;
  for (const std::string& warning : status.warnings) {
    const std::string key = without_numbers(warning);
    const auto before = warned_.find(key);
    const bool due = before == warned_.end() || status.now - before->second >= again;
    if (due) spdlog::warn("{}", warning);
    warned[key] = due ? status.now : before->second;
  }
  warned_ = std::move(warned);
}

void Views::tick() {
  table_pages_.tick();
  if (ticks_++ % sample_ticks != 0) return;
  overview_.look([this](const Result<Overview::Snapshot>& snapshot) {
    if (!snapshot.ok()) return;
    note(**snapshot);
    log_warnings((*snapshot)->status);
    notices_.look(**snapshot);
  });
}

void Views::note(const ProjectSnapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  const Timestamp now = snapshot.status.now;
  const bool first = newest_.at == Timestamp{};
  if (!first && now <= newest_.at) return;  // an old snapshot, once more
  const double seconds = first ? 0 : to_seconds(now - newest_.at);
  const auto items = std::max<std::int64_t>(0, snapshot.items_accepted - items_accepted_);
  newest_.at = now;
  newest_.hosts_active = snapshot.status.hosts_active;
  newest_.cores_busy = snapshot.cores_busy;
  newest_.items_per_second = seconds > 0 ? static_cast<double>(items) / seconds : 0;
  newest_.core_hours += static_cast<double>(snapshot.cores_busy) * seconds / 3600;
  items_accepted_ = snapshot.items_accepted;
  samples_.offer(newest_);
  for (const auto& info : snapshot.problems) {
    const bool open = !over(info.state);
    const auto found = problem_samples_.find(info.id);
    if (open && found == problem_samples_.end() && problem_samples_.size() >= limits::problems_sampled_max)
      problem_samples_.erase(problem_samples_.begin());
    if (!open) continue;
    problem_samples_.try_emplace(info.id, limits::samples_max).first->second.offer(sample_of(info, now));
  }
}

}  // namespace gleaner::service
