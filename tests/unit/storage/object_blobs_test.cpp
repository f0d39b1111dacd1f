// Blobs in an object store that is away, slow, full or lies: what was acknowledged is there, and what is not
// there was not acknowledged.
#include "server/storage/object_blobs.h"

#include "server/storage/blob_inventory.h"
#include "server/storage/blob_note.h"
#include "server/storage/open_blobs.h"
#include "tests/unit/storage/fixture.h"
#include "tests/unit/storage/memory_objects.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

constexpr std::int64_t any_bytes = 1 << 30;

struct ObjectWorld {
  FakeClock clock;
  MemoryObjects store{clock};
  TemporaryDirectory directory;
  std::unique_ptr<ObjectBlobs> blobs = start();

  ObjectWorld() { must(blobs->open("project")); }

  // Another process, on this directory or another one.
  std::unique_ptr<ObjectBlobs> start(const io::Path& at = {}, std::int64_t cache_bytes = any_bytes) {
    auto bucket = std::make_unique<objects::Bucket>(
        *objects::parse_place("s3+http://127.0.0.1/b/p"), objects::Credentials{"id", "secret", "here"},
        objects::Bucket::Outside{[this] { return store.client(); }, clock,
                                 [this](Duration pause) { clock.advance(pause); }});
    return std::make_unique<ObjectBlobs>(io::real_files(), at.empty() ? directory.path() : at,
                                         std::move(bucket), clock, cache_bytes);
  }
  MemoryObjects::Object& object(const std::string& digest) {
    return store.objects.at("/b/p/blobs/" + digest);
  }
  bool has_object(const std::string& digest) { return store.objects.contains("/b/p/blobs/" + digest); }
  void empty_cache() {
    for (const auto& [digest, bytes] : must(list_blobs(io::real_files(), directory.path())).blobs)
      std::filesystem::remove(blobs->path(digest));
  }
  void away() {
    store.before = [](const io::HttpRequest&) {
      return Result<io::HttpReply>(Error{ErrorKind::unavailable, "no route"});
    };
  }
  void back() {
    store.before = {};
    clock.advance(std::chrono::minutes{1});
  }
};

std::string large_bytes(char what = 'x') {
  std::string bytes(static_cast<std::size_t>(2 * objects::piece_bytes + 5), what);
  for (std::size_t i = 0; i < bytes.size(); i += 4096) bytes[i] = static_cast<char>(i >> 12);
  return bytes;
}

}  // namespace

TEST_CASE("what was put is an object, and is read from it by another process that has no files") {
  ObjectWorld world;
  const std::string digest = must(world.blobs->put("some bytes"));
  CHECK(world.object(digest).bytes == "some bytes");
  world.empty_cache();
  const auto other = world.start();
  must(other->open("project"));
  CHECK(must(other->size(digest)) == 10);
  CHECK(must(other->read(digest, any_bytes)) == "some bytes");
  CHECK(other->read(digest, 5).error().kind == ErrorKind::too_large);
  CHECK(must(io::real_files().read(must(other->fetch(digest)), any_bytes)) == "some bytes");
  const std::string nothing = must(other->put(""));
  world.empty_cache();
  CHECK(must(other->read(nothing, any_bytes)).empty());
}

TEST_CASE("a large file goes in parts, and on from those that are there when it was interrupted") {
  ObjectWorld world;
  const std::string bytes = large_bytes();
  must(io::real_files().write(world.directory / "file", bytes, io::Mode::normal));
  world.store.before = [](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.url.find("partNumber=3") == std::string::npos) return {};
    return Error{ErrorKind::unavailable, "cut"};
  };
  CHECK(world.blobs->put_file(world.directory / "file").error().kind == ErrorKind::io);
  REQUIRE(world.store.uploads.size() == 1);
  CHECK(world.store.uploads.begin()->second.parts.size() == 2);
  world.back();
  int parts = 0;
  world.store.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.url.find("partNumber=") != std::string::npos) ++parts;
    return {};
  };
  const auto restarted = world.start();
  must(restarted->open("project"));
  const std::string digest = must(restarted->put_file(world.directory / "file"));
  CHECK(parts == 1);
  CHECK(world.store.uploads.empty());
  CHECK(world.object(digest).bytes == bytes);
  world.empty_cache();
  CHECK(must(restarted->read(digest, any_bytes)) == bytes);
}

TEST_CASE("an upload is complete when the store has it, and can be finished later if it was away") {
  ObjectWorld world;
  const std::string digest = crypto::sha256_hex("from a host");
  must(world.blobs->append(digest, 0, "from a", any_bytes, "7"));
  CHECK(must(world.blobs->upload_state(digest, "7")).offset == 6);
  CHECK(!must(world.blobs->append(digest, 6, " host", any_bytes, "7")).complete);
  world.away();
  CHECK(world.blobs->finish(digest, "7").error().kind == ErrorKind::io);
  CHECK(world.blobs->upload_state(digest, "7").error().kind == ErrorKind::io);
  CHECK_THAT(world.blobs->health().error().message, Contains("no route"));
  world.back();
  const auto state = must(world.blobs->upload_state(digest, "7"));
  CHECK(state.offset == 11);
  CHECK(!state.complete);
  must(world.blobs->finish(digest, "7"));
  CHECK(world.blobs->health().ok());
  CHECK(must(world.blobs->upload_state(digest, "7")).complete);
  CHECK(world.object(digest).bytes == "from a host");
}

TEST_CASE("a store that says it has stored, and has not, is not believed") {
  ObjectWorld world;
  SECTION("nothing at all") {
    world.store.before = [](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
      if (request.method != "PUT") return {};
      return io::HttpReply{200, {{"etag", "\"something\""}}, "", {}};
    };
  }
  SECTION("other bytes") {
    world.store.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
      if (request.method != "PUT" || request.body != "some bytes") return {};
      auto other = request;
      other.body = "some byteS";
      world.store.objects["/b/p/blobs/" + crypto::sha256_hex("some bytes")] = {other.body, "x",
                                                                               world.clock.now()};
      return io::HttpReply{200, {{"etag", "\"x\""}}, "", {}};
    };
  }
  const auto stored = world.blobs->put("some bytes");
  REQUIRE(!stored.ok());
  CHECK(stored.error().kind == ErrorKind::io);
  CHECK_THAT(stored.error().message, Contains("did not keep"));
  world.back();
  const std::string digest = must(world.blobs->put("some bytes"));
  CHECK(world.object(digest).bytes == "some bytes");
}

TEST_CASE("a store whose ETags are no checksums is read back") {
  ObjectWorld world;
  world.store.tells_checksums = false;
  const std::string digest = must(world.blobs->put(large_bytes()));
  CHECK(world.blobs->figures()->received_bytes > 2 * objects::piece_bytes);
  CHECK(world.object(digest).bytes == large_bytes());
}

TEST_CASE("wrong bytes are a doubt; they are damage after an hour, if the store is in its right mind") {
  ObjectWorld world;
  const std::string digest = must(world.blobs->put("some bytes"));
  world.empty_cache();
  const auto only_this = [&](const std::string& key, Bytes& bytes) {
    if (key.ends_with(digest)) bytes.back() ^= 1;
  };
  const auto everything = [](const std::string&, Bytes& bytes) { bytes.back() ^= 1; };
  world.store.spoil = only_this;
  CHECK(world.blobs->read(digest, any_bytes).error().kind == ErrorKind::io);
  CHECK(world.blobs->verify(digest).error().kind == ErrorKind::io);
  BlobStore::Verification reading{digest};
  CHECK(must(world.blobs->verify_step(reading, any_bytes, world.clock.steady())) == 10);
  CHECK(world.blobs->verify_step(reading, any_bytes, world.clock.steady()).error().kind == ErrorKind::io);
  SECTION("it passes") {
    world.store.spoil = {};
    CHECK(must(world.blobs->read(digest, any_bytes)) == "some bytes");
    world.empty_cache();
    world.clock.advance(std::chrono::hours{2});
    world.store.spoil = only_this;
    CHECK(world.blobs->verify(digest).error().kind == ErrorKind::io);  // a doubt of its own
  }
  SECTION("it does not") {
    world.clock.advance(std::chrono::hours{1});
    CHECK(world.blobs->verify(digest).error().kind == ErrorKind::untrusted);
    CHECK(!world.blobs->has(digest));
    CHECK(!must(world.blobs->upload_state(digest)).complete);
    world.store.spoil = {};
    CHECK(must(world.blobs->put("some bytes")) == digest);
    CHECK(world.blobs->has(digest));
  }
  SECTION("it lies about everything") {
    world.store.spoil = everything;
    world.clock.advance(std::chrono::hours{10});
    CHECK(world.blobs->verify(digest).error().kind == ErrorKind::io);
  }
  CHECK(world.blobs->figures()->wrong_answers >= 3);
}

TEST_CASE("an object that is not there is a doubt, too, and gone after an hour") {
  ObjectWorld world;
  const std::string digest = must(world.blobs->put("some bytes"));
  const std::string other = must(world.blobs->put("others"));
  world.empty_cache();
  const auto objects = world.store.objects;
  world.store.objects.erase("/b/p/blobs/" + digest);
  CHECK(world.blobs->fetch(digest).error().kind == ErrorKind::io);
  world.clock.advance(std::chrono::hours{1});
  CHECK(world.blobs->fetch(digest).error().kind == ErrorKind::not_found);
  // A bucket that was emptied has no owner: nothing of it is believed to be gone.
  world.store.objects.clear();
  CHECK(world.blobs->fetch(other).error().kind == ErrorKind::io);
  world.clock.advance(std::chrono::hours{10});
  CHECK(world.blobs->fetch(other).error().kind == ErrorKind::io);
  const auto restarted = world.start();
  CHECK(restarted->open("project").error().kind == ErrorKind::invalid);
  CHECK(world.store.objects.empty());
}

TEST_CASE("a cached file that rots is brought anew") {
  ObjectWorld world;
  const std::string digest = must(world.blobs->put("some bytes"));
  must(io::real_files().write(world.blobs->path(digest), "some Bytes", io::Mode::normal));
  CHECK(must(world.blobs->read(digest, any_bytes)) == "some bytes");
  must(io::real_files().write(world.blobs->path(digest), "some Bytes", io::Mode::normal));
  must(world.blobs->verify(digest));
  CHECK(must(io::real_files().read(world.blobs->path(digest), any_bytes)) == "some bytes");
  must(io::real_files().write(world.blobs->path(digest), "some Bytes", io::Mode::normal));
  CHECK(must(world.blobs->confirm(digest, world.clock.steady())) == 10);
  CHECK(world.blobs->verified_since(digest, world.clock.steady()));
}

TEST_CASE("collecting removes objects that nobody needs or used for a day, and parts that nobody completed") {
  ObjectWorld world;
  const std::string needed = must(world.blobs->put("needed")), unused = must(world.blobs->put("unused")),
                    used = must(world.blobs->put("used"));
  world.store.uploads["old"] = {"/b/p/blobs/" + unused, {}, world.clock.now()};
  CHECK(must(world.blobs->collect({needed}, world.clock.now(), std::chrono::hours{24})) == 0);
  world.clock.advance(std::chrono::hours{25});
  world.store.uploads["young"] = {"/b/p/blobs/" + unused, {}, world.clock.now()};
  const auto other = world.start();
  must(other->open("project"));
  const std::string young = must(other->put("young"));
  CHECK(world.blobs->has(used));
  CHECK(must(world.blobs->collect({needed}, world.clock.now(), std::chrono::hours{24})) == 1);
  CHECK(world.has_object(needed));
  CHECK(!world.has_object(unused));
  CHECK(world.has_object(used));
  CHECK(world.has_object(young));
  CHECK(world.store.objects.contains("/b/p/owner"));
  CHECK(!world.store.uploads.contains("old"));
  CHECK(world.store.uploads.contains("young"));
  CHECK(must(world.blobs->put("unused")) == unused);
  CHECK(world.has_object(unused));
  // The bucket is not listed at every call.
  const int before = world.store.requests;
  must(world.blobs->collect({needed}, world.clock.now(), std::chrono::hours{24}));
  CHECK(world.store.requests == before);
}

TEST_CASE("what a host uploaded and never committed goes, unless somebody used it") {
  ObjectWorld world;
  const std::string digest = must(world.blobs->put("uploaded"));
  world.clock.advance(std::chrono::hours{2});
  CHECK(!must(world.blobs->discard(digest, world.clock.now() - std::chrono::hours{3})));
  CHECK(world.has_object(digest));
  CHECK(world.blobs->has(digest));
  must(world.blobs->discard(digest, world.clock.now() - std::chrono::hours{1}));
  CHECK(world.has_object(digest));
  world.clock.advance(std::chrono::hours{2});
  CHECK(must(world.blobs->discard(digest, world.clock.now() - std::chrono::hours{1})));
  CHECK(!world.has_object(digest));
}

TEST_CASE("the cache keeps to its size, but for what was used within the hour") {
  ObjectWorld world;
  const auto blobs = world.start({}, 10);
  must(blobs->open("project"));
  const std::string first = must(blobs->put("12345678")), second = must(blobs->put("abcdefgh"));
  const auto cached = [&] { return must(list_blobs(io::real_files(), world.directory.path())).blobs; };
  // Files have the machine's time, not the test's.
  const auto hour_later = [&] {
    const Timestamp real = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    world.clock.advance(std::max(Duration{0}, real - world.clock.now()) + std::chrono::hours{2});
  };
  must(blobs->collect({first, second}, world.clock.now(), std::chrono::hours{24}));
  CHECK(cached().size() == 2);
  hour_later();
  must(blobs->fetch(second));
  must(blobs->collect({first, second}, world.clock.now(), std::chrono::hours{24}));
  CHECK(cached().size() == 1);
  CHECK(cached().contains(second));
  CHECK(must(blobs->read(first, any_bytes)) == "12345678");
}

TEST_CASE("a bucket of another project, or with things of somebody else, is not touched") {
  ObjectWorld world;
  TemporaryDirectory elsewhere;
  const auto other = world.start(elsewhere.path());
  CHECK_THAT(other->open("another").error().message, Contains("another project"));
  CHECK(other->put("bytes").error().kind == ErrorKind::io);
  world.store.objects.clear();
  world.store.objects["/b/p/photo"] = {"of somebody", "x", world.clock.now()};
  const auto third = world.start(elsewhere.path());
  CHECK_THAT(third->open("another").error().message, Contains("empty bucket"));
  CHECK(world.store.objects.size() == 1);
}

TEST_CASE("a store that is away when the server starts is no error; wrong keys are") {
  ObjectWorld world;
  const std::string digest = must(world.blobs->put("some bytes"));
  world.away();
  const auto blobs = world.start();
  must(blobs->open("project"));
  CHECK(!blobs->health().ok());
  CHECK(must(blobs->read(digest, any_bytes)) == "some bytes");  // from its file
  CHECK(blobs->put("other").error().kind == ErrorKind::io);
  world.back();
  CHECK(blobs->wants_probe());
  blobs->probe();
  CHECK(blobs->health().ok());
  must(blobs->put("other"));
  world.store.before = [](const io::HttpRequest&) {
    return Result<io::HttpReply>(
        io::HttpReply{403, {}, "<Error><Code>InvalidAccessKeyId</Code></Error>", {}});
  };
  CHECK_THAT(world.start()->open("project").error().message, Contains("InvalidAccessKeyId"));
  CHECK(blobs->put("third").error().kind == ErrorKind::io);
}

TEST_CASE("a setting that was changed alone does not lose what there is") {
  ObjectWorld world;
  must(world.blobs->put("some bytes"));
  FileBlobs files(io::real_files(), world.directory.path());
  CHECK_THAT(files.open().error().message,
             Contains("s3+http://127.0.0.1/b/p") && Contains("migrate --blobs"));
  TemporaryDirectory other;
  FileBlobs present(io::real_files(), other.path());
  must(present.open());
  must(present.put("a blob"));
  CHECK_THAT(world.start(other.path())->open("project").error().message, Contains("migrate --blobs"));
}
