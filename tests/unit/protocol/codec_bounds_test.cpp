#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/protocol/message_archives.h"

using namespace gleaner;
using namespace gleaner::protocol;
using Tree = nlohmann::json;

namespace {

constexpr std::uint64_t seed = 4711;

// Pointers to every member of every object in `tree`, in JSON Pointer form.
void collect_members(const Tree& tree, const Tree::json_pointer& at, std::vector<Tree::json_pointer>& into) {
  for (const auto& [key, value] : tree.items()) {
    const auto here = tree.is_object() ? at / key : at / static_cast<std::size_t>(std::stoul(key));
    if (tree.is_object()) into.push_back(here);
    if (value.is_structured()) collect_members(value, here, into);
  }
}

bool may_be_absent(const std::string& title, const std::string& name) {
  if (title == "new problem")
    return name == "inputs" || name == "strategy" || name == "straggler" || name == "weight" ||
           name == "priority" || name == "commit_seconds" || name == "range";
  if (title == "change of strategy") return name == "weight" || name == "priority";
  if (name == "benchmark" || name == "data") return true;
  if (name == "item_share" || name == "saved" || name == "begun" || name == "progress" || name == "watts")
    return true;
  if ((name == "applications" || name == "speeds") && title == "work request") return true;
  return name == "range" && (title == "input" || title == "grant");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("every bound of every field is kept", "", codec::AllMessages) {
  int faults = 0;
  for (;; ++faults) {
    codec::Spoiler spoiler(faults);
    TestType message;
    visit(spoiler, message);
    const std::string text = encode(message);
    const auto back = decode<TestType>(text);
    if (!spoiler.done()) {  // no fault of that number is left: it is a good message
      if (!back.ok()) FAIL(back.error().message);
      break;
    }
    INFO("fault " << faults << " in " << spoiler.field());
    INFO(text.substr(0, 2000));
    REQUIRE_FALSE(back.ok());
    INFO(back.error().message);
    const bool named = back.error().message.find(spoiler.field()) != std::string::npos;
    CHECK((named || back.error().kind == ErrorKind::too_large));
    CHECK(back.error().message.rfind(std::string(codec::title<TestType>) + ": ", 0) == 0);
  }
  INFO(codec::title<TestType>);
  CHECK((faults > 0 || (std::is_same_v<TestType, AddApplication>)));
}

TEMPLATE_LIST_TEST_CASE("missing fields and wrong types are named", "", codec::AllMessages) {
  INFO("seed " << seed);
  Random random(seed);
  const Tree good = Tree::parse(encode(codec::random_message<TestType>(random)));
  std::vector<Tree::json_pointer> members;
  collect_members(good, Tree::json_pointer(), members);
  const std::string title = codec::title<TestType>;
  for (const auto& member : members) {
    const std::string name = member.back();
    INFO(title << " " << member.to_string());
    Tree without = good;
    without.at(member.parent_pointer()).erase(name);
    const auto absent = decode<TestType>(without.dump());
    if (!may_be_absent(title, name)) {
      REQUIRE_FALSE(absent.ok());
      CHECK(absent.error().kind == ErrorKind::invalid);
      CHECK(absent.error().message.find(name) != std::string::npos);
    }
    for (const Tree& strange : {Tree(nullptr), Tree({{"x", Tree::array()}}), Tree({1, "a"}), Tree("\x1bZ"),
                                Tree(-1.5), Tree(true)}) {
      if (strange.type() == good.at(member).type()) continue;
      if (strange.is_number() && good.at(member).is_number_float()) continue;
      Tree wrong = good;
      wrong.at(member) = strange;
      const auto refused = decode<TestType>(wrong.dump());
      INFO(strange.dump());
      REQUIRE_FALSE(refused.ok());
      CHECK(refused.error().kind == ErrorKind::invalid);
      CHECK(refused.error().message.find(name) != std::string::npos);
    }
    Tree more = good;
    more.at(member.parent_pointer())["a_field_of_version_1_point_5"] = {{"x", 1}};
    CHECK(decode<TestType>(more.dump()).ok());
  }
}

TEST_CASE("an error names the whole path and what was expected") {
  WorkRequest request;
  request.platforms = {"x86_64-linux"};
  CommitRequest commit;
  commit.digest = std::string(64, '0');
  request.commits = {commit};
  Tree tree = Tree::parse(encode(request));
  tree["commits"][0]["range"]["end"] = 1.5;
  CHECK(decode<WorkRequest>(tree.dump()).error().message ==
        "work request: commits[0].range.end: expected a whole number");
  tree["commits"][0]["range"] = {{"begin", 9}, {"end", 8}};
  CHECK(decode<WorkRequest>(tree.dump()).error().message ==
        "work request: commits[0].range: expected a range whose end is not before its begin");
  tree["commits"][0]["range"]["end"] = 18446744073709551615U;
  CHECK(decode<WorkRequest>(tree.dump()).error().message ==
        "work request: commits[0].range.end: expected a whole number from 0 to 9007199254740992");
  tree["commits"][0].erase("range");
  CHECK(decode<WorkRequest>(tree.dump()).error().message == "work request: commits[0].range: is missing");
  tree["commits"] = Tree::array();
  tree["platforms"] = {"x", 3};
  CHECK(decode<WorkRequest>(tree.dump()).error().message == "work request: platforms[1]: expected text");
}

TEST_CASE("progress is optional, bounded and checked") {
  WorkReply reply;
  CHECK(encode(reply).find("progress") == std::string::npos);
  reply.progress = {{ProblemId{3}, 100, 40, 2}};
  const auto decoded = decode<WorkReply>(encode(reply));
  REQUIRE(decoded.ok());
  REQUIRE(decoded->progress);
  CHECK(decoded->progress->front().accepted == 40);
  reply.progress->resize(static_cast<std::size_t>(limits::progress_per_reply_max) + 1,
                         {ProblemId{1}, 1, 1, 1});
  CHECK_FALSE(decode<WorkReply>(encode(reply)).ok());
  Tree tree = Tree::parse(encode(WorkReply{}));
  tree["progress"] = {{{"problem", 1}, {"items", -1}, {"accepted", 0}, {"hosts", 0}}};
  CHECK(decode<WorkReply>(tree.dump()).error().message ==
        "work reply: progress[0].items: expected a whole number from 0 to 9007199254740992");
}

TEST_CASE("grants and their slots go together") {
  WorkReply reply;
  reply.grant_slots = {1};
  CHECK(decode<WorkReply>(encode(reply)).error().message ==
        "work reply: expected one grant slot for each grant");
}
