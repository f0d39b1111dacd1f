// A manager without a process, for whoever runs the whole service: one stage of `items` items, or of as many
// as the parameter "count" says; an item is "item-N", "close" to another one, or wrong. Combined they are
// lines "N:item-N". It speaks apps/CONTRACT.md over the two ends of its "process". Thread-safe, as
// ProcessRunner must be.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "shared/base/check.h"
#include "shared/io/process.h"

namespace gleaner::fuzz {

class NumbersManager final : public io::Process {
 public:
  NumbersManager(io::Path directory, std::int64_t items)
      : directory_(std::move(directory)), items_(items), always_readable_(::eventfd(1, EFD_CLOEXEC)) {
    CHECK_TRUE(always_readable_ >= 0);
  }
  ~NumbersManager() override { ::close(always_readable_); }
  io::TreeHandle tree() const override { return io::TreeHandle(::getpid()); }
  io::Waitable output_waitable() const override { return io::Waitable(always_readable_); }
  Result<std::size_t> write_some(std::string_view bytes) override {
    input_ += bytes;
    while (take()) {
    }
    return bytes.size();
  }
  void close_input() override { closed_ = true; }
  io::ReadKind read_some(Bytes& into, std::size_t bytes_max) override {
    if (output_.empty()) return closed_ ? io::ReadKind::closed : io::ReadKind::would_block;
    const std::size_t count = std::min(bytes_max, output_.size());
    into.append(output_, 0, count);
    output_.erase(0, count);
    return io::ReadKind::data;
  }
  std::string error_tail() override { return {}; }
  std::int64_t error_bytes() const override { return 0; }
  std::string errors_since(std::int64_t) const override { return {}; }
  std::optional<io::ProcessExit> poll_exit() override { return std::nullopt; }
  void end_tree() override {}
  void suspend() override {}
  void resume() override {}
  Duration cpu_time() const override { return {}; }

 private:
  void say(const std::string& line) { output_ += line + "\n"; }

  void take_parameters(const std::string& directory) {
    std::ifstream file(directory_ / directory / "parameters.json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto at = text.find("\"count\":");
    if (at != std::string::npos) items_ = std::stol(text.substr(at + 8));
  }
  // "BEGIN END FIRST PATH": items of a file of segments whose first item is FIRST.
  static void add(const std::string& piece, std::ostream& into) {
    std::istringstream words(piece);
    std::int64_t begin = 0, end = 0, first = 0;
    std::string path;
    words >> begin >> end >> first;
    std::getline(words >> std::ws, path);
    std::ifstream file(path, std::ios::binary);
    for (std::int64_t item = first; item < end; ++item) {
      std::array<unsigned char, 4> length{};
      file.read(reinterpret_cast<char*>(length.data()), length.size());
      std::string bytes(length[0] | length[1] << 8 | length[2] << 16, '\0');
      file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      if (item >= begin) into << item << ':' << bytes << '\n';
    }
  }

  // One command, if all of it is there.
  bool take() {
    const auto end = input_.find('\n');
    if (end == Bytes::npos) return false;
    std::istringstream line(input_.substr(0, end));
    std::string command, stage, a, b, c;
    line >> command >> stage >> a >> b >> c;
    std::size_t length = 0;
    if (command == "validate") length = std::stoul(c);
    if (command == "compare") length = std::stoul(b) + std::stoul(c);
    if (input_.size() < end + 1 + length) return false;
    const Bytes body = input_.substr(end + 1, length);
    input_.erase(0, end + 1 + length);
    if (command == "gleaner") say("ready 1");
    if (command == "problem") take_parameters(stage), say("ok");
    if (command == "plan")
      say(stage == "0" ? "items " + std::to_string(items_) + "\nname numbers\nok" : "end");
    if (command == "validate") say(body.find("wrong") == Bytes::npos ? "valid" : "invalid it says so itself");
    if (command == "compare") say(body.find("close") == Bytes::npos ? "different they are" : "same");
    if (command == "combine" || command == "preview") {
      const std::string place = command + "-" + stage;
      std::filesystem::create_directories(directory_ / place);
      std::ofstream sum(directory_ / place / "sum.txt");
      std::ifstream pieces(directory_ / a);
      for (std::string piece; std::getline(pieces, piece);) add(piece, sum);
      sum.close();
      say("result sum.txt " + place + "/sum.txt text/plain\nok");
    }
    return true;
  }

  io::Path directory_;
  std::int64_t items_;
  int always_readable_;
  bool closed_ = false;
  Bytes input_, output_;
};

class NumbersManagers final : public io::ProcessRunner {
 public:
  explicit NumbersManagers(std::int64_t items) : items_(items) {}
  Result<std::unique_ptr<io::Process>> start(const io::ProcessSpec& spec) override {
    return std::unique_ptr<io::Process>(std::make_unique<NumbersManager>(spec.working_directory, items_));
  }

 private:
  const std::int64_t items_;
};

}  // namespace gleaner::fuzz
