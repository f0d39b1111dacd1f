// Kernels and managers as small shell scripts in a directory of their own, gone with the object.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "shared/io/files.h"
#include "shared/io/process.h"
#include "tests/catch.h"

namespace gleaner::contract {

class Scripts {
 public:
  Scripts() {
    static int count = 0;
    directory_ = std::filesystem::temp_directory_path() /
                 ("gleaner-contract-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(work());
    std::filesystem::create_directories(problem());
  }
  Scripts(const Scripts&) = delete;
  Scripts& operator=(const Scripts&) = delete;
  ~Scripts() {
    std::error_code ignored;  // a test's rubbish must not hide its result
    std::filesystem::remove_all(directory_, ignored);
  }

  [[nodiscard]] io::Path work() const { return directory_ / "work directory"; }  // blanks: on purpose
  [[nodiscard]] io::Path problem() const { return directory_ / "the problem"; }

  void write(const io::Path& path, const std::string& text, io::Mode mode = io::Mode::normal) {
    REQUIRE(io::real_files().make_directories(path.parent_path()).ok());
    REQUIRE(io::real_files().write(path, text, mode).ok());
  }
  // How to start a program whose text this is; of /bin/sh, if its first line does not say otherwise.
  io::ProcessSpec program(const std::string& text) {
    const io::Path path = directory_ / ("program-" + std::to_string(programs_++));
    write(path, text.starts_with("#!") ? text : "#!/bin/sh\n" + text, io::Mode::executable);
    io::ProcessSpec spec;
    spec.arguments = {path.string()};
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    spec.working_directory = work();
    return spec;
  }

 private:
  io::Path directory_;
  int programs_ = 0;
};

}  // namespace gleaner::contract
