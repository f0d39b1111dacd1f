// replay: a project's decision log, played into a fresh scheduler.
#include "server/policy/dispatch/replay.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <ostream>

#include "shared/json/text.h"
#include "tools/simulator/command/commands.h"

namespace gleaner::simulator {
namespace {

constexpr std::size_t line_bytes_max = std::size_t{1} << 31;  // costs of 100 million items

Error cannot_read(const std::string& path) {
  return {ErrorKind::io, fmt::format("cannot read {}: {}", path, std::strerror(errno))};
}

Status feed(policy::ProjectReplay& replay, std::istream& file, const std::string& path) {
  for (std::string line; !replay.parting() && std::getline(file, line);) {
    if (line.size() > line_bytes_max)
      return Error{ErrorKind::too_large,
                   fmt::format("{}:{}: the line is too long", path, replay.lines() + 1)};
    // A log that is still written, or whose writer was killed, may end in the middle of a line.
    if (file.eof() && (line.empty() || line.back() != '}')) break;
    TRY(replay.feed(line, path));
  }
  if (file.bad()) return cannot_read(path);
  if (replay.dispatch() == nullptr)
    return Error{ErrorKind::invalid,
                 fmt::format("{}:1: expected a project's decision log; the file is empty", path)};
  return {};
}

Result<int> replay(Console& console, const std::string& path, bool json) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot_read(path);
  policy::ProjectReplay replay;
  TRY(feed(replay, file, path));
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

}  // namespace

void add_replay_command(CLI::App& program, Action& chosen) {
  auto* command =
      program.add_subcommand("replay", "plays a project's decision log again and compares the decisions");
  const auto path = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  command->add_option("log", *path, "the log (run --log writes one)")->required();
  command->add_flag("--json", *json, "print JSON");
  command->callback([&chosen, path, json] {
    chosen = [path, json](Console& console) { return replay(console, *path, *json); };
  });
}

}  // namespace gleaner::simulator
