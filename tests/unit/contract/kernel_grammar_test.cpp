#include "shared/contract/kernel_grammar.h"

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::contract;
using Catch::Contains;
using Kind = KernelEvent::Kind;

namespace {

constexpr std::int64_t item_bytes_max = 100;

KernelGrammar with_unit(Range range) {
  KernelGrammar grammar(item_bytes_max);
  grammar.problem_sent();
  grammar.feed("ready 1 checkpoint\nok\n");
  grammar.unit_sent(range);
  return grammar;
}

std::string offence_of(Range range, const std::string& output) {
  KernelGrammar grammar = with_unit(range);
  grammar.feed(output);
  REQUIRE(grammar.offence());
  CHECK(grammar.offence()->kind == protocol::FailureKind::bad_output);
  return grammar.offence()->text;
}

}  // namespace

TEST_CASE("a good kernel's output becomes events, in whatever pieces it comes") {
  const std::string output = "progress 5 0.25\nitem 5 3\na\nb" +
                             std::string("item 6 0\nlog half done\nprogress 7 0.5\nprogress 7 0.75\n") +
                             "item 7 1\n\ndone 8\n";
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    KernelGrammar grammar = with_unit({5, 8});
    for (std::size_t at = 0; at < output.size();) {
      const std::size_t size = 1 + random.below(round == 0 ? output.size() : 5);
      grammar.feed(std::string_view(output).substr(at, size));
      at += size;
    }
    REQUIRE_FALSE(grammar.offence());
    CHECK(grammar.idle());
    std::vector<std::string> seen;
    while (const auto event = grammar.next_event())
      seen.push_back(std::to_string(static_cast<int>(event->kind)) + " " + std::to_string(event->item) + " " +
                     event->data + event->text);
    CHECK(seen ==
          std::vector<std::string>{"1 5 ", "0 5 a\nb", "0 6 ", "4 0 half done", "1 7 ", "0 7 \n", "2 8 "});
    CHECK(grammar.queued_bytes() == 0);
  }
}

TEST_CASE("indices, order and ends are checked") {
  CHECK_THAT(offence_of({5, 8}, "item 6 1\na"), Contains("wrote item 6, but item 5 was next"));
  CHECK_THAT(offence_of({5, 8}, "item 5 0\nitem 5 0\n"), Contains("wrote item 5, but item 6 was next"));
  CHECK_THAT(offence_of({5, 6}, "item 5 0\nitem 6 0\n"), Contains("its unit ended before item 6"));
  CHECK_THAT(offence_of({5, 8}, "item 5 101\n"), Contains("announced 101 bytes for item 5"));
  CHECK_THAT(offence_of({5, 8}, "item 5 9999999999999999999999\n"), Contains("expected item INDEX LENGTH"));
  CHECK_THAT(offence_of({5, 8}, "item 5 -1\n"), Contains("expected item INDEX LENGTH"));
  CHECK_THAT(offence_of({5, 8}, "item 5 1 1\n"), Contains("expected item INDEX LENGTH"));
  CHECK_THAT(offence_of({5, 8}, "item 5\n"), Contains("expected item INDEX LENGTH"));
  CHECK_THAT(offence_of({5, 8}, "item 5 0\ndone 6\n"),
             Contains("ended too early: before item 6 instead of before item 8"));
  CHECK_THAT(offence_of({5, 8}, "done 8\n"),
             Contains("says that item 8 is the first one it did not write, but it is 5"));
  CHECK_THAT(offence_of({5, 6}, "item 5 0\ndone 6\ndone 6\n"), Contains("nothing to do"));
  CHECK_THAT(offence_of({5, 8}, "progress 4 0.5\n"), Contains("progress of item 4"));
  CHECK_THAT(offence_of({5, 8}, "progress 8 0.5\n"), Contains("progress of item 8"));
  CHECK_THAT(offence_of({5, 8}, "progress 5 1.5\n"), Contains("expected progress INDEX FRACTION"));
  CHECK_THAT(offence_of({5, 8}, "hello\n"), Contains("said \"hello\" while computing item 5; expected item"));
  CHECK_THAT(offence_of({5, 8}, "\n"), Contains("said \"\""));
  CHECK_THAT(offence_of({5, 8}, "checkpoint 5\n"), Contains("none was asked for"));
  CHECK_THAT(offence_of({5, 8}, std::string(65'536, 'x')), Contains("longer than 65536 bytes"));
  CHECK_THAT(offence_of({5, 8}, std::string(65'536, 'x') + "\n"), Contains("longer than 65536 bytes"));
}

TEST_CASE("the longest line is still a line") {
  KernelGrammar grammar = with_unit({0, 1});
  grammar.feed("log " + std::string(65'531, 'x') + "\n");
  CHECK_FALSE(grammar.offence());
  CHECK(grammar.next_event()->text.size() == 4096);
}

TEST_CASE("what is no result is counted") {
  KernelGrammar grammar = with_unit({0, 2});
  CHECK(grammar.talk_bytes() == 0);
  grammar.feed("log words\nprogress 0 0.5\nitem 0 4\nlog progress 1 0.75\n");
  CHECK(grammar.talk_bytes() == 10 + 15 + 16);  // the second "log" is the item's
  grammar.feed("item 1 0\ndone 2\n");
  CHECK(grammar.talk_bytes() == 10 + 15 + 16);
  CHECK_FALSE(grammar.offence());
}

TEST_CASE("after a trim, later items may arrive and the unit ends at any of them") {
  KernelGrammar grammar = with_unit({0, 10});
  grammar.feed("item 0 0\nitem 1 0\n");
  CHECK(grammar.end_sent(3));
  CHECK_FALSE(grammar.end_sent(3));
  CHECK_FALSE(grammar.end_sent(7));
  grammar.feed("item 2 0\nitem 3 0\nitem 4 0\ndone 5\n");  // it was already beyond
  CHECK_FALSE(grammar.offence());
  CHECK(grammar.idle());

  KernelGrammar exact = with_unit({0, 10});
  CHECK(exact.end_sent(1));
  exact.feed("item 0 0\ndone 1\n");
  CHECK_FALSE(exact.offence());

  KernelGrammar early = with_unit({0, 10});
  CHECK(early.end_sent(2));
  early.feed("item 0 0\ndone 1\n");
  CHECK_THAT(early.offence()->text, Contains("ended too early"));

  KernelGrammar beyond = with_unit({0, 3});
  CHECK(beyond.end_sent(1));
  beyond.feed("item 0 0\nitem 1 0\nitem 2 0\nitem 3 0\n");
  CHECK_THAT(beyond.offence()->text, Contains("its unit ended before item 3"));

  KernelGrammar before = with_unit({5, 8});
  CHECK(before.end_sent(-3));
  before.feed("done 5\n");
  CHECK_FALSE(before.offence());
  CHECK_FALSE(before.end_sent(1));  // idle
}

TEST_CASE("greeting and problem come first") {
  KernelGrammar other(item_bytes_max);
  other.feed("ready 2\n");
  CHECK_THAT(other.offence()->text, Contains("expected ready 1"));

  KernelGrammar rash(item_bytes_max);
  rash.problem_sent();
  rash.unit_sent({0, 1});
  rash.feed("item 0 0\n");
  CHECK_THAT(rash.offence()->text, Contains("before it was ready"));

  KernelGrammar patient(item_bytes_max);
  patient.problem_sent();
  patient.unit_sent({0, 1});
  patient.feed("log reading\nready 1 pictures\nok\nitem 0 0\ndone 1\n");
  CHECK_FALSE(patient.offence());
  CHECK_FALSE(patient.offers_checkpoints());

  KernelGrammar refusing(item_bytes_max);
  refusing.problem_sent();
  refusing.feed("ready 1\nerror no such file\n");
  CHECK(refusing.offence()->kind == protocol::FailureKind::kernel_error);
  CHECK(refusing.offence()->text == "reports: no such file");

  KernelGrammar odd(item_bytes_max);
  odd.problem_sent();
  odd.feed("ready 1\nok well\n");
  CHECK_THAT(odd.offence()->text, Contains("while reading the problem; expected ok"));
}

TEST_CASE("checkpoints are answered for the item in progress, or not at all") {
  KernelGrammar grammar = with_unit({5, 8});
  CHECK(grammar.offers_checkpoints());
  grammar.checkpoint_sent();
  grammar.feed("item 5 0\ncheckpoint 6\n");
  CHECK(grammar.next_event()->kind == Kind::item);
  CHECK(grammar.next_event()->item == 6);
  grammar.checkpoint_sent();
  grammar.feed("item 6 0\nitem 7 0\ndone 8\ncheckpoint none\n");  // it came too late
  CHECK_FALSE(grammar.offence());

  KernelGrammar wrong = with_unit({5, 8});
  wrong.checkpoint_sent();
  wrong.feed("checkpoint 6\n");
  CHECK_THAT(wrong.offence()->text, Contains("saved item 6, which it was not computing"));
  KernelGrammar strange = with_unit({5, 8});
  strange.checkpoint_sent();
  strange.feed("checkpoint\n");
  CHECK(strange.offence());
}

TEST_CASE("nothing counts after an offence") {
  KernelGrammar grammar = with_unit({0, 2});
  grammar.feed("item 0 1\naitem 5 1\nb");
  REQUIRE(grammar.offence());
  grammar.feed("item 1 0\ndone 2\n");
  CHECK(grammar.next_event()->item == 0);
  CHECK_FALSE(grammar.next_event());
}

TEST_CASE("random output never breaks the rules that owners rely on") {
  Random random(77);
  const std::vector<std::string> phrases = {
      "item ",  "done ", "progress ", "log x\n",      "error bad\n", "checkpoint ", "0 ",
      "1 ",     "2 ",    "3\n",       "4 ",           "1\n",         "0\n",         "0.5\n",
      "none\n", "\n",    "ok\n",      "item 0 2\nab", "item 1 0\n",  "done 2\n",    "\xff"};
  for (int round = 0; round < 3000; ++round) {
    KernelGrammar grammar = with_unit({0, 4});
    std::int64_t next = 0;
    for (int piece = 0; piece < 30; ++piece) {
      if (random.chance(0.1)) (void)grammar.end_sent(random.between(0, 4));
      if (random.chance(0.1)) grammar.checkpoint_sent();
      grammar.feed(phrases[random.below(phrases.size())]);
      while (const auto event = grammar.next_event()) {
        if (event->kind == Kind::item) CHECK(event->item == next++);
        if (event->kind == Kind::done) CHECK(event->item == next);
      }
    }
    CHECK(next <= 4);
  }
}
