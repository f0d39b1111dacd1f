#include "client/platform/agents.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/platform/activity_monitor.h"
#include "client/platform/local_socket.h"
#include "shared/io/local_address.h"
#include "tests/catch.h"
#include "tests/unit/others_reach.h"

namespace gleaner::platform {
namespace {
using namespace std::chrono_literals;
using agent::SessionReport;
using Kind = Observation::Kind;

constexpr SteadyTime noon{std::chrono::hours{1000}};

struct Place {
  io::Path path =
      std::filesystem::temp_directory_path() / ("gleaner-agents-" + std::to_string(::getpid()) + ".sock");
  [[nodiscard]] std::vector<AgentPlace> places(bool everybody = false) const { return {{path, everybody}}; }
};

io::Descriptor connect_to(const io::Path& path) {
  const auto address = io::local_address(path);
  REQUIRE(address.ok());
  io::Descriptor connection(::socket(AF_UNIX, SOCK_STREAM, 0));
  REQUIRE(::connect(connection.get(), address->get(), sizeof address->address) == 0);
  return connection;
}

void say(const io::Descriptor& connection, const std::string& text) {
  REQUIRE(::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(text.size()));
}

std::string line(bool active, Duration idle = 0s, const std::string& display = ":7") {
  SessionReport report;
  report.display = display;
  report.inputs = {{"X11 display " + display, active, idle, false}};
  return agent::encode(report) + "\n";
}

bool was_dropped(const io::Descriptor& connection) {
  char byte = 0;
  return ::recv(connection.get(), &byte, 1, MSG_DONTWAIT) == 0;
}

TEST_CASE("What an agent tells holds until it tells something else, or is silent for too long") {
  const Place place;
  Agents agents(place.places());
  struct stat facts {};
  REQUIRE(::stat(place.path.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
  const io::Descriptor connection = connect_to(place.path);
  CHECK(agents.serve(noon));
  CHECK(agents.told(noon).empty());
  const std::string text = line(true);
  say(connection, text.substr(0, 20));
  (void)agents.serve(noon);
  CHECK(agents.told(noon).empty());
  say(connection, text.substr(20));
  CHECK(agents.serve(noon));
  CHECK_FALSE(agents.serve(noon));
  REQUIRE(agents.told(noon + 1min).size() == 1);
  CHECK(agents.told(noon)[0].user == ::geteuid());
  CHECK(agents.told(noon + 1min)[0].unused(noon + 1min) == Duration{0});  // still at it
  // Silent for too long: nothing that it said of calm holds, and it is not taken for nobody.
  REQUIRE(agents.told(noon + 3min).size() == 1);
  CHECK(agents.told(noon + 3min)[0].report.inputs.empty());
  CHECK(agents.told(noon + 3min)[0].report.missing.size() == 1);
  CHECK_FALSE(agents.told(noon + 3min)[0].unused(noon + 3min));
  say(connection, line(false, 5s));
  (void)agents.serve(noon + 3min);
  CHECK(agents.told(noon + 4min)[0].unused(noon + 4min) == Duration{65s});
}

TEST_CASE("An agent that ends leaves behind when its session was last used") {
  const Place place;
  Agents agents(place.places());
  {
    const io::Descriptor connection = connect_to(place.path);
    say(connection, line(false, 30s));
    (void)agents.serve(noon);
    CHECK_FALSE(agents.left());
  }
  (void)agents.serve(noon + 10s);
  CHECK(agents.told(noon + 10s).empty());
  CHECK(agents.left() == noon - 30s);
}

TEST_CASE("A source that stands still leaves behind when its session was last used") {
  const Place place;
  Agents agents(place.places());
  const io::Descriptor connection = connect_to(place.path);
  say(connection, line(false, 30s));
  (void)agents.serve(noon);
  SessionReport silent;
  silent.missing = {"the X server :7 does not answer"};
  say(connection, agent::encode(silent) + "\n");
  (void)agents.serve(noon + 10s);
  CHECK(agents.left() == noon - 30s);
}

std::string heard(const io::Descriptor& connection) {
  std::string bytes(4096, 0);
  const ssize_t got = ::recv(connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  return got > 0 ? bytes.substr(0, static_cast<std::size_t>(got)) : "";
}

std::string taker(bool locked, Duration idle) {
  SessionReport report;
  report.inputs = {{"X11 display :7", false, idle, false}};
  report.locked = locked;
  report.takes_notices = true;
  return agent::encode(report) + "\n";
}

TEST_CASE("A notice goes to the session used last that takes it, and to the next if that cannot show it") {
  const Place place;
  Agents agents(place.places());
  const agent::Notice notice{3, "title", "text"};
  agents.offer(notice);  // nobody is there yet
  (void)agents.serve(noon);
  const io::Descriptor old = connect_to(place.path);
  const io::Descriptor locked = connect_to(place.path);
  const io::Descriptor first = connect_to(place.path);
  const io::Descriptor second = connect_to(place.path);
  say(old, line(true));
  say(locked, taker(true, 1s));
  say(first, taker(false, 10s));
  say(second, taker(false, 20s));
  (void)agents.serve(noon);
  CHECK(heard(first) == agent::encode(notice) + "\n");
  CHECK(heard(second).empty());
  CHECK(heard(old).empty());
  CHECK(heard(locked).empty());
  say(first, agent::encode(agent::NoticeAnswer{3, false, "nobody shows it"}) + "\n");
  (void)agents.serve(noon + 1s);
  CHECK_FALSE(agents.take_shown());
  CHECK(heard(second) == agent::encode(notice) + "\n");
  say(second, agent::encode(agent::NoticeAnswer{3, true, ""}) + "\n");
  (void)agents.serve(noon + 2s);
  CHECK(agents.take_shown() == 3);
  CHECK_FALSE(agents.take_shown());
  (void)agents.serve(noon + 2h);
  CHECK(heard(first).empty());
}

TEST_CASE("Who says nonsense, too much or too long a line is dropped") {
  const Place place;
  Agents agents(place.places());
  const std::string wrong = GENERATE(std::string("hello\n"), std::string("{\"version\":1,\"locked\":3}\n"),
                                     std::string(20'000, 'x'));
  const io::Descriptor connection = connect_to(place.path);
  say(connection, wrong);
  bool dropped = false;
  for (int turn = 0; turn < 16 && !dropped; ++turn) {  // it reads a bounded piece each time
    (void)agents.serve(noon);
    dropped = was_dropped(connection);
  }
  CHECK(dropped);
  const io::Descriptor endless = connect_to(place.path);
  (void)agents.serve(noon);
  for (int i = 0; i <= Agents::reports_per_second_max; ++i) {
    say(endless, line(true));
    (void)agents.serve(noon);
  }
  CHECK(was_dropped(endless));
}

TEST_CASE("There is room for a few agents of a user, not for many") {
  const Place place;
  Agents agents(place.places());
  std::vector<io::Descriptor> all;
  for (std::size_t i = 0; i <= Agents::callers_of_user_max; ++i) {
    all.push_back(connect_to(place.path));
    (void)agents.serve(noon);
  }
  CHECK(was_dropped(all.back()));
  CHECK_FALSE(was_dropped(all.front()));
}

TEST_CASE("Another user may speak where everybody may, if logged in") {
  if (::geteuid() != 0) return;  // only root can be somebody else
  constexpr unsigned stranger = 54321;
  const Place place;
  if (!others_reach(place.path)) return;  // and here nobody else could come this far
  const bool logged_in = GENERATE(true, false);
  Agents agents(place.places(true), [logged_in](unsigned user) { return logged_in && user == stranger; });
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(stranger) != 0) ::_exit(2);
    const auto address = io::local_address(place.path);
    const int connection = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::connect(connection, address->get(), sizeof address->address) != 0) ::_exit(3);
    const std::string text = line(true);
    (void)!::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    char byte = 0;
    ::_exit(::recv(connection, &byte, 1, 0) == 0 ? 0 : 4);  // until it is dropped
  }
  for (int i = 0; i < 1000 && agents.told(noon).empty() && (logged_in || i < 50); ++i) {
    (void)agents.serve(noon);
    ::usleep(2000);
  }
  CHECK(agents.told(noon).size() == (logged_in ? 1U : 0U));
  if (logged_in) CHECK(agents.told(noon)[0].user == stranger);
  ::kill(child, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
}

TEST_CASE("A report speaks for its user's own session and for no other") {
  Agents::Told told;
  told.user = 1000;
  told.report.session = "2";
  told.report.display = ":0";
  CHECK(covers(told, {"seat0", {}, 1000, "2", ""}));
  CHECK_FALSE(covers(told, {"seat0", {}, 1000, "3", ":0"}));
  CHECK_FALSE(covers(told, {"seat0", {}, 1001, "2", ":0"}));
  CHECK(covers(told, {"X display :0", {}, 0, "", ":0"}));  // a server that root runs
  CHECK_FALSE(covers(told, {"X display :1", {}, 0, "", ":1"}));
  CHECK(covers(told, {"X display :0", {}, 1000, "", ":0"}));
  CHECK_FALSE(covers(told, {"somewhere", {}, {}, "", ""}));
  told.report = {};
  CHECK(covers(told, {"seat0", {}, 1000, "2", ":0"}));
}

TEST_CASE("An agent answers for its screen, wakes whoever polls, and lets slow sources wait") {
  const Place place;
  ActivityRoots roots;
  int asked = 0;
  roots.dev = roots.sys = roots.proc = "/nowhere";
  roots.use_system_bus = false;
  roots.agents = place.places();
  roots.screens = [&] {
    ++asked;
    return std::vector<Screen>{{"X display :7", {}, ::geteuid(), "", ":7"}};
  };
  const auto activity = make_activity_monitor(roots);
  auto seen = activity->observe(noon);
  REQUIRE(seen.size() == 1);
  CHECK_FALSE(seen[0].idle);
  const io::Descriptor connection = connect_to(place.path);
  say(connection, line(false, 20s));
  CHECK(activity->touched());
  (void)activity->observe(noon + 1s);
  seen = activity->observe(noon + 11s);
  CHECK_FALSE(activity->touched());
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].kind == Kind::input);
  CHECK(seen[0].source == "X11 display :7");
  CHECK(*seen[0].idle == 30s);
  CHECK(*seen[1].idle == 30s);
  const int before = asked;
  say(connection, line(true));
  CHECK(activity->touched());
  seen = activity->observe(noon + 60s);
  CHECK(asked == before);
  CHECK(*seen[0].idle == 0s);
  CHECK(*seen[1].idle == 0s);
  (void)activity->observe(noon + 60s);
  CHECK(asked == before + 1);
}

TEST_CASE("A session whose sources do not answer is not known to be calm") {
  const Place place;
  ActivityRoots roots;
  roots.dev = roots.sys = roots.proc = "/nowhere";
  roots.use_system_bus = false;
  roots.agents = place.places();
  const bool listed = GENERATE(false, true);
  roots.screens = [listed] {
    std::vector<Screen> all;
    if (listed) all.push_back({"X display :7", {}, ::geteuid(), "", ":7"});
    return all;
  };
  const auto activity = make_activity_monitor(roots);
  const io::Descriptor connection = connect_to(place.path);
  SessionReport report;
  report.display = ":7";
  report.missing = {"the X server :7 does not answer"};
  say(connection, agent::encode(report) + "\n");
  const auto seen = activity->observe(noon);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].kind == Kind::silent);
  CHECK(seen[0].source == "the X server :7 does not answer");
  CHECK(seen[1].kind == Kind::screen);
  CHECK(seen[1].source == (listed ? "X display :7" : "the X server :7 does not answer"));
  CHECK_FALSE(seen[1].idle);
}

TEST_CASE("A full screen counts unless the session is locked") {
  const Place place;
  ActivityRoots roots;
  roots.dev = roots.sys = roots.proc = "/nowhere";
  roots.use_system_bus = false;
  roots.agents = place.places();
  roots.screens = [] { return std::vector<Screen>(); };
  const auto activity = make_activity_monitor(roots);
  const io::Descriptor connection = connect_to(place.path);
  SessionReport report;
  report.busy = {{SessionReport::Busy::Kind::full_screen, "mpv"}};
  report.locked = false;
  say(connection, agent::encode(report) + "\n");
  auto seen = activity->observe(noon);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].kind == Kind::watching);
  CHECK(seen[0].source == "mpv fills the screen");
  report.locked = true;
  say(connection, agent::encode(report) + "\n");
  CHECK(activity->observe(noon).empty());
}

}  // namespace
}  // namespace gleaner::platform
