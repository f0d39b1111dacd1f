#include "server/service/operator/error_groups.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace gleaner::service {
namespace {

// Of what a program wrote last: the line that says what was wrong, as interpreters put it at the end.
std::string_view last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const auto line = text.find_last_of('\n');
  return line == std::string_view::npos ? text : text.substr(line + 1);
}

// What is the same on every computer: paths without their directories, numbers of process ids and items as #.
std::string alike(std::string_view line) {
  constexpr std::size_t digits_kept = 2;  // exit statuses, signals
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    const auto begins = [&](bool (*in)(char)) {
      std::size_t end = at;
      while (end < line.size() && in(line[end])) ++end;
      return line.substr(at, end - at);
    };
    const auto path = begins(
        [](char c) { return c > ' ' && std::string_view("'\"()[],;:<>").find(c) == std::string_view::npos; });
    const auto name = path.starts_with('/') ? path.rfind('/') : 0;
    at += name;
    const auto digits = begins([](char c) { return c >= '0' && c <= '9'; });
    if (digits.size() > digits_kept) {
      text += '#';
      at += digits.size();
    } else {
      text += line[at++];
    }
  }
  return text;
}

bool is_over_for_good(protocol::ProblemState state) {
  return state == protocol::ProblemState::finished || state == protocol::ProblemState::cancelled;
}

// The hosts of a group, the most failures first.
std::vector<protocol::FailingHost> by_host(const Model& model, const std::map<HostId, std::int64_t>& times) {
  constexpr std::size_t shown_max = 20;
  std::vector<protocol::FailingHost> hosts;
  for (const auto& [id, count] : times) {
    const auto host = model.hosts.find(id);
    hosts.push_back({id, host == model.hosts.end() ? std::string() : host->second.row.name, count});
  }
  std::stable_sort(hosts.begin(), hosts.end(),
                   [](const auto& a, const auto& b) { return a.times > b.times; });
  if (hosts.size() > shown_max) hosts.resize(shown_max);
  return hosts;
}

void group(const Model& model, const Problem& problem, std::vector<protocol::ErrorGroup>& groups) {
  using Key = std::tuple<std::string, protocol::FailureKind, std::string>;  // version, kind, words
  std::map<Key, std::size_t> places;
  std::map<std::size_t, std::map<HostId, std::int64_t>> hosts;
  for (const auto& failure : problem.recent_failures) {
    const std::string& version = failure.application.empty() ? problem.application_name : failure.application;
    const auto [place, fresh] =
        places.emplace(Key{version, failure.kind, alike(last_line(failure.message))}, groups.size());
    if (fresh)
      groups.push_back({problem.row.id,
                        problem.row.name,
                        version,
                        protocol::name_of(failure.kind),
                        std::string(last_line(failure.message)),
                        failure.message,
                        0,
                        0,
                        failure.at,
                        failure.at,
                        {}});
    auto& entry = groups[place->second];
    ++entry.times;
    entry.first_at = std::min(entry.first_at, failure.at);
    entry.last_at = std::max(entry.last_at, failure.at);
    ++hosts[place->second][failure.host];
  }
  for (const auto& [place, times] : hosts) {
    groups[place].hosts = std::ssize(times);
    groups[place].by = by_host(model, times);
  }
}

void put_newest_first(std::vector<protocol::ErrorGroup>& groups) {
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.last_at > b.last_at; });
  if (groups.size() > limits::error_groups_max) groups.resize(limits::error_groups_max);
}

}  // namespace

std::vector<protocol::ErrorGroup> group_errors(const Model& model) {
  std::vector<protocol::ErrorGroup> groups;
  for (const auto& [id, problem] : model.problems)
    if (!is_over_for_good(problem.row.state)) group(model, problem, groups);
  put_newest_first(groups);
  return groups;
}

std::vector<protocol::ErrorGroup> group_errors(const Model& model, const Problem& problem) {
  std::vector<protocol::ErrorGroup> groups;
  group(model, problem, groups);
  put_newest_first(groups);
  return groups;
}

}  // namespace gleaner::service
