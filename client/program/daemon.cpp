#include "client/program/daemon.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "client/engine/control.h"
#include "client/engine/engine.h"
#include "client/platform/activity_monitor.h"
#include "client/platform/control_socket.h"
#include "client/platform/cpu_limiter.h"
#include "client/platform/daemon_process.h"
#include "client/platform/helpers.h"
#include "client/platform/interpreters.h"
#include "client/platform/machine_facts.h"
#include "client/platform/outside_source.h"
#include "client/platform/processors.h"
#include "client/platform/state_lock.h"
#include "client/policy/allowance.h"
#include "client/program/exit_status.h"
#include "client/program/late_join.h"
#include "client/program/preferences_program.h"
#include "client/program/served_projects.h"
#include "client/program/version.h"
#include "client/program/view_publisher.h"
#include "shared/base/paths.h"
#include "shared/crypto/keys.h"
#include "shared/io/waiting.h"
#include "shared/logging/log.h"

namespace gleaner::program {
namespace {

constexpr Duration farewell_patience = std::chrono::seconds{5};
constexpr Duration trim_interval = std::chrono::minutes{1};
constexpr Duration capacity_interval = std::chrono::seconds{10};
constexpr Duration stalled_patience = std::chrono::minutes{1};
constexpr Duration interpreters_patience = std::chrono::seconds{2};  // before the first request for work
constexpr Duration refused_pause = std::chrono::hours{1};

std::uint64_t make_seed() {
  std::uint64_t seed = 0;
  for (const char byte : crypto::random_secret(sizeof seed))
    seed = seed << 8 | static_cast<unsigned char>(byte);
  return seed;
}

enum class End { asked, moved };
using JoinLater =
    std::function<Status(transport::Workers&, const std::string& code, const std::string& name)>;

// Until somebody asks for the end, or a project has moved; then until what is finished is delivered or
// patience is over.
End loop(engine::Engine& engine, platform::ControlSocket& control, ViewPublisher& viewers,
         const platform::StopRequests& stop_requests, const bool& quit, LateJoin& late, Clock& clock,
         const std::function<void()>& look_around) {
  std::optional<SteadyTime> give_up;
  bool asked = false, anew = false;
  SteadyTime trim_at = clock.steady() + trim_interval;
  SteadyTime look_at = clock.steady() + capacity_interval;
  while (true) {
    engine.tick();
    SteadyTime now = clock.steady();
    if (now >= look_at) {  // nobody wakes up for it: who computes nothing has time
      look_around();
      look_at = now + capacity_interval;
    }
    viewers.publish(engine, now);
    if (give_up && (engine.settled() || now >= *give_up)) return asked ? End::asked : End::moved;
    if (now >= trim_at) {
      platform::return_memory();
      logging::write_counts();
      trim_at = now + trim_interval;
    }
    anew = late.take_joined() || anew || engine.moved();
    Duration patience = anew && !give_up ? Duration{0} : engine.wait_time();
    if (control.wait_until() != SteadyTime::max()) patience = std::min(patience, control.wait_until() - now);
    if (viewers.wait_until() != SteadyTime::max()) patience = std::min(patience, viewers.wait_until() - now);
    if (give_up) patience = std::min(patience, *give_up - now);
    std::vector<io::Waitable> all = engine.waitables();
    for (const io::Waitable one : control.waitables()) all.push_back(one);
    all.push_back(stop_requests.waitable());
    (void)io::wait_any(all, patience);
    now = clock.steady();
    control.serve(now);
    if (stop_requests.arrived() || quit) asked = true;
    if ((asked || anew) && !give_up) {
      if (asked) platform::tell_stopping();
      spdlog::info("{}: delivering what is finished", asked ? "stopping" : "starting anew");
      engine.stop();
      give_up = now + farewell_patience;
    }
  }
}

// What there is for this process; control groups and cpusets may change it while it runs.
struct Capacity {
  client_policy::Capacity processors;
  std::int64_t memory_bytes = 0;
  bool operator==(const Capacity&) const = default;
};

Capacity capacity_of(const host::Machine& machine) {
  return {{machine.cores(), machine.computer_cores(), machine.quota()}, machine.memory_bytes()};
}

// What the owner wants, within what there is: the command line over the preferences.
struct Wanted {
  settings::OwnerSettings owner_settings;
  std::string sandbox;
};

Result<Wanted> wanted_by(const RunOptions& options, const Capacity& capacity) {
  TRY_ASSIGN(const auto book,
             settings::PreferenceBook::load(io::real_files(), preference_files(options.state)));
  settings::OwnerPreferences values = book.values();
  if (options.run) values.run = *options.run;
  if (options.cpu_share) values.cpu_share = *options.cpu_share;
  Wanted wanted{values.owner_settings(capacity.memory_bytes), options.sandbox.value_or(values.sandbox)};
  settings::OwnerSettings& owner = wanted.owner_settings;
  const auto chosen = client_policy::choose(values.core_choice(), platform::processors_below("/sys"));
  owner.processors = chosen.numbers;
  client_policy::Capacity processors = capacity.processors;
  if (!chosen.numbers.empty())
    processors.cores = std::min(processors.cores, static_cast<int>(chosen.numbers.size()));
  const bool exactly = options.cores > 0;
  const auto allowance =
      client_policy::allow({exactly ? options.cores : owner.cores, owner.cpu_share, exactly}, processors);
  owner.cores = allowance.cores;
  owner.cpu_share = allowance.cpu_share;
  owner.limit = allowance.limit;
  if (!chosen.words.empty()) owner.limit += (owner.limit.empty() ? "" : "; ") + chosen.words;
  owner.computer_cores = allowance.limit.empty() ? 0 : capacity.processors.computer_cores;
  return wanted;
}

// Where sessions' agents find this client: its own user's beside the state, and, as a service of the system,
// everybody's where systemd made a place for it.
std::vector<platform::AgentPlace> agent_places(const state::StateDirectory& state) {
  std::vector<platform::AgentPlace> places = {{state.root / "agent.sock", false}};
  if (const io::Path runtime = platform::runtime_directory(); !runtime.empty())
    places.push_back({runtime / "agent.sock", true});
  return places;
}

std::unique_ptr<host::Launcher> make_launcher(const RunOptions& options, const std::string& words) {
  // As the superuser kernels run as users of their own, who have to read what was unpacked; the state
  // directory itself stays closed to them and all others.
  platform::let_kernels_read();
  platform::SandboxSettings settings;
  settings.state_root = options.state.root;
  settings.priority = options.priority;
  settings.accept_weak = words == platform::sandbox_weak;
  auto sandbox = words == platform::sandbox_off
                     ? platform::make_plain_sandbox(options.priority, options.state.root)
                     : platform::make_sandbox(settings, io::real_processes());
  if (const std::string refusal = sandbox->refusal(); !refusal.empty())
    spdlog::error("{}", refusal);
  else
    spdlog::info("confinement of kernels: {}", sandbox->describe());
  return platform::make_process_launcher(std::move(sandbox), io::real_processes());
}

Duration patience_at(bool asked) {
  return asked ? std::chrono::milliseconds{200} : stalled_patience;
}

// A thread is stuck in a stalled connection. All that matters is on disk; systemd starts it anew.
[[noreturn]] void end_stalled(bool asked) {
  spdlog::shutdown();
  platform::end_at_once(asked ? exit_ok : exit_problem);
}

// Tells whoever asks why nothing is computed, for `length`, or until another code is joined, or until the end
// is asked for: then it answers false.
Result<bool> wait_refused(const RunOptions& options, const platform::StopRequests& stop_requests,
                          const std::string& why, const JoinLater& join, LateJoin& late, Duration length) {
  spdlog::error("{}: the server is asked again in an hour, or when this client is started anew", why);
  Clock& clock = system_clock();
  bool quit = false;
  transport::ThreadWorkers workers([] { return io::make_curl_client(io::any_authority, "gleaner-client"); });
  const engine::ControlHelp help{
      {},
      {},
      [&](const std::string& code, const std::string& name) { return join(workers, code, name); },
      [&late] { return late.outcome(); }};
  TRY_ASSIGN(const auto control,
             platform::ControlSocket::listen(
                 options.state.socket(), engine::control_line_bytes_max, [&](std::string_view line) {
                   const auto outcome = engine::handle_control_refused(line, why, help);
                   quit = quit || outcome.quit;
                   return outcome.reply;
                 }));
  platform::tell_ready();
  const SteadyTime end = clock.steady() + length;
  bool asked = false;
  while (!asked && clock.steady() < end && !late.take_joined()) {
    std::vector<io::Waitable> all = control->waitables();
    all.push_back(stop_requests.waitable());
    all.push_back(workers.waitable());
    (void)io::wait_any(all, std::min(end, control->wait_until()) - clock.steady());
    control->serve(clock.steady());
    workers.deliver();
    asked = quit || stop_requests.arrived();
  }
  if (!workers.stop(patience_at(asked))) end_stalled(asked);
  late.start_anew();
  return !asked;
}

// Those that take this computer. While the only one refuses it, it is asked rarely, however often systemd
// would start a client that gives up. None: the end was asked for.
Result<std::vector<ServedProject>> projects_that_take(const RunOptions& options,
                                                      const platform::StopRequests& stop_requests,
                                                      const host::Machine& machine,
                                                      const joining::JoinFacts& facts, const JoinLater& join,
                                                      LateJoin& late) {
  while (true) {
    auto projects = served_projects(options.state, machine, facts);
    if (projects.ok()) return projects;
    const ErrorKind kind = projects.error().kind;
    if (kind != ErrorKind::forbidden && kind != ErrorKind::banned) return projects;
    TRY_ASSIGN(const bool again,
               wait_refused(options, stop_requests, projects.error().message, join, late, refused_pause));
    if (!again) return std::vector<ServedProject>{};
  }
}

Result<End> serve(const RunOptions& options, const platform::StopRequests& stop_requests, LateJoin& late) {
  io::Files& files = io::real_files();
  Clock& clock = system_clock();
  TRY_ASSIGN(const bundle::Unpack unpack, platform::make_unpack(io::real_processes()));
  TRY(files.make_directories(options.state.root));
  std::error_code failed;
  std::filesystem::permissions(options.state.root, std::filesystem::perms::owner_all, failed);
  if (failed)
    return Error{ErrorKind::io, "cannot keep other users out of the state directory " +
                                    utf8_text(options.state.root) + ": " + failed.message()};
  TRY_ASSIGN(platform::StateLock lock, platform::StateLock::take(options.state.lock()));
  const auto machine = platform::make_machine();
  Capacity capacity = capacity_of(*machine);
  // A slot for each processor that it may get one day.
  const int slots = options.cores > 0 ? options.cores : machine->computer_cores();
  TRY_ASSIGN(const Wanted wanted, wanted_by(options, capacity));
  joining::JoinFacts facts;
  facts.cores = wanted.owner_settings.cores;
  facts.client_version = version;
  const JoinLater join = [&](transport::Workers& workers, const std::string& code, const std::string& name) {
    joining::JoinFacts of_this = facts;
    of_this.name = name;
    return late.begin(workers, options.state, *machine, code, of_this);
  };
  TRY_ASSIGN(const std::vector<ServedProject> projects,
             projects_that_take(options, stop_requests, *machine, facts, join, late));
  if (projects.empty()) return End::asked;
  take_rates(projects, wanted.owner_settings);
  const auto outside = platform::make_outside_source(io::real_processes());
  // What belongs to no project: it talks to nobody.
  transport::ThreadWorkers workers([] { return io::make_curl_client(io::any_authority, "gleaner-client"); });
  const auto launcher = make_launcher(options, wanted.sandbox);
  platform::Interpreters interpreters(*launcher, files, options.state.interpreters(), slots);
  (void)interpreters.look(clock.steady());                        // it answers beside what follows
  const char* const elsewhere = std::getenv("GLEANER_COMPUTER");  // tests': a computer of their own
  platform::ActivityRoots roots;
  if (elsewhere != nullptr) roots = platform::roots_below(elsewhere);
  if (std::getenv("DBUS_SYSTEM_BUS_ADDRESS") != nullptr) roots.use_system_bus = true;
  roots.tell_load = options.priority == platform::Priority::idle;
  roots.agents = agent_places(options.state);
  const auto activity = platform::make_activity_monitor(std::move(roots));
  platform::CpuLimiter limiter;
  Random random(make_seed());

  engine::EngineSettings settings;
  settings.cores = slots;
  settings.cpu_share = wanted.owner_settings.cpu_share;
  settings.memory_bytes = wanted.owner_settings.memory_bytes;
  settings.benchmark_mflops = options.benchmark_mflops;
  settings.client_version = version;
  ViewPublisher viewers(clock);
  if (const Status opened = viewers.open(platform::view_file_of(options.state.root)); !opened.ok())
    spdlog::warn("nothing is shown to viewers: {}", opened.error().message);
  std::vector<engine::Joined> members;
  for (const ServedProject& one : projects)
    members.push_back({one.directory, one.identity, one.workers.get(), one.link, one.refused, one.pinned,
                       one.move, one.join_again, one.part});
  engine::Engine engine({clock, random, files, *launcher, limiter, *machine, workers, options.state, unpack,
                         settings, activity.get(), &viewers, outside.get()},
                        std::move(members));
  engine.set_owner_settings(wanted.owner_settings);
  TRY(engine.open());
  const auto reload = [&]() -> Status {
    TRY_ASSIGN(const Wanted now_wanted, wanted_by(options, capacity));
    take_rates(projects, now_wanted.owner_settings);
    engine.set_owner_settings(now_wanted.owner_settings);
    return {};
  };
  const auto look_around = [&] {
    if (interpreters.look(clock.steady())) engine.set_capabilities(interpreters.capabilities());
    const Capacity before = std::exchange(capacity, capacity_of(*machine));
    if (capacity == before) return;
    const Status done = reload();
    if (!done.ok()) return spdlog::warn("{}", done.error().message);
    spdlog::info("this client may now use {:.2g} of {} processors and {} MiB of memory",
                 std::min<double>(capacity.processors.quota, capacity.processors.cores),
                 capacity.processors.computer_cores, capacity.memory_bytes >> 20);
  };
  const auto join_now = [&](const std::string& code, const std::string& name) {
    return join(workers, code, name);
  };
  bool quit = false;
  TRY_ASSIGN(const auto control,
             platform::ControlSocket::listen(
                 options.state.socket(), engine::control_line_bytes_max, [&](std::string_view line) {
                   const auto outcome = engine::handle_control(
                       engine, line,
                       {reload, options.recent_log, join_now, [&late] { return late.outcome(); }});
                   quit = quit || outcome.quit;
                   return outcome.reply;
                 }));
  for (const ServedProject& one : projects)
    spdlog::info("gleaner-client {}: host {} of {}, {} cores, state in {}", version,
                 one.identity.host.host.value, one.identity.code.base_url(), wanted.owner_settings.cores,
                 utf8_text(options.state.root));
  platform::tell_ready();
  interpreters.wait(clock, interpreters_patience);
  engine.set_capabilities(interpreters.capabilities());
  const End end = loop(engine, *control, viewers, stop_requests, quit, late, clock, look_around);
  const Duration patience = patience_at(end == End::asked);
  bool ended = workers.stop(patience);
  for (const ServedProject& one : projects) ended = one.workers->stop(patience) && ended;
  if (!ended) {
    lock.release();
    end_stalled(end == End::asked);
  }
  return end;
}

}  // namespace

int run_daemon(const RunOptions& options) {
  platform::keep_memory_small();
  const platform::StopRequests stop_requests;
  LateJoin late;
  while (true) {
    late.start_anew();
    const auto end = serve(options, stop_requests, late);
    if (end.ok() && *end == End::moved) continue;
    if (end.ok()) return exit_ok;
    spdlog::error("{}", end.error().message);
    return exit_problem;
  }
}

}  // namespace gleaner::program
