#include "shared/contract/manager_session.h"

#include <thread>

#include "shared/protocol/segment.h"
#include "tests/unit/contract/scripts.h"

using namespace gleaner;
using namespace gleaner::contract;
using Catch::Contains;

namespace {

// Greets and accepts the problem; `cases` are shell case branches for the other commands ($a $b $c $d: its
// words).
std::string manager(const std::string& cases) {
  return R"(
while read -r command a b c d; do
  case "$command" in
    gleaner) echo "ready 1" ;;
    problem) echo ok ;;
    quit) exit 0 ;;
)" + cases +
         R"(
    *) echo "error unknown command" ;;
  esac
done
)";
}

ManagerSession session(Scripts& scripts, const std::string& text, Duration limit = std::chrono::seconds{10}) {
  return ManagerSession(io::real_processes(), scripts.program(text), scripts.problem(), scripts.work(),
                        limit);
}

Error plan_error(const std::string& answer, Duration limit = std::chrono::seconds{10}) {
  Scripts scripts;
  scripts.write(scripts.work() / "there", "x");
  scripts.write(scripts.problem() / "outside", "x");
  std::filesystem::create_symlink(scripts.problem() / "outside", scripts.work() / "link");
  auto manager_session = session(scripts, manager("plan) printf '" + answer + "' ;;"), limit);
  const auto plan = manager_session.plan(0);
  REQUIRE_FALSE(plan.ok());
  return plan.error();
}

}  // namespace

TEST_CASE("a manager checks the problem it is given") {
  Scripts scripts;
  auto good = session(scripts, manager(""));
  CHECK(good.check().ok());
  CHECK(good.check().ok());
  auto refusing =
      session(scripts, "read -r a; echo 'ready 1'; read -r word path; echo \"error $word $path is no good\"");
  const Status refused = refusing.check();
  CHECK(refused.error().kind == ErrorKind::invalid);
  CHECK_THAT(refused.error().message, Contains("problem " + scripts.problem().string() + " is no good"));
}

TEST_CASE("a manager that runs while nobody asks it is stopped again, and ended") {
  Scripts scripts;
  // What continues it is not in its group, as no confined manager can arrange.
  auto awake = session(
      scripts,
      manager(
          R"(plan) setsid sh -c ": >ready; while kill -s CONT -- -$$; do sleep 0.002; done" </dev/null >/dev/null 2>&1 &
      until [ -e ready ]; do sleep 0.01; done; (while :; do :; done) & echo end ;;)"));
  REQUIRE(awake.plan(0).ok());
  Status rests;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  while ((rests = awake.look_at_rest()).ok() && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  REQUIRE_FALSE(rests.ok());
  CHECK_THAT(rests.error().message, Contains("s of processor time while it was paused"));
  CHECK(awake.look_at_rest().ok());  // it is said once
  CHECK(awake.check().ok());         // and starts anew
}

TEST_CASE("a manager that rests is let be") {
  Scripts scripts;
  auto quiet = session(scripts, manager("plan) (while :; do :; done) & echo end ;;"));
  REQUIRE(quiet.plan(0).ok());
  for (int looks = 0; looks < 50; ++looks) {
    CHECK(quiet.look_at_rest().ok());
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  CHECK(quiet.check().ok());
}

TEST_CASE("a manager plans a stage") {
  Scripts scripts;
  scripts.write(scripts.work() / "stage-0/mesh.bin", "m");
  scripts.write(scripts.work() / "hints.txt", "1\n2\n");
  auto planning = session(scripts, manager(R"(plan)
    if [ $a = 0 ]; then
      echo "items 2"; echo "name Rendering lines"; echo "ahead 2.5e1"; echo "hints hints.txt"
      echo "input mesh stage-0/mesh.bin"; echo "input part stage-0/../hints.txt" | sed 's/stage-0.*/hints.txt 0 1/'
      echo ok
    else echo end; fi ;;)"));
  const auto plan = planning.plan(0);
  if (!plan.ok()) FAIL(plan.error().message);
  CHECK_FALSE(plan->end);
  CHECK(plan->items == 2);
  CHECK(plan->name == "Rendering lines");
  CHECK(plan->ahead == 25);
  CHECK(plan->hints == std::filesystem::canonical(scripts.work()) / "hints.txt");
  CHECK(read_hints(plan->hints, plan->items).ok());
  REQUIRE(plan->inputs.size() == 2);
  CHECK(plan->inputs[0].name == "mesh");
  CHECK(plan->inputs[0].path == std::filesystem::canonical(scripts.work()) / "stage-0/mesh.bin");
  CHECK_FALSE(plan->inputs[0].range);
  CHECK(plan->inputs[1].range == Range{0, 1});
  CHECK(planning.plan(1)->end);
}

TEST_CASE("a plan that is none is refused") {
  CHECK_THAT(plan_error("items 0\\nok\\n").message, Contains("the application planned no items"));
  CHECK(plan_error("items 0\\nok\\n").kind == ErrorKind::invalid);
  CHECK_THAT(plan_error("ok\\n").message, Contains("expected end, or items N"));
  CHECK_THAT(plan_error("items 5\\nitems 6\\nok\\n").message,
             Contains("expected name, hints, ahead, input or ok"));
  for (const std::string cost : {"", "-1", "nan", "1e16", "1 2", "much"})
    CHECK_THAT(plan_error("items 5\\nahead " + cost + "\\nok\\n").message, Contains("expected ahead COST"));
  CHECK_THAT(plan_error("items 9007199254740993\\nok\\n").message, Contains("expected end, or items N"));
  for (const std::string path :
       {"/etc/passwd", "../the problem/outside", "link", "none", ".", "", "a/../there"})
    CHECK_THAT(plan_error("items 5\\nhints " + path + "\\nok\\n").message,
               Contains("expected hints and the path of a file"));
  for (const std::string name : {".", "..", "a/b", "", "\\001x"})
    CHECK_THAT(plan_error("items 5\\ninput " + name + " there\\nok\\n").message,
               Contains("expected input NAME"));
  CHECK_THAT(plan_error("items 5\\ninput a there 3 2\\nok\\n").message,
             Contains("expected input NAME PATH [BEGIN END]"));
  CHECK_THAT(plan_error("items 5\\ninput a there 1\\nok\\n").message,
             Contains("expected input NAME PATH [BEGIN END]"));
  CHECK_THAT(plan_error("items 5\\ninput a there\\ninput a there\\n").message, Contains("no other input"));
  CHECK(plan_error("items 5\\n", std::chrono::milliseconds{500}).kind == ErrorKind::unavailable);  // silence
  CHECK(plan_error("error no plan\\n").kind == ErrorKind::invalid);
}

TEST_CASE("a manager judges segments, large ones too") {
  Scripts scripts;
  auto judging = session(scripts, manager(R"(validate)
    case "$a" in
      0) head -c $d > got; cmp -s got segment && echo valid || echo "invalid it differs" ;;
      1) head -c $d > /dev/null; echo enough ;;
      2) head -c $d > /dev/null; echo "error cannot" ;;
      3) head -c $d > /dev/null; echo "perhaps" ;;
    esac ;;)"));
  Bytes segment;
  protocol::append_item(segment, std::string(3'000'000, 'x'));
  protocol::append_item(segment, "\n\nquit\n");
  scripts.write(scripts.work() / "segment", segment);
  CHECK(judging.validate(0, {0, 2}, segment)->verdict == Verdict::valid);
  const auto invalid = judging.validate(0, {0, 2}, segment.substr(1));
  CHECK(invalid->verdict == Verdict::invalid);
  CHECK(invalid->reason == "it differs");
  CHECK(judging.validate(1, {0, 2}, segment)->verdict == Verdict::enough);
  CHECK(judging.validate(1, {0, 0}, "")->verdict == Verdict::enough);
  CHECK(judging.validate(2, {0, 2}, segment).error().kind == ErrorKind::invalid);
  CHECK(judging.validate(0, {0, 2}, segment)->verdict == Verdict::valid);  // the same process goes on
  CHECK(judging.validate(3, {0, 2}, segment).error().kind == ErrorKind::unavailable);
}

// Reads standard input by itself, so that it sees whether more has been said than it took.
const std::string talker = R"py(#!/usr/bin/python3
import os, select, sys
heard = b""
def fill():
    global heard
    data = os.read(0, 65536)
    if not data: sys.exit(0)
    heard += data
def take(size):
    global heard
    while len(heard) < size: fill()
    data, heard = heard[:size], heard[size:]
    return data
def line():
    while b"\n" not in heard: fill()
    return take(heard.index(b"\n") + 1).decode().split()
def more(): return bool(heard or select.select([0], [], [], 0)[0])
def say(text): os.write(1, text.encode() + b"\n")
)py";

TEST_CASE("a manager that offers it is asked about many segments before it answers") {
  const bool offers = GENERATE(true, false);
  Scripts scripts;
  auto judging = session(scripts, talker + "offer = '" + (offers ? " pipeline" : "") + R"py('
while (words := line())[0] != "quit":
    if words[0] == "gleaner": say("ready 1" + offer)
    elif words[0] == "problem": say("ok")
    elif words[0] == "mark": say(" ".join(words))
    else:
        segment = take(int(words[4]))
        if segment == b"crash": sys.exit(3)
        elif segment == b"refuse": say("error not that one")
        elif segment == b"bad": say("invalid as item " + words[2])
        elif segment == b"twice": say("valid\nvalid")
        else: say("enough" if more() else "valid")
)py");
  std::vector<std::string> texts = {"good", "bad", "good", "crash", "good", "refuse", "good"};
  std::vector<ManagerSession::Segment> segments;
  for (std::size_t i = 0; i < texts.size(); ++i)
    segments.push_back({0, {static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1}, texts[i]});
  const auto good = judging.validate({segments[0], segments[0], segments[2]});
  CHECK((good[0].value().verdict == Verdict::enough) == offers);  // it saw that more had been said
  const auto outcomes = judging.validate(segments);
  REQUIRE(outcomes.size() == segments.size());
  for (const std::size_t i : {0U, 2U, 4U, 6U}) {
    REQUIRE(outcomes[i].ok());
    CHECK(outcomes[i]->verdict != Verdict::invalid);
  }
  REQUIRE(outcomes[1].ok());
  CHECK(outcomes[1]->verdict == Verdict::invalid);
  CHECK(outcomes[1]->reason == "as item 1");
  CHECK(outcomes[3].error().kind == ErrorKind::unavailable);
  CHECK(outcomes[5].error().kind == ErrorKind::invalid);
  texts = {"good", "twice", "bad"};
  segments.resize(3);
  for (std::size_t i = 0; i < 3; ++i) segments[i].bytes = texts[i];
  const auto shifted = judging.validate(segments);
  // Nobody knows whose a word is where there is one too many: "bad" is never taken for good.
  CHECK((!shifted[2].ok() || shifted[2]->verdict == Verdict::invalid));
  REQUIRE(shifted[0].ok());
  CHECK(shifted[0]->verdict == Verdict::valid);
}

TEST_CASE("large segments are told one at a time, whatever a manager offers") {
  Scripts scripts;
  auto judging = session(scripts, talker + R"py(
while (words := line())[0] != "quit":
    if words[0] == "gleaner": say("ready 1 pipeline")
    elif words[0] == "problem": say("ok")
    elif words[0] == "mark": say(" ".join(words))
    else: say("valid" if len(set(take(int(words[4])))) == 1 else "invalid " + "x" * 4000)
)py");
  const std::string large(300'000, 'a'), mixed = std::string(20'000, 'b') + "c";
  std::vector<ManagerSession::Segment> segments;
  for (int i = 0; i < 60; ++i) segments.push_back({0, {i, i + 1}, i % 3 == 0 ? large : mixed});
  const auto outcomes = judging.validate(segments);
  REQUIRE(outcomes.size() == 60);
  for (std::size_t i = 0; i < 60; ++i)
    CHECK(outcomes[i].value().verdict == (i % 3 == 0 ? Verdict::valid : Verdict::invalid));
}

TEST_CASE("a manager compares two results") {
  Scripts scripts;
  auto comparing = session(scripts, manager(R"(compare)
    first=$(head -c $c); second=$(head -c $d)
    [ "$first" = bad ] && echo "different failed: no interpreter" && continue
    [ "$first" = "$second" ] && echo same || echo "different in a byte" ;;)"));
  CHECK(comparing.compare(0, 3, "abc", "abc")->same);
  CHECK_FALSE(comparing.compare(0, 3, "abc", "abd")->same);
  CHECK(comparing.compare(0, 3, "abc", "abd")->failure.empty());
  CHECK_FALSE(comparing.compare(0, 3, "bad", "abd")->same);
  CHECK(comparing.compare(0, 3, "bad", "abd")->failure == "no interpreter");
}

TEST_CASE("a manager combines") {
  Scripts scripts;
  scripts.write(scripts.problem() / "piece 1", "x");
  auto combining = session(scripts, manager(R"(combine)
    mkdir -p stage-$a
    cat "$b${c:+ $c}${d:+ $d}" > stage-$a/list
    echo "progress 0.5"; echo "progress 0.50001"; echo "progress 1"
    echo "result list stage-$a/list text/plain; charset=utf-8"; echo ok ;;
  preview) echo "result x /etc/passwd text/plain"; echo ok ;;)"));
  std::vector<double> progress;
  const std::vector<Piece> pieces = {{{0, 3}, 0, scripts.problem() / "piece 1"}, {{3, 5}, 2, "/two"}};
  const auto files = combining.combine(0, pieces, {}, [&](double fraction) { progress.push_back(fraction); });
  if (!files.ok()) FAIL(files.error().message);
  REQUIRE(files->size() == 1);
  CHECK(files->front().name == "list");
  CHECK(files->front().media_type == "text/plain; charset=utf-8");
  CHECK(*io::real_files().read(files->front().path, 1000) ==
        "0 3 0 " + (scripts.problem() / "piece 1").string() + "\n3 5 2 /two\n");
  CHECK(progress == std::vector<double>{0.5, 1});
  const auto preview = combining.preview(0, pieces, {});
  CHECK(preview.error().kind == ErrorKind::unavailable);
  CHECK_THAT(preview.error().message, Contains("expected result NAME and the path of a file"));
}

TEST_CASE("a manager that offers it is told who computed what, and tells which items failed") {
  Scripts scripts;
  const std::string cases = R"(preview)
    if [ -e "$b $c.origins" ]; then cp "$b $c.origins" seen; else echo none >seen; fi
    echo "result seen seen text/plain"; echo ok ;;
  failed) cat answer ;;)";
  const std::vector<Piece> pieces = {{{0, 3}, 0, "/one"}, {{5, 9}, 5, "/two"}};
  const auto seen = [&](ManagerSession& asked) {
    const auto files = asked.preview(0, pieces, {{{0, 3}, 1.5, "the first\nhost"}, {{5, 9}, -1, "x"}});
    return files.ok() ? *io::real_files().read(files->front().path, 1000) : files.error().message;
  };
  auto plain = session(scripts, manager(cases));
  CHECK(seen(plain) == "none\n");
  CHECK_THAT(plain.failed(0, pieces).error().message, Contains("does not say which of its items failed"));
  std::string text = manager(cases);
  text.replace(text.find("ready 1"), 7, "ready 1 origins failures");
  auto asked = session(scripts, text);
  CHECK(seen(asked) == "0 3 1.500 the first host\n5 9 - x\n");
  scripts.write(scripts.work() / "answer", "failed 1 3\nfailed 5 6\nok\n");
  CHECK(asked.failed(0, pieces).value() == std::vector<Range>{{1, 3}, {5, 6}});
  for (const char* wrong :
       {"failed 2 4\n", "failed 5 6\nfailed 1 2\n", "failed 1 1\n", "failed 1 2 3\n", "1 2\n"}) {
    scripts.write(scripts.work() / "answer", wrong);
    CHECK(asked.failed(0, pieces).error().kind == ErrorKind::unavailable);
  }
}

TEST_CASE("a preview has one time limit, whatever progress it makes") {
  Scripts scripts;
  auto slow = session(scripts, manager(R"(preview)
    i=100; while [ $i -lt 999 ]; do i=$((i + 1)); echo "progress 0.$i"; sleep 0.1; done; echo ok ;;)"),
                      std::chrono::seconds{1});
  const auto shown = slow.preview(0, {}, {});
  REQUIRE_FALSE(shown.ok());
  CHECK(shown.error().kind == ErrorKind::unavailable);
}

TEST_CASE("a manager that fails is reported and started again") {
  Scripts scripts;
  // The first process to get there fails in the way asked for; later ones are good.
  const auto failing = [&](const std::string& way, Duration limit = std::chrono::seconds{10},
                           ErrorKind kind = ErrorKind::unavailable) {
    std::error_code ignored;
    std::filesystem::remove(scripts.work() / "failed", ignored);
    auto manager_session = session(
        scripts, manager("plan) if [ ! -e failed ]; then touch failed; " + way + "; fi; echo end ;;"), limit);
    const auto first = manager_session.plan(0);
    REQUIRE_FALSE(first.ok());
    CHECK(first.error().kind == kind);
    CHECK_THAT(first.error().message, Contains("the application's manager "));
    const auto second = manager_session.plan(0);
    if (!second.ok()) FAIL(second.error().message);
    CHECK(second->end);
    return first.error().message;
  };
  CHECK_THAT(failing("echo help >&2; kill -ABRT $$"),
             Contains("was killed by signal 6") && Contains("last words: help"));
  CHECK_THAT(failing("kill -KILL $$", std::chrono::seconds{10}, ErrorKind::io),
             Contains("was killed by signal 9"));
  CHECK_THAT(failing("exit 0"), Contains("exited with status 0") && Contains("at \"plan\""));
  CHECK_THAT(failing("sleep 60", std::chrono::seconds{2}), Contains("did not answer within 2 s"));
  CHECK_THAT(failing("exec >&-; sleep 60"), Contains("closed its standard input or output"));
  CHECK_THAT(failing("echo bla"), Contains("said \"bla\""));
  CHECK_THAT(failing("head -c 70000 /dev/zero; sleep 60"), Contains("longer than 65536"));
  CHECK_THAT(failing("yes '' | head -c 200000"), Contains("said \"\""));
}

TEST_CASE("a manager that neither reads nor answers is given up in time") {
  Scripts scripts;
  auto deaf = session(scripts, manager("validate) sleep 60 ;;"), std::chrono::milliseconds{300});
  const auto start = system_clock().steady();
  const auto result = deaf.validate(0, {0, 1}, std::string(5'000'000, 'x'));
  CHECK(result.error().kind == ErrorKind::unavailable);
  CHECK_THAT(result.error().message, Contains("did not read what it was given in time"));
  CHECK(system_clock().steady() - start < std::chrono::seconds{5});
  auto chatty = session(scripts, manager("validate) while :; do echo bla; done ;;"), std::chrono::seconds{5});
  CHECK_THAT(chatty.validate(0, {0, 1}, std::string(5'000'000, 'x')).error().message,
             Contains("talks instead of reading"));
}

TEST_CASE("progress gains a manager time, standing still does not") {
  Scripts scripts;
  auto steady = session(scripts, manager(R"(combine)
    for i in 1 2 3 4 5 6; do sleep 0.4; echo "progress 0.$i"; done; echo ok ;;)"),
                        std::chrono::milliseconds{1500});
  CHECK(steady.combine(0, {}, {}, {}).ok());
  auto stuck = session(scripts, manager("combine) while :; do sleep 0.1; echo 'progress 0.5'; done ;;"),
                       std::chrono::milliseconds{500});
  CHECK_THAT(stuck.combine(0, {}, {}, {}).error().message, Contains("did not answer within"));
}

TEST_CASE("an answer that nobody asked for is not taken for the next one") {
  Scripts scripts;
  auto eager = session(scripts, manager("plan) printf 'end\\nend\\n' ;;"));
  CHECK(eager.plan(0)->end);
  const auto second = eager.plan(0);
  CHECK(second.error().kind == ErrorKind::unavailable);
  CHECK_THAT(second.error().message, Contains("without a request"));
  CHECK(eager.plan(0)->end);
}

TEST_CASE("a manager works only while it is asked") {
  Scripts scripts;
  auto busy = session(scripts, manager("plan) echo end; sleep 0.2; touch later ;;"));
  CHECK(busy.plan(0)->end);
  std::this_thread::sleep_for(std::chrono::milliseconds{600});
  CHECK_FALSE(std::filesystem::exists(scripts.work() / "later"));
  CHECK(busy.plan(0)->end);  // it goes on where it was
  CHECK(std::filesystem::exists(scripts.work() / "later"));
}

TEST_CASE("a manager that takes too much is ended with the watch's words") {
  Scripts scripts;
  int asked = 0;
  ManagerSession greedy(io::real_processes(), scripts.program(manager("plan) sleep 60 ;;")),
                        scripts.problem(), scripts.work(), std::chrono::seconds{60},
                        [&](const io::Process&) { return ++asked < 3 ? "" : "took too much"; });
  const auto plan = greedy.plan(0);
  REQUIRE_FALSE(plan.ok());
  CHECK(plan.error().kind == ErrorKind::unavailable);
  CHECK_THAT(plan.error().message, Contains("manager took too much (at \"plan\")"));
}

TEST_CASE("a manager that cannot be started or speaks another version says so") {
  Scripts scripts;
  io::ProcessSpec none;
  none.arguments = {(scripts.work() / "none").string()};
  CHECK_FALSE(
      ManagerSession(io::real_processes(), none, scripts.problem(), scripts.work(), std::chrono::seconds{1})
          .check()
          .ok());
  auto newer = session(scripts, "read -r a; echo 'ready 2'; sleep 60");
  CHECK_THAT(newer.check().error().message, Contains("expected ready 1"));
}
