#include <boost/json.hpp>
#include <cmath>

#include "tests/catch.h"
#include "tests/unit/protocol/message_archives.h"

using namespace gleaner;
using namespace gleaner::protocol;
using Tree = boost::json::value;
using boost::json::parse, boost::json::serialize;

namespace {

constexpr std::uint64_t bounds_seed = 4711;

// Pointers to every member of every object in `tree`, in JSON Pointer form.
void collect_members(const Tree& tree, const std::string& at, std::vector<std::string>& into) {
  if (const auto* object = tree.if_object())
    for (const auto& member : *object) {
      const std::string here = at + "/" + std::string(member.key());
      into.push_back(here);
      collect_members(member.value(), here, into);
    }
  if (const auto* list = tree.if_array())
    for (std::size_t i = 0; i < list->size(); ++i)
      collect_members((*list)[i], at + "/" + std::to_string(i), into);
}

// The text of a message with a number that no writer puts there.
std::string with_number(std::string text, const std::string& field, double number) {
  const std::size_t at = text.find('"' + field + "\":");
  REQUIRE(at != std::string::npos);
  const std::size_t begin = text.find_first_of("-0123456789", at + field.size() + 3);
  const std::size_t end = text.find_first_of(",]}", begin);
  REQUIRE(end != std::string::npos);
  return text.replace(begin, end - begin, std::isfinite(number) ? serialize(Tree(number)) : "null");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("every bound of every field is kept", "", codec::AllMessages) {
  int faults = 0;
  for (;; ++faults) {
    codec::Spoiler spoiler(faults);
    TestType message;
    visit(spoiler, message);
    std::string text = encode(message);
    if (const auto number = spoiler.bad_number()) {
      const auto kept = decode<TestType>(text);
      INFO(spoiler.field() << " is written out of its bounds: " << *number);
      REQUIRE(kept.ok());
      text = with_number(text, spoiler.field(), *number);
    }
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
  constexpr bool unbounded = std::is_same_v<TestType, AddApplication> ||
                             std::is_same_v<TestType, WithdrawCode> || std::is_same_v<TestType, HoldHost> ||
                             std::is_same_v<TestType, RevokeHost> || std::is_same_v<TestType, WithdrawToken>;
  CHECK((faults > 0 || unbounded));
}

TEMPLATE_LIST_TEST_CASE("missing fields and wrong types are named", "", codec::AllMessages) {
  INFO("seed " << bounds_seed);
  Random random(bounds_seed);
  const TestType message = codec::random_message<TestType>(random);
  const Tree good = parse(encode(message));
  codec::AbsenceFinder may_be_absent;
  codec::visit(may_be_absent, message);
  std::vector<std::string> members;
  collect_members(good, "", members);
  const std::string title = codec::title<TestType>;
  for (const auto& member : members) {
    const std::size_t slash = member.rfind('/');
    const std::string parent = member.substr(0, slash), name = member.substr(slash + 1);
    const Tree& value = good.at_pointer(member);
    INFO(title << " " << member);
    Tree without = good;
    without.at_pointer(parent).as_object().erase(name);
    const auto absent = decode<TestType>(serialize(without));
    if (may_be_absent.found().count(member) == 0) {
      REQUIRE_FALSE(absent.ok());
      CHECK(absent.error().kind == ErrorKind::invalid);
      CHECK(absent.error().message.find(name) != std::string::npos);
    }
    for (const char* text : {"null", R"({"x":[]})", R"([1,"a"])", R"("\u001bZ")", "-1e300", "true"}) {
      const Tree strange = parse(text);
      if (strange.kind() == value.kind()) continue;
      Tree wrong = good;
      wrong.at_pointer(member) = strange;
      const auto refused = decode<TestType>(serialize(wrong));
      INFO(text);
      REQUIRE_FALSE(refused.ok());
      CHECK(refused.error().kind == ErrorKind::invalid);
      CHECK(refused.error().message.find(name) != std::string::npos);
    }
    Tree more = good;
    more.at_pointer(parent).as_object()["a_field_of_version_1_point_5"] = parse(R"({"x":1})");
    CHECK(decode<TestType>(serialize(more)).ok());
  }
}

TEST_CASE("an error names the whole path and what was expected") {
  WorkRequest request;
  request.platforms = {"x86_64-linux"};
  CommitRequest commit;
  commit.digest = std::string(64, '0');
  request.commits = {commit};
  Tree tree = parse(encode(request));
  tree.at_pointer("/commits/0/range/end") = 1.5;
  CHECK(decode<WorkRequest>(serialize(tree)).error().message ==
        "work request: commits[0].range.end: expected a whole number");
  tree.at_pointer("/commits/0/range") = parse(R"({"begin":9,"end":8})");
  CHECK(decode<WorkRequest>(serialize(tree)).error().message ==
        "work request: commits[0].range: expected a range whose end is not before its begin");
  tree.at_pointer("/commits/0/range/end") = 18446744073709551615U;
  CHECK(decode<WorkRequest>(serialize(tree)).error().message ==
        "work request: commits[0].range.end: expected a whole number from 0 to 9007199254740992");
  tree.at_pointer("/commits/0").as_object().erase("range");
  CHECK(decode<WorkRequest>(serialize(tree)).error().message == "work request: commits[0].range: is missing");
  tree.at("commits") = boost::json::array();
  tree.at("platforms") = parse(R"(["x",3])");
  CHECK(decode<WorkRequest>(serialize(tree)).error().message == "work request: platforms[1]: expected text");
}

TEST_CASE("a relay's fullest work request can be read, and its answer") {
  SignedStatement statement;
  statement.key = Bytes(32, 'k');
  statement.signature = Bytes(64, 's');
  statement.payload = std::string(400, ' ');
  statement.proof = Bytes(33 * 10, 'p');
  CommitRequest commit;
  commit.digest = std::string(64, '0');
  commit.data = Bytes(1000, 'd');
  commit.delivery = statement;
  UnitReport report;
  report.relay = RelayProgress{};
  WorkRequest request;
  request.commits.assign(limits::segments_per_relay_request_max, commit);
  request.units.assign(limits::units_per_host_max, report);
  request.relay = RelayOffer{1, 1, 1, ItemBytes{1, 1}};
  REQUIRE(decode<WorkRequest>(encode(request)).ok());
  CHECK(encode(request).size() < static_cast<std::size_t>(limits::json_message_bytes_max));
  request.commits.push_back(commit);
  CHECK_FALSE(decode<WorkRequest>(encode(request)).ok());
  WorkReply reply;
  reply.acknowledgements.assign(limits::segments_per_relay_request_max, statement);
  reply.held.emplace(limits::segments_per_relay_request_max, HeldResult{});
  for (auto& held : *reply.held) held.digest = commit.digest;
  reply.units.assign(limits::units_per_host_max, UnitOrder{});
  REQUIRE(decode<WorkReply>(encode(reply)).ok());
  CHECK(encode(reply).size() < static_cast<std::size_t>(limits::json_message_bytes_max));
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
  Tree tree = parse(encode(WorkReply{}));
  tree.as_object()["progress"] = parse(R"([{"problem":1,"items":-1,"accepted":0,"hosts":0}])");
  CHECK(decode<WorkReply>(serialize(tree)).error().message ==
        "work reply: progress[0].items: expected a whole number from 0 to 9007199254740992");
}

TEST_CASE("a grant says what its context would say, or names it") {
  Grant grant;
  grant.parameters = "{}";
  grant.parameters_digest = std::string(64, '0');
  for (auto* statement : {&grant.application, &grant.signer}) {
    statement->key = Bytes(32, 'k');
    statement->signature = Bytes(64, 's');
  }
  const std::string whole = encode(grant);
  CHECK(whole.find("context") == std::string::npos);
  CHECK(decode<Grant>(whole)->parameters == "{}");
  grant.context = std::string(64, 'a');
  const std::string brief = encode(grant);
  CHECK(brief.find("parameters") == std::string::npos);
  CHECK(decode<Grant>(brief)->context == grant.context);
  Tree tree = parse(brief);
  tree.as_object().erase("context");
  CHECK(decode<Grant>(serialize(tree)).error().message == "grant: application: is missing");
}

TEST_CASE("grants and their slots go together") {
  WorkReply reply;
  reply.grant_slots = {1};
  CHECK(decode<WorkReply>(encode(reply)).error().message ==
        "work reply: expected one grant slot for each grant");
}
