#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>

#include "client/attack/attacks.h"

namespace gleaner::attack {
namespace {

std::vector<Attack> all_attacks() {
  std::vector<Attack> all;
  for (const auto& some : {attacks_on_files(), attacks_by_reach(), attacks_on_time(), attacks_by_greed()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

Target read_target(const std::string& problem) {
  Target target;
  target.problem = problem;
  std::ifstream file(problem + "/target");
  for (std::string* line : {&target.file, &target.other_problem, &target.host_name})
    std::getline(file, *line);
  file >> target.client >> target.user >> target.disk_bytes >> target.memory_bytes;
  return target;
}

// The log line tells its name, and whether its end is one of its results.
void compute(std::size_t item, const Target& target) {
  const std::vector<Attack> all = all_attacks();
  if (item >= all.size()) {
    std::cout << "error there are no more attacks" << std::endl;
    return;
  }
  const Attack& attack = all[item];
  std::cout << "log " << (attack.ends ? "may end: " : "answers: ") << attack.name << std::endl;
  const std::string text = attack.run(target);
  std::cout << "item " << item << " " << text.size() << "\n" << text << "done " << item + 1 << std::endl;
}

int serve() {
  Target target;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, rest;
    words >> command;
    if (command == "gleaner") {
      std::cout << "ready 1" << std::endl;
    } else if (command == "problem") {
      std::getline(words >> std::ws, rest);
      target = read_target(rest);
      std::cout << "ok" << std::endl;
    } else if (command == "unit") {
      std::size_t stage = 0, begin = 0;
      words >> stage >> begin;
      compute(begin, target);
    } else if (command == "quit") {
      break;
    }
  }
  return 0;
}

}  // namespace

std::string taken(long bytes, long allowed, const std::string& what) {
  return (bytes <= allowed ? "held: " : "open: ") + std::to_string(bytes >> 10) + " KiB " + what;
}

}  // namespace gleaner::attack

int main() {
  try {
    return gleaner::attack::serve();
  } catch (const std::exception& exception) {  // an attack that takes all memory ends as a kernel does
    std::fprintf(stderr, "gleaner-attack: %s\n", exception.what());
    return 1;
  }
}
