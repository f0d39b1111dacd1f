#include "shared/contract/kernel_session.h"

#include <signal.h>

#include <functional>

#include "shared/base/limits.h"
#include "tests/unit/contract/scripts.h"

using namespace gleaner;
using namespace gleaner::contract;
using Catch::Contains;
using Kind = KernelEvent::Kind;
using protocol::FailureKind;

namespace {

// Greets, accepts any problem, then does `unit` for each unit with $stage, $begin and $end set.
std::string kernel(const std::string& unit, const std::string& other = "") {
  return R"(
next=0
while read -r command a b c d; do
  case "$command" in
    gleaner) echo "ready 1 checkpoint" ;;
    problem) echo ok ;;
    unit) stage=$a; begin=$b; end=$c; option=$d
)" + unit +
         R"(
    ;;
    quit) exit 0 ;;
)" + other +
         R"(
  esac
done
)";
}

const char* const good_unit = R"(
      i=$begin
      while [ $i -lt $end ]; do echo "item $i 3"; printf 'abc'; i=$((i+1)); done
      echo "done $end")";

class Running {
 public:
  explicit Running(Scripts& scripts, const std::string& text, std::int64_t most = 1000) {
    auto process = io::real_processes().start(scripts.program(text));
    if (!process.ok()) FAIL(process.error().message);
    session_.emplace(std::move(*process), most);
  }
  KernelSession& session() { return *session_; }

  // Pumps until `enough`, or for 10 seconds.
  void pump_until(const std::function<bool()>& enough) {
    const SteadyTime deadline = system_clock().steady() + std::chrono::seconds{10};
    while (true) {
      session_->pump();
      if (enough()) return;
      REQUIRE(system_clock().steady() < deadline);
      const io::Waitable output =
          session_->finished() ? io::Waitable() : session_->process().output_waitable();
      (void)io::wait_any({&output, 1}, std::chrono::milliseconds{5});
    }
  }
  KernelEvent next() {
    std::optional<KernelEvent> event;
    pump_until([&] { return (event = session_->next_event()).has_value(); });
    return *event;
  }
  // The next event that is of that kind; those before it are dropped.
  KernelEvent next(Kind kind) {
    for (;;) {
      KernelEvent event = next();
      if (event.kind == kind) return event;
      INFO(event.text);
      REQUIRE(event.kind != Kind::failed);
    }
  }

 private:
  std::optional<KernelSession> session_;
};

KernelEvent failure_of(const std::string& text, Range range = {0, 4}, std::int64_t most = 1000) {
  Scripts scripts;
  Running running(scripts, text, most);
  running.session().set_problem(scripts.problem());
  running.session().start_unit(0, range);
  KernelEvent event = running.next(Kind::failed);
  CHECK_FALSE(running.session().idle());
  running.pump_until([&] { return running.session().finished(); });
  CHECK_FALSE(running.session().next_event());
  INFO(event.text);
  CHECK(event.text.rfind("the kernel ", 0) == 0);
  CHECK(event.text.size() <= static_cast<std::size_t>(limits::message_length_max));
  return event;
}

}  // namespace

TEST_CASE("a kernel computes unit after unit") {
  Scripts scripts;
  Running running(scripts, kernel(good_unit));
  auto& session = running.session();
  CHECK(session.idle());
  session.set_problem(scripts.problem());
  std::int64_t begin = 0;
  for (const std::int64_t end : {3, 3, 40}) {
    REQUIRE(session.idle());
    session.start_unit(1, {begin, end});
    CHECK_FALSE(session.idle());
    for (; begin < end; ++begin) {
      const KernelEvent event = running.next();
      REQUIRE(event.kind == Kind::item);
      CHECK(event.item == begin);
      CHECK(event.data == "abc");
    }
    const KernelEvent done = running.next();
    REQUIRE(done.kind == Kind::done);
    CHECK(done.item == end);
  }
  session.quit();
  CHECK_FALSE(session.idle());
  running.pump_until([&] { return session.finished(); });
  CHECK_FALSE(session.next_event());
}

TEST_CASE("a kernel is told to end earlier, and what it had begun still arrives") {
  Scripts scripts;
  // Writes two items, waits for a command, writes two more (it had begun them), then ends as told.
  Running running(scripts, kernel(R"(
      echo "item 0 0"; echo "item 1 0"
      read -r word end
      echo "log told: $word $end"
      echo "item 2 0"; echo "item 3 0"; echo "done 4")"));
  auto& session = running.session();
  session.set_problem(scripts.problem());
  session.start_unit(0, {0, 100});
  CHECK(running.next().item == 0);
  CHECK(running.next().item == 1);
  session.trim(50);
  session.trim(60);  // no earlier end
  session.trim(3);   // replaces 50, which was not sent yet
  CHECK(running.next(Kind::log).text == "told: end 3");
  CHECK(running.next().item == 2);
  CHECK(running.next().item == 3);
  CHECK(running.next().kind == Kind::done);
  session.trim(1);  // idle: ignored
  session.pump();
  CHECK(session.idle());
}

TEST_CASE("a checkpoint is asked for, answered and continued from") {
  Scripts scripts;
  Running running(scripts, kernel(R"(
      if [ "$option" = checkpoint ]; then echo "log continued"; echo "item $begin 0"; echo "done $end"
      else echo "progress $begin 0.5"; read -r word; echo "$word $begin"; fi)"));
  auto& session = running.session();
  session.set_problem(scripts.problem());
  session.request_checkpoint();  // nothing is in its hands
  CHECK(running.next().item == -1);
  session.start_unit(0, {7, 8});
  const KernelEvent progress = running.next();
  CHECK(progress.kind == Kind::progress);
  CHECK(progress.item == 7);
  CHECK(progress.fraction == 0.5);
  session.request_checkpoint();
  const KernelEvent saved = running.next();
  CHECK(saved.kind == Kind::checkpointed);
  CHECK(saved.item == 7);

  Running again(scripts, kernel(R"(echo "log $option"; echo "item $begin 0"; echo "done $end")"));
  again.session().set_problem(scripts.problem());
  again.session().start_unit(0, {7, 8}, true);
  CHECK(again.next(Kind::log).text == "checkpoint");
  CHECK(again.next(Kind::done).item == 8);
}

TEST_CASE("a kernel that crashes is reported with its last words") {
  const KernelEvent event = failure_of(kernel(R"(
      echo "item 0 1"; printf x; echo "panic: no more beer" >&2; kill -SEGV $$)"));
  CHECK(event.failure == FailureKind::kernel_crashed);
  CHECK_THAT(event.text, Contains("was killed by signal 11"));
  CHECK_THAT(event.text, Contains("while computing item 1"));
  CHECK_THAT(event.text, Contains("Its last words: panic: no more beer"));
}

TEST_CASE("a kernel that lacks a Python module lacks it on this computer, at its start or later") {
  const std::string traceback =
      R"(printf 'Traceback (most recent call last):\n  File "k.py", line 1\n' >&2; )";
  for (const auto& [last, lack] :
       {std::pair<std::string, std::string>{"ModuleNotFoundError: No module named 'numpy.linalg'",
                                            "the Python module numpy.linalg, which"},
        {"ModuleNotFoundError: No module named '$(reboot)'", "a Python module that"},
        {"ImportError: libblas.so.3: cannot open shared object file",
         "the shared library libblas.so.3, which the application needs. Install the package that has it"},
        {"ImportError: cannot import name 'x' from 'y'", "a Python module that"}}) {
    const std::string ends = traceback + "cat >&2 <<'END'\n" + last + "\nEND\nexit 1";
    for (const std::string& program : {ends, kernel(ends)}) {
      const KernelEvent event = failure_of(program);
      CHECK(event.failure == FailureKind::not_executable);
      CHECK_THAT(event.text, Contains("this computer lacks " + lack) && Contains(last));
    }
  }
  for (const std::string other : {"ValueError: no ModuleNotFoundError: in sight", "SystemExit"})
    CHECK(failure_of(kernel(traceback + "echo \"" + other + "\" >&2; exit 1")).failure ==
          FailureKind::kernel_crashed);
}

TEST_CASE("a program without one of its libraries says which, and where to look, as the loader ends") {
  const KernelEvent event = failure_of(
      "echo 'k: error while loading shared libraries: libx.so.1: cannot open shared object file: No such "
      "file' >&2; exit 127");
  CHECK(event.failure == FailureKind::not_executable);
  CHECK_THAT(event.text, Contains("it needs the shared library libx.so.1, and programs find only"));
}

TEST_CASE("items written before a crash are not lost") {
  Scripts scripts;
  Running running(scripts, kernel(R"(
      i=0; while [ $i -lt 200 ]; do echo "item $i 3"; printf 'abc'; i=$((i+1)); done; exit 3)"));
  running.session().set_problem(scripts.problem());
  running.session().start_unit(0, {0, 1000});
  for (std::int64_t i = 0; i < 200; ++i) REQUIRE(running.next(Kind::item).item == i);
  const KernelEvent event = running.next();
  REQUIRE(event.kind == Kind::failed);
  CHECK_THAT(event.text, Contains("exited with status 3 while computing item 200"));
}

TEST_CASE("a kernel that exits with status 0 too early has crashed, too") {
  const KernelEvent event = failure_of(kernel("echo 'item 0 0'; exit 0"));
  CHECK(event.failure == FailureKind::kernel_crashed);
  CHECK_THAT(event.text, Contains("exited with status 0 while computing item 1"));
  CHECK_THAT(failure_of("exit 0").text, Contains("before it was ready"));
  CHECK_THAT(failure_of(kernel("echo 'item 0 900'; printf abc; exit 0")).text,
             Contains("while computing item 0"));
}

TEST_CASE("a kernel over its file limit ran out of a resource") {
  CHECK(failure_of(kernel("kill -XFSZ $$")).failure == FailureKind::resource_limit);
}

TEST_CASE("a kernel that breaks the contract is stopped and reported") {
  const auto bad = [](const std::string& unit) {
    const KernelEvent event = failure_of(kernel(unit + "\nsleep 60"));  // it does not end by itself
    CHECK(event.failure == FailureKind::bad_output);
    return event.text;
  };
  CHECK_THAT(bad("echo 'hello world'"), Contains("said \"hello world\" while computing item 0"));
  CHECK_THAT(bad("head -c 5000 /dev/zero; echo"), Contains("expected item"));
  CHECK_THAT(bad("head -c 100000 /dev/zero"), Contains("longer than 65536"));
  CHECK_THAT(bad("echo 'item 2 0'"), Contains("wrote item 2, but item 0 was next"));
  CHECK_THAT(bad("echo 'item 0 1001'"), Contains("announced 1001 bytes"));
  CHECK_THAT(bad("echo 'item 0 888888888888888888888888'"), Contains("expected item INDEX LENGTH"));
  CHECK_THAT(bad("echo 'done 0'"), Contains("ended too early"));
  CHECK_THAT(bad("exec >&-"), Contains("closed its standard output"));
}

TEST_CASE("a kernel may say itself that it cannot") {
  const KernelEvent event = failure_of(kernel("echo 'error the scene has no light'; sleep 60"));
  CHECK(event.failure == FailureKind::kernel_error);
  CHECK(event.text == "the kernel reports: the scene has no light");
}

TEST_CASE("a kernel that never reads does not block us, nor do its talkative friends") {
  Scripts scripts;
  Running running(scripts, "echo 'ready 1'; echo ok; echo 'item 0 0'; while :; do echo 'log la la la'; done");
  auto& session = running.session();
  session.set_problem(scripts.problem());
  session.start_unit(0, {0, 1'000'000});
  CHECK(running.next().kind == Kind::item);
  for (std::int64_t end = 999'999; end > 900'000; --end) session.trim(end);
  // Without anyone taking its events it is held up; memory stays bounded.
  CHECK(running.next(Kind::log).text == "la la la");
  for (int i = 0; i < 50; ++i) session.pump();
  std::size_t bytes = 0;
  while (const auto event = session.next_event()) bytes += sizeof(*event) + event->text.size();
  CHECK(bytes < (9 << 20));
  CHECK_FALSE(session.finished());
}

TEST_CASE("a kernel that ignores quit is ended with its session") {
  Scripts scripts;
  io::Path alive = scripts.work() / "pid";
  {
    Running running(
        scripts,
        "echo $$ > pid; echo 'ready 1'; echo 'log up'; trap '' TERM HUP; sleep 600 & wait; sleep 600");
    CHECK(running.next(Kind::log).text == "up");
    running.session().quit();
    running.session().pump();
    CHECK_FALSE(running.session().finished());
  }
  const auto pid = io::real_files().read(alive, 100);
  REQUIRE(pid.ok());
  CHECK(::kill(std::stoi(*pid), 0) != 0);
}

TEST_CASE("what a kernel says after quit does not matter") {
  Scripts scripts;
  Running running(scripts, "echo 'ready 1'; echo 'log up'; read -r a; read -r b; echo nonsense; exit 5");
  CHECK(running.next(Kind::log).text == "up");
  running.session().quit();
  running.pump_until([&] { return running.session().finished(); });
  CHECK_FALSE(running.session().next_event());
}

TEST_CASE("a directory that would break the line protocol is refused") {
  Scripts scripts;
  Running running(scripts, kernel(good_unit));
  running.session().set_problem(scripts.problem() / "a\nunit 0 0 9");
  const KernelEvent event = running.next();
  CHECK(event.kind == Kind::failed);
  CHECK_THAT(event.text, Contains("line feed"));
}
