// relay explain: what limits the hosts under a relay, as far as anything was measured; hosts as a tree.
#include <regex>

#include "shared/bottleneck/relay_bottleneck.h"
#include "shared/json/text.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"
#include "tests/unit/says.h"
#include "tools/admin/host_tree.h"

namespace gleaner::admin {
namespace {

protocol::HostInfo host_under(std::int64_t id, const std::string& name, double mflops,
                              std::int64_t relay = 0) {
  protocol::HostInfo host;
  host.id = HostId{id};
  host.name = name;
  host.speeds = protocol::HostSpeeds{mflops, 0, 1e8, 1e8};
  if (relay > 0) host.relay = HostId{relay};
  return host;
}

protocol::RelayInfo a_relay(const std::string& name, std::int64_t host, std::int64_t above = 0) {
  protocol::RelayInfo relay;
  relay.name = name;
  relay.state = "active";
  relay.children = 20;
  relay.host = HostId{host};
  if (above > 0) relay.relay = HostId{above};
  return relay;
}

protocol::HostShare rate_of(std::int64_t host, double rate) {
  protocol::HostShare share;
  share.host = HostId{host};
  share.rate = rate;
  return share;
}

// A relay with four hosts of 1000 MFLOP/s; an item takes one of them 10 s, as a host elsewhere showed.
RelayFigures a_lab() {
  RelayFigures figures;
  figures.relay = a_relay("lab", 2);
  figures.relays = {figures.relay};
  figures.hosts = {host_under(1, "elsewhere", 2000), host_under(2, "lab", 0)};
  for (const std::int64_t id : {3, 4, 5, 6})
    figures.hosts.push_back(host_under(id, "pc-" + std::to_string(id), 1000, 2));
  protocol::UnitInfo unit;
  unit.problem = ProblemId{7};
  unit.state = "open";
  unit.range = {100, 300};
  unit.delivered = 20;
  figures.units = {unit};
  protocol::ProblemInfo problem;
  problem.id = ProblemId{7};
  problem.name = "ray";
  problem.items = 1000;
  problem.cost = 3000;  // three an item
  problem.shares = {rate_of(1, .6), rate_of(2, 99)};
  figures.problem = problem;
  figures.item_bytes = 1e6;
  figures.result_bytes = 1e6;
  return figures;
}

void set_link(protocol::HostInfo& host, double down, double up) {
  host.speeds->download_bytes_per_second = down;
  host.speeds->upload_bytes_per_second = up;
}

bool shows(const std::string& text, const std::string& pattern) {
  INFO(text);
  const bool found = std::regex_search(text, std::regex(pattern));
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("a relay with links to spare is limited by its hosts", "[relay]") {
  const auto said = explain_relay(a_lab()).value();
  CHECK(said.limit == "hosts");
  CHECK(said.items_per_second.value() == Approx(.4));
  CHECK(said.computing_items_per_second.value() == Approx(.4));
  CHECK(said.work_seconds.value() == Approx(450));
  CHECK(said.left_out.empty());
  CHECK(said.never_measured.empty());
  CHECK(said.sentence ==
        "lab is limited by its 4 hosts: together they compute 0.4 items/s, and the links could carry more.");
}

TEST_CASE("a relay is limited by its link, each way, and does as much without some hosts", "[relay]") {
  auto figures = a_lab();
  set_link(figures.hosts[1], 1e8, 2e5);
  auto said = explain_relay(figures).value();
  CHECK(said.limit == "link-up");
  CHECK(said.items_per_second.value() == Approx(.2).epsilon(.02));
  CHECK(said.left_out.size() == 2);
  CHECK(says(said.sentence, "its link up, which carries the results of"));
  CHECK(says(said.sentence, "its hosts could compute 0.4 items/s. These hosts add no throughput: pc-"));
  set_link(figures.hosts[1], 1e5, 1e8);
  said = explain_relay(figures).value();
  CHECK(said.limit == "link-down");
  CHECK(said.left_out.size() == 3);
  set_link(figures.hosts[1], 1e8, 1e8);
  for (std::size_t i = 2; i < 6; ++i) set_link(figures.hosts[i], 2e5, 1e8);
  said = explain_relay(figures).value();
  CHECK(said.limit == "hosts-links");
  CHECK(said.items_per_second.value() == Approx(.2).epsilon(.03));
}

TEST_CASE("a relay is limited by what it holds, or by a relay under it", "[relay]") {
  auto figures = a_lab();
  figures.units.front().delivered = 190;
  auto said = explain_relay(figures).value();
  CHECK(said.limit == "work");
  CHECK(
      says(said.sentence, "its supply of work: it holds 10 items, which last its hosts 25 s at 0.4 items/s"));
  figures.units.front().state = "done";
  CHECK(says(explain_relay(figures).value().sentence, "it holds none, and its hosts could do 0.4 items/s"));

  figures = a_lab();
  figures.relays.push_back(a_relay("room", 9, 2));
  figures.hosts.push_back(host_under(9, "room", 0, 2));
  set_link(figures.hosts.back(), 1e8, 1e5);
  for (std::size_t i = 2; i < 6; ++i) figures.hosts[i].relay = HostId{9};
  said = explain_relay(figures).value();
  CHECK(said.limit == "relay-below");
  CHECK(says(said.sentence, "the relay room (host 9) under it"));
  CHECK(said.items_per_second.value() == Approx(.1).epsilon(.02));
}

TEST_CASE("how large items are is what the relay says, unless it is said", "[relay]") {
  auto figures = a_lab();
  figures.item_bytes.reset();
  figures.result_bytes.reset();
  set_link(figures.hosts[1], 1e8, 2e5);
  figures.hosts[1].item = protocol::ItemBytes{1e6, 1e6};
  auto said = explain_relay(figures).value();
  CHECK(said.limit == "link-up");
  CHECK(said.never_measured.empty());
  figures.result_bytes = 10;
  said = explain_relay(figures).value();
  CHECK(said.limit == "hosts");
}

TEST_CASE("what was never measured is said, and counts as nothing", "[relay]") {
  auto figures = a_lab();
  figures.item_bytes.reset();
  figures.result_bytes.reset();
  figures.hosts[1].speeds.reset();
  figures.hosts[2].speeds.reset();
  auto said = explain_relay(figures).value();
  CHECK(said.limit == "hosts");
  CHECK(said.items_per_second.value() == Approx(.3));
  CHECK(said.left_out.empty());
  CHECK(said.never_measured == std::vector<std::string>{"the download of an item (--item-bytes)",
                                                        "the size of a result (--result-bytes)",
                                                        "the relay's link down", "the relay's link up",
                                                        "the link of 1 host under it", "the speed of pc-3"});
  // Without another host the relay's own rate tells what an item takes.
  figures.problem->shares = {rate_of(2, .9)};
  CHECK(explain_relay(figures).value().items_per_second.value() == Approx(.3));
  figures.problem->shares.clear();
  said = explain_relay(figures).value();
  CHECK(said.limit == "unknown");
  CHECK(!said.items_per_second);
  CHECK(said.never_measured.back() == "the speed of hosts with items of ray");
  CHECK(says(said.sentence, "the first results show the speed"));
  for (auto& host : figures.hosts) {
    host.mflops = 0;
    host.speeds.reset();
  }
  CHECK(says(explain_relay(figures).value().sentence, "passes that on within a minute"));
  figures.hosts.resize(2);
  CHECK(says(explain_relay(figures).value().sentence, "No host is under lab"));
  figures.relay.host.reset();
  CHECK(says(explain_relay(figures).value().sentence, "has not joined yet"));
}

TEST_CASE("relay explain asks what there is, and says so to people and programs", "[relay]") {
  auto figures = a_lab();
  set_link(figures.hosts[1], 1e8, 1e8 / 2);
  TestWorld world;
  world.add_profile();
  world.server.on("GET /v1/admin/relays", 200, protocol::encode(figures.relays));
  world.server.on("GET /v1/admin/hosts", 200, protocol::encode(figures.hosts));
  world.server.on("GET /v1/admin/hosts/2/units?count=50", 200, protocol::encode(figures.units));
  const auto problem = protocol::encode(figures.problem.value());
  world.server.on("GET /v1/admin/problems/7?hosts=all", 200, problem);
  REQUIRE(world.run({"relay", "explain", "lab", "--result-bytes", "5e8", "--json"}) == 0);
  const json::Value answer = json::parse_or_null(world.out);
  CHECK(answer["limit"].string() == "link-up");
  CHECK(answer["items_per_second"].number() == Approx(.1).epsilon(.01));
  CHECK(answer["left_out"].size() == 3);
  REQUIRE(world.run({"relay", "explain", "lab"}) == 0);
  CHECK(says(world.out, "lab is limited by its 4 hosts"));
  CHECK(says(world.out, "Never measured: the download of an item"));
  CHECK(world.run({"relay", "explain", "none"}) == 4);
  CHECK(says(world.error, "there is no relay called none"));
}

TEST_CASE("hosts stand behind the relay that they are under", "[relay]") {
  const auto place = [](const std::vector<TreePlace>& order) {
    std::string text;
    for (const auto& each : order)
      text += std::to_string(each.member) + "/" + std::to_string(each.depth) + "/" +
              std::to_string(each.under) + " ";
    return text;
  };
  const auto host = [](std::int64_t id, std::int64_t relay = 0, bool counts = true) {
    return TreeMember{HostId{id}, relay > 0 ? std::optional(HostId{relay}) : std::nullopt, counts};
  };
  CHECK(place(in_tree({host(1), host(2), host(3)})) == "0/0/0 1/0/0 2/0/0 ");
  CHECK(place(in_tree({host(1, 3), host(2), host(3), host(4, 2), host(5, 3, false), host(6, 4),
                       host(7, 99)})) == "1/0/2 3/1/1 5/2/0 2/0/1 0/1/0 4/1/0 6/0/0 ");
  CHECK(place(in_tree({host(1, 2), host(2, 1), host(3, 3)})) == "2/0/0 0/0/1 1/1/0 ");
  CHECK(place(in_tree({{{}, {}}, {{}, HostId{1}}, host(1)})) == "0/0/0 2/0/1 1/1/0 ");
}

TEST_CASE("host list and host show tell the tree", "[relay]") {
  TestWorld world;
  world.add_profile();
  auto lab = a_lab();
  lab.relays.front().hosts = 4;
  world.server.on("GET /v1/admin/hosts", 200, protocol::encode(lab.hosts));
  world.server.on("GET /v1/admin/hosts/2", 200, protocol::encode(lab.hosts[1]));
  world.server.on("GET /v1/admin/hosts/3", 200, protocol::encode(lab.hosts[2]));
  world.server.on("GET /v1/admin/relays", 200, protocol::encode(lab.relays));
  REQUIRE(world.run({"host", "list"}) == 0);
  CHECK(says(world.out, "UNDER IT"));
  CHECK(shows(world.out, "\n +2 +lab +4 +active "));
  CHECK(shows(world.out, "\n +3 {4}pc-3 +active "));
  REQUIRE(world.run({"host", "show", "2"}) == 0);
  CHECK(shows(world.out, "hosts under it +4 of 20\n"));
  REQUIRE(world.run({"host", "show", "3"}) == 0);
  CHECK(shows(world.out, "under relay +lab \\(host 2\\)\n"));
}

}  // namespace gleaner::admin
