// Settings files: what is accepted is rendered and read again to the same; an error changes nothing.
#include "shared/io/settings.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

struct Sample {
  std::string name = "grid";
  std::int64_t port = 8443;
  double share = 0.5;
  bool open = true;
  std::vector<std::string> platforms = {"x86_64-linux"};
  friend bool operator==(const Sample&, const Sample&) = default;
};

io::Settings settings_for(Sample& sample) {
  io::Settings settings;
  settings.add("name", &sample.name, "What it is called");
  settings.add("server.port", &sample.port, 1, 65'535, "Where it listens");
  settings.add("server.share", &sample.share, 0, 1, "How much of it");
  settings.add("server.open", &sample.open, "For everyone?");
  settings.add("platforms", &sample.platforms, "Which ones");
  return settings;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Sample sample;
  const Status parsed = settings_for(sample).parse(fuzz::text_of(data, size), "a.toml");
  if (!parsed.ok()) {
    CHECK_TRUE(sample == Sample{} && !parsed.error().message.empty());
    return 0;
  }
  CHECK_TRUE(sample.port >= 1 && sample.port <= 65'535 && sample.share >= 0 && sample.share <= 1);
  Sample again;
  CHECK_TRUE(settings_for(again).parse(settings_for(sample).render(), "b.toml").ok());
  CHECK_TRUE(again == sample);
  return 0;
}
