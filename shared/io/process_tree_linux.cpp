#include "shared/io/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

namespace gleaner::io {
namespace {

// A small file of /proc, whole; empty if the process has ended.
std::string read_small(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  std::array<char, 4096> piece{};
  ssize_t got = 0;
  while ((got = ::read(file, piece.data(), piece.size())) > 0 && text.size() < (1 << 20))
    text.append(piece.data(), static_cast<std::size_t>(got));
  ::close(file);
  return text;
}

std::vector<std::int64_t> numbers_of(std::string_view text) {
  std::vector<std::int64_t> numbers;
  while (true) {
    const auto begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return numbers;
    text.remove_prefix(begin);
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto end = std::min(text.find_first_of(" \n"), text.size());
    numbers.push_back(parsed.ec == std::errc{} ? value : 0);
    text.remove_prefix(end);
  }
}

// The numbered entries of a directory of /proc.
std::vector<int> numbered(const std::string& directory) {
  std::vector<int> found;
  DIR* const listing = ::opendir(directory.c_str());
  if (listing == nullptr) return found;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    int number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc{} && number > 0)
      found.push_back(number);
  }
  ::closedir(listing);
  return found;
}

// What follows the name, which is in parentheses and may contain any character: fields[0] is field 3 of
// proc(5).
struct Stat {
  char state = '?';
  std::vector<std::int64_t> fields;  // [0] stands for the state
};

Stat stat_of(const std::string& directory) {
  const std::string text = read_small(directory + "/stat");
  const auto end = text.rfind(')');
  if (end == std::string::npos || end + 2 >= text.size()) return {};
  return {text[end + 2], numbers_of(std::string_view(text).substr(end + 2))};
}

std::int64_t field(const Stat& stat, std::size_t number) {  // as proc(5) counts
  return stat.fields.size() > number - 3 ? stat.fields[number - 3] : 0;
}

// By looking at every process: for kernels that do not list children.
std::vector<int> children_by_scan(const std::string& proc, int parent) {
  std::vector<int> children;
  for (const int process : numbered(proc))
    if (field(stat_of(proc + "/" + std::to_string(process)), 4) == parent) children.push_back(process);
  return children;
}

std::vector<int> children_of(const std::string& proc, int parent) {
  const std::string tasks = proc + "/" + std::to_string(parent) + "/task";
  std::vector<int> children;
  for (const int task : numbered(tasks)) {
    const std::string list = tasks + "/" + std::to_string(task) + "/children";
    if (task == parent && ::access(list.c_str(), R_OK) != 0) return children_by_scan(proc, parent);
    for (const auto child : numbers_of(read_small(list)))
      if (child > 0) children.push_back(static_cast<int>(child));
  }
  return children;
}

Duration ticks(std::int64_t count) {
  return std::chrono::microseconds{count * 1'000'000 / std::max(1L, ::sysconf(_SC_CLK_TCK))};
}

std::optional<Duration> clock_of(int process) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::seconds{time.tv_sec} +
         std::chrono::duration_cast<Duration>(std::chrono::nanoseconds{time.tv_nsec});
}

// The number in a line "NAME:   123 kB" of such a file, in bytes; 0 without one.
std::int64_t kilobytes(const std::string& text, std::string_view name) {
  const auto at = text.find("\n" + std::string(name) + ":");
  if (at == std::string::npos) return 0;
  const auto begin = text.find_first_of("0123456789", at);
  std::int64_t value = 0;
  if (begin != std::string::npos) std::from_chars(text.data() + begin, text.data() + text.size(), value);
  return value << 10;
}

// Memory that several processes share counts with each in part, which the system has to add up page by page:
// only where there is some.
std::int64_t own_memory(const std::string& directory) {
  constexpr std::int64_t shared_unless_more = 1 << 20;
  const std::string status = read_small(directory + "/status");
  std::int64_t shared = kilobytes(status, "RssShmem");
  if (shared > shared_unless_more)
    if (const std::string rollup = read_small(directory + "/smaps_rollup"); !rollup.empty())
      shared = kilobytes(rollup, "Pss_Shmem");
  return kilobytes(status, "RssAnon") + kilobytes(status, "VmSwap") + shared;
}

int root_of(TreeHandle tree) {
  return static_cast<int>(tree.native());
}

}  // namespace

ProcessTree::ProcessTree(Path proc) : proc_(std::move(proc)) {}

std::vector<int> ProcessTree::processes(TreeHandle tree) const {
  std::vector<int> found;
  const int root = root_of(tree);
  if (::access((proc_ / std::to_string(root) / "stat").c_str(), R_OK) != 0) return found;
  found.push_back(root);
  for (std::size_t at = 0; at < found.size() && found.size() < processes_max; ++at)
    for (const int child : children_of(proc_.string(), found[at]))
      if (std::find(found.begin(), found.end(), child) == found.end()) found.push_back(child);
  if (found.size() > processes_max) found.resize(processes_max);
  return found;
}

std::optional<Duration> ProcessTree::cpu_time(TreeHandle root) const {
  const auto own = clock_of(root_of(root));
  if (!own) return std::nullopt;
  Duration total{0};
  for (const int process : processes(root)) {
    total += clock_of(process).value_or(Duration{0});
    total += buried_by(process);
  }
  return total;
}

Duration ProcessTree::buried_by(int process) const {
  const Stat stat = stat_of((proc_ / std::to_string(process)).string());
  return ticks(field(stat, 16) + field(stat, 17));
}

Duration ProcessTree::system_time_below(TreeHandle root) const {
  Duration total{0};
  for (const int process : processes(root)) {
    if (process == root_of(root)) continue;
    const Stat stat = stat_of((proc_ / std::to_string(process)).string());
    total += ticks(field(stat, 15) + field(stat, 17));
  }
  return total;
}

bool TreeClock::look_up(SteadyTime now) {
  constexpr Duration interval_min = std::chrono::milliseconds{10}, interval_max = std::chrono::seconds{1};
  const ProcessTree tree;
  std::vector<int> found = tree.processes(root_);
  interval_ = found == processes_ ? std::clamp(interval_ * 2, interval_min, interval_max) : interval_min;
  look_up_at_ = now + interval_;
  processes_ = std::move(found);
  buried_ = Duration{0};
  for (const int process : processes_) buried_ += tree.buried_by(process);
  return !processes_.empty();
}

std::optional<Duration> TreeClock::read() {
  const SteadyTime now = system_clock().steady();
  if ((processes_.empty() || now >= look_up_at_) && !look_up(now)) return std::nullopt;
  for (int tries = 0; tries < 3; ++tries) {
    Duration total = buried_;
    bool all = true;
    for (const int process : processes_) {
      const auto used = clock_of(process);
      all = all && used.has_value();
      total += used.value_or(Duration{0});
    }
    if (all) return total;
    if (!look_up(now)) return std::nullopt;
  }
  return ProcessTree().cpu_time(root_);  // they come and go faster than we look
}

TreeUse ProcessTree::use(TreeHandle root) const {
  TreeUse use;
  use.asleep = true;
  for (const int process : processes(root)) {
    const std::string directory = (proc_ / std::to_string(process)).string();
    ++use.processes;
    use.memory_bytes += own_memory(directory);
    for (const int task : numbered(directory + "/task")) {
      const char state = stat_of(directory + "/task/" + std::to_string(task)).state;
      if (state == '?') continue;  // it ended meanwhile
      ++use.threads;
      if (state != 'S') use.asleep = false;
    }
  }
  if (use.threads == 0) use.asleep = false;
  return use;
}

std::int64_t ProcessTree::peak_memory(TreeHandle root) const {
  std::int64_t bytes = 0;
  for (const int process : processes(root))
    bytes += kilobytes(read_small((proc_ / std::to_string(process) / "status").string()), "VmHWM");
  return bytes;
}

}  // namespace gleaner::io
