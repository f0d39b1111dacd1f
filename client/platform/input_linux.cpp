// Input devices where this user may read them (root, or the group input): an event wakes the client at once.
// Nothing of an event is looked at.
#include <fcntl.h>
#include <linux/input.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

bool has_bit(const std::array<unsigned char, KEY_MAX / 8 + 1>& bits, int bit) {
  return (bits[static_cast<std::size_t>(bit) / 8] >> (bit % 8) & 1) != 0;
}

// A keyboard, mouse, touch pad or screen; not a lid switch, a power button or a sensor.
bool is_human(int device) {
  std::array<unsigned char, KEY_MAX / 8 + 1> keys{};
  if (::ioctl(device, EVIOCGBIT(EV_KEY, sizeof keys), keys.data()) < 0)
    return errno == ENOTTY;  // no device: a test's
  return has_bit(keys, KEY_A) || has_bit(keys, BTN_LEFT) || has_bit(keys, BTN_TOUCH) ||
         has_bit(keys, BTN_GAMEPAD);
}

}  // namespace

InputDevices::InputDevices(const io::Path& dev) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(dev / "input", error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with("event")) continue;
    io::Descriptor device(::open(entry->path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (device.valid() && is_human(device.get())) devices_.push_back(std::move(device));
  }
}

std::vector<int> InputDevices::descriptors() const {
  std::vector<int> all;
  for (const io::Descriptor& device : devices_) all.push_back(device.get());
  return all;
}

std::optional<Observation> InputDevices::observe(SteadyTime now) {
  if (devices_.empty()) return std::nullopt;
  std::array<char, 4096> unread{};
  for (auto device = devices_.begin(); device != devices_.end();) {
    ssize_t got = 0;
    while ((got = ::read(device->get(), unread.data(), unread.size())) > 0) last_ = now;
    device =
        got < 0 && (errno == EAGAIN || errno == EINTR) ? device + 1 : devices_.erase(device);  // unplugged
  }
  if (!last_) last_ = now;  // what was before is not known: as if somebody had just left
  return Observation{Observation::Kind::input, "keyboard or mouse", Duration{0},
                     std::chrono::duration_cast<Duration>(now - *last_), 0};
}

}  // namespace gleaner::platform
