// What this computer measured of itself: at first at once, then rarely, while no kernel runs and nobody needs
// the processor. Kept on disk. Measures on the background lane; all else on the engine's thread. Not
// thread-safe.
#pragma once

#include <optional>

#include "client/engine/services.h"
#include "shared/protocol/messages.h"

namespace gleaner::engine {

class Measurements {
 public:
  explicit Measurements(Services& services) : services_(services) {}

  // Takes what an earlier run measured, or what the settings say instead. Call once, first.
  void open();
  // `quiet`: no kernel runs, and one might.
  void tick(SteadyTime now, bool quiet, Alarm& alarm);

  [[nodiscard]] const std::optional<protocol::Benchmark>& benchmark() const { return benchmark_; }
  [[nodiscard]] double mflops() const { return benchmark_ ? benchmark_->mflops : 0; }
  // But for the links, which are each project's.
  [[nodiscard]] const protocol::HostSpeeds& speeds() const { return speeds_; }

 private:
  struct Outcome {
    Result<double> one_core = 0.0;   // MFLOP/s
    Result<double> all_cores = 0.0;  // the same, their sum
    double memory = 0;               // bytes a second
  };
  void take(const Outcome& measured);
  void keep();

  Services& services_;
  std::optional<protocol::Benchmark> benchmark_;
  protocol::HostSpeeds speeds_;
  bool running_ = false;
  SteadyTime next_at_{};
};

}  // namespace gleaner::engine
