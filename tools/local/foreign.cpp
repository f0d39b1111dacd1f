#include "tools/local/foreign.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace gleaner::local {
namespace {

struct Machine {
  unsigned number;
  const char* name;
};
constexpr Machine elf_machines[] = {{EM_X86_64, "x86_64"}, {EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv64"},
                                    {EM_386, "i686"},      {EM_ARM, "armv7l"},      {EM_PPC64, "ppc64le"}};
constexpr Machine windows_machines[] = {{0x8664, "x86_64"}, {0xaa64, "aarch64"}, {0x14c, "i686"}};

// Two bytes, little-endian; 0 beyond the end.
unsigned short_at(std::string_view bytes, std::size_t at) {
  if (at + 2 > bytes.size()) return 0;
  return static_cast<unsigned char>(bytes[at]) |
         static_cast<unsigned>(static_cast<unsigned char>(bytes[at + 1])) << 8;
}

template <std::size_t N>
std::string named(const Machine (&machines)[N], unsigned number, const char* system) {
  for (const Machine& machine : machines)
    if (machine.number == number) return std::string(machine.name) + system;
  return {};
}

// The offset of the second header stands at 0x3c of the first; the machine follows its signature.
std::string platform_of_windows(std::string_view program) {
  const std::size_t header = short_at(program, 0x3c) | static_cast<std::size_t>(short_at(program, 0x3e))
                                                           << 16;
  if (header >= program.size() || !program.substr(header).starts_with(std::string_view("PE\0\0", 4)))
    return {};
  return named(windows_machines, short_at(program, header + 4), "-windows");
}

std::string system_of(const std::string& platform) {
  return platform.substr(std::min(platform.find('-'), platform.size()));
}
std::string machine_of(const std::string& platform) {
  return platform.substr(0, platform.find('-'));
}

// As qemu's programs are called.
std::string qemu_of(const std::string& platform) {
  const std::string machine = machine_of(platform);
  if (machine == "i686") return "qemu-i386";
  return machine == "armv7l" ? "qemu-arm" : "qemu-" + machine;
}

}  // namespace

std::string platform_of(std::string_view program) {
  if (program.starts_with("#!")) return "any";
  if (program.starts_with("MZ")) return platform_of_windows(program);
  if (!program.starts_with(ELFMAG) || program.size() < EI_NIDENT || program[EI_DATA] != ELFDATA2LSB)
    return {};
  return named(elf_machines, short_at(program, offsetof(Elf64_Ehdr, e_machine)), "-linux");
}

Result<std::vector<std::string>> misplaced_kernels(const io::Files& files, const io::Path& bundle,
                                                   const bundle::Manifest& manifest) {
  std::vector<std::string> wrong;
  for (const auto& [platform, kernel] : manifest.kernels) {
    const std::string system = system_of(platform);
    if (platform != "any" && system != "-linux" && system != "-windows") continue;  // their author's business
    TRY_ASSIGN(const Bytes head, files.read_range(bundle / kernel, 0, program_head_bytes));
    const std::string found = platform_of(head);
    if (found == platform || found == "any") continue;  // a script runs wherever its interpreter does
    wrong.push_back(kernel +
                    (found.empty() ? " is no program that is known here" : " is a program for " + found) +
                    ", and the manifest names it for " + platform);
  }
  return wrong;
}

std::optional<Emulator> find_emulator(const std::string& platform, const io::Path& work,
                                      const io::Path& root) {
  const bool linux_program = system_of(platform) == "-linux";
  std::vector<std::string> places;
  if (linux_program)
    for (const char* place : {"usr/bin/", "usr/local/bin/"})
      for (const char* kind : {"", "-static"}) places.push_back(place + qemu_of(platform) + kind);
  // Debian's package wine64 has no command in PATH.
  if (platform == "x86_64-windows") places = {"usr/lib/wine/wine64", "usr/bin/wine64", "usr/bin/wine"};
  std::error_code unknown;
  const auto found = std::ranges::find_if(
      places, [&](const std::string& place) { return std::filesystem::exists(root / place, unknown); });
  if (found == places.end()) return std::nullopt;
  const io::Path program = root / *found;
  // Wine's programs talk to a server of their own, for which the sandbox has no place.
  if (!linux_program)
    return Emulator{
        {program.string()}, {}, false, {{"WINEPREFIX", (work / "wine").string()}, {"WINEDEBUG", "-all"}}};
  Emulator emulator{{program.string()}, {program}};
  // The foreign C library, of Debian's packages libc6-ARCH-cross.
  const io::Path libraries = root / "usr" / (machine_of(platform) + "-linux-gnu");
  if (std::filesystem::exists(libraries / "lib", unknown)) {
    emulator.command.insert(emulator.command.end(), {"-L", libraries.string()});
    emulator.files.push_back(libraries);
  }
  return emulator;
}

std::string emulator_package(const std::string& platform) {
  if (system_of(platform) == "-linux") return "qemu-user";
  return platform == "x86_64-windows" ? "wine64" : "";
}

}  // namespace gleaner::local
