// What hosts saved of items in progress, within bounds; and which token is whose.
#include "server/service/core/saved_items.h"

#include "server/service/core/tokens.h"
#include "shared/base/limits.h"
#include "tests/catch.h"

using namespace gleaner;
using service::SavedItems;

TEST_CASE("the last that was saved of an item is there until the item is") {
  SavedItems saved;
  CHECK(saved.find(3) == nullptr);
  saved.put(3, "first");
  saved.put(3, "second");
  saved.put(7, "seven");
  REQUIRE(saved.find(3) != nullptr);
  CHECK(*saved.find(3) == "second");
  saved.forget({0, 7});
  CHECK(saved.find(3) == nullptr);
  REQUIRE(saved.find(7) != nullptr);
  saved.forget({7, 8});
  CHECK(saved.find(7) == nullptr);
}

TEST_CASE("there is room up to a bound, also for what replaces, and again once something is forgotten") {
  SavedItems saved;
  const auto most = static_cast<std::size_t>(limits::saved_per_problem_bytes_max);
  CHECK(saved.has_room(0, most));
  CHECK(!saved.has_room(0, most + 1));
  saved.put(0, Bytes(most - 10, 'x'));
  CHECK(saved.has_room(1, 10));
  CHECK(!saved.has_room(1, 11));
  CHECK(saved.has_room(0, most));
  saved.put(1, Bytes(10, 'y'));
  CHECK(!saved.has_room(2, 1));
  saved.forget({0, 1});
  CHECK(saved.has_room(2, most - 10));
}

TEST_CASE("a token stands for its host until it is dropped") {
  service::Model model;
  const auto add = [&](int id, const Bytes& digest, protocol::HostState state) {
    storage::HostRow row;
    row.id = HostId{id};
    row.token_digest = digest;
    row.state = state;
    model.hosts[row.id] = {row, {}, {}};
  };
  add(1, "one", protocol::HostState::active);
  add(2, "two", protocol::HostState::revoked);
  add(3, "three", protocol::HostState::left);
  service::Tokens tokens;
  tokens.rebuild(model);
  CHECK(tokens.find("one")->host == HostId{1});
  CHECK(!tokens.find("two"));
  CHECK(!tokens.find("three"));
  tokens.admit("four", HostId{4}, false);
  CHECK(tokens.find("four")->host == HostId{4});
  tokens.drop("one");
  tokens.drop("never there");
  CHECK(!tokens.find("one"));
  tokens.rebuild(model);
  CHECK(tokens.find("one")->host == HostId{1});
  CHECK(!tokens.find("four"));
}
