// replay: the log of a stage, or of a whole server, played into a fresh one; or verdicts judged anew.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <ostream>

#include "server/policy/dispatch/replay.h"
#include "server/policy/journal/replay.h"
#include "server/policy/journal/verdicts.h"
#include "shared/json/text.h"
#include "tools/simulator/command/commands.h"

namespace gleaner::simulator {
namespace {

constexpr std::size_t line_bytes_max = std::size_t{1} << 31;  // costs of 100 million items

template <typename Replay>
Status feed(Replay& replay, std::istream& file, const std::string& path) {
  for (std::string line; !replay.parting() && std::getline(file, line);) {
    if (line.size() > line_bytes_max)
      return Error{ErrorKind::too_large,
                   fmt::format("{}:{}: the line is too long", path, replay.lines() + 1)};
    // A log that is still written, or whose writer was killed, may end in the middle of a line.
    if (file.eof() && (line.empty() || line.back() != '}')) break;
    TRY(replay.feed(line, path));
  }
  if (file.bad()) return Error{ErrorKind::io, fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  return {};
}

template <typename Replay>
int show(Console& console, const Replay& replay, const std::string& path, bool json) {
  const auto& parting = replay.parting();
  if (json) {
    json::Value document{{"lines", replay.lines()},
                         {"events", replay.events()},
                         {"decisions", replay.decisions()},
                         {"same", !parting.has_value()}};
    if (parting)
      document["parting"] = {
          {"line", parting->line}, {"logged", parting->logged}, {"replayed", parting->replayed}};
    console.out << json::write(document, {2}) << '\n';
  } else if (parting) {
    console.out << fmt::format("{}:{}: log and replay part here.\nlogged:\n{}\nreplayed:\n{}\n", path,
                               parting->line, parting->logged, parting->replayed);
  } else {
    console.out << fmt::format("{}: {} events lead to the same {} decisions\n", path, replay.events(),
                               replay.decisions());
  }
  return parting ? 1 : 0;
}

Result<int> replay(Console& console, const std::string& path, bool json) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorKind::io, fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  std::string first;
  std::getline(file, first);
  file.clear();
  file.seekg(0);
  if (policy::ProjectReplay::is_first_line(first)) {
    policy::ProjectReplay replay;
    TRY(feed(replay, file, path));
    return show(console, replay, path, json);
  }
  if (policy::VerdictReplay::is_first_line(first)) {
    policy::VerdictReplay replay;
    TRY(feed(replay, file, path));
    return show(console, replay, path, json);
  }
  policy::Replay replay;
  TRY(feed(replay, file, path));
  if (replay.stage() == nullptr)
    return Error{ErrorKind::invalid, fmt::format("{}:1: expected a stage's log; the file is empty", path)};
  return show(console, replay, path, json);
}

}  // namespace

void add_replay_command(CLI::App& program, Action& chosen) {
  auto* command = program.add_subcommand(
      "replay", "plays the log of a stage or a server again and compares the decisions");
  const auto path = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  command->add_option("log", *path, "the log (run --log writes one)")->required();
  command->add_flag("--json", *json, "print JSON");
  command->callback([&chosen, path, json] {
    chosen = [path, json](Console& console) { return replay(console, *path, *json); };
  });
}

}  // namespace gleaner::simulator
