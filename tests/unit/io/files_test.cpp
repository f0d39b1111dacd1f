#include "shared/io/files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "shared/io/descriptor.h"
#include "shared/io/system_error.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

using namespace gleaner;
using namespace gleaner::io;
using gleaner::testing::TemporaryDirectory;

namespace {

int mode_of(const Path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return static_cast<int>(status.st_mode & 0777);
}

}  // namespace

TEST_CASE("files are written whole, with their mode, and leave nothing beside") {
  TemporaryDirectory directory;
  Files& files = real_files();
  const Bytes content = std::string("a\0b", 3);
  REQUIRE(files.write(directory / "file", content, Mode::normal).ok());
  REQUIRE(files.write(directory / "secret", "s", Mode::secret).ok());
  REQUIRE(files.write(directory / "program", "#!/bin/sh\n", Mode::executable).ok());
  CHECK(files.read(directory / "file", 3).value() == content);
  CHECK(mode_of(directory / "secret") == 0600);
  CHECK((mode_of(directory / "program") & 0100) == 0100);
  REQUIRE(files.write(directory / "file", "other", Mode::normal).ok());
  CHECK(files.read(directory / "file", 100).value() == "other");
  CHECK(files.size(directory / "file").value() == 5);
  CHECK(files.list(directory.path()).value() == std::vector<std::string>{"file", "program", "secret"});
}

TEST_CASE("reading is bounded and tells absence from trouble") {
  TemporaryDirectory directory;
  Files& files = real_files();
  REQUIRE(files.write(directory / "file", "0123456789", Mode::normal).ok());
  CHECK(files.read(directory / "file", 10).value() == "0123456789");
  CHECK(files.read(directory / "file", 9).error().kind == ErrorKind::too_large);
  CHECK(files.read_range(directory / "file", 2, 3).value() == "234");
  CHECK(files.read_range(directory / "file", 8, 30).value() == "89");
  CHECK(files.read_range(directory / "file", 10, 1).value().empty());
  CHECK(files.read_range(directory / "file", -1, 1).error().kind == ErrorKind::invalid);
  CHECK(files.read(directory / "none", 10).error().kind == ErrorKind::not_found);
  CHECK(files.read(directory / "file/below", 10).error().kind == ErrorKind::not_found);
  CHECK(files.size(directory / "none").error().kind == ErrorKind::not_found);
  CHECK(files.read(directory.path(), 10).error().kind == ErrorKind::io);
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK(files.read(directory / "pipe", 10).error().message.find("not a regular file") != std::string::npos);
  CHECK_FALSE(files.exists(directory / "none"));
  CHECK(files.exists(directory / "file"));
  CHECK(files.free_bytes(directory.path()).value() > 0);
}

TEST_CASE("a file grows at its end and never gets holes") {
  TemporaryDirectory directory;
  Files& files = real_files();
  const Path path = directory / "segment";
  CHECK(files.write_at(path, 0, "abc").ok());
  CHECK(files.write_at(path, 3, "def").ok());
  CHECK(files.write_at(path, 1, "B").ok());
  CHECK(files.sync(path).ok());
  CHECK(files.read(path, 10).value() == "aBcdef");
  CHECK(files.write_at(path, 7, "x").error().kind == ErrorKind::invalid);
  CHECK(files.write_at(path, -1, "x").error().kind == ErrorKind::invalid);
  CHECK(files.size(path).value() == 6);
  CHECK(files.sync(directory / "none").error().kind == ErrorKind::not_found);
}

TEST_CASE("directories are made, renamed and removed") {
  TemporaryDirectory directory;
  Files& files = real_files();
  CHECK(files.make_directories(directory / "a/b/c").ok());
  CHECK(files.make_directories(directory / "a/b/c/").ok());
  CHECK(files.write(directory / "a/b/c/file", "x", Mode::normal).ok());
  CHECK(files.make_directories(directory / "a/b/c/file/d").error().message.find("is a file") !=
        std::string::npos);
  CHECK(files.rename(directory / "a/b/c/file", directory / "file").ok());
  CHECK(files.exists(directory / "file"));
  CHECK(files.rename(directory / "none", directory / "x").error().kind == ErrorKind::not_found);
  CHECK(files.remove_all(directory / "a").ok());
  CHECK(files.remove_all(directory / "a").ok());
  CHECK_FALSE(files.exists(directory / "a"));
  CHECK(files.remove(directory / "file").ok());
  CHECK(files.remove(directory / "file").ok());
  CHECK(files.list(directory.path()).value().empty());
  CHECK(files.list(directory / "none").error().kind == ErrorKind::not_found);
}

TEST_CASE("a write that fails leaves the old content and no leftover") {
  TemporaryDirectory directory;
  Files& files = real_files();
  REQUIRE(files.make_directories(directory / "target/inside").ok());
  CHECK_FALSE(files.write(directory / "target", "x", Mode::normal).ok());  // a directory is in the way
  CHECK(files.list(directory.path()).value() == std::vector<std::string>{"target"});
  CHECK(files.write(directory / "none/file", "x", Mode::normal).error().kind == ErrorKind::not_found);
}

TEST_CASE("system errors say what to do") {
  CHECK(system_error("write /x", ENOSPC).message ==
        "cannot write /x: No space left on device: the disk is full: free some space");
  CHECK(system_error("write /x", ENOSPC).kind == ErrorKind::io);
  CHECK(system_error("read /x", EACCES).message.find("permissions") != std::string::npos);
  CHECK(system_error("read /x", ENOENT).kind == ErrorKind::not_found);

  TemporaryDirectory directory;  // and a real one: no descriptors left
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit small = before;
  small.rlim_cur = 3;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &small) == 0);
  const Status written = real_files().write(directory / "file", "x", Mode::normal);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().message.find("LimitNOFILE") != std::string::npos);
}

TEST_CASE("a truly full disk is told as such") {
  if (::access("/dev/full", W_OK) != 0) return;
  const Status written = real_files().write_at("/dev/full", 0, "x");
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().message.find("free some space") != std::string::npos);
}

namespace {
// In a process without the superuser's rights, from whom permissions keep nothing; what went wrong, or "".
std::string as_nobody(const std::function<std::string()>& work) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    std::string wrong;
    if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) wrong = "still the superuser";
    if (wrong.empty()) wrong = work();
    (void)!::write(ends[1], wrong.data(), wrong.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string wrong(4096, '\0');
  const ssize_t got = ::read(ends[0], wrong.data(), wrong.size());
  wrong.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return wrong;
}
}  // namespace

TEST_CASE("A tree is removed whatever permissions its directories have") {
  const TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 0777);
  CHECK(as_nobody([&]() -> std::string {
          const Path top = directory / "top";
          std::filesystem::create_directories(top / "a" / "b" / "c");
          std::filesystem::create_directories(top / "lifted-1");
          std::ofstream(top / "a" / "b" / "file") << "x";
          ::chmod((top / "a" / "b" / "c").c_str(), 0);
          ::chmod((top / "a" / "b").c_str(), 0);
          ::chmod((top / "a").c_str(), 0300);
          ::chmod(top.c_str(), 0);
          const Status removed = real_files().remove_all(top);
          return removed.ok() ? "" : removed.error().message;
        }) == "");
  CHECK_FALSE(std::filesystem::exists(directory / "top"));
}

TEST_CASE("A tree is removed however deep it is, with little memory and few descriptors") {
  const TemporaryDirectory directory;
  const Path top = directory / "top";
  REQUIRE(::mkdir(top.c_str(), 0755) == 0);
  Descriptor at(::open(top.c_str(), O_PATH | O_DIRECTORY));
  for (int depth = 0; depth < 20'000; ++depth) {
    REQUIRE(::mkdirat(at.get(), "d", 0755) == 0);
    at = Descriptor(::openat(at.get(), "d", O_PATH | O_DIRECTORY));
  }
  at.reset();
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{32, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const Status removed = real_files().remove_all(top);
  ::setrlimit(RLIMIT_NOFILE, &before);
  INFO((removed.ok() ? "" : removed.error().message));
  CHECK(removed.ok());
  CHECK_FALSE(std::filesystem::exists(top));
}

TEST_CASE("Links in a tree, and a link in its place, are removed and not followed") {
  const TemporaryDirectory directory;
  Files& files = real_files();
  REQUIRE(files.make_directories(directory / "kept").ok());
  REQUIRE(files.write(directory / "kept" / "file", "x", Mode::normal).ok());
  REQUIRE(files.make_directories(directory / "top" / "inner").ok());
  std::filesystem::create_directory_symlink(directory / "kept", directory / "top" / "inner" / "link");
  std::filesystem::create_directory_symlink(directory / "kept", directory / "top" / "link");
  REQUIRE(::mkfifo((directory / "top" / "fifo").c_str(), 0600) == 0);
  CHECK(files.remove_all(directory / "top").ok());
  std::filesystem::create_directory_symlink(directory / "kept", directory / "top");
  CHECK(files.remove_all(directory / "top").ok());
  CHECK(files.list(directory.path()).value() == std::vector<std::string>{"kept"});
  CHECK(files.read(directory / "kept" / "file", 10).value() == "x");
}

TEST_CASE("A plain file is read, and nothing that a link leads to") {
  const TemporaryDirectory directory;
  Files& files = real_files();
  REQUIRE(files.write(directory / "file", "text", Mode::normal).ok());
  std::filesystem::create_symlink(directory / "file", directory / "link");
  CHECK(files.read_plain(directory / "file", 4).value() == "text");
  CHECK(files.read_plain(directory / "file", 3).error().kind == ErrorKind::too_large);
  CHECK_FALSE(files.read_plain(directory / "link", 100).ok());
  CHECK_FALSE(files.read_plain(directory.path(), 100).ok());
  CHECK_FALSE(files.read_plain("/dev/zero", 100).ok());
}

TEST_CASE("faulty files fail where told, act otherwise") {
  TemporaryDirectory directory;
  FaultyFiles files(real_files());
  std::vector<std::string> asked;
  bool full = false;
  files.before_change = [&](std::string_view operation, const Path&) -> Status {
    asked.emplace_back(operation);
    if (full) return Error{ErrorKind::io, "the disk is full"};
    return {};
  };
  CHECK(files.make_directories(directory / "d").ok());
  CHECK(files.write(directory / "f", "x", Mode::normal).ok());
  CHECK(files.write_at(directory / "f", 1, "y").ok());
  CHECK(files.sync(directory / "f").ok());
  CHECK(files.rename(directory / "f", directory / "g").ok());
  CHECK(files.remove_all(directory / "d").ok());
  full = true;
  CHECK(files.write(directory / "g", "lost", Mode::normal).error().message == "the disk is full");
  CHECK_FALSE(files.write_at(directory / "g", 0, "lost").ok());
  CHECK_FALSE(files.sync(directory / "g").ok());
  CHECK_FALSE(files.rename(directory / "g", directory / "h").ok());
  CHECK_FALSE(files.make_directories(directory / "e").ok());
  CHECK_FALSE(files.remove(directory / "g").ok());
  CHECK_FALSE(files.remove_all(directory.path()).ok());
  CHECK(files.read(directory / "g", 10).value() == "xy");
  CHECK(files.list(directory.path()).value() == std::vector<std::string>{"g"});
  CHECK(asked == std::vector<std::string>{"make_directories", "write", "write_at", "sync", "rename",
                                          "remove_all", "write", "write_at", "sync", "rename",
                                          "make_directories", "remove", "remove_all"});
}
