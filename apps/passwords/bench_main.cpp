// Guesses a second of processor time, for tools/bench: "ALGORITHM LEVEL RATE" a line.
#include <cstdio>
#include <ctime>
#include <string>

#include "apps/passwords/search.h"

namespace {

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int main() {
  using namespace gleaner;
  using namespace gleaner::passwords;
  for (const Algorithm algorithm : algorithms) {
    Settings settings;
    settings.algorithm = algorithm;
    settings.keyspace = *Keyspace::create(*expand_alphabet("a-z0-9"), 7, 7);
    settings.positions = settings.keyspace.size();
    std::vector<std::string> digests;
    for (int i = 0; i < 2000; ++i)
      digests.push_back(digest_of(algorithm, "no candidate " + std::to_string(i)));
    const Targets targets(algorithm, std::move(digests));
    for (const kit::CpuLevel level : kit::cpu_levels()) {
      Search search(settings, targets, level);
      kit::ItemContext quiet;
      double best = 0;
      for (int run = 0; run < 5; ++run) {
        const auto before = processor_seconds();
        const Found found = search.run({run * 10'000'000, (run + 1) * 10'000'000}, quiet);
        const double taken = processor_seconds() - before;
        best = std::max(best, static_cast<double>(found.tested) / taken);
      }
      std::printf("%s %s %.0f\n", std::string(name_of(algorithm)).c_str(),
                  std::string(kit::name_of(level)).c_str(), best);
    }
  }
}
