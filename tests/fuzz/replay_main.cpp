// Drives a fuzz target without libFuzzer: first the corpus as it is, then seeded mutations of it until the
// time is up. Mutation N depends on the seed and N alone, so that a crash is repeated by the two numbers it
// prints.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/base/random.h"
#include "tests/fuzz/fuzz.h"

// Only there if a sanitizer is linked.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using gleaner::Bytes;
using gleaner::Random;

constexpr std::size_t input_bytes_max = 64 << 10;
char description[200];  // of the input in hand, for the signal handler

void describe_death() {
  const ssize_t ignored = ::write(2, description, std::strlen(description));
  (void)ignored;  // there is nothing else to do about it while dying
}

void on_signal(int number) {
  describe_death();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void run(const Bytes& input, const std::string& what) {
  const std::string line = "\nfuzz input: " + what + "\n";
  description[line.copy(description, sizeof description - 1)] = '\0';
  // A copy of exactly this size on the heap: sanitizers notice a read beyond it.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  (void)LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// Things that parsers are often wrong about.
const std::vector<Bytes> tokens = {"0",
                                   "-1",
                                   "9007199254740993",
                                   "18446744073709551615",
                                   "9223372036854775808",
                                   "1e999",
                                   "null",
                                   "true",
                                   "\"",
                                   "\\u0000",
                                   "{",
                                   "}",
                                   "[",
                                   "]",
                                   ",",
                                   ":",
                                   "\n",
                                   " ",
                                   "..",
                                   "/",
                                   "=",
                                   "[a]",
                                   "\xff",
                                   "\xC2\x9b",
                                   "\xED\xA0\x80",
                                   Bytes(1, '\0'),
                                   Bytes(8, '\xff'),
                                   "\x7f",
                                   "item ",
                                   "done ",
                                   "progress "};

Bytes mutate(Random& random, const std::vector<Bytes>& corpus) {
  Bytes input = corpus[random.below(corpus.size())];
  const auto somewhere = [&] { return random.below(input.size() + 1); };
  const auto piece_of = [&](const Bytes& from) {
    const std::size_t begin = random.below(from.size() + 1);
    return from.substr(begin, random.below(std::min<std::size_t>(from.size() - begin, 64) + 1));
  };
  for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
    switch (random.below(8)) {
      case 0:
      case 1:
        if (!input.empty()) input[random.below(input.size())] = static_cast<char>(random.below(256));
        break;
      case 2:
        if (!input.empty()) input[random.below(input.size())] ^= static_cast<char>(1 << random.below(8));
        break;
      case 3:
        input.erase(somewhere(), 1 + random.below(8));
        break;
      case 4:
        input.insert(somewhere(), tokens[random.below(tokens.size())]);
        break;
      case 5:
        input.insert(somewhere(), piece_of(input));
        break;
      case 6:
        input.insert(somewhere(), piece_of(corpus[random.below(corpus.size())]));
        break;
      default:
        if (random.chance(0.2))
          input.resize(somewhere());
        else if (const auto digit = input.find_first_of("0123456789", somewhere()); digit != Bytes::npos)
          input.replace(digit, 1, tokens[random.below(6)]);
    }
  }
  if (input.size() > input_bytes_max) input.resize(input_bytes_max);
  return input;
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int count, char** arguments) {
  std::string directory;
  double seconds = 1;
  std::uint64_t seed = 1;
  std::uint64_t runs_max = 1'000'000'000;
  std::int64_t only = -1;
  CLI::App app("Replays and mutates a fuzz target's corpus");
  app.add_option("corpus", directory, "directory of inputs")->required()->check(CLI::ExistingDirectory);
  app.add_option("--seconds", seconds, "time for mutations");
  app.add_option("--runs", runs_max, "at most that many mutations");
  app.add_option("--seed", seed, "of the mutations");
  app.add_option("--only", only, "the number of the only mutation to run");
  CLI11_PARSE(app, count, arguments);

  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(number, on_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(describe_death);

  std::vector<Bytes> corpus;
  for (const auto& file : files_of(directory)) {
    std::ifstream stream(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    if (only < 0) run(corpus.back(), file.string());
  }
  if (corpus.empty()) {
    std::cerr << directory << " has no inputs: nothing was tested\n";
    return 1;
  }
  const auto end = gleaner::system_clock().steady() + gleaner::from_seconds(seconds);
  std::uint64_t runs = 0;
  for (std::uint64_t n = only < 0 ? 0 : static_cast<std::uint64_t>(only);
       runs < (only < 0 ? runs_max : 1) && gleaner::system_clock().steady() < end; ++n, ++runs) {
    Random random(seed * 0x9E3779B97F4A7C15U + n);
    run(mutate(random, corpus), "--seed " + std::to_string(seed) + " --only " + std::to_string(n));
  }
  std::cout << corpus.size() << " inputs, " << runs << " mutations, seed " << seed << '\n';
  return 0;
}
