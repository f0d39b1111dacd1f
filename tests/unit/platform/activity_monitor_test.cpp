#include "client/platform/activity_monitor.h"

#include <fcntl.h>
#include <linux/input.h>
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
  Duration own{0};
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
    ActivityRoots roots = roots_below(root);
    roots.screens = [this] { return screens; };
    roots.own_use = [this] { return own; };
    return make_activity_monitor(std::move(roots));
  }
};

TEST_CASE("A bare computer tells nothing: nobody is there") {
  const Computer computer;
  CHECK(computer.activity()->observe(SteadyTime{1h}).empty());
  CHECK(computer.activity()->waitables().empty());
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
  activity->watch({{"steam", "a-rather-long-name", "other", "absent"}});
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
  activity->watch({});
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
  REQUIRE(activity->waitables().size() == 1);
  const SteadyTime start{1h};
  CHECK(*activity->observe(start)[0].idle == Duration{0});  // as if somebody had just left
  CHECK(*activity->observe(start + 400s)[0].idle == Duration{400s});
  REQUIRE(::write(keyboard, "secret", 6) == 6);
  CHECK(io::wait_any(activity->waitables(), 0s));
  const auto seen = activity->observe(start + 500s);
  CHECK(seen[0].source == "keyboard or mouse");
  CHECK(*seen[0].idle == Duration{0});
  CHECK_FALSE(io::wait_any(activity->waitables(), 0s));
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
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].kind == Kind::battery);
  CHECK(seen[0].source == "BAT0");
  CHECK(seen[0].value == 1);
  CHECK(seen[1].source == "acpitz");
  CHECK(seen[2].source == "x86_pkg_temp");
  CHECK(seen[2].value == 71.5);
}

TEST_CASE("A processor's own sensors are those of its driver; Tdie counts before Tctl") {
  const Computer computer;
  const auto chip = [&](int number, const std::string& file, const std::string& text) {
    computer.put("sys/class/hwmon/hwmon" + std::to_string(number) + "/" + file, text + "\n");
  };
  chip(0, "name", "k10temp");
  chip(0, "temp1_input", "99000");
  chip(0, "temp1_label", "Tctl");
  chip(1, "name", "nct6775");  // a board's, with nothing connected
  chip(1, "temp1_input", "127000");
  chip(2, "name", "coretemp");
  chip(2, "temp2_input", "50000");
  chip(2, "temp3_input", "61000");
  chip(2, "temp4_input", "90000");
  chip(2, "temp4_fault", "1");
  const auto seen = [&] { return computer.activity()->observe(SteadyTime{1h}); };
  REQUIRE(seen().size() == 2);
  CHECK(seen()[0].source == "k10temp");
  CHECK(seen()[0].value == 99);
  CHECK(seen()[1].source == "coretemp");
  CHECK(seen()[1].value == 61);
  chip(0, "temp2_input", "72000");
  chip(0, "temp2_label", "Tdie");
  CHECK(seen()[0].value == 72);
}

TEST_CASE("Fans are read where they are wanted, but for pumps and broken ones") {
  const Computer computer;
  const auto chip = [&](int number, const std::string& file, const std::string& text) {
    computer.put("sys/class/hwmon/hwmon" + std::to_string(number) + "/" + file, text + "\n");
  };
  chip(0, "name", "nct6798");
  chip(0, "fan1_input", "0");
  chip(0, "fan2_input", "1180");
  chip(0, "fan3_input", "2800");
  chip(0, "fan3_label", "AIO Pump");
  chip(0, "fan4_input", "900");
  chip(0, "fan4_fault", "1");
  chip(1, "name", "dell_smm");
  chip(1, "fan1_input", "2700");
  chip(1, "fan1_label", "Processor Fan");
  chip(2, "name", "dell_smm");
  chip(2, "fan1_input", "2400");
  chip(2, "fan1_label", "Processor Fan");
  const auto activity = computer.activity();
  CHECK(activity->observe(SteadyTime{1h}).empty());
  activity->watch({{}, true});
  const auto seen = activity->observe(SteadyTime{1h});
  REQUIRE(seen.size() == 4);
  CHECK(seen[0].kind == Kind::fan);
  CHECK(seen[0].source == "nct6798 fan 1");
  CHECK(seen[0].value == 0);
  CHECK(seen[1].source == "nct6798 fan 2");
  CHECK(seen[1].value == 1180);
  CHECK(seen[2].source == "dell_smm Processor Fan");
  CHECK(seen[3].source == "dell_smm Processor Fan 2");
}

TEST_CASE("A battery that is not charging while the mains are offline is run on") {
  const Computer computer;
  computer.put("sys/class/power_supply/AC/type", "Mains\n");
  computer.put("sys/class/power_supply/AC/online", "0\n");
  computer.put("sys/class/power_supply/BAT0/type", "Battery\n");
  computer.put("sys/class/power_supply/BAT0/status", "Not charging\n");
  computer.put("sys/class/power_supply/BAT0/capacity", "79\n");
  computer.put("sys/firmware/acpi/platform_profile", "low-power\n");
  const auto seen = computer.activity()->observe(SteadyTime{1h});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].value == 1);
  CHECK(seen[0].percent == 79);
  CHECK(seen[0].note == "Not charging, and AC is offline");
  CHECK(seen[1].kind == Kind::saver);
}

TEST_CASE("A terminal whose last input lies in the future tells nothing") {
  const Computer computer;
  computer.terminal("pts/0", -7200, 0);
  CHECK(computer.activity()->observe(SteadyTime{1h}).empty());
  computer.terminal("pts/1", 300, 0);
  const auto seen = computer.activity()->observe(SteadyTime{1h});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].source == "terminal pts/1");
  computer.terminal("pts/0", -3, 0);  // clocks are corrected all the time
  CHECK(*computer.activity()->observe(SteadyTime{1h})[0].idle == Duration{0});
}

TEST_CASE("Where no pressure is told, what of the memory is available is") {
  const Computer computer;
  computer.put("proc/meminfo", "MemTotal:  8000000 kB\nMemFree:  100000 kB\nMemAvailable:  2000000 kB\n");
  const auto seen = computer.activity()->observe(SteadyTime{1h});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].kind == Kind::available);
  CHECK(seen[0].value == 0.25);
}

TEST_CASE("What this client and its kernels use is not other programs' load") {
  Computer computer;
  computer.put("proc/stat", "cpu  1000 500 200 8000 0 0 0 0 0 0\n");
  const auto activity = computer.activity();
  (void)activity->observe(SteadyTime{1h});
  computer.put("proc/stat", "cpu  1200 1000 300 8200 0 0 0 0 0 0\n");
  computer.own = 2500ms;  // 250 ticks of a hundredth
  const auto seen = activity->observe(SteadyTime{1h} + 10s);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].value == Approx(0.05));
}

TEST_CASE(
    "A game pad is used by hand, as a joystick, keyboard or mouse is; a power button and a lid are not") {
  const auto used = [](const std::vector<int>& keys) {
    std::array<unsigned char, KEY_MAX / 8 + 1> bits{};
    for (const int key : keys)
      bits.at(static_cast<std::size_t>(key) / 8) |= static_cast<unsigned char>(1 << (key % 8));
    return is_used_by_hand(bits);
  };
  CHECK(used({BTN_SOUTH, BTN_EAST, BTN_NORTH, BTN_WEST, BTN_TL, BTN_START, BTN_THUMBL}));  // as xpad says
  CHECK(used({BTN_TRIGGER, BTN_THUMB, BTN_BASE}));
  CHECK(used({KEY_A, KEY_ESC}));
  CHECK(used({BTN_LEFT, BTN_RIGHT}));
  CHECK_FALSE(used({KEY_POWER, KEY_SLEEP}));
  CHECK_FALSE(used({}));
}

TEST_CASE("A keyboard that is plugged in later wakes as one that was there") {
  const Computer computer;
  const auto activity = computer.activity();
  const SteadyTime now{1h};
  CHECK(activity->observe(now).empty());
  REQUIRE(::mkfifo((computer.root / "dev/input/event7").c_str(), 0600) == 0);
  const int keyboard = ::open((computer.root / "dev/input/event7").c_str(), O_RDWR | O_NONBLOCK);
  CHECK(activity->observe(now + 5s).empty());
  CHECK(activity->observe(now + 10s).size() == 1);
  REQUIRE(activity->waitables().size() == 1);
  REQUIRE(::write(keyboard, "k", 1) == 1);
  CHECK(activity->touched());
  ::close(keyboard);
}

// The zone of this process, for the life of this object.
class Zone {
 public:
  explicit Zone(const char* name) { set(name); }
  ~Zone() { ::unsetenv("TZ"); }
  static void set(const char* name) { ::setenv("TZ", name, 1); }
};

TEST_CASE("A zone that is changed while the client runs holds at once, and says when its clock is put") {
  // Rules, not names: not every computer has the files.
  Zone zone("JST-9");
  const std::time_t monday = 4 * 24 * 3600 + 12 * 3600;  // 1970-01-05, noon UTC
  CHECK(local_time_at(monday + 40).minute_of_week == 21 * 60);
  CHECK(local_time_at(monday + 40).second == 40);
  CHECK(local_time_at(monday).shifts.empty());
  Zone::set("EST5EDT,M3.2.0,M11.1.0");
  CHECK(local_time_at(monday).minute_of_week == 7 * 60);
  // Saturday 2026-03-07, 20:00 EST; at 2:00 it is 3:00.
  const auto spring = local_time_at(1'772'931'600);
  CHECK(spring.minute_of_week == 5 * 24 * 60 + 20 * 60);
  REQUIRE(spring.shifts.size() == 1);
  CHECK(spring.shifts[0].after == 6 * 60);
  CHECK(spring.shifts[0].minutes == 60);
  // Saturday 2026-10-31, 20:00 EDT; at 2:00 it is 1:00.
  const auto autumn = local_time_at(1'793'491'200);
  CHECK(autumn.minute_of_week == 5 * 24 * 60 + 20 * 60);
  REQUIRE(autumn.shifts.size() == 1);
  CHECK(autumn.shifts[0].after == 6 * 60);
  CHECK(autumn.shifts[0].minutes == -60);
}

TEST_CASE("The minute of the week is one") {
  const Computer computer;
  const int minute = computer.activity()->local_time().minute_of_week;
  CHECK(minute >= 0);
  CHECK(minute < client_policy::minutes_per_week);
}

}  // namespace
}  // namespace gleaner::platform
