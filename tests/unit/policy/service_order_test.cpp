// Whose slot a relay serves next, of those that wait.
#include "server/policy/relay/service_order.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;
using Places = std::vector<std::size_t>;

namespace {

// Those that wait, the oldest first. Links are in items' seconds, as items are of one byte each way.
struct Queue {
  static constexpr Timestamp now{std::chrono::hours{24 * 365 * 50}};
  std::unique_ptr<planning::ServingRule> rule;
  RelayTraffic relay;
  std::vector<WaitingChild> waiting;

  explicit Queue(const std::string& name) : rule(planning::make_serving_rule(name).value()) {}
  WaitingChild& add(double down_seconds, double up_seconds, int slots = 1) {
    WaitingChild child;
    child.slots = slots;
    child.number = waiting.size() + 1;
    child.link = {1 / down_seconds, 1 / up_seconds};
    child.here.link_used_at = now;
    return waiting.emplace_back(child);
  }
  WaitingChild& add_without_link(int slots = 1) {
    WaitingChild& child = add(1, 1, slots);
    child.link = {};
    return child;
  }
  WaitingChild& add_computing(double performance, int slots = 1) {
    WaitingChild& child = add_without_link(slots);
    child.performance = performance;
    return child;
  }
  [[nodiscard]] ServiceOrder order() const {
    ServiceOrder order(*rule, relay, waiting, now);
    CHECK(order.trouble().empty());
    return order;
  }
  // Who is served, so many slots at most.
  [[nodiscard]] Places served(std::size_t most = 1000) const {
    ServiceOrder all = order();
    Places places;
    while (places.size() < most) {
      const auto choice = all.next(true);
      if (!choice) break;
      all.served(choice->child);
      places.push_back(choice->child);
    }
    return places;
  }
};

}  // namespace

TEST_CASE("as long as nothing is known of links, who has waited longest is served first") {
  Queue queue(GENERATE("fifo", "bc", "geo", "otf", "round-robin"));
  for (int i = 0; i < 3; ++i) queue.add_without_link();
  CHECK(queue.served() == Places{0, 1, 2});
}

TEST_CASE("fifo goes by requests, whatever the links") {
  Queue queue("fifo");
  queue.add(1, 1).number = 9;
  queue.add(5, 5).number = 4;
  queue.add(3, 3).number = 6;
  CHECK(queue.served() == Places{1, 2, 0});
}

TEST_CASE("a link of which no rate is known counts as the mean of the others") {
  Queue queue("bc");
  const double unknown = GENERATE(0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan(""));
  CAPTURE(unknown);
  queue.add(4, 4);
  queue.add_without_link().link = {unknown, unknown};
  queue.add(1, 1);
  CHECK(queue.served() == Places{2, 1, 0});
  queue.add(2, 2);  // the mean is now between this one and the slow one
  CHECK(queue.served() == Places{2, 3, 1, 0});
}

TEST_CASE("each way counts as much as there is to move over it") {
  Queue queue("bc");
  queue.add(1, 4);
  queue.add(3, 1);
  CHECK(queue.served() == Places{1, 0});  // nothing has moved yet: as if it was as much each way
  queue.relay.item_down_bytes = 9;
  queue.relay.item_up_bytes = 1;
  CHECK(queue.served() == Places{0, 1});
  queue.relay.item_down_bytes = 0;
  CHECK(queue.served() == Places{1, 0});
}

TEST_CASE("the relay's own link takes part of the same ports") {
  Queue queue("bc");
  queue.add(1, 4);
  queue.add(3, 1);
  CHECK(queue.served() == Places{1, 0});
  // Its way up takes 3 s of sending: 4 and 4, 6 and 1.
  queue.relay.link.up = 1 / 3.0;
  CHECK(queue.served() == Places{0, 1});
  // Its way down as much of receiving: 4 and 7, 6 and 4.
  queue.relay.link.down = 1 / 3.0;
  CHECK(queue.served() == Places{1, 0});
}

TEST_CASE("whose link has carried nothing for long is tried again, whatever it was") {
  Queue queue("bc");
  queue.add(9, 9);
  queue.add(1, 1);
  queue.add(6, 6);
  const auto after = [&](int minutes) {
    queue.waiting[0].here.link_used_at = Queue::now - std::chrono::minutes{minutes};
    return queue.served();
  };
  CHECK(after(20) == Places{1, 2, 0});
  CHECK(after(30) == Places{1, 0, 2});  // 5 s: half of the way to the best
  CHECK(after(40) == Places{0, 1, 2});
  CHECK(after(60 * 24 * 365) == Places{0, 1, 2});
  CHECK(after(-5) == Places{1, 2, 0});  // a clock was set back
}

TEST_CASE("each slot is served by itself, and who gets nothing waits on") {
  Queue queue("fifo");
  queue.add_without_link(2);
  queue.add_without_link(0);
  queue.add_without_link(3);
  ServiceOrder order = queue.order();
  CHECK(order.left() == 2);
  REQUIRE(order.next(true)->child == 0);
  order.served(0);
  REQUIRE(order.next(true)->child == 0);
  order.nothing_for(0);
  CHECK(order.left() == 1);
  REQUIRE(order.next(true)->child == 2);
  order.served(2);
  CHECK(order.given(0) == 1);
  CHECK(order.given(1) == 0);
  CHECK(order.given(2) == 1);
}

TEST_CASE("when nothing is free any more, only those are served whose wait is over") {
  Queue queue("fifo");
  queue.add_without_link(2);
  queue.add_without_link(2).over = true;
  ServiceOrder order = queue.order();
  REQUIRE(order.next(true)->child == 0);
  order.served(0);
  REQUIRE(order.next(false)->child == 1);
  order.served(1);
  REQUIRE(order.next(true)->child == 1);  // the other is not asked again
  order.nothing_for(1);
  CHECK(!order.next(false));
}

TEST_CASE("otf keeps all as near to their rates as whole units can be") {
  Queue queue("otf");
  const std::vector<double> performances{5, 2, 1};
  for (const double performance : performances) queue.add_computing(performance, 100);
  std::vector<double> given(performances.size());
  double all = 0;
  for (const std::size_t place : queue.served(80)) {
    ++given[place];
    ++all;
    for (std::size_t i = 0; i < given.size(); ++i) CHECK(std::abs(given[i] - all * performances[i] / 8) < 2);
  }
  CHECK(given == std::vector<double>{50, 20, 10});
}

TEST_CASE("otf follows the optimum of computers and links together") {
  Queue queue("otf");
  queue.add(1, 1e-9, 50).performance = 7;
  queue.add(10, 1e-9, 50).performance = 7;
  // Of items of 1 s the first one's link takes all the time there is to send, of such of 4 s a quarter: the
  // rest is enough for .075 a second, while the first computes .25.
  queue.relay.item_seconds = 1;
  CHECK(queue.served() == Places(50, 0));
  queue.relay.item_seconds = 4;
  const Places served = queue.served(26);
  CHECK(std::count(served.begin(), served.end(), 0) == 20);
}

TEST_CASE("whose benchmark is not known counts as the mean") {
  Queue queue("otf");
  queue.add_computing(1, 50);
  queue.add_computing(0, 50);
  queue.add_computing(.5, 50);  // seconds: 1, 1.5, 2
  const Places served = queue.served(39);
  CHECK(std::count(served.begin(), served.end(), 0) == 18);
  CHECK(std::count(served.begin(), served.end(), 1) == 12);
}

TEST_CASE("round-robin has whole turns, ten units for the fastest, one at least") {
  Queue queue("round-robin");
  queue.add_computing(3, 30);
  queue.add_computing(1, 30);
  queue.add_computing(.01, 30);
  Places period(10, 0);
  period.insert(period.end(), 3, 1);
  period.push_back(2);
  Places twice = period;
  twice.insert(twice.end(), period.begin(), period.end());
  CHECK(queue.served(28) == twice);
  // A turn that was begun before goes on.
  for (WaitingChild& child : queue.waiting) child.here.counted_at = Queue::now;
  queue.waiting[0].here.units = 10;
  queue.waiting[1].here.units = 2;
  CHECK(queue.served(3) == Places{1, 2, 0});
  // Who comes while another has a turn has not had half a turn itself.
  queue.waiting[0].here.units = 15;
  for (const std::size_t late : {1, 2}) queue.waiting[late].here = {0, {}, Queue::now};
  CHECK(queue.order().here(1).units == 3);
  CHECK(queue.order().here(2).units == 1);
}

TEST_CASE("who comes to a planned order begins where the one stands who is next") {
  Queue queue(GENERATE("otf", "round-robin"));
  queue.add_computing(1, 9).here.units = 1000;
  queue.add_computing(1, 9).here.units = 1200;
  queue.add_computing(.5, 9).here.units = 3;
  for (int i : {0, 1}) queue.waiting[i].here.counted_at = Queue::now - std::chrono::minutes{60};
  const auto units_of_late = [&] { return queue.order().here(2).units; };
  CHECK(units_of_late() == 500);
  for (std::size_t i = 0; i < 3; ++i) CHECK(queue.order().here(i).counted_at == Queue::now);
  CHECK(queue.order().here(0).units == 1000);
  // It loses nothing of what it had, and who was here an hour ago has a claim.
  queue.waiting[2].here.units = 700;
  CHECK(units_of_late() == 700);
  queue.waiting[2].here = {3, Queue::now - std::chrono::minutes{60}, Queue::now};
  CHECK(units_of_late() == 3);
  CHECK(queue.served(9) == Places(9, 2));
  queue.waiting[2].here.counted_at -= std::chrono::microseconds{1};
  CHECK(units_of_late() == 500);
}

TEST_CASE("an order without a plan counts nobody") {
  Queue queue(GENERATE("fifo", "bc", "geo"));
  queue.add(1, 1).here.units = 1000;
  queue.add(1, 1);
  CHECK(queue.order().here(1).units == 0);
  CHECK(queue.order().here(1).counted_at == Timestamp{});
}
