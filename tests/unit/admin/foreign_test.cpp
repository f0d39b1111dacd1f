#include "tools/local/foreign.h"

#include <filesystem>

#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"

namespace gleaner::local {
namespace {

using admin::TestWorld;

Bytes elf_head(char machine) {
  Bytes head(
      "\x7f"
      "ELF\2\1\1",
      7);
  head.resize(64, '\0');
  head[18] = machine;
  return head;
}

Bytes windows_head(unsigned machine) {
  Bytes head = "MZ" + Bytes(58, '\0') + Bytes("\x40\0\0\0PE\0\0", 8);
  head += static_cast<char>(machine & 0xff);
  return head + static_cast<char>(machine >> 8);
}

}  // namespace

TEST_CASE("a program's platform is read from its first bytes", "[foreign]") {
  CHECK(platform_of(elf_head(62)) == "x86_64-linux");
  CHECK(platform_of(elf_head('\xb7')) == "aarch64-linux");
  CHECK(platform_of(windows_head(0x8664)) == "x86_64-windows");
  CHECK(platform_of("#!/bin/sh\n") == "any");
  for (const Bytes& none : {Bytes(), Bytes("MZ"), Bytes("text"), elf_head(1), elf_head(62).substr(0, 17),
                            windows_head(1), "MZ" + Bytes(58, '\0') + Bytes(4, '\xff')})
    CHECK(platform_of(none).empty());
}

TEST_CASE("a kernel that is another platform's is named", "[foreign]") {
  TestWorld world;
  std::filesystem::create_directories(world.directory / "b");
  world.write("b/pc", elf_head(62));
  world.write("b/script", "#!/bin/sh\n");
  bundle::Manifest manifest;
  manifest.kernels = {
      {"x86_64-linux", "pc"}, {"aarch64-linux", "script"}, {"any", "script"}, {"riscv-other", "pc"}};
  const auto none = misplaced_kernels(io::real_files(), world.directory / "b", manifest);
  REQUIRE(none.ok());
  CHECK(none->empty());
  manifest.kernels = {{"any", "pc"}};
  CHECK(misplaced_kernels(io::real_files(), world.directory / "b", manifest).value() ==
        std::vector<std::string>{"pc is a program for x86_64-linux, and the manifest names it for any"});
}

TEST_CASE("an emulator is found where it is installed", "[foreign]") {
  TestWorld world;
  const io::Path root = world.directory;
  CHECK_FALSE(find_emulator("aarch64-linux", "/work", root));
  std::filesystem::create_directories(root / "usr/bin");
  std::filesystem::create_directories(root / "usr/lib/wine");
  std::filesystem::create_directories(root / "usr/aarch64-linux-gnu/lib");
  world.write("usr/bin/qemu-aarch64-static", "");
  world.write("usr/lib/wine/wine64", "");
  const auto qemu = find_emulator("aarch64-linux", "/work", root);
  REQUIRE(qemu);
  CHECK(qemu->confinable);
  CHECK(qemu->command == std::vector<std::string>{(root / "usr/bin/qemu-aarch64-static").string(), "-L",
                                                  (root / "usr/aarch64-linux-gnu").string()});
  CHECK(qemu->files.size() == 2);
  const auto wine = find_emulator("x86_64-windows", "/work", root);
  REQUIRE(wine);
  CHECK_FALSE(wine->confinable);
  CHECK(wine->environment.at("WINEPREFIX") == "/work/wine");
  CHECK_FALSE(find_emulator("riscv64-linux", "/work", root));
  CHECK_FALSE(find_emulator("x86_64-freebsd", "/work", root));
  CHECK((emulator_package("aarch64-linux") == "qemu-user" && emulator_package("x86_64-freebsd").empty()));
}

}  // namespace gleaner::local
