#include "shared/archive/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <chrono>

#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace gleaner::archives;
using namespace gleaner::io;
using gleaner::testing::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

// An archive as an attacker would make it.
class Crafted {
 public:
  Crafted() {
    archive_write_set_format_pax(writer_);
    archive_write_add_filter_gzip(writer_);
    archive_write_open(writer_, &bytes_, nullptr, append, nullptr);
  }
  ~Crafted() { archive_write_free(writer_); }
  Crafted(const Crafted&) = delete;
  Crafted& operator=(const Crafted&) = delete;

  Crafted& file(const std::string& name, const std::string& content = "x", int mode = 0644) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, static_cast<mode_t>(mode));
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    put(entry, content);
    return *this;
  }
  // `link`: a symbolic link's target, or a hard link's for AE_IFREG.
  Crafted& special(const std::string& name, unsigned type, const std::string& link = "") {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, type);
    archive_entry_set_perm(entry, 0755);
    archive_entry_set_size(entry, 0);
    if (type == AE_IFLNK) archive_entry_set_symlink(entry, link.c_str());
    if (type == AE_IFREG) archive_entry_set_hardlink(entry, link.c_str());
    put(entry, "");
    return *this;
  }
  // A file that claims to be huge by a hole at its begin.
  Crafted& sparse(const std::string& name, std::int64_t size) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, size);
    archive_entry_sparse_add_entry(entry, size - 1, 1);
    put(entry, "x");
    return *this;
  }
  Bytes finish() {
    archive_write_close(writer_);
    return bytes_;
  }

 private:
  static la_ssize_t append(archive*, void* bytes, const void* data, std::size_t size) {
    static_cast<Bytes*>(bytes)->append(static_cast<const char*>(data), size);
    return static_cast<la_ssize_t>(size);
  }
  void put(archive_entry* entry, const std::string& content) {
    REQUIRE(archive_write_header(writer_, entry) >= ARCHIVE_WARN);
    if (!content.empty()) archive_write_data(writer_, content.data(), content.size());
    archive_entry_free(entry);
  }
  Bytes bytes_;
  archive* writer_ = archive_write_new();
};

std::string refusal(const Bytes& archive, ErrorKind kind = ErrorKind::invalid) {
  TemporaryDirectory directory;
  const Status done = unpack(archive, directory / "into", 1 << 20, 100);
  if (done.ok()) return "accepted";
  CHECK(done.error().kind == kind);
  CHECK(real_files().list(directory.path()).value().empty());  // and nothing is left, inside or outside
  return done.error().message;
}

void make_example(const Path& directory) {
  Files& files = real_files();
  REQUIRE(files.make_directories(directory / "bin").ok());
  REQUIRE(files.make_directories(directory / "empty").ok());
  REQUIRE(files.write(directory / "bin/kernel", "#!/bin/sh\n", Mode::executable).ok());
  REQUIRE(files.write(directory / "manifest.toml", "name = \"x\"\n", Mode::normal).ok());
  REQUIRE(files.write(directory / "zero", "", Mode::secret).ok());
  REQUIRE(files.write(directory / "large", Bytes(300'000, 'y'), Mode::normal).ok());
  REQUIRE(files.write(directory / (std::string(120, 'n') + " +,"), "long name", Mode::normal).ok());
}

bool executable(const Path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return (status.st_mode & 0100) != 0;
}

}  // namespace

TEST_CASE("a directory survives packing and unpacking") {
  TemporaryDirectory directory;
  make_example(directory / "a");
  const auto packed = pack_directory(directory / "a");
  REQUIRE(packed.ok());
  REQUIRE(unpack(*packed, directory / "b", 400'000, 10).ok());
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory / "b"))
    names.push_back(entry.path().lexically_relative(directory / "b").string());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"bin", "bin/kernel", "empty", "large", "manifest.toml",
                                          std::string(120, 'n') + " +,", "zero"});
  CHECK(executable(directory / "b/bin/kernel"));
  CHECK_FALSE(executable(directory / "b/manifest.toml"));
  CHECK(real_files().read(directory / "b/large", 1 << 20).value() == Bytes(300'000, 'y'));
  CHECK(real_files().size(directory / "b/zero").value() == 0);
  CHECK(pack_directory(directory / "b").value() == *packed);
}

TEST_CASE("packing is reproducible: times, owners and order on disk do not matter") {
  TemporaryDirectory directory;
  make_example(directory / "a");
  const Bytes packed = pack_directory(directory / "a").value();
  REQUIRE(real_files().make_directories(directory / "b").ok());
  for (const char* name : {"zero", "manifest.toml", "large", "empty", "bin"})
    fs::copy(directory / "a" / name, directory / "b" / name, fs::copy_options::recursive);
  fs::copy(directory / "a" / (std::string(120, 'n') + " +,"), directory / "b");
  fs::last_write_time(directory / "b/zero", fs::file_time_type::clock::now() - std::chrono::hours{1000});
  CHECK(pack_directory(directory / "b").value() == packed);
}

TEST_CASE("packing refuses what unpacking would") {
  TemporaryDirectory directory;
  make_example(directory / "a");
  fs::create_symlink("/etc/passwd", directory / "a/link");
  says(pack_directory(directory / "a").error().message, "\"link\": only files");
  fs::remove(directory / "a/link");
  REQUIRE(::mkfifo((directory / "a/pipe").c_str(), 0600) == 0);
  says(pack_directory(directory / "a").error().message, "\"pipe\": only files");
  fs::remove(directory / "a/pipe");
  REQUIRE(real_files().write(directory / "a/\xc3\xa9", "", Mode::normal).ok());
  says(pack_directory(directory / "a").error().message, "printable ASCII");
  CHECK(pack_directory(directory / "none").error().kind == ErrorKind::not_found);
}

TEST_CASE("paths that lead elsewhere are refused") {
  says(refusal(Crafted().file("../evil").finish()), "leads out");
  says(refusal(Crafted().file("ok").file("a/../../evil").finish()), "leads out");
  says(refusal(Crafted().file("a/..").finish()), "leads out");
  says(refusal(Crafted().file("/etc/evil").finish()), "absolute");
  says(refusal(Crafted().file("a\\b").finish()), "printable ASCII");
  says(refusal(Crafted().file("a\nb").finish()), "printable ASCII");
  says(refusal(Crafted().file("caf\xc3\xa9").finish()), "printable ASCII");
  says(refusal(Crafted().file(std::string(2000, 'a')).finish()), "printable ASCII");
  says(refusal(Crafted().file(".").finish()), "not the name of a file");
}

TEST_CASE("links and special files are refused") {
  says(refusal(Crafted().special("l", AE_IFLNK, "/etc").finish()), "is a link");
  says(refusal(Crafted().special("l", AE_IFLNK, "/tmp").file("l/evil").finish()), "is a link");
  says(refusal(Crafted().file("a").special("h", AE_IFREG, "a").finish()), "is a link");
  says(refusal(Crafted().special("h", AE_IFREG, "/etc/passwd").finish()), "is a link");
  says(refusal(Crafted().special("d", AE_IFCHR).finish()), "special file");
  says(refusal(Crafted().special("d", AE_IFBLK).finish()), "special file");
  says(refusal(Crafted().special("p", AE_IFIFO).finish()), "special file");
}

TEST_CASE("entries that contradict each other are refused") {
  says(refusal(Crafted().file("a").file("a").finish()), "twice");
  says(refusal(Crafted().file("a").file("./a").finish()), "twice");
  says(refusal(Crafted().file("a").file("a/b").finish()), "below a file");
  says(refusal(Crafted().file("a/b").file("a").finish()), "in the way");
  says(refusal(Crafted().file("a").special("a", AE_IFDIR).finish()), "twice");
}

TEST_CASE("sizes and counts are bounded, whatever is claimed") {
  const Bytes bomb = Crafted().file("bomb", std::string(std::size_t{32} << 20, '\0')).finish();
  REQUIRE(bomb.size() < 100'000);
  says(refusal(bomb, ErrorKind::too_large), "more than 1048576 bytes");
  says(refusal(Crafted().sparse("hole", std::int64_t{1} << 40).finish(), ErrorKind::too_large), "more than");
  Crafted many;
  for (int i = 0; i < 101; ++i) many.file("f" + std::to_string(i), "");
  says(refusal(many.finish(), ErrorKind::too_large), "more than 100 files");
  std::string deep;
  for (int i = 0; i < 101; ++i) deep += "d/";
  says(refusal(Crafted().file(deep + "f").finish(), ErrorKind::too_large), "more than 100 files");
  Crafted exact;
  for (int i = 0; i < 100; ++i) exact.file("f" + std::to_string(i), "");
  CHECK(refusal(exact.finish()) == "accepted");
}

TEST_CASE("a plain archive of another packer is taken, without its odd bits") {
  TemporaryDirectory directory;
  const Bytes archive =
      Crafted().special("./", AE_IFDIR).file("./bin/run", "x", 06755).file("./note", "y", 0666).finish();
  REQUIRE(unpack(archive, directory / "into", 100, 10).ok());
  struct stat status {};
  REQUIRE(::stat((directory / "into/bin/run").c_str(), &status) == 0);
  CHECK((status.st_mode & 07000) == 0);
  CHECK(executable(directory / "into/bin/run"));
  CHECK_FALSE(executable(directory / "into/note"));
}

TEST_CASE("damaged archives and existing targets are refused") {
  TemporaryDirectory directory;
  make_example(directory / "a");
  const Bytes packed = pack_directory(directory / "a").value();
  says(refusal(""), "not a tar.gz");
  says(refusal("hello, this is not an archive at all"), "not a tar.gz");
  for (const std::size_t length : {packed.size() / 4, packed.size() / 2, packed.size() - 30})
    says(refusal(packed.substr(0, length)), "damaged");
  CHECK(unpack(packed, directory / "a", 1 << 20, 100).error().kind == ErrorKind::conflict);
  CHECK(real_files().exists(directory / "a/manifest.toml"));
  CHECK(unpack(packed, directory / "none/into", 1 << 20, 100).error().kind == ErrorKind::not_found);
}

TEST_CASE("random damage never escapes, hangs or leaves anything (seeded)") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  INFO("seed " << seed);
  Random random(seed);
  TemporaryDirectory directory;
  make_example(directory / "a");
  const Bytes packed = pack_directory(directory / "a").value();
  for (int round = 0; round < 60; ++round) {
    Bytes damaged = packed;
    for (int i = 0; i < 3; ++i) damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    const Status done = unpack(damaged, directory / "into", 1 << 20, 100);
    CHECK(real_files().list(directory.path()).value().size() == (done.ok() ? 2 : 1));
    REQUIRE(real_files().remove_all(directory / "into").ok());
  }
}
