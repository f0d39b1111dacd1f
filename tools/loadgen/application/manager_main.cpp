// The manager of load tests: `count` items (parameters.json; a thousand million where it does not say), each
// valid whatever it holds; combined, they are how many they were. It speaks apps/CONTRACT.md with as little
// work as that takes, and reads the parameter as text: kit::manager_main would look at every item.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

namespace {

constexpr long long count_unsaid = 1'000'000'000;

void answer(const std::string& text) {
  std::cout << text << '\n' << std::flush;
}

long long count_in(const std::string& directory) {
  std::ifstream file(directory + "/parameters.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name = text.find("\"count\"");
  const std::size_t colon = text.find(':', name == std::string::npos ? text.size() : name);
  return colon == std::string::npos ? count_unsaid : std::strtoll(text.c_str() + colon + 1, nullptr, 10);
}

void combine(const std::string& directory, const std::string& list) {
  std::ifstream pieces(list);
  long long items = 0;
  for (std::string line; std::getline(pieces, line);) {
    long long begin = 0;
    long long end = 0;
    std::istringstream(line) >> begin >> end;
    items += end - begin;
  }
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/items.txt") << items << '\n';
  answer("result items.txt " + directory + "/items.txt text/plain\nok");
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  long long count = count_unsaid;
  std::string segment;
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    std::istringstream words(line);
    std::string word;
    std::string stage;
    words >> word;
    if (word == "gleaner") {
      answer("ready 1");
    } else if (word == "problem") {
      count = count_in(line.substr(word.size() + 1));
      answer(count > 0 ? "ok" : "error count: expected a whole number above 0");
    } else if (word == "plan") {
      words >> stage;
      answer(stage == "0" ? "items " + std::to_string(count) + "\nok" : "end");
    } else if (word == "validate") {
      std::size_t begin = 0;
      std::size_t end = 0;
      std::size_t length = 0;
      words >> stage >> begin >> end >> length;
      segment.resize(length);  // ignore() would wait for the byte after it
      std::cin.read(segment.data(), static_cast<std::streamsize>(length));
      answer("valid");
    } else if (word == "combine" || word == "preview") {
      words >> stage;
      words.get();
      std::string list;
      std::getline(words, list);
      combine((word == "combine" ? "stage-" : "preview-") + stage, list);
    } else {
      answer("error unknown command");
    }
  }
  return 0;
}
