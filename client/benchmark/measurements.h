// This computer's measured speeds: measured at the first start, then rarely, while no kernel runs and nobody
// needs the processor. Kept on disk. Measures on the background queue; everything else runs on the engine's
// thread. Not thread-safe.
#pragma once

#include <optional>

#include "client/host/machine.h"
#include "client/state/state_directory.h"
#include "shared/protocol/messages.h"
#include "shared/transport/workers.h"

namespace gleaner::benchmark {

// Borrowed; all of it outlives the measurements.
struct BenchmarkContext {
  Clock& clock;
  io::Files& files;
  const host::Machine& machine;
  transport::Workers& workers;
  state::StateDirectory state;
  std::optional<double> mflops;  // instead of measuring, for tests
};

class Measurements {
 public:
  explicit Measurements(BenchmarkContext context) : context_(std::move(context)) {}

  // Takes what an earlier run measured, or what the context says instead. Call once, first.
  void open();
  // `quiet`: no kernel runs, and one might. Says when it wants to be called again, if anything waits for
  // that.
  [[nodiscard]] std::optional<SteadyTime> tick(SteadyTime now, bool quiet);

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

  BenchmarkContext context_;
  std::optional<protocol::Benchmark> benchmark_;
  protocol::HostSpeeds speeds_;
  bool running_ = false;
  SteadyTime next_at_{};
};

}  // namespace gleaner::benchmark
