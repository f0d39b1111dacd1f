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

bool may_be_absent(const std::string& title, const std::string& name) {
  if (name == "made_by" && title != "ban") return true;  // of a code or a token
  if (title == "new problem")
    return name == "inputs" || name == "strategy" || name == "straggler" || name == "weight" ||
           name == "priority" || name == "commit_seconds" || name == "validation" || name == "range";
  if (title == "problem")
    return name == "validation" || name == "range" || name == "wasted" || name == "shares_total" ||
           name == "eta_low_seconds" || name == "eta_high_seconds" || name == "errors" || name == "words" ||
           name == "waits" || name == "needs" || name == "done" || name == "by";
  if (name == "done" && (title == "progress" || title == "work reply")) return true;
  if (title == "group of errors") return name == "words" || name == "by";
  if (title == "host")
    return name == "code" || name == "tags" || name == "on_hold" || name == "speeds" || name == "trust" ||
           name == "relay" || name == "item" || name == "cores_lent" || name == "capabilities";
  if (title == "relay's offer") return name == "item";
  if (title == "parameter" || title == "application")
    return name == "default_value" || name == "required" || name == "low" || name == "high" ||
           name == "length" || name == "choices" || name == "parameters" || name == "inputs" ||
           name == "signer_expires" || name == "needs";
  if (title == "input of an application") return name == "required";
  if (title == "hold of a host" || title == "log-in") return true;
  if (title == "sample of a problem") return name == "eta_low_seconds" || name == "eta_high_seconds";
  // What they are made of says it, above.
  if (title == "event") return may_be_absent("problem", name) || name == "stored" || name == "hosts_on_hold";
  if (title == "page of hosts") return may_be_absent("host", name) || name == "cost_accepted";
  if (title == "new enrolment code") return name != "name";
  if (title == "enrolment code" || title == "join code") return name == "own" || name == "children";
  if (title == "new relay") return name == "lifetime_seconds" || name == "own";
  if (title == "relay of the project") return name == "host" || name == "relay";
  if (title == "enrolment reply") return name == "certificate";
  if (title == "enrolment reply to a relay") return name == "certificate" || name == "own";
  if (title == "enrolment")
    return name == "relay" || name == "benchmark" || name == "proof" || name == "context" ||
           name == "copy_of";
  if (title == "withdrawal of an admin token" || name == "trouble" || name == "measured" ||
      name == "instead_of" || (title == "measured host" && name == "speeds"))
    return true;
  if (title == "withdrawal of an enrolment code" || title == "revocation of a host") return true;
  if (title == "new admin token") return name == "lifetime_seconds";
  if (title == "new ban") return name == "lifetime_seconds" || name == "force";
  if (title == "change of strategy") return name == "weight" || name == "priority";
  if (name == "benchmark" || name == "data") return true;
  if (name == "revocations" || name == "former_work_certificates") return true;
  if (name == "item_share" || name == "saved" || name == "begun" || name == "progress" || name == "watts")
    return true;
  if ((name == "applications" || name == "speeds" || name == "proofs" || name == "cpu_share" ||
       name == "capabilities") &&
      title == "work request")
    return true;
  if (name == "context" || name == "contexts" || name == "direct" || name == "instance") return true;
  if (name == "stages" ||
      (name == "relay" && (title == "unit report" || title == "work request" || title == "heartbeat")))
    return true;
  if (name == "delivery" || name == "given" || name == "put_out" || name == "leases" || name == "held")
    return true;
  if (name == "statement" && title == "failure report") return true;
  if (title == "proof of enrolment" && (name == "relay" || name == "tls_key")) return true;
  if (title == "heartbeat reply" && name == "acknowledgements") return true;
  if (name == "proof" || (title == "server status" && (name == "stored" || name == "hosts_on_hold")))
    return true;
  if (title == "setting") return name == "meaning" || name == "default_value";
  return name == "range" && (title == "input" || title == "grant");
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
  const Tree good = parse(encode(codec::random_message<TestType>(random)));
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
    if (!may_be_absent(title, name)) {
      REQUIRE_FALSE(absent.ok());
      CHECK(absent.error().kind == ErrorKind::invalid);
      CHECK(absent.error().message.find(name) != std::string::npos);
    }
    for (const char* text : {"null", R"({"x":[]})", R"([1,"a"])", R"("\u001bZ")", "-1.5", "true"}) {
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
