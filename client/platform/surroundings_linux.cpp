#include <time.h>

#include "client/platform/surroundings.h"

namespace gleaner::platform {
namespace {

constexpr Duration terminals_interval = std::chrono::seconds{2};
constexpr Duration others_interval = std::chrono::seconds{10};

// A source that is read again when what it said is old.
class Remembered {
 public:
  explicit Remembered(Duration interval) : interval_(interval) {}
  template <typename Read>
  void add(std::vector<Observation>& all, SteadyTime now, Read read) {
    if (!read_at_ || now - *read_at_ >= interval_ || now < *read_at_) {
      seen_ = read();
      read_at_ = now;
    }
    for (Observation observation : seen_) {
      observation.age = std::chrono::duration_cast<Duration>(now - *read_at_);
      all.push_back(std::move(observation));
    }
  }

 private:
  Duration interval_;
  std::optional<SteadyTime> read_at_;
  std::vector<Observation> seen_;
};

class LinuxSurroundings final : public engine::Surroundings {
 public:
  explicit LinuxSurroundings(SurroundingsRoots roots) : roots_(std::move(roots)), inputs_(roots_.dev) {
    if (!roots_.screens) roots_.screens = logind_screens;
  }

  std::vector<Observation> observe(SteadyTime now) override {
    std::vector<Observation> all;
    const auto input = inputs_.observe(now);
    if (input) all.push_back(*input);
    terminals_.add(all, now, [this] { return observe_terminals(roots_.dev); });
    screens_.add(all, now, [this] {
      std::vector<Observation> seen;
      for (Screen& screen : roots_.screens())
        seen.push_back({Observation::Kind::screen, std::move(screen.name), Duration{0}, screen.idle, 0});
      return seen;
    });
    // Who sits at this computer's own screen uses its devices: if those are watched, nothing is unknown.
    for (Observation& observation : all)
      if (input && observation.kind == Observation::Kind::screen && !observation.idle &&
          observation.source.starts_with("seat"))
        observation.idle = input->idle;
    power_.add(all, now, [this] { return observe_power(roots_.sys); });
    return all;
  }

  std::vector<int> descriptors() const override { return inputs_.descriptors(); }

  int minute_of_week() const override {
    const std::time_t now = ::time(nullptr);
    std::tm local{};
    if (::localtime_r(&now, &local) == nullptr) return 0;
    const int day = (local.tm_wday + 6) % 7;  // Monday first
    return (day * 24 + local.tm_hour) * 60 + local.tm_min;
  }

 private:
  SurroundingsRoots roots_;
  InputDevices inputs_;
  Remembered terminals_{terminals_interval};
  Remembered screens_{others_interval};
  Remembered power_{others_interval};
};

}  // namespace

std::unique_ptr<engine::Surroundings> make_surroundings(SurroundingsRoots roots) {
  return std::make_unique<LinuxSurroundings>(std::move(roots));
}

}  // namespace gleaner::platform
