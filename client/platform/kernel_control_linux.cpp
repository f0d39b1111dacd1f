#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "client/platform/kernel_control.h"
#include "shared/io/descriptor.h"
#include "shared/io/process_tree.h"

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

struct KernelControl::System {
  explicit System(const host::KernelTree& kernel)
      : tree(kernel.tree),
        freezer(open_in(kernel.control, "cgroup.freeze", O_WRONLY)),
        statistics(open_in(kernel.control, "cpu.stat", O_RDONLY)),
        clock(kernel.tree) {}

  void send(int signal_number) const {
    ::kill(-static_cast<pid_t>(tree.native()), signal_number);  // gone already: nothing to do
  }
  [[nodiscard]] bool freeze(bool wanted) const {
    return freezer.valid() && ::pwrite(freezer.get(), wanted ? "1" : "0", 1, 0) == 1;
  }

  io::TreeHandle tree;
  io::Descriptor freezer;
  io::Descriptor statistics;
  io::TreeClock clock;
  bool frozen = false;
  std::vector<int> seen;  // processes at the last call of lost()
  Duration buried{0};
  Duration ran{0};  // since then
};

KernelControl::KernelControl(const host::KernelTree& kernel) : system_(std::make_unique<System>(kernel)) {}

KernelControl::~KernelControl() = default;

// The signal first: it is there at once, and the freezer has to wait for a lock of the whole system.
void KernelControl::stop() {
  system_->send(SIGSTOP);
  if (!system_->frozen) system_->frozen = system_->freeze(true);
}

void KernelControl::thaw() {
  // Fails if the group is gone, and with it all that was frozen.
  if (system_->frozen) (void)system_->freeze(false);
  system_->frozen = false;
}

void KernelControl::resume() {
  thaw();
  system_->send(SIGCONT);
}

void KernelControl::end() {
  system_->send(SIGKILL);
}

bool KernelControl::frozen() const {
  return system_->frozen;
}

void KernelControl::forget() {
  system_->seen.clear();
}

Duration KernelControl::lost(Duration elapsed) {
  constexpr Duration interval = std::chrono::milliseconds{50};  // it looks at every process
  System& all = *system_;
  if (all.statistics.valid()) return Duration{0};
  all.ran += elapsed;
  if (!all.seen.empty() && all.ran < interval) return Duration{0};
  const io::ProcessTree processes;
  std::vector<int> present = processes.processes(all.tree);
  Duration buried{0};
  for (const int process : present) buried += processes.buried_by(process);
  const auto gone = std::count_if(all.seen.begin(), all.seen.end(), [&present](int process) {
    return std::find(present.begin(), present.end(), process) == present.end();
  });
  const auto processors = static_cast<std::ptrdiff_t>(processors_online());
  const Duration most = std::min(gone, processors) * std::exchange(all.ran, Duration{0});
  const Duration counted = std::max(Duration{0}, buried - all.buried);
  all.seen = std::move(present);
  all.buried = buried;
  return std::max(Duration{0}, most - counted);
}

std::optional<Duration> KernelControl::used() {
  io::Descriptor& statistics = system_->statistics;
  if (statistics.valid()) {
    std::array<char, 256> text{};
    const ssize_t got = ::pread(statistics.get(), text.data(), text.size(), 0);
    if (got > 0)
      if (const auto usage = usage_of({text.data(), static_cast<std::size_t>(got)})) return usage;
    statistics.reset();
  }
  return system_->clock.read();
}

double processors_online() {
  return static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace gleaner::platform
