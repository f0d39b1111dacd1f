// Which child is served next, and how many tasks are asked for.
#include "shared/planning/serving.h"

#include "tests/catch.h"

namespace gleaner::planning {
namespace {

ChildView child(double down, double up, int requests = 1) {
  ChildView view;
  view.task_down = down;
  view.result_up = up;
  view.requests = requests;
  return view;
}

std::size_t chosen(const ServingRule& rule, const RelayView& view) {
  const auto choice = rule.choose(view);
  REQUIRE(choice.has_value());
  CHECK_FALSE(choice->text().empty());
  return choice->child;
}

std::unique_ptr<ServingRule> rule(const std::string& name) {
  auto made = make_serving_rule(name);
  REQUIRE(made.ok());
  return std::move(made).value();
}

}  // namespace

TEST_CASE("nobody is served who does not ask", "[serving]") {
  RelayView view;
  view.children = {child(1, 1, 0), child(2, 2, 0)};
  for (const char* name : {"fifo", "otf", "round-robin", "bc", "geo"})
    CHECK_FALSE(rule(name)->choose(view).has_value());
  CHECK_FALSE(rule("bc")->choose({}).has_value());
  CHECK(make_serving_rule("best").error().message.find("choose one of fifo, otf, round-robin, bc, geo") !=
        std::string::npos);
  CHECK(serving_rules().size() == 5);
}

TEST_CASE("fifo, otf and bc", "[serving]") {
  RelayView view;
  view.children = {child(1, 5), child(2, 2), child(3, 1, 0)};
  view.children[0].oldest_request = 9;
  view.children[1].oldest_request = 4;
  CHECK(chosen(*rule("fifo"), view) == 1);
  CHECK(chosen(*rule("bc"), view) == 1);  // its busier port takes 2 seconds, the first one's 5
  view.children[1].requests = 0;
  CHECK(chosen(*rule("bc"), view) == 0);
  view.children[1].requests = 1;
  view.children[0].planned_rate = 0.2;
  view.children[0].tasks_given = 3;
  view.children[1].planned_rate = 0.1;
  view.children[1].tasks_given = 2;
  CHECK(chosen(*rule("otf"), view) == 0);
  view.children[0].planned_rate = 0;  // the optimum does not use it
  CHECK(chosen(*rule("otf"), view) == 1);
  // The relay's own link counts: sending results up competes with sending tasks down.
  RelayView relay;
  relay.children = {child(1, 4), child(3, 1)};
  CHECK(chosen(*rule("bc"), relay) == 1);
  relay.result_up = 3;
  CHECK(chosen(*rule("bc"), relay) == 0);
}

TEST_CASE("round-robin serves bunches in turn, and passes over who does not ask", "[serving]") {
  RelayView view;
  view.children = {child(1, 1), child(1, 1), child(1, 1)};
  view.children[0].bunch = 2;
  view.children[1].bunch = 1;  // the third has no part in the plan
  const auto turns = rule("round-robin");
  std::vector<std::size_t> order;
  const auto serve = [&] {
    order.push_back(chosen(*turns, view));
    ++view.children[order.back()].tasks_given;
  };
  for (int i = 0; i < 6; ++i) serve();
  CHECK(order == std::vector<std::size_t>{0, 0, 1, 0, 0, 1});
  view.children[0].requests = 0;
  serve();
  serve();
  view.children[0].requests = 1;
  serve();
  CHECK(std::vector<std::size_t>(order.begin() + 6, order.end()) == std::vector<std::size_t>{1, 1, 0});
}

TEST_CASE("what is known of a link that carries nothing drifts away", "[serving]") {
  CHECK(aged(9, 1, 0, 60) == 9);
  CHECK(aged(9, 1, 60, 60) == 9);
  CHECK(aged(9, 1, 90, 60) == 5);
  CHECK(aged(0.5, 1, 120, 60) == 1);
  CHECK(aged(9, 1, 1e9, 60) == 1);
}

TEST_CASE("geo takes the pair that fills both ports, in turn (G4)", "[serving]") {
  RelayView view;
  view.children = {child(1, 4), child(4, 1), child(2.6, 2.6)};
  CHECK(chosen(*rule("bc"), view) == 2);
  const auto geo = rule("geo");
  std::vector<std::size_t> order;
  for (int i = 0; i < 6; ++i) {
    order.push_back(chosen(*geo, view));
    geo->served(view, order.back());
  }
  CHECK(order == std::vector<std::size_t>{0, 1, 0, 1, 0, 1});
  view.children[1].requests = 0;  // no pair any more
  CHECK(chosen(*geo, view) == 2);
  view.children[2].requests = 0;
  CHECK(chosen(*geo, view) == 0);
  RelayView same;  // x = y everywhere: geo is bc
  same.children = {child(3, 3), child(2, 2), child(5, 5)};
  CHECK(chosen(*rule("geo"), same) == 1);
}

TEST_CASE("the threshold grows when it was reached and did not do, and shrinks with results", "[serving]") {
  TaskThreshold threshold;
  CHECK(threshold.value() == 1);
  CHECK(threshold.wanted(0, 0, 0) == 1);
  CHECK(threshold.wanted(0, 1, 0) == 1);
  CHECK(threshold.wanted(0, 2, 0) == 0);  // too many results
  CHECK(threshold.wanted(0, 0, 1) == 0);
  threshold.observe(0, 0, true);  // it never had one
  CHECK(threshold.value() == 1);
  threshold.observe(1, 0, false);
  threshold.observe(0, 1, true);  // results are not below it
  CHECK(threshold.value() == 1);
  threshold.observe(0, 0, true);
  CHECK(threshold.value() == 2);
  threshold.observe(0, 0, true);  // has to reach two first
  CHECK(threshold.value() == 2);
  CHECK(threshold.wanted(0, 0, 1) == 1);
  threshold.result_buffered(2);
  CHECK(threshold.value() == 2);
  threshold.result_buffered(3);
  threshold.result_buffered(3);
  threshold.result_buffered(3);
  CHECK(threshold.value() == 1);
  TaskThreshold capped(2);
  for (int i = 0; i < 10; ++i) {
    capped.observe(5, 0, false);
    capped.observe(0, 0, true);
  }
  CHECK(capped.value() == 2);
}

}  // namespace gleaner::planning
