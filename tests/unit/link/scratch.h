// A directory for sockets, gone with it; values that must be there.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "server/link/address.h"
#include "tests/catch.h"

namespace gleaner {

template <typename T>
T must(Result<T> result) {
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  return std::move(*result);
}

class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/gleaner-link-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    directory_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(directory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] link::Address socket(const std::string& name = "socket") const {
    return {(directory_ / name).string(), {}, 0};
  }

 private:
  std::filesystem::path directory_;
};

}  // namespace gleaner
