// Input devices where this user may read them (root, or the group input): an event wakes the client at once.
// Nothing of an event is looked at.
#include <fcntl.h>
#include <linux/input.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

bool is_human(int device) {
  std::array<unsigned char, KEY_MAX / 8 + 1> keys{};
  if (::ioctl(device, EVIOCGBIT(EV_KEY, sizeof keys), keys.data()) < 0)
    return errno == ENOTTY;  // no device: a test's
  return is_used_by_hand(keys);
}

}  // namespace

bool is_used_by_hand(std::span<const unsigned char> key_bits) {
  return std::ranges::any_of(std::array{KEY_A, BTN_LEFT, BTN_TOUCH, BTN_GAMEPAD, BTN_JOYSTICK}, [&](int key) {
    const std::size_t byte = static_cast<std::size_t>(key) / 8;
    return byte < key_bits.size() && (key_bits[byte] >> (key % 8) & 1) != 0;
  });
}

InputDevices::InputDevices(const io::Path& dev) : directory_(dev / "input") {
  find();
}

// Keyboards and game pads come and go, with a switch between computers as well. One that may not be read yet
// is tried again: its group is set after it is there.
void InputDevices::find() {
  std::set<std::string> here;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory_, error), end;
       !error && entry != end && here.size() < devices_max; entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with("event")) continue;
    here.insert(name);
    if (known_.contains(name)) continue;
    io::Descriptor device(::open(entry->path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!device.valid()) continue;
    known_.insert(name);
    if (is_human(device.get())) devices_.push_back({name, std::move(device)});
  }
  std::erase_if(known_, [&here](const std::string& name) { return !here.contains(name); });
}

std::vector<io::Waitable> InputDevices::waitables() const {
  std::vector<io::Waitable> all;
  for (const Device& device : devices_) all.emplace_back(device.descriptor.get());
  return all;
}

std::optional<Observation> InputDevices::observe(SteadyTime now) {
  if (!looked_at_ || now - *looked_at_ >= look_interval) {
    if (looked_at_) find();
    looked_at_ = now;
  }
  if (devices_.empty()) return std::nullopt;
  std::array<char, 4096> unread{};
  for (auto device = devices_.begin(); device != devices_.end();) {
    ssize_t got = 0;
    while ((got = ::read(device->descriptor.get(), unread.data(), unread.size())) > 0) last_ = now;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      ++device;
      continue;
    }
    known_.erase(device->name);  // unplugged; another one may get its name
    device = devices_.erase(device);
  }
  if (!last_) last_ = now;  // what was before is not known: as if somebody had just left
  return Observation{Observation::Kind::input, "keyboard or mouse", Duration{0},
                     std::chrono::duration_cast<Duration>(now - *last_), 0};
}

}  // namespace gleaner::platform
