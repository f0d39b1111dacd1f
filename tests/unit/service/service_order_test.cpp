// Hosts of a relay that find nothing wait for what comes, and are served in the order of its rule.
#include "server/relay/leases/service_order.h"

#include "tests/unit/service/relay_tree.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

TEST_CASE("a host that finds nothing waits for the lease that its asking brings") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  std::atomic<int> rests = 0;
  auto answer = tree.ask(child, tree.world.work_request(), [&] { ++rests; });
  tree.wait_for(1);
  CHECK(rests == 1);  // its place is free meanwhile
  CHECK(!Tree::is_answered(answer));
  CHECK(tree.speak());
  const auto reply = Tree::answered(answer);
  CHECK(tree.granted(reply, child).host == child.id);
  CHECK(tree.branch->work().waiting() == 0);
  // Who holds something asks for more without waiting: its reports must not come late.
  tree.reachable = false;
  const auto grant = tree.granted(reply, child);
  protocol::WorkRequest more = tree.world.work_request(2);
  more.units.emplace_back().unit = grant.unit;
  more.units.back().finished = grant.range.begin;
  std::optional<protocol::WorkReply> last;
  for (int i = 0; i < 100 && (!last || !last->grants.empty()); ++i) {
    auto asked = tree.ask(child, more);
    last = Tree::answered(asked);
    for (const auto& statement : last->grants) {
      const auto got = must(protocol::decode<protocol::RelayGrant>(statement.payload));
      more.units.emplace_back().unit = got.unit;
      more.units.back().finished = got.range.begin;
    }
  }
  REQUIRE(last);
  CHECK(last->grants.empty());
  CHECK(last->retry_after_seconds > 0);
}

TEST_CASE("of those that wait, the relay's rule says who is served first") {
  const std::string rule = GENERATE("fifo", "bc", "geo", "otf", "round-robin");
  CAPTURE(rule);
  Tree tree(400);
  tree.configuration.service_order = rule;
  tree.open();
  const TreeChild &slow = tree.children[0], &fast = tree.children[1];
  auto request = tree.world.work_request();
  request.speeds = protocol::HostSpeeds{0, 0, 1e5, 1e5};
  auto first = tree.ask(slow, request);
  tree.wait_for(1);
  request.speeds = protocol::HostSpeeds{0, 0, 1e7, 1e7};
  auto second = tree.ask(fast, request);
  tree.wait_for(2);
  for (int i = 0; i < 20 && !(Tree::is_answered(first) && Tree::is_answered(second)); ++i) {
    static_cast<void>(tree.speak());
    must(tree.operate([](Transaction&) { return Status{}; }));
    tree.world.clock().advance(std::chrono::milliseconds{500});
  }
  const auto older = tree.granted(Tree::answered(first), slow);
  const auto better = tree.granted(Tree::answered(second), fast);
  // Units are numbered as they are handed out.
  if (rule == "fifo") CHECK(older.unit < better.unit);
  if (rule == "bc" || rule == "geo") CHECK(better.unit < older.unit);
}

namespace {

// Two of equal speed ask for one unit each, over links of which the first is slow; who of them is the first
// to get it.
struct Pair {
  Tree tree{400};
  explicit Pair(const std::string& rule) {
    tree.configuration.service_order = rule;
    tree.open();
  }
  bool slow_one_is_first(const std::optional<protocol::HostSpeeds>& slow,
                         const std::optional<protocol::HostSpeeds>& fast) {
    auto request = tree.world.work_request();
    request.speeds = slow;
    auto first = tree.ask(tree.children[0], request);
    tree.wait_for(1);
    request.speeds = fast;
    auto second = tree.ask(tree.children[1], request);
    tree.wait_for(2);
    for (int i = 0; i < 20 && !(Tree::is_answered(first) && Tree::is_answered(second)); ++i) {
      static_cast<void>(tree.speak());
      must(tree.operate([](Transaction&) { return Status{}; }));
      tree.world.clock().advance(std::chrono::milliseconds{500});
    }
    const auto one = tree.granted(Tree::answered(first), tree.children[0]);
    const auto other = tree.granted(Tree::answered(second), tree.children[1]);
    return one.unit < other.unit;
  }
};

}  // namespace

TEST_CASE("the order looks at the relay's own link, and at how long ago its hosts' were used") {
  Pair pair("bc");
  const bool own_link = GENERATE(true, false);
  CAPTURE(own_link);
  must(pair.tree.operate([&](Transaction& tx) {
    if (own_link) upstream_of(tx.model).link = {0, 0, 0, 1 / 3.0};
    FromHere& here = upstream_of(tx.model).from_here[pair.tree.children[0].id];
    if (!own_link) here.link_used_at = tx.now - std::chrono::minutes{41};
    tx.model.hosts.at(pair.tree.children[0].id).row.speeds = {0, 0, 1 / 1.0, 1 / 4.0};
    return Status{};
  }));
  // By itself the other would be first.
  CHECK(pair.slow_one_is_first({}, protocol::HostSpeeds{0, 0, 1 / 3.0, 1 / 1.0}));
}

TEST_CASE("a relay says how fast its own link is, and how large items are that passed it") {
  Tree tree;
  must(tree.operate([&](Transaction& tx) {
    upstream_of(tx.model).link = {0, 0, 3e6, 1e6};
    upstream_of(tx.model).item_up_bytes = 500;
    return Status{};
  }));
  auto answer = tree.ask(tree.children[0]);
  tree.wait_for(1);
  tree.speak_all();
  static_cast<void>(Tree::answered(answer));
  const auto host = must(World::wait<protocol::HostInfo>(
      [&](auto done) { tree.world.service().hosts().show(tree.relay, std::move(done)); }));
  REQUIRE(host.speeds);
  CHECK(host.speeds->upload_bytes_per_second == 1e6);
  REQUIRE(host.item);
  CHECK(host.item->up == 500);
  CHECK(host.item->down == 0);
}

TEST_CASE("what a planned order counts is kept") {
  Pair pair("otf");
  must(pair.tree.operate([&](Transaction& tx) {
    FromHere& first = upstream_of(tx.model).from_here[pair.tree.children[0].id];
    first.units = 1000;
    first.counted_at = tx.now;
    return Status{};
  }));
  static_cast<void>(pair.slow_one_is_first({}, {}));
  must(pair.tree.operate([&](Transaction& tx) {
    for (const TreeChild& child : pair.tree.children)
      CHECK(upstream_of(tx.model).from_here.at(child.id).units == 1001);
    return Status{};
  }));
}

TEST_CASE("nobody waits longer than fifteen seconds, nor for an older request, nor for a relay that stops") {
  Tree tree;
  tree.reachable = false;
  const TreeChild &child = tree.children[0], &other = tree.children[1];
  auto answer = tree.ask(child);
  tree.wait_for(1);
  tree.world.clock().advance(std::chrono::seconds{14});
  tree.branch->work().serve_waiting();
  must(tree.operate([](Transaction&) { return Status{}; }));
  tree.wait_for(1);
  CHECK(!Tree::is_answered(answer));
  tree.world.clock().advance(std::chrono::seconds{1});
  tree.branch->work().serve_waiting();
  const auto reply = Tree::answered(answer);
  CHECK(reply.grants.empty());
  CHECK(reply.retry_after_seconds > 0);
  CHECK(!reply.reason.empty());

  auto older = tree.ask(child);
  tree.wait_for(1);
  auto newer = tree.ask(child);
  CHECK(Tree::answered(older).grants.empty());
  tree.wait_for(1);
  CHECK(!Tree::is_answered(newer));

  tree.branch->work().stop_waiting();
  CHECK(Tree::answered(newer).grants.empty());
  auto late = tree.ask(other);
  CHECK(Tree::answered(late).grants.empty());
}

TEST_CASE("so many hosts may wait at a relay; more are answered at once") {
  WaitingRequests waiting;
  for (std::size_t i = 1; i <= WaitingRequests::most; ++i) {
    WaitingRequest request;
    request.host = HostId{static_cast<std::int64_t>(i)};
    CHECK(!waiting.keep(std::move(request)));
  }
  WaitingRequest more;
  more.host = HostId{1'000'000};
  const auto refused = waiting.keep(std::move(more));
  REQUIRE(refused);
  CHECK(refused->host == HostId{1'000'000});
  const auto all = waiting.take();
  REQUIRE(all.size() == WaitingRequests::most);
  CHECK(all.front().host == HostId{1});
  CHECK(waiting.size() == 0);
}
