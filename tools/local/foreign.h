// Kernels for other platforms than this machine's: what platform a program file is for, and what runs it
// here. Reads files, starts nothing. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/bundle/manifest.h"
#include "shared/io/files.h"

namespace gleaner::local {

// By the first bytes of a file: "x86_64-linux" and so on for ELF programs (System V ABI, chapter 4),
// "x86_64-windows" for those of Windows (Microsoft, "PE Format"), "any" for scripts; empty: none that is
// known.
[[nodiscard]] std::string platform_of(std::string_view program);

inline constexpr std::int64_t program_head_bytes = 4096;

// What is wrong with the kernels of a bundle: a sentence for each that is no program of the platform for
// which the manifest names it. Errors: io.
[[nodiscard]] Result<std::vector<std::string>> misplaced_kernels(const io::Files& files,
                                                                 const io::Path& bundle,
                                                                 const bundle::Manifest& manifest);

// A program that runs those of another platform.
struct Emulator {
  std::vector<std::string> command;  // its path and options
  std::vector<io::Path> files;       // that it reads besides the system's libraries
  bool confinable = true;            // in the sandbox of kernels
  std::map<std::string, std::string> environment = {};
};
// The first that is installed below `root`. `work`: a directory for its own files, if it needs one. Nothing:
// install `emulator_package()`, where there is one.
[[nodiscard]] std::optional<Emulator> find_emulator(const std::string& platform, const io::Path& work,
                                                    const io::Path& root = "/");
[[nodiscard]] std::string emulator_package(const std::string& platform);

}  // namespace gleaner::local
