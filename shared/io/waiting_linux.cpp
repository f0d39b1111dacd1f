#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "shared/base/check.h"
#include "shared/io/waiting.h"

namespace gleaner::io {
namespace {

constexpr std::int64_t milliseconds_max = 3'600'000;

}  // namespace

std::optional<std::size_t> wait_any(std::span<const Waitable> all, Duration at_most) {
  std::array<pollfd, 16> few{};
  std::vector<pollfd> many;
  if (all.size() > few.size()) many.resize(all.size());
  pollfd* const polled = many.empty() ? few.data() : many.data();
  // poll() passes over numbers below 0.
  for (std::size_t i = 0; i < all.size(); ++i) polled[i] = {static_cast<int>(all[i].native()), POLLIN, 0};
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(std::max(at_most, Duration{0}));
  const auto patience = static_cast<int>(std::min<std::int64_t>(milliseconds.count(), milliseconds_max));
  if (::poll(polled, all.size(), patience) <= 0) return std::nullopt;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (polled[i].revents != 0) return i;
  return std::nullopt;
}

Wakeup::Wakeup() : waitable_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK_TRUE(waitable_.valid());
}

Wakeup::~Wakeup() {
  ::close(static_cast<int>(waitable_.native()));
}

void Wakeup::ring() {
  CHECK_TRUE(::eventfd_write(static_cast<int>(waitable_.native()), 1) == 0);
}

bool Wakeup::take() {
  eventfd_t count = 0;
  return ::eventfd_read(static_cast<int>(waitable_.native()), &count) == 0;  // else it has not rung
}

}  // namespace gleaner::io
