#include "client/benchmark/measurements.h"

#include <spdlog/spdlog.h>

#include <cmath>

#include "client/benchmark/benchmark.h"
#include "shared/base/figures.h"
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"

namespace gleaner::benchmark {
namespace {

constexpr Duration interval = std::chrono::hours{24};
constexpr Duration look_interval = std::chrono::minutes{10};

template <typename Message>
std::optional<Message> stored(const io::Files& files, const io::Path& path) {
  const auto text = files.read(path, limits::header_bytes_max);
  if (!text.ok()) return std::nullopt;
  const auto message = protocol::decode<Message>(*text);
  return message.ok() ? std::optional(*message) : std::nullopt;
}

}  // namespace

void Measurements::open() {
  if (context_.mflops) {
    benchmark_ = protocol::Benchmark{*context_.mflops, context_.clock.now()};
    return;
  }
  benchmark_ = stored<protocol::Benchmark>(context_.files, context_.state.benchmark());
  speeds_ =
      stored<protocol::HostSpeeds>(context_.files, context_.state.speeds()).value_or(protocol::HostSpeeds{});
}

std::optional<SteadyTime> Measurements::tick(SteadyTime now, bool quiet) {
  if (context_.mflops || running_) return std::nullopt;
  if (now < next_at_) return next_at_;
  const Timestamp calendar = context_.clock.now();
  const bool fresh = benchmark_ && calendar - benchmark_->measured_at < interval &&
                     calendar >= benchmark_->measured_at && speeds_.memory_bytes_per_second > 0;
  if (fresh || (benchmark_ && !quiet)) {
    next_at_ = now + look_interval;
    return next_at_;
  }
  running_ = true;
  context_.workers.submit(
      transport::Queue::background, [this](transport::JobContext&) -> transport::Completion {
        context_.machine.lower_thread_priority();
        Outcome measured;
        const auto one = run_linpack();
        measured.one_core = one.ok() ? Result<double>(one->mflops) : Result<double>(one.error());
        measured.all_cores = run_linpack_on_all(context_.machine.cores());
        measured.memory = run_triad();
        return [this, measured] { take(measured); };
      });
  return std::nullopt;
}

void Measurements::take(const Outcome& measured) {
  running_ = false;
  next_at_ = context_.clock.steady() + interval;
  for (const Result<double>* one : {&measured.one_core, &measured.all_cores})
    if (!one->ok()) return spdlog::error("{}", one->error().message);
  benchmark_ = protocol::Benchmark{*measured.one_core, context_.clock.now()};
  speeds_ = {*measured.all_cores, measured.memory, 0, 0};
  spdlog::info("benchmark: {} Mflop/s on one core, {} on all; memory {}/s",
               count_text(std::llround(*measured.one_core)), count_text(std::llround(*measured.all_cores)),
               bytes_text(std::llround(measured.memory)));
  keep();
}

void Measurements::keep() {
  for (const auto& [path, text] : {std::pair(context_.state.benchmark(), protocol::encode(*benchmark_)),
                                   std::pair(context_.state.speeds(), protocol::encode(speeds_))})
    if (const Status saved = context_.files.write(path, text, io::Mode::normal); !saved.ok())
      spdlog::warn("{}", saved.error().message);
}

}  // namespace gleaner::benchmark
