// The index says what looking at all hosts would say, after any changes.
#include "server/service/core/host_index.h"

#include <algorithm>
#include <map>

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using service::HostIndex;

TEST_CASE("keys, codes and the slowest are those of all hosts, whatever changes") {
  constexpr std::uint64_t seed = 20261125;
  INFO("seed " << seed);
  Random random(seed);
  HostIndex index;
  std::map<HostId, storage::HostRow> hosts;
  CHECK(index.slowest() == 0);
  for (int change = 0; change < 3000; ++change) {
    storage::HostRow row;
    row.id = HostId{static_cast<std::int64_t>(random.below(60)) + 1};
    if (const auto known = hosts.find(row.id); known != hosts.end()) row = known->second;
    row.public_key = "key " + std::to_string(random.below(20));
    row.code = "code " + std::to_string(random.below(4));
    row.mflops = random.chance(0.3) ? 0 : static_cast<double>(random.below(10)) + 1;
    row.state = random.chance(0.4) ? protocol::HostState::left : protocol::HostState::active;
    hosts[row.id] = row;
    index.put(row);
    std::vector<HostId> with_key;
    std::int64_t with_code = 0;
    std::int64_t active = 0;
    double slowest = 0;
    for (const auto& [id, host] : hosts) {
      if (host.public_key == row.public_key) with_key.push_back(id);
      if (host.code == row.code) ++with_code;
      if (host.state != protocol::HostState::active) continue;
      ++active;
      if (host.mflops <= 0) continue;
      if (slowest == 0 || host.mflops < slowest) slowest = host.mflops;
    }
    auto found = index.with_key(row.public_key);
    std::sort(found.begin(), found.end());
    REQUIRE(found == with_key);
    REQUIRE(index.with_code(row.code) == with_code);
    REQUIRE(index.slowest() == slowest);
    REQUIRE(index.active() == active);
  }
  CHECK(index.with_key("nobody's").empty());
  CHECK(index.with_code("none") == 0);
}

TEST_CASE("as many were heard of lately as a look at all would find, to the second") {
  constexpr std::uint64_t seed = 20261126;
  INFO("seed " << seed);
  Random random(seed);
  service::Contacts contacts;
  std::map<std::uint64_t, Timestamp> hosts;
  Timestamp now = Timestamp{} + std::chrono::hours{24};
  for (int change = 0; change < 5000; ++change) {
    now += std::chrono::milliseconds{random.below(4000)};
    const std::uint64_t host = random.below(200);
    Timestamp& time = hosts[host];
    if (time != Timestamp{} && random.chance(0.1)) {
      contacts.forget(time);
      hosts.erase(host);
    } else {
      const Timestamp heard = now - std::chrono::seconds{random.chance(0.1) ? random.below(600) : 0};
      contacts.heard(time, heard, now);
      time = heard;
    }
    std::int64_t surely = 0, perhaps = 0;
    for (const auto& [id, last] : hosts) {
      surely += now - last < service::Contacts::remembered - std::chrono::seconds{1} ? 1 : 0;
      perhaps += now - last < service::Contacts::remembered ? 1 : 0;
    }
    REQUIRE(contacts.count(now) >= surely);
    REQUIRE(contacts.count(now) <= perhaps);
  }
  CHECK(contacts.count(now + std::chrono::hours{1}) == 0);
}
