#include "tests/unit/engine/world.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "shared/archive/bundle_archive.h"
#include "tests/catch.h"

namespace gleaner::engine::testing {

World::World(int cores) {
  static int count = 0;
  directory = std::filesystem::temp_directory_path() /
              ("gleaner-engine-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
  std::filesystem::remove_all(directory);
  project =
      state::StateDirectory{directory}.project(state::project_key(server.join_code().root_fingerprint)).root;
  std::filesystem::create_directories(project / "identity");
  launcher.pace = directory / "pace";
  REQUIRE(::mkfifo(launcher.pace.c_str(), 0600) == 0);
  leave_ = ::open(launcher.pace.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  REQUIRE(leave_ >= 0);
  settings.cores = cores;
  settings.benchmark_mflops = 1000;
  settings.free_bytes_min = 0;
  server.now = clock.now();
  server.set_application(script_kernel());
}

World::~World() {
  engine.reset();
  ::close(leave_);
  std::filesystem::remove_all(directory);
}

void World::kill() {
  engine.reset();
  workers.drop();
  for (const auto& one : neighbours) one->workers.drop();
}

Neighbour& World::join_neighbour() {
  auto neighbour = std::make_unique<Neighbour>();
  neighbour->server.now = clock.now();
  neighbour->server.set_application(script_kernel());
  neighbour->project = state::StateDirectory{directory}
                           .project(state::project_key(neighbour->server.join_code().root_fingerprint))
                           .root;
  std::filesystem::create_directories(neighbour->project / "identity");
  neighbours.push_back(std::move(neighbour));
  return *neighbours.back();
}

void World::start() {
  const auto joined = [](const io::Path& place, const FakeServer& of, transport::Workers& queues) {
    state::Identity identity;
    identity.code = of.join_code();
    identity.host = {of.host, "token"};
    identity.name = "test-host";
    identity.revocations = state::load_revocations(io::real_files(), {place}, identity.code.root_fingerprint);
    return Joined{{place}, identity, &queues};
  };
  std::vector<Joined> projects = {joined(project, server, workers)};
  projects.front().link = link;
  projects.front().identity.relay = relay;
  projects.front().pinned = pinned;
  projects.front().move = move;
  projects.front().join_again = join_again;
  projects.front().part = part;
  projects.front().identity.copy = io::real_files().exists(project / "identity" / "copy");
  projects.front().identity.revoked = io::real_files().exists(project / "identity" / "revoked");
  if (move) {
    state::Identity& identity = projects.front().identity;
    identity.code.fallback = protocol::Fallback{"project.example.org", 443, Bytes(16, '3')};
    identity.unheard = state::load_unheard(files, {project});
  }
  for (const auto& one : neighbours) projects.push_back(joined(one->project, one->server, one->workers));
  engine = std::make_unique<Engine>(Services{clock,
                                             random,
                                             files,
                                             launcher,
                                             gate,
                                             machine,
                                             workers,
                                             {directory},
                                             archives::unpack_bundle,
                                             settings,
                                             activity,
                                             nullptr,
                                             outside},
                                    std::move(projects));
  const Status opened = engine->open();
  INFO((opened.ok() ? "" : opened.error().message));
  REQUIRE(opened.ok());
}

int World::computing() const {
  int running = 0;
  int paused = 0;
  for (const SlotStatus& slot : engine->status().slots) {
    running += slot.state == "running" ? 1 : 0;
    paused += slot.state == "paused" ? 1 : 0;
  }
  // One that saves its item is paused for the engine, and not held.
  return running + std::max(0, paused - static_cast<int>(gate.paused.size()));
}

void World::wait_for_kernels() {
  const int count = computing();
  if (count == 0) return;
  int left = 0;
  REQUIRE(::ioctl(leave_, FIONREAD, &left) == 0);
  for (; left < count; ++left) REQUIRE(::write(leave_, "\n", 1) == 1);
  (void)io::wait_any(engine->waitables(), patience);
}

bool World::run_until(const std::function<bool()>& done, Duration step) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes{2};
  while (std::chrono::steady_clock::now() < give_up) {
    engine->tick();
    if (done()) return true;
    wait_for_kernels();
    clock.advance(step);
    server.now = clock.now();
    for (const auto& one : neighbours) one->server.now = clock.now();
  }
  return false;
}

void World::run_for(Duration fake, Duration step) {
  const SteadyTime end = clock.steady() + fake;
  REQUIRE(run_until([&] { return clock.steady() >= end; }, step));
}

bool World::has_all(const FakeServer& server, Range range) {
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const auto found = server.items.find(i);
    if (found == server.items.end() || found->second != expected_item(i) || server.times.at(i) != 1)
      return false;
  }
  return true;
}

std::int64_t World::lines_of(const char* file) const {
  const auto text = io::real_files().read(directory / file, 1 << 20);
  return text.ok() ? std::count(text->begin(), text->end(), '\n') : 0;
}

bool World::nothing_in_hand() const {
  return engine->status().units_in_hand == 0 && std::filesystem::is_empty(project / "units");
}

}  // namespace gleaner::engine::testing
