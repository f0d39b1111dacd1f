#include "client/platform/helpers.h"

#include "shared/archive/archive.h"
#include "shared/crypto/keys.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"
#include "tests/unit/says.h"

using namespace gleaner;
using gleaner::testing::TemporaryDirectory;

TEST_CASE("An archive is unpacked by a process of its own, whose refusals come through as they are") {
  TemporaryDirectory directory;
  io::Files& files = io::real_files();
  REQUIRE(files.make_directories(directory / "sum").ok());
  REQUIRE(files.write(directory / "sum/kernel", "#!/bin/sh\n", io::Mode::executable).ok());
  const Bytes archive = archives::pack_directory(directory / "sum").value();
  REQUIRE(files.write(directory / "archive", archive, io::Mode::normal).ok());
  const std::string digest = crypto::sha256_hex(archive);
  const bundle::Unpack unpack = platform::make_unpack(io::real_processes(), GLEANER_UNPACK_HELPER).value();

  REQUIRE(unpack(directory / "archive", digest, directory / "into").ok());
  CHECK(files.read(directory / "into/kernel", 100).value() == "#!/bin/sh\n");

  const Status again = unpack(directory / "archive", digest, directory / "into");
  CHECK(again.error().kind == ErrorKind::conflict);
  const Status other = unpack(directory / "archive", crypto::sha256_hex("x"), directory / "other");
  CHECK(other.error().kind == ErrorKind::untrusted);
  says(other.error().message, "not the one that was signed");
  CHECK_FALSE(files.exists(directory / "other"));
  const Status none = unpack(directory / "nothing", digest, directory / "none");
  CHECK(none.error().kind == ErrorKind::not_found);
}

TEST_CASE("Without the helper it says what to do") {
  const auto unpack = platform::make_unpack(io::real_processes(), "");
  REQUIRE_FALSE(unpack.ok());
  CHECK(unpack.error().kind == ErrorKind::not_found);
  says(unpack.error().message, "install Gleaner again");
}
