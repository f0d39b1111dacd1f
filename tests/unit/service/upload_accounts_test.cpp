// What hosts upload and have not committed, counted.
#include "server/service/work/upload_accounts.h"

#include "tests/catch.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace std::chrono_literals;
using Gone = std::vector<service::UploadAccounts::Abandoned>;

namespace {

constexpr HostId host_a{1}, host_b{2};
constexpr Timestamp midnight{};
using Terms = service::UploadAccounts::Terms;

Terms known(std::int64_t allowance) {
  return {allowance, {}, 0};
}
// Of a host that may upload anything by itself.
Terms newcomer(const std::string& network, std::int64_t room) {
  return {1'000'000, network, room};
}

}  // namespace

TEST_CASE("a host's blobs together fit into what it is allowed, each host's by themselves") {
  service::UploadAccounts accounts;
  CHECK(accounts.open(host_a, "a", 60'000, known(100'000), midnight).ok());
  const Status refused = accounts.open(host_a, "b", 60'000, known(100'000), midnight);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "may have 100000 bytes"));
  CHECK(says(refused.error().message, "and has 60000"));
  CHECK(says(refused.error().message, "commit them first"));
  CHECK(accounts.open(host_a, "b", 40'000, known(100'000), midnight).ok());
  CHECK(accounts.open(host_b, "c", 100'000, known(100'000), midnight).ok());
}

TEST_CASE("the same blob again is counted once, with its latest length") {
  service::UploadAccounts accounts;
  CHECK(accounts.open(host_a, "a", 60'000, known(100'000), midnight).ok());
  CHECK(accounts.open(host_a, "a", 90'000, known(100'000), midnight).ok());
  CHECK(!accounts.open(host_a, "b", 20'000, known(100'000), midnight).ok());
  CHECK(accounts.open(host_a, "a", 60'000, known(100'000), midnight).ok());
  CHECK(accounts.open(host_a, "b", 20'000, known(100'000), midnight).ok());
}

TEST_CASE("the smallest file counts as a block") {
  service::UploadAccounts accounts;
  CHECK(!accounts.open(host_a, "a", 1, known(4095), midnight).ok());
  CHECK(accounts.open(host_a, "a", 1, known(4096), midnight).ok());
  CHECK(!accounts.open(host_a, "b", 1, known(8191), midnight).ok());
  CHECK(accounts.open(host_a, "b", 0, known(8192), midnight).ok());
}

TEST_CASE("what is in no account is not touched; a refused blob is in none") {
  service::UploadAccounts accounts;
  CHECK(!accounts.touch(host_a, "a", midnight));
  CHECK(!accounts.open(host_a, "a", 5000, known(4096), midnight).ok());
  CHECK(!accounts.touch(host_a, "a", midnight));
  CHECK(accounts.open(host_a, "a", 4096, known(4096), midnight).ok());
  CHECK(accounts.touch(host_a, "a", midnight));
  CHECK(!accounts.touch(host_a, "b", midnight));
  CHECK(!accounts.touch(host_b, "a", midnight));
}

TEST_CASE("a blob that is committed makes room and does not expire") {
  service::UploadAccounts accounts;
  CHECK(accounts.open(host_a, "a", 4096, known(4096), midnight).ok());
  CHECK(!accounts.open(host_a, "b", 4096, known(4096), midnight).ok());
  accounts.close(host_a, "a");
  accounts.close(host_a, "a");  // the same commit sent again
  accounts.close(host_b, "never there");
  CHECK(accounts.open(host_a, "b", 4096, known(4096), midnight).ok());
  CHECK(accounts.expire(midnight + 1h) == Gone{{host_a, "b"}});
}

TEST_CASE("what was not touched for long expires, and its room is free") {
  service::UploadAccounts accounts;
  CHECK(accounts.open(host_a, "a", 4096, known(8192), midnight).ok());
  CHECK(accounts.open(host_a, "b", 4096, known(8192), midnight).ok());
  CHECK(accounts.open(host_b, "c", 4096, known(4096), midnight + 30min).ok());
  CHECK(accounts.touch(host_a, "b", midnight + 50min));
  CHECK(accounts.expire(midnight).empty());
  CHECK(accounts.expire(midnight + 20min) == Gone{{host_a, "a"}});
  CHECK(accounts.expire(midnight + 20min).empty());
  CHECK(accounts.open(host_a, "d", 4096, known(8192), midnight + 55min).ok());
  CHECK(accounts.expire(midnight + 52min) == Gone{{host_a, "b"}, {host_b, "c"}});
  CHECK(!accounts.touch(host_a, "b", midnight + 1h));
  CHECK(accounts.touch(host_a, "d", midnight + 1h));
}

TEST_CASE("newcomers of one network fill their share, and leave the others' room alone") {
  service::UploadAccounts accounts;
  constexpr std::int64_t room = 800'000;
  for (std::int64_t number = 1; number <= 10; ++number)
    CHECK(accounts.open(HostId{number}, "a", 20'000, newcomer("house", room), midnight).ok() ==
          (number <= 5));
  const Status refused = accounts.open(HostId{1}, "b", 20'000, newcomer("house", room), midnight);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "newcomers of this network have 100000 bytes"));
  CHECK(accounts.open(HostId{20}, "a", 100'000, newcomer("school", room), midnight).ok());
  CHECK(accounts.open(HostId{21}, "a", 700'000, known(700'000), midnight).ok());  // who is known is not bound
  accounts.close(HostId{1}, "a");
  CHECK(accounts.open(HostId{1}, "b", 20'000, newcomer("house", room), midnight).ok());
}

TEST_CASE(
    "newcomers of all networks together leave half of the room, and the first of each fits in any case") {
  service::UploadAccounts accounts;
  constexpr std::int64_t room = 800'000;
  CHECK(accounts.open(HostId{1}, "a", 900'000, newcomer("large", room), midnight).ok());
  const Status refused = accounts.open(HostId{2}, "a", 20'000, newcomer("other", room), midnight);
  REQUIRE(!refused.ok());
  CHECK(says(refused.error().message, "newcomers have 900000 bytes"));
  CHECK(accounts.open(HostId{3}, "a", 300'000, known(300'000), midnight).ok());
  CHECK(accounts.expire(midnight + 1h).size() == 2);
  for (std::int64_t number = 1; number <= 10; ++number)
    CHECK(accounts.open(HostId{number}, "a", 90'000, newcomer(std::to_string(number), room), midnight).ok() ==
          (number <= 4));
}
