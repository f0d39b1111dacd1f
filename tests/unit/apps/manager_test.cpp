// The kit's manager loop, and the reading of list and segment files.
#include "apps/kit/manager.h"

#include "shared/base/limits.h"
#include "tests/catch.h"
#include "tests/unit/apps/peer.h"

namespace gleaner::kit {
namespace {

Bytes segment_of(const std::vector<std::string>& items) {
  Bytes segment;
  for (const std::string& item : items) append_item(segment, item);
  return segment;
}

// Two stages of words; combining writes them in order.
class WordManager final : public Manager {
 public:
  Status check(const Problem& problem) override {
    TRY_ASSIGN(Parameters parameters, problem.parameters());
    words_ = parameters.integer("words", {1, 100}, std::nullopt);
    return parameters.finish();
  }
  Result<std::optional<Stage>> plan(int stage) override {
    if (stage > 1) return std::optional<Stage>{};
    Stage planned{words_, "words of stage " + std::to_string(stage), {}, {}};
    if (stage == 0) planned.hints.assign(static_cast<std::size_t>(words_), ItemHint{0.5, {3, -4}});
    if (stage == 1) planned.inputs = {{"all", "stage-0/all.txt", std::nullopt}, {"some", "x y", Range{1, 2}}};
    return std::optional(planned);
  }
  Result<Validation> validate(int, SegmentReader& segment) override {
    while (const auto item = segment.next()) {
      if (item->bytes == "enough") return Validation{Validation::Verdict::enough, ""};
      if (item->bytes == "bad") return Validation{Validation::Verdict::invalid, "bad word"};
      if (item->bytes == "throw") throw std::runtime_error("thrown");
    }
    return Validation{};
  }
  Status combine(int, ItemSource& items, Output& output) override {
    TRY(items.require_all(words_));
    std::string all;
    for (;;) {
      TRY_ASSIGN(const std::optional<Item> item, items.next());
      if (!item) break;
      all += std::to_string(item->index) + item->bytes + " ";
      output.progress(items.fraction());
    }
    TRY(write_file(output.directory() / "all.txt", all));
    output.result("all.txt", "text/plain");
    return {};
  }

 private:
  std::int64_t words_ = 0;
};

struct Session {
  test::TemporaryDirectory directory;
  std::filesystem::path before = std::filesystem::current_path();
  WordManager manager;
  std::unique_ptr<test::Peer> peer;
  Session() {
    std::filesystem::current_path(directory.path());
    peer = std::make_unique<test::Peer>(
        [this](int input, int output) { return serve_manager(manager, input, output); });
    REQUIRE(peer->ask("gleaner 1") == "ready 1 pipeline");
  }
  ~Session() {
    peer.reset();
    std::filesystem::current_path(before);
  }
  void problem(const std::string& parameters) {
    REQUIRE(peer->ask("problem " + directory.problem(parameters).string()) == "ok");
  }
  std::string validate(const std::string& range, const Bytes& segment) {
    peer->send("validate 0 " + range + " " + std::to_string(segment.size()) + "\n" + segment);
    return peer->read_line();
  }
};

}  // namespace

TEST_CASE("A manager checks, plans and validates") {
  Session session;
  test::Peer& peer = *session.peer;
  CHECK(peer.ask("plan 0") == "error no problem was given, or its parameters are wrong");
  CHECK(peer.ask("problem " + session.directory.problem("{\"wrods\": 3}").string()) ==
        "error words: must be given; \"wrods\": there is no such parameter");
  session.problem("{\"words\": 3}");
  CHECK(peer.ask("plan 0") == "items 3");
  CHECK(peer.read_line() == "name words of stage 0");
  CHECK(peer.read_line() == "hints hints-0.txt");
  CHECK(peer.read_line() == "ok");
  CHECK(test::read_text("hints-0.txt") == "0.5 3 -4\n0.5 3 -4\n0.5 3 -4\n");
  CHECK(peer.ask("plan 1") == "items 3");
  CHECK(peer.read_line() == "name words of stage 1");
  CHECK(peer.read_line() == "input all stage-0/all.txt");
  CHECK(peer.read_line() == "input some x y 1 2");
  CHECK(peer.read_line() == "ok");
  CHECK(peer.ask("plan 2") == "end");
  CHECK(peer.ask("plan x") == "error there is no such stage");
  CHECK(peer.ask("sing") == "error unknown command");

  CHECK(session.validate("0 2", segment_of({"a", "b"})) == "valid");
  CHECK(session.validate("0 2", segment_of({"a", "enough"})) == "enough");
  CHECK(session.validate("0 2", segment_of({"bad", "b"})) == "invalid bad word");
  CHECK(session.validate("0 2", segment_of({"throw", "b"})) == "error thrown");
  CHECK(session.validate("0 2", segment_of({"a"})) == "invalid the segment is cut short at item 1");
  CHECK(session.validate("0 1", segment_of({"a", "b"})) ==
        "invalid the segment has bytes after its last item");
  CHECK(session.validate("0 1", Bytes("\xff\xff\xff\xff", 4)) ==
        "invalid the segment is cut short at item 0");
  CHECK(session.validate("2 1", segment_of({"a"})) == "error expected: validate STAGE BEGIN END LENGTH");
  CHECK(session.validate("0 2", segment_of({"a", "b"})) == "valid");

  peer.send("compare 0 1 2 2\nabab");
  CHECK(peer.read_line() == "same");
  peer.send("compare 0 1 3 3\nabcabd");
  CHECK(peer.read_line() == "different they differ first at byte 2");
  peer.send("compare 0 1 1 2\naab");
  CHECK(peer.read_line() == "different their lengths differ");
  CHECK(peer.ask("preview 0 none") == "error cannot open the list of pieces none");
  peer.send("quit\n");
  CHECK(peer.exit_status() == 0);
}

TEST_CASE("A manager combines pieces in order and refuses what is incomplete") {
  Session session;
  test::Peer& peer = *session.peer;
  session.problem("{\"words\": 4}");
  test::write_text("one", segment_of({"a", "b", "c"}));
  test::write_text("two", segment_of({"x", "c", "d"}));
  SECTION("whole") {
    test::write_text("list", "0 2 0 one\n2 4 1 two\n");
    CHECK(peer.ask("combine 1 list") == "progress 0.2500");
    CHECK(peer.read_line() == "result all.txt stage-1/all.txt text/plain");
    CHECK(peer.read_line() == "ok");
    CHECK(test::read_text("stage-1/all.txt") == "0a 1b 2c 3d ");
  }
  SECTION("with a gap") {
    test::write_text("list", "0 2 0 one\n3 4 1 two\n");
    CHECK(peer.ask("combine 0 list") ==
          "error the pieces do not hold the items 0 to 3 exactly: they go wrong at 2");
  }
  SECTION("cut short") {
    test::write_text("list", "0 3 0 one\n3 4 0 one\n");
    CHECK(peer.ask("combine 0 list") == "progress 0.2500");
    CHECK(peer.read_line() == "error segment cut short: one, item 3");
  }
  SECTION("whose origins are told beside it") {
    test::write_text("list", "0 2 0 one\n");
    test::write_text("list.origins", "0 1 0.250 a host\n1 2 - b\n");
    auto items = ItemSource::open("list");
    REQUIRE(items.ok());
    CHECK(items->origin(0)->host == "a host");
    CHECK(items->origin(0)->seconds == "0.250");
    CHECK(items->origin(1)->seconds == "-");
    CHECK(items->origin(2) == nullptr);
    for (const char* wrong : {"0 1\n", "1 1 2 a\n", "0 2 1 a\n1 2 1 b\n", "x\n"}) {
      test::write_text("list.origins", wrong);
      CHECK_FALSE(ItemSource::open("list").ok());
    }
  }
  SECTION("missing file") {
    test::write_text("list", "0 4 0 three\n");
    CHECK(peer.ask("combine 0 list") == "error cannot open the segment three");
  }
  SECTION("wrong lists") {
    for (const char* list :
         {"0 2 one\n", "0 0 0 one\n", "1 2 2 one\n", "0 2 0\n", "x\n", "0 2 0 one\n1 4 0 two\n"}) {
      test::write_text("list", list);
      CHECK(peer.ask("combine 0 list").starts_with("error the list of pieces has a wrong line"));
    }
  }
  CHECK(peer.ask("preview 0 list").starts_with("error "));
}

TEST_CASE("Announced bytes that do not come end the session") {
  Session session;
  session.problem("{\"words\": 4}");
  SECTION("cut short") {
    session.peer->send("validate 0 0 1 10\nabc");
  }
  SECTION("too many") {
    session.peer->send("validate 0 0 1 " + std::to_string(limits::segment_bytes_max + 1) + "\n");
  }
  SECTION("no number") {
    session.peer->send("compare 0 0 x 1\n");
  }
  CHECK(session.peer->exit_status() == 1);
}

}  // namespace gleaner::kit
