// The other end of a contract session in tests: a program in a child process, or kit code on a thread of the
// test. Reads fail the test after ten seconds instead of hanging.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace gleaner::test {

class Peer {
 public:
  // A program; `environment` is all it gets.
  Peer(const std::vector<std::string>& arguments, const std::filesystem::path& directory,
       const std::vector<std::string>& environment = {});
  // A function over two descriptors, which returns an exit status.
  explicit Peer(std::function<int(int input, int output)> serve);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void send(const std::string& bytes);
  std::string read_line();  // without '\n'; "<end>" at the end of its output
  std::string read_bytes(std::size_t count);
  std::string ask(const std::string& command) {
    send(command + "\n");
    return read_line();
  }
  // Reads the answers of a unit up to `done`, `error` or the end; that last line is returned.
  std::string collect(std::map<std::int64_t, std::string>& items);
  // The most memory that the program has had in hand so far, in bytes. REQUIRES: it is a program that runs.
  std::int64_t peak_memory() const;
  void close_input();
  int exit_status();  // closes the input first

 private:
  bool fill();
  int to_ = -1;
  int from_ = -1;
  int pid_ = -1;
  int status_ = -1;
  std::thread thread_;
  std::string buffer_;
};

// A directory of its own below the system's temporary directory, gone at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // parameters.json and inputs/ in problem/; gives its path.
  std::filesystem::path problem(const std::string& parameters,
                                const std::map<std::string, std::string>& inputs = {}) const;

 private:
  std::filesystem::path path_;
};

void write_text(const std::filesystem::path& path, const std::string& text);
std::string read_text(const std::filesystem::path& path);
// FNV-1a, 64 bits.
std::uint64_t digest(const std::string& bytes);

}  // namespace gleaner::test
