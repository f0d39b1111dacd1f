#include "client/platform/activity_monitor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmpx.h>

#include <fstream>

#include "tests/catch.h"

namespace gleaner::platform {
namespace {
using namespace std::chrono_literals;
using Kind = Observation::Kind;

struct Computer {
  io::Path root = std::filesystem::temp_directory_path() / ("gleaner-activity-" + std::to_string(::getpid()));
  std::vector<Screen> screens;
  Computer() {
    std::filesystem::remove_all(root);
    std::filesystem::create_directories(root / "dev/pts");
    std::filesystem::create_directories(root / "dev/input");
  }
  ~Computer() { std::filesystem::remove_all(root); }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  void terminal(const std::string& name, std::time_t read_ago, std::time_t written_ago) const {
    put("dev/" + name, "");
    const std::time_t now = ::time(nullptr);
    const timespec times[2] = {{now - read_ago, 0}, {now - written_ago, 0}};
    REQUIRE(::utimensat(AT_FDCWD, (root / "dev" / name).c_str(), times, 0) == 0);
  }
  [[nodiscard]] std::unique_ptr<host::ActivityMonitor> activity() const {
    return make_activity_monitor(
        {root / "dev", root / "sys", [this] { return screens; }, root / "proc", true, false});
  }
};

TEST_CASE("A bare computer tells nothing: nobody is there") {
  const Computer computer;
  CHECK(computer.activity()->observe(SteadyTime{1h}).empty());
  CHECK(computer.activity()->descriptors().empty());
  CHECK_FALSE(computer.activity()->touched());
}

TEST_CASE("What other programs take: processor, memory, and those that want it alone") {
  const Computer computer;
  computer.put("proc/stat", "cpu  1000 500 200 8000 0 0 0 0 0 0\ncpu0 1 2 3 4 5 6 7 8\n");
  computer.put(
      "proc/pressure/memory",
      "some avg10=9.00 avg60=1.00 avg300=0.00 total=1\nfull avg10=2.50 avg60=0.10 avg300=0.00 total=1\n");
  computer.put("proc/77/comm", "steam\n");
  computer.put("proc/78/comm", "a-rather-long-n\n");
  computer.put("proc/self/comm", "other\n");
  const auto activity = computer.activity();
  activity->watch_programs({"steam", "a-rather-long-name", "other", "absent"});
  auto seen = activity->observe(SteadyTime{1h});
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].kind == Kind::program);
  CHECK(seen[0].source == "steam");
  CHECK(seen[1].source == "a-rather-long-name");
  CHECK(seen[2].kind == Kind::memory);
  CHECK(seen[2].value == 2.5);
  // 1000 ticks on: 300 of others, 500 nice (kernels), 200 idle.
  computer.put("proc/stat", "cpu  1200 1000 300 8200 0 0 0 0 0 0\n");
  seen = activity->observe(SteadyTime{1h} + 10s);
  REQUIRE(seen.size() == 4);
  CHECK(seen[3].kind == Kind::load);
  CHECK(seen[3].value == Approx(0.3));
  computer.put("proc/stat", "garbage\n");
  activity->watch_programs({});
  CHECK(activity->observe(SteadyTime{1h} + 20s).size() == 1);
}

TEST_CASE("The terminal that was typed at last counts; what programs write there does not") {
  const Computer computer;
  computer.terminal("pts/0", 5000, 1);
  computer.terminal("pts/3", 300, 0);
  computer.terminal("pts/ptmx", 0, 0);
  computer.terminal("tty2", 900, 900);
  const auto seen = computer.activity()->observe(SteadyTime{1h});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].source == "terminal pts/3");
  CHECK(*seen[0].idle >= 300s);
  CHECK(*seen[0].idle < 310s);
}

TEST_CASE("Who is logged in at terminals, by the system's list and the terminals' times") {
  const Computer computer;
  computer.terminal("pts/3", 300, 0);
  computer.terminal("pts/4", 5000, 0);
  computer.terminal("tty2", 900, 900);
  std::ofstream list(
      [&] {
        std::filesystem::create_directories(computer.root / "run");
        return computer.root / "run/utmp";
      }(),
      std::ios::binary);
  const auto add = [&](short type, const std::string& user, const std::string& line, const std::string& host,
                       std::time_t ago) {
    utmpx record{};
    record.ut_type = type;
    user.copy(record.ut_user, sizeof record.ut_user);
    line.copy(record.ut_line, sizeof record.ut_line);
    host.copy(record.ut_host, sizeof record.ut_host);
    record.ut_tv.tv_sec = static_cast<std::int32_t>(::time(nullptr) - ago);
    list.write(reinterpret_cast<const char*>(&record), sizeof record);
  };
  add(BOOT_TIME, "reboot", "~", "", 9000);
  add(USER_PROCESS, "alice", "pts/3", "desk.example", 4000);
  add(USER_PROCESS, "bob", "pts/4", "", 60);  // logged in a minute ago, typed nothing
  add(USER_PROCESS, "carol\x1b[31m", "tty2", "", 4000);
  add(DEAD_PROCESS, "dave", "pts/3", "", 4000);
  add(USER_PROCESS, "eve", "pts/77", "", 4000);                   // its terminal is gone
  add(USER_PROCESS, "frank", ":0", "", 4000);                     // a screen
  add(USER_PROCESS, "grace", "../../../../dev/pts/3", "", 4000);  // nonsense
  add(USER_PROCESS, std::string(32, 'h'), "pts/4", "", 7000);     // no zero at its end
  list << "cut off";
  list.close();
  const auto seen = observe_logins(computer.root / "run/utmp", computer.root / "dev");
  REQUIRE(seen.size() == 4);
  CHECK(seen[0].source == "bob at pts/4");
  CHECK(*seen[0].idle >= 60s);
  CHECK(*seen[0].idle < 70s);
  CHECK(seen[1].source == "alice at pts/3 from desk.example");
  CHECK(*seen[1].idle >= 300s);
  CHECK(seen[2].source.starts_with("carol"));
  CHECK(seen[2].source.find('\x1b') == std::string::npos);
  CHECK(seen[3].source == std::string(32, 'h') + " at pts/4");
  CHECK(seen[3].note == "by its terminal");
  CHECK(observe_logins(computer.root / "absent", computer.root / "dev").empty());
  // As the client asks.
  ActivityRoots roots = roots_below(computer.root);
  roots.screens = [] { return std::vector<Screen>{}; };
  const auto all = make_activity_monitor(roots)->observe(SteadyTime{1h});
  CHECK(std::count_if(all.begin(), all.end(), [](const Observation& one) {
          return one.kind == Kind::input && one.source.find(" at ") != std::string::npos;
        }) == 4);
}

TEST_CASE("What was read a moment ago is not read again, and says how old it is") {
  const Computer computer;
  computer.terminal("pts/3", 300, 0);
  const auto activity = computer.activity();
  CHECK(activity->observe(SteadyTime{1h})[0].age == Duration{0});
  computer.terminal("pts/3", 0, 0);
  const auto soon = activity->observe(SteadyTime{1h} + 1s);
  CHECK(soon[0].age == Duration{1s});
  CHECK(*soon[0].idle >= 300s);
  CHECK(*activity->observe(SteadyTime{1h} + 2s)[0].idle < 5s);
}

TEST_CASE("An event of an input device wakes, and is thrown away unread") {
  const Computer computer;
  REQUIRE(::mkfifo((computer.root / "dev/input/event3").c_str(), 0600) == 0);
  const int keyboard = ::open((computer.root / "dev/input/event3").c_str(), O_RDWR | O_NONBLOCK);
  const auto activity = computer.activity();
  REQUIRE(activity->descriptors().size() == 1);
  const SteadyTime start{1h};
  CHECK(*activity->observe(start)[0].idle == Duration{0});  // as if somebody had just left
  CHECK(*activity->observe(start + 400s)[0].idle == Duration{400s});
  REQUIRE(::write(keyboard, "secret", 6) == 6);
  pollfd polled{activity->descriptors()[0], POLLIN, 0};
  CHECK(::poll(&polled, 1, 0) == 1);
  const auto seen = activity->observe(start + 500s);
  CHECK(seen[0].source == "keyboard or mouse");
  CHECK(*seen[0].idle == Duration{0});
  CHECK(::poll(&polled, 1, 0) == 0);
  ::close(keyboard);
}

TEST_CASE("A screen of which nothing is known is covered by the devices of its seat, a remote one is not") {
  Computer computer;
  computer.screens = {{"seat0, x11", {}}, {"remote, x11", {}}, {"seat1, wayland", Duration{1h}}};
  auto seen = computer.activity()->observe(SteadyTime{1h});
  REQUIRE(seen.size() == 3);
  CHECK_FALSE(seen[0].idle);
  CHECK(seen[2].idle == Duration{1h});
  REQUIRE(::mkfifo((computer.root / "dev/input/event0").c_str(), 0600) == 0);
  const int keyboard = ::open((computer.root / "dev/input/event0").c_str(), O_RDWR | O_NONBLOCK);
  const auto activity = computer.activity();
  (void)activity->observe(SteadyTime{1h});
  seen = activity->observe(SteadyTime{2h});
  REQUIRE(seen.size() == 4);
  CHECK(seen[1].idle == Duration{1h});
  CHECK_FALSE(seen[2].idle);
  ::close(keyboard);
}

TEST_CASE("Battery and temperature from the files of the system; a mouse's battery is none") {
  const Computer computer;
  computer.put("sys/class/power_supply/BAT0/type", "Battery\n");
  computer.put("sys/class/power_supply/BAT0/status", "Discharging\n");
  computer.put("sys/class/power_supply/hidpp/type", "Battery\n");
  computer.put("sys/class/power_supply/hidpp/scope", "Device\n");
  computer.put("sys/class/power_supply/hidpp/status", "Discharging\n");
  computer.put("sys/class/power_supply/AC/type", "Mains\n");
  computer.put("sys/class/thermal/thermal_zone0/temp", "45000\n");
  computer.put("sys/class/thermal/thermal_zone0/type", "acpitz\n");
  computer.put("sys/class/thermal/thermal_zone1/temp", "71500\n");
  computer.put("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
  computer.put("sys/class/thermal/thermal_zone2/temp", "garbage\n");
  computer.put("sys/class/thermal/cooling_device0/temp", "99000\n");
  const auto seen = computer.activity()->observe(SteadyTime{1h});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].kind == Kind::battery);
  CHECK(seen[0].source == "BAT0");
  CHECK(seen[0].value == 1);
  CHECK(seen[1].source == "x86_pkg_temp");
  CHECK(seen[1].value == 71.5);
}

TEST_CASE("The minute of the week is one") {
  const Computer computer;
  const int minute = computer.activity()->minute_of_week();
  CHECK(minute >= 0);
  CHECK(minute < client_policy::minutes_per_week);
}

}  // namespace
}  // namespace gleaner::platform
