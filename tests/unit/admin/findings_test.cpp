// What people stumbled over when they used Gleaner for the first time, and the test that holds each of it:
//
//   progress was of the stage        describe_test "how much is done and when it will be", progress_test
//   the end jumped                   outlook_test "A steady fleet's end is told within a few percent"
//   0 % for ever, without hosts      describe_test "a problem that nobody computes says what it waits for"
//   failures wasted nothing          policy/waste_test, service/contribution_test
//   31 % for one, 12.9 % for another describe_test "... the same in the list and to hosts"
//   a higher priority doubled a share fair_share_test "a higher priority goes first"
//   a problem got nothing for minutes fair_share_test "units whose length nobody could have told"
//   one item held all hosts back     functional blame_test
//   0 accepted of 19                 describe_test "a problem that ended before its end keeps what it had"
//   ten times the same traceback     problem_views_test, service/contribution_test
//   cancel did not ask               program_test "pause, resume and cancel"
//   then there was no result         service/previews_test, functional preview_test
//   refused problems took numbers    add_problem_test "refused problems use up no numbers"
//   "a subcommand is required"       usage_test "A command that does not exist is named"
//   99 cores on a computer of two    functional owner_test
//   a revoked host was back at once  functional enrolment_test
//   no figures to watch it by        functional operations_test
//   `nice` and the server            io/process_test "a child is not raised above a program"
//   a refusal had no reason          delivery_test, control_text_test
//   90 % of what had finished        control_text_test
//   "pause 10s" was "one more minute" decisions_test "The owner's own word"
//   `gleaner prefs` was an error     functional owner_test
//   1,000 files are 1,000 --input    program_test "a problem is added as told"
//   primes in a Collatz bundle       functional guide_test
//   libraries that volunteers lack   functional app_check_test
//   "write lines to standard input"  functional app_check_test
//   no page to look at or work from  functional console_test
//
// and here: a full disk was suspected where `head` had seen enough; help knew 5 of 45 strategies.
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"

namespace gleaner::admin {

using Catch::Matchers::Contains;

TEST_CASE("who has read enough is no full disk", "[findings]") {
  TestWorld world;
  world.add_profile();
  world.server.on("GET /v1/admin/problems", 200, protocol::encode(std::vector<protocol::ProblemInfo>{}));
  world.out_fails = true;
  SECTION("the reader is gone") {
    world.reader_gone = true;
    CHECK(world.run({"problem", "list"}) == 0);
    CHECK(world.error.empty());
  }
  SECTION("the disk is full") {
    CHECK(world.run({"problem", "list"}) == 1);
    CHECK_THAT(world.error, Contains("is the disk full?"));
  }
}

TEST_CASE("the help of problem add says where all strategies are", "[findings]") {
  TestWorld world;
  CHECK(world.run({"problem", "add", "--help"}) == 0);
  CHECK_THAT(world.out, Contains("strategy list"));
}

}  // namespace gleaner::admin
