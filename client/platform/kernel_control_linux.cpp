#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "client/platform/kernel_control.h"

namespace gleaner::platform {
namespace {

io::Descriptor open_in(const io::Path& group, const char* name, int how) {
  return io::Descriptor(group.empty() ? -1 : ::open((group / name).c_str(), how | O_CLOEXEC));
}

// "usage_usec 123\n..."
std::optional<Duration> usage_of(std::string_view text) {
  constexpr std::string_view name = "usage_usec ";
  const auto at = text.find(name);
  if (at == text.npos) return std::nullopt;
  std::int64_t microseconds = 0;
  const char* const begin = text.data() + at + name.size();
  if (std::from_chars(begin, text.data() + text.size(), microseconds).ec != std::errc{}) return std::nullopt;
  return std::chrono::microseconds{microseconds};
}

}  // namespace

KernelControl::KernelControl(const host::KernelTree& kernel)
    : group_(kernel.group),
      freezer_(open_in(kernel.control, "cgroup.freeze", O_WRONLY)),
      statistics_(open_in(kernel.control, "cpu.stat", O_RDONLY)),
      clock_(kernel.group) {}

void KernelControl::send(int signal_number) const {
  ::kill(-group_, signal_number);  // gone already: nothing to do
}

bool KernelControl::freeze(bool wanted) {
  return freezer_.valid() && ::pwrite(freezer_.get(), wanted ? "1" : "0", 1, 0) == 1;
}

// The signal first: it is there at once, and the freezer has to wait for a lock of the whole system.
void KernelControl::stop() {
  send(SIGSTOP);
  if (!frozen_) frozen_ = freeze(true);
}

void KernelControl::thaw() {
  if (frozen_) (void)freeze(false);  // fails if the group is gone, and with it all that was frozen
  frozen_ = false;
}

void KernelControl::resume() {
  thaw();
  send(SIGCONT);
}

void KernelControl::kill() {
  send(SIGKILL);
}

void KernelControl::forget() {
  seen_.clear();
}

Duration KernelControl::lost(Duration elapsed) {
  constexpr Duration interval = std::chrono::milliseconds{50};  // it looks at every process
  if (statistics_.valid()) return Duration{0};
  ran_ += elapsed;
  if (!seen_.empty() && ran_ < interval) return Duration{0};
  const io::ProcessTree tree;
  std::vector<int> present = tree.processes(group_);
  Duration buried{0};
  for (const int process : present) buried += tree.buried_by(process);
  const auto gone = std::count_if(seen_.begin(), seen_.end(), [&present](int process) {
    return std::find(present.begin(), present.end(), process) == present.end();
  });
  const long processors = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
  const Duration most = std::min(gone, processors) * std::exchange(ran_, Duration{0});
  const Duration counted = std::max(Duration{0}, buried - buried_);
  seen_ = std::move(present);
  buried_ = buried;
  return std::max(Duration{0}, most - counted);
}

std::optional<Duration> KernelControl::used() {
  if (statistics_.valid()) {
    std::array<char, 256> text{};
    const ssize_t got = ::pread(statistics_.get(), text.data(), text.size(), 0);
    if (got > 0)
      if (const auto usage = usage_of({text.data(), static_cast<std::size_t>(got)})) return usage;
    statistics_.reset();
  }
  return clock_.read();
}

}  // namespace gleaner::platform
