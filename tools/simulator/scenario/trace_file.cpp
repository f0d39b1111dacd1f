// Trace files: what happened to real or imagined hosts, as lines of CSV.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "tools/simulator/scenario/scenario.h"

namespace gleaner::simulator {
namespace {

constexpr std::size_t trace_bytes_max = 256 << 20;
constexpr std::string_view header = "host,seconds,event,value";

struct Line {
  std::string host, event;
  double seconds = 0, value = 0;
};

Result<double> number_in(const std::string& text, const char* what) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !std::isfinite(value) || value < 0)
    return Error{ErrorKind::invalid, fmt::format("{}: expected a number from 0 on, got \"{}\"", what, text)};
  return value;
}

Result<Line> line_of(std::string_view text) {
  std::vector<std::string> cells;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    cells.emplace_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  if (cells.size() < 3 || cells.size() > 4)
    return Error{ErrorKind::invalid, fmt::format("expected {}, got {} cells", header, cells.size())};
  Line line{cells[0], cells[2], 0, 0};
  if (line.host.empty()) return Error{ErrorKind::invalid, "host: expected a name"};
  TRY_ASSIGN(line.seconds, number_in(cells[1], "seconds"));
  if (cells.size() == 4 && !cells[3].empty()) {
    TRY_ASSIGN(line.value, number_in(cells[3], "value"));
  }
  return line;
}

Status add(const Line& line, std::map<std::string, std::size_t>& places, std::vector<GridHost>& hosts) {
  static const std::map<std::string, HostEventKind> kinds{
      {"pause", HostEventKind::pause}, {"resume", HostEventKind::resume}, {"slow", HostEventKind::slow},
      {"off", HostEventKind::off},     {"on", HostEventKind::on},         {"vanish", HostEventKind::vanish}};
  const auto known = places.find(line.host);
  if (line.event == "join") {
    if (known != places.end())
      return Error{ErrorKind::invalid, fmt::format("{} has joined before", line.host)};
    if (!(line.value > 0)) return Error{ErrorKind::invalid, "value: expected its speed, above 0"};
    places.emplace(line.host, hosts.size());
    hosts.emplace_back();
    hosts.back().speed = hosts.back().performance = line.value;
    hosts.back().joins_at = line.seconds;
    return {};
  }
  const auto kind = kinds.find(line.event);
  if (kind == kinds.end())
    return Error{
        ErrorKind::invalid,
        fmt::format("event: expected join, pause, resume, slow, off, on or vanish, got \"{}\"", line.event)};
  if (known == places.end())
    return Error{ErrorKind::invalid,
                 fmt::format("{}: its first event has to be join, with its speed", line.host)};
  if (kind->second == HostEventKind::slow && !(line.value > 0 && line.value <= 1))
    return Error{ErrorKind::invalid, "value: expected the share of its speed, above 0 to 1"};
  GridHost& host = hosts[known->second];
  if (line.seconds < (host.events.empty() ? host.joins_at : host.events.back().at))
    return Error{ErrorKind::invalid, fmt::format("seconds: {}'s events have to be in order", line.host)};
  host.events.push_back({line.seconds, kind->second, kind->second == HostEventKind::slow ? line.value : 1});
  return {};
}

}  // namespace

Result<std::vector<GridHost>> read_trace(std::string_view text, const std::string& file) {
  if (text.size() > trace_bytes_max)
    return Error{ErrorKind::too_large, fmt::format("{}: a trace has at most 256 MiB", file)};
  std::vector<GridHost> hosts;
  std::map<std::string, std::size_t> places;
  std::size_t number = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string_view line = text.substr(from, end - from);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    from = end + 1;
    ++number;
    if (line.empty() || line.front() == '#' || (number == 1 && line == header)) continue;
    const auto parsed = line_of(line);
    const Status added = parsed.ok() ? add(*parsed, places, hosts) : Status(parsed.error());
    if (!added.ok())
      return Error{ErrorKind::invalid, fmt::format("{}:{}: {}", file, number, added.error().message)};
  }
  if (hosts.empty())
    return Error{ErrorKind::invalid,
                 fmt::format("{}:1: expected lines \"{}\", the first of a host join", file, header)};
  return hosts;
}

}  // namespace gleaner::simulator
