// Blobs come in pieces.
#include <thread>

#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

Result<protocol::UploadState> upload(World& world, const service::Uploads::Chunk& chunk) {
  return World::wait<protocol::UploadState>(
      [&](auto done) { world.service().uploads().upload(chunk, std::move(done)); });
}

}  // namespace

TEST_CASE("an upload in two pieces, one of them compressed") {
  World world;
  const Bytes bytes = "a blob that comes in two pieces";
  const std::string digest = crypto::sha256_hex(bytes);
  const auto length = static_cast<std::int64_t>(bytes.size());
  auto state = must(upload(world, {digest, 0, length, bytes.substr(0, 10), false, 1000}));
  CHECK(state.offset == 10);
  CHECK(!state.complete);
  CHECK(must(world.service().uploads().state(digest)).offset == 10);
  world.restart();
  state = must(upload(world, {digest, 10, length, io::compress(bytes.substr(10)), true, 1000}));
  CHECK(state.complete);
  CHECK(must(world.service().kernel().blobs().read(digest, 1000)) == bytes);
}

TEST_CASE("an upload whose last byte came, and that was not looked at, ends with an empty piece") {
  World world;
  const Bytes bytes = "all of it was there when the server was killed";
  const std::string digest = crypto::sha256_hex(bytes);
  const auto length = static_cast<std::int64_t>(bytes.size());
  storage::BlobStore& blobs = world.service().kernel().blobs();
  must(blobs.append(digest, 0, bytes, 1000));
  CHECK(!must(world.service().uploads().state(digest)).complete);
  CHECK(must(upload(world, {digest, length, length, "", false, 1000})).complete);
  CHECK(must(blobs.read(digest, 1000)) == bytes);
}

TEST_CASE("an upload that somebody else began with other bytes is dropped, and begins anew") {
  World world;
  const Bytes bytes = "what it is";
  const std::string digest = crypto::sha256_hex(bytes);
  const auto length = static_cast<std::int64_t>(bytes.size());
  for (const char* other : {"what it isn't", "what it iS"}) {
    must(upload(world, {digest, 0, 1000, other, false, 1000}));
    CHECK(must(world.service().uploads().state(digest)).offset >= length);
    CHECK(upload(world, {digest, length, length, "", false, 1000}).error().kind == ErrorKind::untrusted);
    CHECK(must(world.service().uploads().state(digest)).offset == 0);
  }
  CHECK(must(upload(world, {digest, 0, length, bytes, false, 1000})).complete);
}

TEST_CASE("an upload of nothing") {
  World world;
  const std::string digest = crypto::sha256_hex("");
  CHECK(must(upload(world, {digest, 0, 0, "", false, 1000})).complete);
}

TEST_CASE("what an upload must not be") {
  World world;
  const Bytes bytes = "blob";
  const std::string digest = crypto::sha256_hex(bytes);
  const auto refused = [&](service::Uploads::Chunk chunk, ErrorKind kind, const std::string& why) {
    const auto state = upload(world, chunk);
    REQUIRE(!state.ok());
    CHECK(state.error().kind == kind);
    CHECK(says(state.error().message, why));
  };
  refused({"no digest", 0, 4, bytes, false, 1000}, ErrorKind::invalid, "SHA-256");
  refused({digest, 0, 2000, bytes, false, 1000}, ErrorKind::too_large, "1000");
  refused({digest, 0, -1, bytes, false, 1000}, ErrorKind::too_large, "limit");
  refused({digest, 0, 2, bytes, false, 1000}, ErrorKind::invalid, "beyond");
  refused({digest, 2, 4, "ob", false, 1000}, ErrorKind::conflict, "");
  CHECK(!world.service().uploads().state("nonsense").ok());
  const auto false_name = upload(world, {crypto::sha256_hex("other"), 0, 4, bytes, false, 1000});
  CHECK(false_name.error().kind == ErrorKind::untrusted);
}

TEST_CASE("a disk that is nearly full takes no uploads") {
  World world([](service::Configuration& c) { c.disk_reserve_megabytes = 1 << 20; });
  const auto state = upload(world, {crypto::sha256_hex("x"), 0, 1, "x", false, 1000});
  REQUIRE(!state.ok());
  CHECK(state.error().kind == ErrorKind::unavailable);
  CHECK(says(state.error().message, "nearly full"));
}

TEST_CASE("a host uploads what it may have to commit, and nothing else") {
  World world;
  world.add_application();
  const TestHost idle = world.add_host("idle"), busy = world.add_host("busy");
  (void)world.add_problem(30);
  const auto piece = [&](HostId host, const Bytes& bytes, std::int64_t length) {
    return upload(world,
                  {crypto::sha256_hex(bytes), 0, length, bytes, false, limits::segment_bytes_max, host});
  };
  const auto none = piece(idle.id, "junk", 4);
  REQUIRE(!none.ok());
  CHECK(none.error().kind == ErrorKind::unavailable);
  CHECK(says(none.error().message, "not committed"));

  const auto grant = world.grants(busy.id).front();
  auto request = World::results(grant.unit, grant.range, true);
  const Bytes segment = must(io::decompress(*request.data, 1 << 20));
  request.data.reset();
  CHECK(must(piece(busy.id, segment, static_cast<std::int64_t>(segment.size()))).complete);
  const auto more = piece(busy.id, "more", 100 << 20);
  REQUIRE(!more.ok());
  CHECK(more.error().kind == ErrorKind::unavailable);
  // What is committed is in nobody's account any more, and who has delivered may have late results.
  CHECK(must(world.commit(busy.id, request)).status == protocol::CommitStatus::accepted);
  CHECK(must(piece(busy.id, "late results", 12)).complete);
}

TEST_CASE("of a newcomer late results are what was taken from it, and nothing more for having delivered") {
  World world(Hosts::strangers);
  world.add_application();
  const TestHost host = world.add_host("newcomer");
  const ProblemId problem = world.add_problem(30);
  const auto piece = [&](const Bytes& bytes, std::int64_t length) {
    return upload(world,
                  {crypto::sha256_hex(bytes), 0, length, bytes, false, limits::segment_bytes_max, host.id});
  };
  world.finish(world.grants(host.id).front());
  CHECK(piece("junk", 60 << 20).error().kind == ErrorKind::unavailable);
  CHECK(piece("junk", 4).error().kind == ErrorKind::unavailable);
  (void)world.grants(host.id);
  must(world.change(problem, service::Problems::Action::cancel));
  CHECK(world.look<bool>([&](service::Transaction& tx) { return tx.model.hosts.at(host.id).units.empty(); }));
  CHECK(must(piece("late results", 12)).complete);
  CHECK(piece("junk", 60 << 20).error().kind == ErrorKind::unavailable);
}

TEST_CASE("what a host uploads and does not commit goes after an hour") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  (void)world.add_problem(30);
  (void)world.grants(host.id);
  const Bytes bytes = "abandoned";
  const std::string digest = crypto::sha256_hex(bytes);
  (void)must(upload(world, {digest, 0, 9, bytes, false, 1000, host.id}));
  const io::Path file = world.service().kernel().blobs().path(digest);
  const auto collect = [&] {
    world.service().ticker().collect_garbage();
    world.settle();
    for (int i = 0; i < 200 && io::real_files().exists(file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  };
  collect();
  CHECK(io::real_files().exists(file));
  world.clock().advance(std::chrono::minutes{61});
  collect();
  CHECK(!io::real_files().exists(file));
}

TEST_CASE("a segment larger than its items can be is refused before it is read") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  (void)world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  auto request = World::results(grant.unit, {grant.range.begin, grant.range.begin + 1});
  request.data = io::compress(Bytes(64 << 20, '\0'));
  request.bytes = 64 << 20;
  const auto answer = must(world.commit(host.id, request));
  CHECK(answer.status == protocol::CommitStatus::refused);
  CHECK(says(answer.reason, "more than so many items"));
}

TEST_CASE("an upload asks the writer once: the pieces that follow are in the host's account") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  (void)world.add_problem(30);
  (void)world.grants(host.id);
  const Bytes bytes = "a blob in three pieces";
  const std::string digest = crypto::sha256_hex(bytes);
  const auto length = static_cast<std::int64_t>(bytes.size());
  const auto piece = [&](std::int64_t from, std::int64_t to) {
    return upload(world, {digest, from, length,
                          bytes.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)),
                          false, 1000, host.id});
  };
  with_each_failure(world, [&](World&) { return status_of(piece(0, 5)); });
  CHECK(must(world.service().uploads().state(digest, host.id)).offset == 5);
  const std::int64_t commits = world.store().commits();
  CHECK(must(piece(5, 10)).offset == 10);
  CHECK(must(piece(10, length)).complete);
  CHECK(world.store().commits() == commits);
}

TEST_CASE("a host that sends other bytes under the digest of another's result spoils nothing") {
  World world;
  world.add_application();
  const TestHost honest = world.add_host("honest"), vandal = world.add_host("vandal");
  (void)world.add_problem(30);
  (void)world.grants(honest.id);
  (void)world.grants(vandal.id);
  const Bytes bytes = "what the honest host computed";
  const std::string digest = crypto::sha256_hex(bytes);
  const auto length = static_cast<std::int64_t>(bytes.size());
  const auto piece = [&](HostId host, std::int64_t offset, const Bytes& what) {
    return upload(world, {digest, offset, length, what, false, 1000, host});
  };
  CHECK(must(piece(vandal.id, 0, "x")).offset == 1);
  CHECK(must(piece(honest.id, 0, bytes.substr(0, 4))).offset == 4);
  CHECK(must(piece(vandal.id, 1, "yz")).offset == 3);
  CHECK(must(world.service().uploads().state(digest, honest.id)).offset == 4);
  CHECK(must(piece(honest.id, 4, bytes.substr(4))).complete);
  CHECK(
      must(piece(vandal.id, 3, bytes.substr(3))).complete);  // it is there: what it has sent does not matter
  CHECK(must(world.service().kernel().blobs().read(digest, 1000)) == bytes);
}

TEST_CASE("a host that is not known uploads nothing") {
  World world;
  const auto refused = upload(world, {crypto::sha256_hex("x"), 0, 1, "x", false, 1000, HostId{99}});
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "may have 0 bytes"));
}

TEST_CASE("a compressed piece that is none, or larger than a piece may be, is refused") {
  World world;
  const Bytes large(static_cast<std::size_t>(limits::upload_chunk_bytes_max) + 1, '\0');
  const auto length = static_cast<std::int64_t>(large.size());
  const std::string digest = crypto::sha256_hex(large);
  CHECK(!upload(world, {digest, 0, length, "no zlib stream", true, length}).ok());
  CHECK(!upload(world, {digest, 0, length, io::compress(large), true, length}).ok());
  CHECK(must(world.service().uploads().state(digest)).offset == 0);
}
