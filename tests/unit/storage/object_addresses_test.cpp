// What hosts fetch from an object store, and put there, by addresses of its own.
#include "server/storage/object_blobs.h"

#include "tests/unit/storage/fixture.h"
#include "tests/unit/storage/memory_objects.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

struct Reached {
  FakeClock clock;
  MemoryObjects store{clock};
  TemporaryDirectory directory;
  std::unique_ptr<ObjectBlobs> blobs = start("https://objects.example");

  Reached() { must(blobs->open("project")); }
  std::unique_ptr<ObjectBlobs> start(const std::string& origin) {
    auto bucket = std::make_unique<objects::Bucket>(
        *objects::parse_place("s3+http://127.0.0.1/b/p"), objects::Credentials{"id", "secret", "here"},
        objects::Bucket::Outside{[this] { return store.client(); }, clock,
                                 [this](Duration pause) { clock.advance(pause); }});
    return std::make_unique<ObjectBlobs>(io::real_files(), directory.path(), std::move(bucket), clock,
                                         1 << 30, origin);
  }
  std::vector<protocol::PartAddress> places(const std::string& bytes, const std::string& sender = "7") {
    return must(blobs->put_addresses(crypto::sha256_hex(bytes), static_cast<std::int64_t>(bytes.size()),
                                     15min, sender));
  }
  // As a host does it, by that address.
  void put(const protocol::PartAddress& place, const std::string& bytes) {
    io::HttpRequest request;
    request.method = "PUT";
    request.url = place.address;
    request.body =
        bytes.substr(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(place.bytes));
    CHECK(must(store.answer(request)).status == 200);
  }
  bool has(const std::string& key) { return store.objects.contains("/b/p/" + key); }
};

std::string random_bytes(std::int64_t count) {
  Random random(7);
  std::string bytes(static_cast<std::size_t>(count), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.below(256));
  return bytes;
}

}  // namespace

TEST_CASE("an address says host, blob and its end, and there is none without a place for hosts") {
  Reached world;
  const std::string digest = must(world.blobs->put("some bytes"));
  const std::string address = world.blobs->address(digest, 15min);
  CHECK_THAT(address,
             Contains("https://objects.example/b/p/blobs/" + digest + "?X-Amz-Algorithm=AWS4-HMAC-SHA256"));
  CHECK_THAT(address, Contains("X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature="));
  CHECK(address.find("secret") == std::string::npos);
  CHECK(world.blobs->address("../owner", 15min).empty());
  const auto inside = world.start("");
  CHECK(inside->address(digest, 15min).empty());
  CHECK(inside->put_addresses(digest, 10, 15min, "7").error().kind == ErrorKind::not_found);
}

TEST_CASE("what a host put there becomes a blob when it is right") {
  Reached world;
  const std::string bytes = random_bytes(100'000), digest = crypto::sha256_hex(bytes);
  const auto places = world.places(bytes);
  REQUIRE(places.size() == 1);
  CHECK_THAT(places[0].address, Contains("SignedHeaders=content-length%3Bhost"));
  CHECK(must(world.blobs->upload_state(digest, "7")).offset == 0);
  world.put(places[0], bytes);
  const auto state = must(world.blobs->upload_state(digest, "7"));
  CHECK(state.offset == 100'000);
  CHECK(!state.complete);
  CHECK(must(world.blobs->upload_state(digest, "8")).offset == 0);  // nobody else's
  CHECK(!world.has("blobs/" + digest));
  CHECK(world.places(bytes).empty());
  must(world.blobs->finish(digest, "7"));
  CHECK(world.has("blobs/" + digest));
  CHECK(!world.has("sent/7/" + digest));
  CHECK(must(world.blobs->upload_state(digest, "7")).complete);
  CHECK(must(world.blobs->read(digest, 1 << 20)) == bytes);
}

TEST_CASE("other bytes than a blob's are refused and removed, and spoil nothing of anybody else's") {
  Reached world;
  const std::string bytes = random_bytes(1000), digest = crypto::sha256_hex(bytes);
  must(world.blobs->put(bytes));
  std::string wrong = bytes;
  wrong[5] ^= 1;
  io::HttpRequest request;
  request.method = "PUT";
  request.url = "https://objects.example/b/p/sent/7/" + digest;
  request.body = wrong;
  must(world.store.answer(request));
  CHECK(must(world.blobs->upload_state(digest, "7")).complete);  // it is there, whatever the host put
  CHECK(must(world.blobs->read(digest, 1 << 20)) == bytes);
  const std::string other = random_bytes(2000), other_digest = crypto::sha256_hex(other);
  const auto places = world.places(other);
  world.put(places.at(0), std::string(2000, 'x'));
  CHECK(world.blobs->finish(other_digest, "7").error().kind == ErrorKind::untrusted);
  CHECK(!world.has("sent/7/" + other_digest));
  CHECK(!world.has("blobs/" + other_digest));
  CHECK(world.places(other).size() == 1);  // it may try again
}

TEST_CASE("a large result goes in parts, and on from those that are there") {
  Reached world;
  const std::string bytes = random_bytes(2 * objects::piece_bytes + 5), digest = crypto::sha256_hex(bytes);
  auto places = world.places(bytes);
  REQUIRE(places.size() == 3);
  world.put(places[1], bytes);
  CHECK(must(world.blobs->upload_state(digest, "7")).offset == 0);
  places = world.places(bytes);
  REQUIRE(places.size() == 2);  // in the same upload
  CHECK(world.store.uploads.size() == 1);
  for (const auto& place : places) world.put(place, bytes);
  CHECK(world.places(bytes).empty());
  CHECK(must(world.blobs->upload_state(digest, "7")).offset == static_cast<std::int64_t>(bytes.size()));
  must(world.blobs->finish(digest, "7"));
  CHECK(must(world.blobs->read(digest, 1 << 30)) == bytes);
  CHECK(world.store.uploads.empty());
}

TEST_CASE("who began to send through the server goes on there") {
  Reached world;
  const std::string bytes = "half of it is here";
  must(world.blobs->append(crypto::sha256_hex(bytes), 0, "half", 1 << 20, "7"));
  CHECK(world.places(bytes).empty());
}

TEST_CASE("what was put and never committed goes when it is old, with begun parts") {
  Reached world;
  const std::string small = "a result", large = random_bytes(objects::piece_bytes + 1);
  world.put(world.places(small).at(0), small);
  world.put(world.places(large).at(0), large);
  must(world.blobs->collect({}, world.clock.now(), 24h));
  CHECK(world.has("sent/7/" + crypto::sha256_hex(small)));
  CHECK(world.store.uploads.size() == 1);
  world.clock.advance(25h);
  CHECK(must(world.blobs->collect({}, world.clock.now(), 24h)) == 1);
  CHECK(!world.has("sent/7/" + crypto::sha256_hex(small)));
  CHECK(world.store.uploads.empty());
  world.put(world.places(small).at(0), small);
  must(world.blobs->discard(crypto::sha256_hex(small), world.clock.now() + 1s, "7"));
  CHECK(!world.has("sent/7/" + crypto::sha256_hex(small)));
}
