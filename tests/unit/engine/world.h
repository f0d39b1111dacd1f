// An engine in a world that a test controls: fake clock and server, workers that work when told, real files
// in a directory of their own, real kernel processes.
#pragma once

#include <unistd.h>

#include <deque>
#include <memory>

#include "client/engine/engine.h"
#include "tests/unit/engine/fake_server.h"

namespace gleaner::engine::testing {

// Jobs and their completions run in deliver(), in the order of their submission.
class ImmediateWorkers final : public transport::Workers {
 public:
  explicit ImmediateWorkers(FakeServer& server) : client_(std::make_unique<FakeServerClient>(server)) {}
  // From now on it measures the transfers.
  void measure(std::shared_ptr<transport::LinkMeter> link) {
    client_ = transport::metered(std::move(client_), std::move(link));
  }
  void submit(transport::Queue, transport::Job job) override { jobs_.push_back(std::move(job)); }
  void deliver() override {
    if (stalled) return;
    for (std::size_t count = jobs_.size(); count > 0; --count) {
      const transport::Job job = std::move(jobs_.front());
      jobs_.pop_front();
      transport::JobContext context{*client_, stopping_};
      if (const transport::Completion completion = job(context)) completion();
    }
  }
  io::Waitable waitable() const override { return {}; }
  void drop() { jobs_.clear(); }
  bool stalled = false;  // nobody answers

 private:
  std::unique_ptr<io::HttpClient> client_;
  std::atomic<bool> stopping_{false};
  std::deque<transport::Job> jobs_;
};

class PlainLauncher final : public host::Launcher {
 public:
  Result<std::unique_ptr<io::Process>> start(const host::KernelLaunch& launch) override {
    ++started;
    last = launch;
    io::ProcessSpec spec;
    spec.arguments = {launch.program.string()};
    spec.working_directory = launch.slot_directory;
    spec.environment = {{"PATH", "/usr/bin:/bin"}, {"PACE", pace.string()}};
    return io::real_processes().start(spec);
  }
  std::string describe() const override { return "test"; }
  bool out_of_memory(int) const override { return memory_gone; }
  bool memory_gone = false;  // as if the system had ended one of the kernel's processes
  io::Path pace;             // where kernels wait for leave; see at_a_pace
  int started = 0;
  host::KernelLaunch last;
};

// For script_kernel(): an item is computed in about each tick, however fast the computer is. A kernel that
// the engine holds is given no leave.
inline const std::string at_a_pace = R"(read -r leave <"$PACE")";

// Items of eight hundred steps, each in about a tick, which are counted in the world's file `steps`; it saves
// the item in progress when it is asked to.
inline const std::string saving_kernel = R"kernel(#!/bin/bash
while read -r command a b c option; do
  case $command in
    gleaner) echo "ready 1 checkpoint" ;;
    problem) echo ok ;;
    unit) i=$b step=0
      [ "$option" = checkpoint ] && step=$(cat checkpoint)
      while [ "$i" -lt "$c" ]; do
        while [ "$step" -lt 800 ]; do
          read -r leave <"$PACE"
          step=$((step + 1)); echo "$step" >>../../steps; printf "progress %s 0.%04d\n" "$i" "$((step * 12))"
          if read -r -t 0 && read -r command rest; then
            case $command in
              checkpoint) echo "$step" >checkpoint; echo "checkpoint $i" ;;
              quit) exit 0 ;;
            esac
          fi
        done
        text="item-$i"; printf 'item %s %s\n%s' "$i" "${#text}" "$text"
        i=$((i + 1)) step=0
      done
      echo "done $c" ;;
    quit) exit 0 ;;
  esac
done
)kernel";

class RecordingGate final : public host::CpuGate {
 public:
  void add(const host::KernelTree& kernel) override { groups.insert(kernel.tree); }
  void remove(io::TreeHandle tree) override { groups.erase(tree); }
  void pause(io::TreeHandle tree) override { paused.insert(tree); }
  void resume(io::TreeHandle tree) override { paused.erase(tree); }
  void set_share(double of_each) override { share = of_each; }
  std::string offence(io::TreeHandle) const override { return words; }
  std::string words;
  double share = 0;
  std::set<io::TreeHandle> groups;
  std::set<io::TreeHandle> paused;
};

class FixedMachine final : public host::Machine {
 public:
  int cores() const override { return 2; }
  std::int64_t memory_bytes() const override { return std::int64_t{1} << 32; }
  std::string host_name() const override { return called; }
  std::string machine_digest(const std::string& project) const override {
    return crypto::sha256_hex(machine_id + project);
  }
  std::vector<std::string> platforms() const override { return {"x86_64-linux"}; }
  double runnable_jobs() const override { return 0; }
  host::ProcessorTime processor_time() const override { return time; }
  std::optional<double> memory_in_use() const override { return 0.5; }
  io::TreeUse use(io::TreeHandle) const override { return {tasks, tasks, memory, asleep}; }
  host::DirectoryUsage usage(const io::Path&, std::int64_t) const override { return slot_usage; }
  host::DescriptorUse descriptors(io::TreeHandle, const io::Path&) const override { return held; }
  std::int64_t memory_kills() const override { return kills; }
  void lower_thread_priority() const override {}
  std::string machine_id = "one";
  std::string called = "test-host";
  std::int64_t kills = 0;
  host::ProcessorTime time{0, 100};
  bool asleep = false;
  int tasks = 1;
  std::int64_t memory = 0;
  host::DirectoryUsage slot_usage;
  host::DescriptorUse held;
};

// What the test says is seen; `news` as if somebody had just come.
class ScriptedActivity final : public host::ActivityMonitor {
 public:
  std::vector<client_policy::Observation> observe(SteadyTime) override {
    news = false;
    return seen;
  }
  std::vector<io::Waitable> waitables() const override { return {}; }
  bool touched() const override { return news; }
  void watch(const Wanted& wanted) override { programs = wanted.programs; }
  void show(std::optional<client_policy::Notice> notice) override { shown = std::move(notice); }
  std::optional<std::int64_t> take_shown() override { return std::exchange(answered, std::nullopt); }
  client_policy::LocalTime local_time() const override { return {}; }
  std::optional<client_policy::Notice> shown;  // what was to be shown last
  std::optional<std::int64_t> answered;
  std::vector<client_policy::Observation> seen;
  std::vector<std::string> programs;
  bool news = false;
};

// Another project that the client of a World has joined.
struct Neighbour {
  FakeServer server;
  ImmediateWorkers workers{server};
  io::Path project;
};

class World {
 public:
  explicit World(int cores = 1);
  ~World();

  Neighbour& join_neighbour();  // before start()
  void start();                 // a new engine on the same state
  void kill();                  // as SIGKILL: nothing is said or written any more
  // Ticks until `done`, the fake clock going `step` a tick. Between ticks a kernel that computes has as much
  // real time as it needs to say something, so that nothing depends on how fast the computer is; false if
  // `done` does not come in real minutes.
  bool run_until(const std::function<bool()>& done, Duration step = std::chrono::milliseconds{20});
  void run_for(Duration fake, Duration step = std::chrono::milliseconds{50});
  [[nodiscard]] bool has_all(Range range) const { return has_all(server, range); }
  [[nodiscard]] static bool has_all(const FakeServer& server, Range range);
  [[nodiscard]] bool nothing_in_hand() const;
  [[nodiscard]] std::int64_t lines_of(const char* file) const;  // in its directory; 0: it is not there

  io::Path directory;
  io::Path project;  // the project's, in it
  FakeServer server;
  std::vector<std::unique_ptr<Neighbour>> neighbours;
  FakeClock clock;
  Random random{42};
  io::FaultyFiles files{io::real_files()};
  PlainLauncher launcher;
  RecordingGate gate;
  FixedMachine machine;
  std::optional<protocol::SignedStatement> relay;  // the client has joined a relay: its certificate, as kept
  state::Move move;  // to where its code says when that is gone; none: it says nothing
  state::Move join_again, part;
  std::shared_ptr<io::PinnedTlsKey> pinned = std::make_shared<io::PinnedTlsKey>();
  host::OutsideSource* outside = nullptr;
  std::shared_ptr<transport::LinkMeter> link = std::make_shared<transport::LinkMeter>();
  ImmediateWorkers workers{server};
  EngineSettings settings;
  host::ActivityMonitor* activity = nullptr;  // the test's, if it has some
  std::unique_ptr<Engine> engine;
  std::chrono::milliseconds patience = std::chrono::seconds{30};  // real; with kernels that say nothing, less

 private:
  [[nodiscard]] int computing() const;  // kernels that may say something soon
  void wait_for_kernels();

  int leave_ = -1;  // the pipe of at_a_pace
};

}  // namespace gleaner::engine::testing
