// Who is to blame for failed kernels: items, applications, hosts, and hosts with one application, told apart.
#include "server/policy/blame.h"

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

constexpr ApplicationId renderer{1}, searcher{2};
constexpr ProblemId picture{1}, database{2};
const Timestamp start = Timestamp{} + std::chrono::hours{1};

struct World {
  Blame blame;
  Timestamp now = start;

  std::vector<Ruling> fails(std::int64_t host, std::int64_t item, ApplicationId application = renderer,
                            ProblemId problem = picture, int others = 0) {
    std::set<HostId> computing{HostId{host}};
    for (int other = 0; other < others; ++other) computing.insert(HostId{10'000 + other});
    now += std::chrono::seconds{1};
    return blame.failed({HostId{host}, application, problem, item, "division by zero"}, computing, now);
  }
  // The same of a host that is not the project's own, from which so many items were accepted.
  std::vector<Ruling> stranger_fails(std::int64_t host, std::int64_t item, std::int64_t accepted = 0,
                                     std::int64_t failures = 1) {
    now += std::chrono::seconds{1};
    return blame.failed(
        {HostId{host}, renderer, picture, item, "made up", true, credence_of(false, accepted, failures)}, {},
        now);
  }
  void delivers(std::int64_t host, ApplicationId application = renderer) {
    blame.delivered(HostId{host}, application);
  }
  bool held(std::int64_t host, ApplicationId application = renderer) const {
    return blame.held(HostId{host}, application, now).has_value();
  }
};

int count(const std::vector<Ruling>& rulings, Ruling::Kind kind) {
  return static_cast<int>(std::count_if(rulings.begin(), rulings.end(),
                                        [&](const Ruling& ruling) { return ruling.kind == kind; }));
}

}  // namespace

TEST_CASE("one failure proves nothing") {
  World world;
  CHECK(world.fails(1, 7).empty());
  CHECK_FALSE(world.held(1));
}

TEST_CASE("what a host says of its own surroundings holds it back alone, and nothing else") {
  World world;
  for (int round = 0; round < 5; ++round)
    for (std::int64_t host = 1; host <= 4; ++host) {
      world.now += std::chrono::hours{7};
      Failure failure{HostId{host}, renderer, picture, 7, "this computer lacks /usr/bin/python3", false};
      failure.of_host = true;
      const auto rulings = world.blame.failed(failure, {}, world.now);
      CHECK(count(rulings, Ruling::Kind::hold_pair) == 1);
      CHECK(count(rulings, Ruling::Kind::stop_application) == 0);
      CHECK(count(rulings, Ruling::Kind::set_aside) == 0);
      CHECK(world.held(host));
    }
  CHECK(world.blame.application_broken(renderer, 0) < 0.5);
  CHECK_FALSE(world.held(5));
  world.delivers(5);
  // It is mended: it delivers, and is an ordinary host again, as often as it fails.
  world.delivers(1);
  CHECK_FALSE(world.held(1));
  world.blame.forget_host(HostId{1});
  world.blame.forget_host(HostId{2});
  CHECK(count(world.fails(3, 8), Ruling::Kind::stop_application) == 0);
}

TEST_CASE("an item that fails on two working hosts is set aside, and nobody waits for it") {
  World world;
  world.delivers(1);
  world.delivers(2);
  CHECK(world.fails(1, 7).empty());
  const auto rulings = world.fails(2, 7);
  REQUIRE(count(rulings, Ruling::Kind::set_aside) == 1);
  CHECK(rulings.size() == 1);
  CHECK(rulings[0].item == 7);
  CHECK(rulings[0].reason.find("division by zero") != std::string::npos);
  CHECK_FALSE(world.held(1));
  CHECK_FALSE(world.held(2));
}

TEST_CASE("of an application that was never seen to work, an item is not blamed before something works") {
  World world;
  CHECK(world.fails(1, 7).empty());
  CHECK(world.fails(2, 7).empty());
  world.delivers(1);
  CHECK(count(world.fails(1, 7), Ruling::Kind::set_aside) == 1);
}

TEST_CASE("an item that failed on newcomers only goes to a host that delivers before it is set aside") {
  World world;
  world.delivers(1);
  CHECK(world.fails(2, 7).empty());
  CHECK(world.fails(3, 7).empty());
  CHECK(count(world.fails(1, 7), Ruling::Kind::set_aside) == 1);
}

TEST_CASE("an item is set aside when it fails, not when another one does") {
  World world;
  CHECK(world.fails(1, 7).empty());
  CHECK(world.fails(2, 7).empty());
  world.delivers(1);
  CHECK(count(world.fails(1, 9), Ruling::Kind::set_aside) == 0);  // now 7 is suspicious enough, too
  world.delivers(1);
  const auto rulings = world.fails(1, 7);
  REQUIRE(count(rulings, Ruling::Kind::set_aside) == 1);
  CHECK(rulings[0].item == 7);
}

TEST_CASE("what a host is held back from can be told") {
  World world;
  CHECK_FALSE(world.blame.held_from(HostId{1}, world.now).has_value());
  for (int item = 0; item < 4 && !world.held(1); ++item) world.fails(1, item, renderer, picture, 5);
  REQUIRE(world.held(1));
  const auto held = world.blame.held_from(HostId{1}, world.now);
  REQUIRE(held.has_value());
  CHECK(held->first == renderer);
  CHECK(held->second.reason.find("division by zero") != std::string::npos);
  CHECK_FALSE(world.blame.held_from(HostId{2}, world.now).has_value());
}

TEST_CASE("a single item that fails on every host stops an application that was never seen to work") {
  World world;
  int stopped = 0, tries = 0;
  for (; tries < 10 && stopped == 0; ++tries)
    stopped = count(world.fails(1 + tries, 0), Ruling::Kind::stop_application);
  CHECK(stopped == 1);
  CHECK(tries == BlameRules{}.lone_failures);
}

TEST_CASE("the reason of a stop counts every host that failed, also where a broken item excuses it") {
  World world;
  std::string reason;
  for (int tries = 0; tries < 10 && reason.empty(); ++tries)
    for (const Ruling& ruling : world.fails(1, 0))
      if (ruling.kind == Ruling::Kind::stop_application) reason = ruling.reason;
  CHECK(reason == "it fails on 1 of 1 hosts; last: division by zero");
}

TEST_CASE("failures before the kernel ran are held against the host, and not against items") {
  World world;
  world.delivers(1);
  world.delivers(2);
  std::vector<Ruling> rulings;
  for (int time = 0; time < 6; ++time) {
    world.now += std::chrono::seconds{1};
    rulings = world.blame.failed({HostId{9}, renderer, picture, 7, "no such blob", false}, {}, world.now);
    CHECK(count(rulings, Ruling::Kind::set_aside) == 0);
  }
  CHECK(count(rulings, Ruling::Kind::hold_pair) == 1);
  CHECK(world.blame.item_broken(picture, 7) == Approx(BlameRules{}.item_prior));
}

TEST_CASE("who leaves is no witness any more") {
  World world;
  world.delivers(1);
  CHECK(world.fails(1, 7).empty());
  CHECK(world.fails(2, 3).empty());
  world.blame.forget_host(HostId{1});
  world.blame.forget_host(HostId{2});
  CHECK(world.blame.item_broken(picture, 7) == Approx(BlameRules{}.item_prior));
  CHECK(world.fails(3, 7).empty());
}

TEST_CASE("a lone host that fails on the same item only is believed after some tries") {
  World world;
  world.delivers(1);
  int set_aside = 0, tries = 0;
  for (; tries < 10 && set_aside == 0; ++tries) set_aside = count(world.fails(1, 3), Ruling::Kind::set_aside);
  CHECK(set_aside == 1);
  CHECK(tries == BlameRules{}.lone_failures_proven);
  CHECK_FALSE(world.held(1));
}

TEST_CASE("a newcomer that gets the same item again waits, so that others can try it") {
  World world;
  CHECK(world.fails(1, 3).empty());
  const auto rulings = world.fails(1, 3);
  REQUIRE(count(rulings, Ruling::Kind::hold_pair) == 1);
  CHECK(rulings[0].seconds == Approx(30));
  CHECK(world.held(1));
}

TEST_CASE("a host that fails with one application and works with another waits for that one alone") {
  World world;
  for (int host = 1; host <= 3; ++host) world.delivers(host);
  world.delivers(9, searcher);
  CHECK(world.fails(9, 1).empty());
  const auto rulings = world.fails(9, 2);
  REQUIRE(count(rulings, Ruling::Kind::hold_pair) == 1);
  CHECK(rulings.size() == 1);
  CHECK(world.held(9, renderer));
  CHECK_FALSE(world.held(9, searcher));
}

TEST_CASE("a hold doubles with each further failure, up to six hours, and ends with a success") {
  World world;
  world.delivers(1);
  static_cast<void>(world.fails(2, 0));
  double expected = 30;
  for (int item = 1; item < 20; ++item) {
    const auto rulings = world.fails(2, item);
    REQUIRE(count(rulings, Ruling::Kind::hold_pair) == 1);
    CHECK(rulings[0].seconds == Approx(expected));
    expected = std::min(6 * 3600.0, 2 * expected);
  }
  CHECK(world.blame.held(HostId{2}, renderer, world.now)->seconds == Approx(6 * 3600));
  CHECK_FALSE(world.blame.held(HostId{2}, renderer, world.now + std::chrono::hours{6}));
  world.delivers(2);
  CHECK_FALSE(world.held(2));
}

TEST_CASE("a host that fails with everything is held back from everything") {
  World world;
  for (int host = 1; host <= 3; ++host) {
    world.delivers(host, renderer);
    world.delivers(host, searcher);
  }
  for (int item = 0; item < 2; ++item) static_cast<void>(world.fails(9, item));
  CHECK_FALSE(world.held(9, searcher));
  static_cast<void>(world.fails(9, 0, searcher, database));
  const auto rulings = world.fails(9, 1, searcher, database);
  CHECK(count(rulings, Ruling::Kind::hold_host) == 1);
  CHECK(world.held(9, ApplicationId{77}));
  CHECK(count(rulings, Ruling::Kind::stop_application) == 0);
  CHECK_FALSE(world.held(1, renderer));
}

TEST_CASE("an application that fails wherever it is tried is stopped, and no item is set aside") {
  World world;
  int stopped = 0, set_aside = 0;
  for (int item = 0; item < 3 && stopped == 0; ++item) {
    for (int host = 1; host <= 2 && stopped == 0; ++host) {
      const auto rulings = world.fails(host, 2 * item + host);
      stopped += count(rulings, Ruling::Kind::stop_application);
      set_aside += count(rulings, Ruling::Kind::set_aside);
    }
  }
  CHECK(stopped == 1);
  CHECK(set_aside == 0);
}

TEST_CASE("items that only broken hosts failed on are given back") {
  World world;
  world.delivers(1);
  world.delivers(3);
  static_cast<void>(world.fails(1, 7));
  REQUIRE(count(world.fails(2, 7), Ruling::Kind::set_aside) == 1);
  int given_back = 0;
  for (int item = 10; item < 14; ++item) {
    for (int host = 1; host <= 2; ++host)
      given_back +=
          count(world.fails(host, item + 100 * host, renderer, picture, 50), Ruling::Kind::give_back);
  }
  CHECK(given_back == 1);
  CHECK(world.blame.item_broken(picture, 7) < 0.5);
}

TEST_CASE("most hosts stop an application, a few do not") {
  for (const auto& [failing, delivering, stops] : {std::tuple{2, 0, true},
                                                   {2, 1, false},
                                                   {3, 1, true},
                                                   {3, 2, false},
                                                   {4, 2, true},
                                                   {2, 30, false},
                                                   {20, 15, true}}) {
    World world;
    for (int host = 1; host <= delivering; ++host) world.delivers(host);
    int stopped = 0;
    for (int item = 0; item < 3; ++item)
      for (int host = 100; host < 100 + failing; ++host)
        stopped += count(world.fails(host, 1000 * host + item), Ruling::Kind::stop_application);
    INFO(failing << " of " << failing + delivering);
    CHECK((stopped > 0) == stops);
  }
}

TEST_CASE("hosts that compute an application without a word speak for it") {
  World world;
  int stopped = 0;
  for (int item = 0; item < 2; ++item)
    for (int host = 1; host <= 2; ++host)
      stopped +=
          count(world.fails(host, 10 * host + item, renderer, picture, 98), Ruling::Kind::stop_application);
  CHECK(stopped == 0);
}

TEST_CASE("an application that a single host cannot run at all is stopped in the end") {
  World world;
  int stopped = 0, tries = 0;
  for (; tries < 10 && stopped == 0; ++tries)
    stopped = count(world.fails(1, tries), Ruling::Kind::stop_application);
  CHECK(stopped == 1);
  CHECK(tries == BlameRules{}.lone_failures);
}

TEST_CASE("forgiven applications and retried items start afresh") {
  World world;
  for (int item = 0; item < 3; ++item) static_cast<void>(world.fails(1, item));
  REQUIRE(world.held(1));
  world.blame.forgive(renderer);
  CHECK_FALSE(world.held(1));
  CHECK(world.blame.application_broken(renderer, 0) == Approx(BlameRules{}.new_application_prior));
  world.delivers(2);
  world.delivers(3);
  static_cast<void>(world.fails(2, 7));
  REQUIRE(count(world.fails(3, 7), Ruling::Kind::set_aside) == 1);
  world.blame.forget_items(picture);
  CHECK(world.fails(2, 7).empty());
}

TEST_CASE("who has delivered nothing is believed of itself only, however many say the same") {
  const bool works = GENERATE(true, false);
  INFO((works ? "it works elsewhere" : "it was never seen to work"));
  World world;
  if (works) world.delivers(1000);
  int others_blamed = 0, held = 0;
  for (int time = 0; time < 5; ++time) {
    for (int host = 1; host <= 60; ++host) {
      for (const Ruling& ruling : world.stranger_fails(host, host % 20, 0, 1 + time)) {
        (ruling.kind == Ruling::Kind::hold_pair ? held : others_blamed) += 1;
      }
    }
  }
  CHECK(others_blamed == 0);
  CHECK(held > 0);
  CHECK(world.blame.application_broken(renderer, 0) <= BlameRules{}.new_application_prior + 1e-9);
  for (int item = 0; item < 20; ++item)
    CHECK(world.blame.item_broken(picture, item) == Approx(BlameRules{}.item_prior));
  // What the project's own say is not drowned.
  int stopped = 0, set_aside = 0;
  for (int time = 0; time < 2; ++time) {
    for (int host = 201; host <= 202; ++host) {
      const auto rulings = world.fails(host, works ? 7 : host);
      stopped += count(rulings, Ruling::Kind::stop_application);
      set_aside += count(rulings, Ruling::Kind::set_aside);
      if (works) world.delivers(host);
    }
  }
  CHECK(stopped == (works ? 0 : 1));
  CHECK(set_aside == (works ? 1 : 0));
}

TEST_CASE("strangers that deliver are believed, of as many items as were accepted from them") {
  CHECK(credence_of(false, 0, 1) == 0);
  CHECK(credence_of(false, 30, 1) == 1);
  CHECK(credence_of(false, 3, 30) == Approx(0.1));
  CHECK(credence_of(true, 0, 30) == 1);
  World world;
  world.delivers(1);
  world.delivers(2);
  CHECK(world.stranger_fails(1, 7, 10).empty());
  CHECK(count(world.stranger_fails(2, 7, 10), Ruling::Kind::set_aside) == 1);
  CHECK(world.stranger_fails(1, 8, 1, 10).empty());
  CHECK(count(world.stranger_fails(2, 8, 1, 10), Ruling::Kind::set_aside) == 0);
}

TEST_CASE("a delivery does not make earlier failures of a stranger count") {
  World world;
  for (int host = 1; host <= 2; ++host)
    for (int item = 0; item < 20; ++item) static_cast<void>(world.stranger_fails(host, item, 0, 1 + item));
  for (int host = 1; host <= 2; ++host) world.delivers(host);
  for (int item = 0; item < 20; ++item)
    CHECK(world.blame.item_broken(picture, item) == Approx(BlameRules{}.item_prior));
}

TEST_CASE("a bad item, a bad application, a bad host and a missing library at once are told apart") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 21)));
  INFO("seed " << seed);
  Random random(seed);
  World world;
  constexpr std::int64_t bad_item = 7, bad_host = 3, without_library = 4;
  constexpr ApplicationId bad_application{5};
  std::set<std::int64_t> set_aside, held_altogether;
  std::set<ApplicationId> stopped;
  for (int step = 0; step < 3000; ++step) {
    const std::int64_t host = random.between(1, 8);
    const int which = static_cast<int>(random.between(1, 3));
    const ApplicationId application = which == 3 ? bad_application : ApplicationId{which};
    if (stopped.contains(application) || world.held(host, application)) continue;
    const std::int64_t item = random.between(0, 30);
    if (application == renderer && set_aside.contains(item)) continue;
    const bool fails = application == bad_application || host == bad_host ||
                       (host == without_library && application == searcher) ||
                       (item == bad_item && application == renderer);
    if (!fails) {
      world.delivers(host, application);
      continue;
    }
    for (const Ruling& ruling : world.fails(host, item, application, ProblemId{which})) {
      if (ruling.kind == Ruling::Kind::set_aside && which == 1) set_aside.insert(ruling.item);
      if (ruling.kind == Ruling::Kind::give_back && which == 1) set_aside.erase(ruling.item);
      if (ruling.kind == Ruling::Kind::stop_application) stopped.insert(application);
      if (ruling.kind == Ruling::Kind::hold_host) held_altogether.insert(host);
    }
    world.now += std::chrono::minutes{1};
  }
  CHECK(set_aside == std::set<std::int64_t>{bad_item});
  CHECK(stopped == std::set<ApplicationId>{bad_application});
  CHECK(held_altogether == std::set<std::int64_t>{bad_host});
}
