// Blobs: whole or absent, whatever fails; uploads that resume; names that cannot leave the directory.
#include "server/storage/file_blobs.h"

#include <future>
#include <thread>

#include "shared/base/random.h"
#include "shared/crypto/keys.h"
#include "tests/catch.h"
#include "tests/unit/storage/fixture.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

constexpr std::int64_t any_size = 1 << 30;

Bytes random_bytes(Random& random, std::size_t size) {
  Bytes bytes(size, 0);
  for (char& byte : bytes) byte = static_cast<char>(random.below(256));
  return bytes;
}

std::vector<std::string> files_in(const io::Path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
  }
  return names;
}

Timestamp now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace

TEST_CASE("a blob comes back under its digest, whole and in parts") {
  const TemporaryDirectory directory;
  FileBlobs blobs(io::real_files(), directory.path());
  must(blobs.open());
  for (const Bytes& bytes : {Bytes(), Bytes("a"), Bytes(3'000'000, 'x')}) {
    const std::string digest = must(blobs.put(bytes));
    CHECK(digest == crypto::sha256_hex(bytes));
    CHECK(must(blobs.put(bytes)) == digest);
    CHECK(blobs.has(digest));
    CHECK(must(blobs.size(digest)) == static_cast<std::int64_t>(bytes.size()));
    CHECK(must(blobs.read(digest, any_size)) == bytes);
    CHECK(blobs.path(digest) == directory / "blobs" / digest.substr(0, 2) / digest);
    CHECK(std::filesystem::file_size(blobs.path(digest)) == bytes.size());
  }
  const std::string digest = must(blobs.put("0123456789"));
  CHECK(must(blobs.read_range(digest, 3, 4)) == "3456");
  CHECK(must(blobs.read_range(digest, 8, 100)) == "89");
  CHECK(must(blobs.read_range(digest, 100, 1)).empty());
  CHECK(blobs.read(digest, 9).error().kind == ErrorKind::too_large);
  const std::string absent = crypto::sha256_hex("absent");
  CHECK(!blobs.has(absent));
  CHECK(blobs.size(absent).error().kind == ErrorKind::not_found);
  CHECK(blobs.read(absent, any_size).error().kind == ErrorKind::not_found);
  CHECK(blobs.read_range(absent, 0, 1).error().kind == ErrorKind::not_found);
  FileBlobs reopened(io::real_files(), directory.path());
  must(reopened.open());
  CHECK(must(reopened.read(digest, any_size)) == "0123456789");
}

TEST_CASE("what is not a digest names nothing") {
  const TemporaryDirectory directory;
  FileBlobs blobs(io::real_files(), directory / "store");
  must(blobs.open());
  must(io::real_files().write(directory / "secret", "secret", io::Mode::normal));
  const std::string digest = crypto::sha256_hex("x");
  for (const std::string& name :
       {std::string("../../secret"), std::string(), std::string("ab"), digest + "0", digest.substr(1),
        digest.substr(0, 63) + "/", std::string(64, 'A'), std::string(64, '.'), digest.substr(0, 63) + '\0',
        "../" + digest.substr(3), std::string(64, 'g')}) {
    INFO(name);
    CHECK(!BlobStore::is_digest(name));
    CHECK(!blobs.has(name));
    CHECK(blobs.path(name) == directory / "store/blobs/not-a-digest");
    CHECK(blobs.size(name).error().kind == ErrorKind::invalid);
    CHECK(blobs.read(name, any_size).error().kind == ErrorKind::invalid);
    CHECK(blobs.read_range(name, 0, 1).error().kind == ErrorKind::invalid);
    CHECK(blobs.upload_state(name).error().kind == ErrorKind::invalid);
    CHECK(blobs.append(name, 0, "x", any_size).error().kind == ErrorKind::invalid);
    CHECK(blobs.finish(name).error().kind == ErrorKind::invalid);
  }
  CHECK(files_in(directory.path()) == std::vector<std::string>{"secret"});
}

TEST_CASE("a file is copied in") {
  const TemporaryDirectory directory;
  FileBlobs blobs(io::real_files(), directory / "store");
  must(blobs.open());
  const std::uint64_t seed = 3;
  INFO("seed " << seed);
  Random random(seed);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, std::size_t{2'500'017}}) {
    const Bytes bytes = random_bytes(random, size);
    must(io::real_files().write(directory / "source", bytes, io::Mode::normal));
    const std::string digest = must(blobs.put_file(directory / "source"));
    CHECK(digest == crypto::sha256_hex(bytes));
    CHECK(must(blobs.put_file(directory / "source")) == digest);
    must(io::real_files().write_at(directory / "source", 0, "changed after"));
    CHECK(must(blobs.read(digest, any_size)) == bytes);
  }
  CHECK(blobs.put_file(directory / "absent").error().kind == ErrorKind::not_found);
  CHECK(files_in(directory / "store/uploads").empty());
}

TEST_CASE("an upload resumes, also after a restart") {
  const TemporaryDirectory directory;
  const std::uint64_t seed = 4;
  INFO("seed " << seed);
  Random random(seed);
  const Bytes bytes = random_bytes(random, 100'000);
  const std::string digest = crypto::sha256_hex(bytes);
  auto blobs = std::make_unique<FileBlobs>(io::real_files(), directory.path());
  must(blobs->open());
  CHECK(must(blobs->upload_state(digest)).offset == 0);
  CHECK(blobs->finish(digest).error().kind == ErrorKind::not_found);
  std::int64_t offset = 0;
  while (offset < 100'000) {
    if (random.chance(0.3)) {
      blobs = std::make_unique<FileBlobs>(io::real_files(), directory.path());
      must(blobs->open());
    }
    const auto state = must(blobs->upload_state(digest));
    CHECK(state.digest == digest);
    CHECK(!state.complete);
    REQUIRE(state.offset == offset);
    // Only at the end of what is there: no holes, nothing twice.
    for (const std::int64_t wrong : {offset - 1, offset + 1, std::int64_t{-1}}) {
      const auto refused = blobs->append(digest, wrong, "x", any_size);
      REQUIRE(!refused.ok());
      CHECK(refused.error().kind == ErrorKind::conflict);
      CHECK_THAT(refused.error().message, Contains(std::to_string(offset)));
    }
    const auto size = std::min<std::int64_t>(random.between(0, 9'000), 100'000 - offset);
    const auto chunk =
        std::string_view(bytes).substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
    offset += size;
    CHECK(must(blobs->append(digest, offset - size, chunk, any_size)).offset == offset);
    CHECK(!blobs->has(digest));
  }
  must(blobs->finish(digest));
  must(blobs->finish(digest));  // said twice
  CHECK(must(blobs->read(digest, any_size)) == bytes);
  const auto state = must(blobs->upload_state(digest));
  CHECK((state.complete && state.offset == 100'000));
  CHECK(must(blobs->append(digest, 0, "more", any_size)).complete);
  CHECK(must(blobs->read(digest, any_size)) == bytes);
  CHECK(files_in(directory / "uploads").empty());
}

TEST_CASE("an upload that grows too large or is something else is refused") {
  const TemporaryDirectory directory;
  FileBlobs blobs(io::real_files(), directory.path());
  must(blobs.open());
  const std::string digest = crypto::sha256_hex("12345678");
  CHECK(must(blobs.append(digest, 0, "1234", 8)).offset == 4);
  CHECK(blobs.append(digest, 4, "56789", 8).error().kind == ErrorKind::too_large);
  CHECK(must(blobs.upload_state(digest)).offset == 4);
  CHECK(must(blobs.append(digest, 4, "567x", 8)).offset == 8);
  const Status wrong = blobs.finish(digest);
  REQUIRE(!wrong.ok());
  CHECK(wrong.error().kind == ErrorKind::untrusted);
  CHECK_THAT(wrong.error().message, Contains("again from byte 0"));
  CHECK(!blobs.has(digest));
  CHECK(must(blobs.upload_state(digest)).offset == 0);
  CHECK(must(blobs.append(digest, 0, "12345678", 8)).offset == 8);
  must(blobs.finish(digest));
  CHECK(must(blobs.read(digest, 8)) == "12345678");
}

TEST_CASE("a blob put while it is being uploaded ends the upload") {
  const TemporaryDirectory directory;
  FileBlobs blobs(io::real_files(), directory.path());
  must(blobs.open());
  const std::string digest = crypto::sha256_hex("bytes");
  (void)must(blobs.append(digest, 0, "by", any_size));
  CHECK(must(blobs.put("bytes")) == digest);
  CHECK(must(blobs.append(digest, 2, "tes", any_size)).complete);
  must(blobs.finish(digest));
  CHECK(files_in(directory / "uploads").empty());
}

// The change number `failing` fails: before it acts, or (a sync that fails after the rename) although it has
// acted.
TEST_CASE("whatever fails, a blob is whole or absent, and trying again helps") {
  const Bytes bytes(2'100'000, 'b');
  const std::string digest = crypto::sha256_hex(bytes);
  const bool acts = GENERATE(false, true);
  const int way = GENERATE(0, 1, 2);
  INFO("way " << way << (acts ? ", failing after the act" : ", failing before the act"));
  bool reached_the_end = false;
  for (int failing = 0; !reached_the_end; ++failing) {
    REQUIRE(failing < 40);
    INFO("change " << failing);
    const TemporaryDirectory directory;
    io::Files& real = io::real_files();
    must(real.write(directory / "source", bytes, io::Mode::normal));
    io::FaultyFiles files(real);
    FileBlobs blobs(files, directory / "store");
    must(blobs.open());
    int change = 0;
    files.before_change = [&](std::string_view operation, const io::Path& path) -> Status {
      if (change++ != failing) return {};
      // What can be acted out here: the blob is in place although its directory could not be synced.
      if (acts && operation == "write") must(real.write(path, bytes, io::Mode::normal));
      if (acts && operation == "rename") must(real.write(path, bytes, io::Mode::normal));
      return Error{ErrorKind::io, "No space left on device"};
    };
    const auto store = [&]() -> Status {
      if (way == 0) return blobs.put(bytes).ok() ? Status{} : Error{ErrorKind::io, "No space left on device"};
      if (way == 1) {
        const auto done = blobs.put_file(directory / "source");
        return done.ok() ? Status{} : done.error();
      }
      TRY_ASSIGN(const auto state, blobs.upload_state(digest));
      if (!state.complete) {
        const auto rest = std::string_view(bytes).substr(static_cast<std::size_t>(state.offset));
        TRY_ASSIGN(const auto after, blobs.append(digest, state.offset, rest, any_size));
        CHECK(after.offset == static_cast<std::int64_t>(bytes.size()));
      }
      return blobs.finish(digest);
    };
    const Status done = store();
    reached_the_end = change <= failing;
    if (!done.ok()) {
      CHECK(done.error().kind == ErrorKind::io);
      CHECK(!blobs.has(digest));
    } else {
      CHECK(must(blobs.read(digest, any_size)) == bytes);
    }
    files.before_change = nullptr;
    must(store());
    CHECK(must(blobs.read(digest, any_size)) == bytes);
    if (way == 1) CHECK(files_in(directory / "store/uploads").empty());
    CHECK(files_in(directory / "store/blobs") == std::vector{digest});
  }
}

TEST_CASE("a blob that may not be durable is not believed until it is written again") {
  const TemporaryDirectory directory;
  io::Files& real = io::real_files();
  io::FaultyFiles files(real);
  FileBlobs blobs(files, directory.path());
  must(blobs.open());
  const std::string digest = crypto::sha256_hex("bytes");
  // In place but not synced, and it cannot be taken away either.
  files.before_change = [&](std::string_view operation, const io::Path& path) -> Status {
    if (operation == "write") must(real.write(path, "bytes", io::Mode::normal));
    if (operation == "write" || operation == "remove") return Error{ErrorKind::io, "Input/output error"};
    return {};
  };
  CHECK(blobs.put("bytes").error().kind == ErrorKind::io);
  CHECK(!blobs.has(digest));
  CHECK(blobs.read(digest, any_size).error().kind == ErrorKind::not_found);
  CHECK(!must(blobs.upload_state(digest)).complete);
  CHECK(blobs.put("bytes").error().kind == ErrorKind::io);
  files.before_change = nullptr;
  CHECK(must(blobs.put("bytes")) == digest);
  CHECK(must(blobs.read(digest, any_size)) == "bytes");
}

TEST_CASE("opening fails where directories cannot be made, and clears what copying left") {
  const TemporaryDirectory directory;
  io::FaultyFiles files(io::real_files());
  files.before_change = [](std::string_view, const io::Path&) -> Status {
    return Error{ErrorKind::io, "Read-only file system"};
  };
  CHECK(FileBlobs(files, directory.path()).open().error().kind == ErrorKind::io);
  files.before_change = nullptr;
  FileBlobs blobs(files, directory.path());
  must(blobs.open());
  const std::string part = crypto::sha256_hex("x") + ".part";
  must(files.write(directory / "uploads/3.copy", "half", io::Mode::normal));
  must(files.write(directory / "uploads" / part, "half", io::Mode::normal));
  must(blobs.open());
  CHECK(files_in(directory.path()) == std::vector{part});
}

TEST_CASE("what nobody refers to is collected after its grace") {
  const TemporaryDirectory directory;
  FileBlobs blobs(io::real_files(), directory.path());
  must(blobs.open());
  const auto kept = must(blobs.put("kept"));
  const auto loose = must(blobs.put("loose"));
  const auto touched = must(blobs.put("touched"));
  const auto asked_for = must(blobs.put("asked for"));
  const auto measured = must(blobs.put("measured"));
  const auto read = must(blobs.put("read"));
  const auto upload = crypto::sha256_hex("upload");
  (void)must(blobs.append(upload, 0, "up", any_size));
  must(io::real_files().write(directory / "blobs" / kept.substr(0, 2) / "README", "mine", io::Mode::normal));
  const Duration day = std::chrono::hours{24};

  CHECK(must(blobs.collect({kept}, now(), day)) == 0);  // all are young
  CHECK(must(blobs.upload_state(upload)).offset == 2);
  // Two days later; meanwhile somebody put or asked for some who has not recorded them yet.
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours{48};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path()))
    if (entry.is_regular_file()) std::filesystem::last_write_time(entry.path(), old);
  CHECK(must(blobs.put("touched")) == touched);
  CHECK(blobs.has(asked_for));
  CHECK(must(blobs.size(measured)) == 8);
  CHECK(must(blobs.read(read, any_size)) == "read");
  CHECK(must(blobs.collect({kept}, now(), day)) == 2);
  CHECK(blobs.has(kept));
  CHECK(!blobs.has(loose));
  for (const auto& digest : {touched, asked_for, measured, read}) CHECK(blobs.has(digest));
  CHECK(must(blobs.upload_state(upload)).offset == 0);
  CHECK(must(blobs.collect({}, now() + day + day, day)) == 5);
  CHECK(files_in(directory.path()) == std::vector<std::string>{"README"});
}

TEST_CASE("different digests do not wait for each other") {
  const TemporaryDirectory directory;
  io::FaultyFiles files(io::real_files());
  std::promise<void> first_is_writing, first_may_go_on;
  const std::string slow = crypto::sha256_hex("slow");
  files.before_change = [&](std::string_view operation, const io::Path& path) -> Status {
    if (operation == "write" && path.filename() == slow) {
      first_is_writing.set_value();
      first_may_go_on.get_future().wait();
    }
    return {};
  };
  FileBlobs blobs(files, directory.path());
  must(blobs.open());
  auto first = std::async(std::launch::async, [&] { return blobs.put("slow").ok(); });
  first_is_writing.get_future().wait();
  const auto quick = must(blobs.put("quick"));
  CHECK(must(blobs.read(quick, any_size)) == "quick");
  CHECK(!must(blobs.upload_state(slow)).complete);
  first_may_go_on.set_value();
  CHECK(first.get());
  CHECK(blobs.has(slow));
}

TEST_CASE("many threads put, upload, read and collect the same few blobs") {
  const TemporaryDirectory directory;
  FileBlobs blobs(io::real_files(), directory.path());
  must(blobs.open());
  const std::uint64_t seed = 8;
  INFO("seed " << seed);
  std::atomic<int> wrong = 0;
  const auto work = [&](std::uint64_t own_seed) {
    Random random(own_seed);
    for (int i = 0; i < 150; ++i) {
      const Bytes bytes(static_cast<std::size_t>(random.between(1, 4000)) / 1000 + 1, 'x');
      const std::string digest = crypto::sha256_hex(bytes);
      switch (random.below(4)) {
        case 0:
          if (!blobs.put(bytes).ok() || !blobs.has(digest)) wrong++;
          break;
        case 1: {
          const auto state = blobs.upload_state(digest);
          if (!state.ok()) wrong++;
          // Another thread may have been quicker: then it is a conflict, never damage.
          else if (!state->complete && state->offset < static_cast<std::int64_t>(bytes.size()))
            (void)blobs.append(digest, state->offset, std::string_view(bytes).substr(state->offset), 1 << 20);
          (void)blobs.finish(digest);
          break;
        }
        case 2: {
          const auto read = blobs.read(digest, any_size);
          if (read.ok() ? *read != bytes : read.error().kind != ErrorKind::not_found) wrong++;
          break;
        }
        default:
          if (!blobs.collect({}, now(), std::chrono::hours{1}).ok()) wrong++;
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back(work, seed + i);
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}
