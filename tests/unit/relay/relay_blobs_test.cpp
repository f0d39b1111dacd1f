// What a relay brings from its parent: each blob once, whole and right, whatever the link does.
#include "server/relay/relay_blobs.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "shared/crypto/keys.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

using namespace gleaner;
using gleaner::relay::BlobPiece;
using gleaner::relay::RelayBlobs;
using gleaner::testing::TemporaryDirectory;

namespace {

constexpr std::int64_t any_bytes = 1 << 30;

template <typename T>
T must(Result<T> result) {
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  return std::move(result).value();
}
void must(const Status& status) {
  INFO((status.ok() ? "" : status.error().message));
  REQUIRE(status.ok());
}

struct BlobWorld {
  FakeClock clock;
  TemporaryDirectory directory;
  std::map<std::string, std::string> above;
  std::mutex mutex;
  std::int64_t sent = 0;                                                // bytes
  std::int64_t comes_at_most = any_bytes;                               // then the connection breaks off
  std::function<Status(const std::string&, std::int64_t)> before = {};  // digest, offset
  std::unique_ptr<RelayBlobs> blobs = start(any_bytes);

  std::unique_ptr<RelayBlobs> start(std::int64_t cache_bytes) {
    auto made = std::make_unique<RelayBlobs>(
        io::real_files(), directory.path(),
        [this](const std::string& digest, std::int64_t offset, std::int64_t most) {
          return answer(digest, offset, most);
        },
        clock, cache_bytes);
    must(made->open("project"));
    return made;
  }
  std::string add(std::string bytes) {
    const std::string digest = crypto::sha256_hex(bytes);
    above[digest] = std::move(bytes);
    return digest;
  }
  Result<BlobPiece> answer(const std::string& digest, std::int64_t offset, std::int64_t most) {
    const std::lock_guard lock(mutex);
    if (before) TRY(before(digest, offset));
    const auto found = above.find(digest);
    if (found == above.end()) return Error{ErrorKind::not_found, "no such blob"};
    BlobPiece piece{found->second.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(most)),
                    static_cast<std::int64_t>(found->second.size())};
    if (std::cmp_greater(piece.bytes.size(), comes_at_most)) {
      piece.bytes.resize(static_cast<std::size_t>(comes_at_most));
      piece.all.reset();
    }
    sent += static_cast<std::int64_t>(piece.bytes.size());
    return piece;
  }
};

std::string large_bytes(char what = 'x') {
  std::string bytes((std::size_t{9} << 20) + 5, what);
  for (std::size_t i = 0; i < bytes.size(); i += 4096) bytes[i] = static_cast<char>(i >> 12);
  return bytes;
}

}  // namespace

TEST_CASE("twenty hosts that ask for a blob at once have it cross the link once") {
  BlobWorld world;
  const std::string bytes = large_bytes();
  const std::string digest = world.add(bytes);
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> hosts;
    for (int i = 0; i < 20; ++i)
      hosts.emplace_back([&] {
        const auto read = world.blobs->read(digest, any_bytes);
        if (read.ok() && *read == bytes) ++right;
      });
  }
  CHECK(right == 20);
  CHECK(world.sent == static_cast<std::int64_t>(bytes.size()));
  // Nor does another process on this directory ask for it.
  CHECK(must(world.start(any_bytes)->read(digest, any_bytes)) == bytes);
  CHECK(world.sent == static_cast<std::int64_t>(bytes.size()));
  CHECK(world.blobs->figures()->received_bytes == world.sent);
}

TEST_CASE("a download that was cut off goes on where it was, after a restart, too") {
  BlobWorld world;
  const std::string bytes = large_bytes();
  const std::string digest = world.add(bytes);
  world.before = [](const std::string&, std::int64_t offset) -> Status {
    if (offset > 0) return Error{ErrorKind::unavailable, "the cable"};
    return {};
  };
  CHECK(world.blobs->fetch(digest).error().kind == ErrorKind::io);
  CHECK_FALSE(world.blobs->has(digest));
  world.before = {};
  world.blobs = world.start(any_bytes);
  CHECK(must(world.blobs->read(digest, any_bytes)) == bytes);
  CHECK(world.sent == static_cast<std::int64_t>(bytes.size()));
}

TEST_CASE("what came of a piece before the connection broke off is kept") {
  BlobWorld world;
  const std::string bytes = large_bytes();
  const std::string digest = world.add(bytes);
  world.comes_at_most = 700'000;
  CHECK(must(world.blobs->read(digest, any_bytes)) == bytes);
  CHECK(world.sent == static_cast<std::int64_t>(bytes.size()));
}

TEST_CASE("other bytes than a digest says are never kept, and the right ones are asked for again") {
  BlobWorld world;
  const std::string digest = world.add("what it is");
  world.above[digest] = "what it not";
  const auto wrong = world.blobs->fetch(digest);
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().kind == ErrorKind::io);  // that may be mended: nobody gives anything up for it
  CHECK(world.blobs->figures()->wrong_answers == 1);
  world.above[digest] = "what it is";
  CHECK(must(world.blobs->read(digest, any_bytes)) == "what it is");
  CHECK(world.blobs->fetch(std::string(64, 'a')).error().kind == ErrorKind::not_found);
  CHECK(world.blobs->fetch("../../etc/passwd").error().kind == ErrorKind::invalid);
}

TEST_CASE("what was damaged here is brought anew") {
  BlobWorld world;
  const std::string digest = world.add("some bytes");
  must(world.blobs->verify(digest));
  must(io::real_files().write(world.blobs->path(digest), "some bites", io::Mode::normal));
  must(world.blobs->verify(digest));
  CHECK(must(world.blobs->read(digest, any_bytes)) == "some bytes");
  CHECK(must(world.blobs->confirm(digest, world.clock.steady())) == 10);
  CHECK(world.blobs->verified_since(digest, world.clock.steady() - std::chrono::seconds{1}));
}

TEST_CASE(
    "a scrub finds damage in what hosts delivered, and nothing amiss where the cache lacks or loses a blob") {
  BlobWorld world;
  const auto scrub = [&](const std::string& digest) -> Status {
    storage::BlobStore::Verification reading{digest};
    for (;;) {
      TRY_ASSIGN(const std::int64_t read, world.blobs->verify_step(reading, any_bytes, world.clock.steady()));
      if (read == 0) return {};
    }
  };
  const std::string mine = must(world.blobs->put("what a host computed"));
  const std::string above = world.add("some bytes");
  must(scrub(mine));
  must(scrub(above));  // nobody has asked for it
  must(world.blobs->verify(above));
  must(scrub(above));
  for (const std::string& digest : {mine, above})
    must(io::real_files().write(world.blobs->path(digest), "other bytes", io::Mode::normal));
  CHECK(scrub(mine).error().kind == ErrorKind::untrusted);
  must(scrub(above));
  CHECK_FALSE(world.blobs->has(above));
  CHECK(must(world.blobs->read(above, any_bytes)) == "some bytes");
}

TEST_CASE("the cache has a cap, spares what is in use, and never takes what hosts delivered") {
  BlobWorld world;
  world.blobs = world.start(25);
  const std::string mine = must(world.blobs->put("what a host computed"));
  std::vector<std::string> brought;
  for (const char* bytes : {"0123456789", "1234567890", "2345678901"}) {
    brought.push_back(world.add(bytes));
    must(world.blobs->verify(brought.back()));
    world.clock.advance(std::chrono::minutes{50});
  }
  must(world.blobs->verify(brought[0]));  // it is the latest now
  const Duration stale = std::chrono::hours{24 * 365 * 100};
  CHECK(must(world.blobs->collect({mine}, world.clock.now(), stale)) == 0);  // files are as new as today
  for (const std::string& digest : brought)
    std::filesystem::last_write_time(world.blobs->path(digest), std::filesystem::file_time_type::min());
  CHECK(must(world.blobs->collect({mine}, world.clock.now(), stale)) == 1);
  CHECK_FALSE(world.blobs->has(brought[1]));
  CHECK(world.blobs->has(brought[0]));
  CHECK(world.blobs->has(brought[2]));
  CHECK(world.blobs->has(mine));
  CHECK(must(world.blobs->read(brought[1], any_bytes)) == "1234567890");  // it is brought again
}
