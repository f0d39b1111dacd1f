// Directories that are closed to others.
#include "shared/io/private_files.h"

#include <sys/stat.h>

#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"
#include "tests/unit/says.h"

using namespace gleaner;

namespace {

mode_t bits_of(const io::Path& path) {
  struct stat facts {};
  REQUIRE(::lstat(path.c_str(), &facts) == 0);
  return facts.st_mode & 0777;
}

}  // namespace

TEST_CASE("an open directory and the files in it are closed, which is told once") {
  const gleaner::testing::TemporaryDirectory temporary;
  const io::Path directory = temporary.path() / "project";
  const io::Path file = directory / "store", program = directory / "program", inner = directory / "inner";
  REQUIRE(io::real_files().make_directories(inner).ok());
  for (const io::Path& each : {file, program})
    REQUIRE(io::real_files().write(each, "x", io::Mode::normal).ok());
  REQUIRE(::chmod(directory.c_str(), 0775) == 0);
  REQUIRE(::chmod(file.c_str(), 0666) == 0);
  REQUIRE(::chmod(program.c_str(), 0755) == 0);
  REQUIRE(::chmod(inner.c_str(), 0755) == 0);
  const std::string told = io::close_to_others(directory);
  CHECK(says(told, directory.string()));
  CHECK(says(told, "mode 775"));
  CHECK(bits_of(directory) == 0700);
  CHECK(bits_of(file) == 0600);
  CHECK(bits_of(program) == 0700);
  CHECK(bits_of(inner) == 0755);  // nobody else comes there any more
  CHECK(io::close_to_others(directory).empty());
}

TEST_CASE("what is no directory is left alone") {
  const gleaner::testing::TemporaryDirectory temporary;
  CHECK(io::close_to_others(temporary.path() / "nothing").empty());
  const io::Path file = temporary.path() / "file";
  REQUIRE(io::real_files().write(file, "x", io::Mode::normal).ok());
  REQUIRE(::chmod(file.c_str(), 0644) == 0);
  CHECK(io::close_to_others(file).empty());
  CHECK(bits_of(file) == 0644);
}

TEST_CASE("what is made is private, or readable where programs of other users read it") {
  const gleaner::testing::TemporaryDirectory temporary;
  const mode_t before = ::umask(0);
  io::make_private_files();
  REQUIRE(io::real_files().make_directories(temporary.path() / "private").ok());
  REQUIRE(io::real_files().write_at(temporary.path() / "log", 0, "x").ok());
  io::make_readable_files();
  REQUIRE(io::real_files().make_directories(temporary.path() / "readable").ok());
  ::umask(before);
  CHECK(bits_of(temporary.path() / "private") == 0700);
  CHECK(bits_of(temporary.path() / "log") == 0600);
  CHECK(bits_of(temporary.path() / "readable") == 0755);
}
