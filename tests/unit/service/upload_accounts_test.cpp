// What hosts upload and have not committed, counted.
#include "server/service/upload_accounts.h"

#include "tests/catch.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace std::chrono_literals;
using Gone = std::vector<service::UploadAccounts::Abandoned>;

namespace {

constexpr HostId host_a{1}, host_b{2};
constexpr Timestamp midnight{};

}  // namespace

TEST_CASE("a host's blobs together fit into what it is allowed, each host's by themselves") {
  service::UploadAccounts accounts;
  CHECK(accounts.open(host_a, "a", 60'000, 100'000, midnight).ok());
  const Status refused = accounts.open(host_a, "b", 60'000, 100'000, midnight);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "may have 100000 bytes"));
  CHECK(says(refused.error().message, "and has 60000"));
  CHECK(says(refused.error().message, "commit them first"));
  CHECK(accounts.open(host_a, "b", 40'000, 100'000, midnight).ok());
  CHECK(accounts.open(host_b, "c", 100'000, 100'000, midnight).ok());
}

TEST_CASE("the same blob again is counted once, with its latest length") {
  service::UploadAccounts accounts;
  CHECK(accounts.open(host_a, "a", 60'000, 100'000, midnight).ok());
  CHECK(accounts.open(host_a, "a", 90'000, 100'000, midnight).ok());
  CHECK(!accounts.open(host_a, "b", 20'000, 100'000, midnight).ok());
  CHECK(accounts.open(host_a, "a", 60'000, 100'000, midnight).ok());
  CHECK(accounts.open(host_a, "b", 20'000, 100'000, midnight).ok());
}

TEST_CASE("the smallest file counts as a block") {
  service::UploadAccounts accounts;
  CHECK(!accounts.open(host_a, "a", 1, 4095, midnight).ok());
  CHECK(accounts.open(host_a, "a", 1, 4096, midnight).ok());
  CHECK(!accounts.open(host_a, "b", 1, 8191, midnight).ok());
  CHECK(accounts.open(host_a, "b", 0, 8192, midnight).ok());
}

TEST_CASE("what is in no account is not touched; a refused blob is in none") {
  service::UploadAccounts accounts;
  CHECK(!accounts.touch(host_a, "a", midnight));
  CHECK(!accounts.open(host_a, "a", 5000, 4096, midnight).ok());
  CHECK(!accounts.touch(host_a, "a", midnight));
  CHECK(accounts.open(host_a, "a", 4096, 4096, midnight).ok());
  CHECK(accounts.touch(host_a, "a", midnight));
  CHECK(!accounts.touch(host_a, "b", midnight));
  CHECK(!accounts.touch(host_b, "a", midnight));
}

TEST_CASE("a blob that is committed makes room and does not expire") {
  service::UploadAccounts accounts;
  CHECK(accounts.open(host_a, "a", 4096, 4096, midnight).ok());
  CHECK(!accounts.open(host_a, "b", 4096, 4096, midnight).ok());
  accounts.close(host_a, "a");
  accounts.close(host_a, "a");  // the same commit sent again
  accounts.close(host_b, "never there");
  CHECK(accounts.open(host_a, "b", 4096, 4096, midnight).ok());
  CHECK(accounts.expire(midnight + 1h) == Gone{{host_a, "b"}});
}

TEST_CASE("what was not touched for long expires, and its room is free") {
  service::UploadAccounts accounts;
  CHECK(accounts.open(host_a, "a", 4096, 8192, midnight).ok());
  CHECK(accounts.open(host_a, "b", 4096, 8192, midnight).ok());
  CHECK(accounts.open(host_b, "c", 4096, 4096, midnight + 30min).ok());
  CHECK(accounts.touch(host_a, "b", midnight + 50min));
  CHECK(accounts.expire(midnight).empty());
  CHECK(accounts.expire(midnight + 20min) == Gone{{host_a, "a"}});
  CHECK(accounts.expire(midnight + 20min).empty());
  CHECK(accounts.open(host_a, "d", 4096, 8192, midnight + 55min).ok());
  CHECK(accounts.expire(midnight + 52min) == Gone{{host_a, "b"}, {host_b, "c"}});
  CHECK(!accounts.touch(host_a, "b", midnight + 1h));
  CHECK(accounts.touch(host_a, "d", midnight + 1h));
}
