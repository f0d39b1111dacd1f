// Long items that are saved as they are computed, told to the server, and gone on with: here, or where
// another computer left them.
#include "shared/base/limits.h"
#include "shared/io/compression.h"
#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {

struct Saving {
  World world;
  explicit Saving(const std::string& kernel = saving_kernel) {
    world.server.commit_seconds = 1;
    world.server.set_application(kernel, "", "checkpoint = true");
    world.start();
  }
  ~Saving() { world.kill(); }
  [[nodiscard]] std::optional<protocol::SavedItem> told() const {
    for (const auto& heartbeat : world.server.heartbeats)
      if (heartbeat.saved && !heartbeat.saved->empty()) return heartbeat.saved->front();
    return std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& unit : std::filesystem::directory_iterator(world.project / "units"))
      for (const auto& file : std::filesystem::directory_iterator(unit))
        if (file.path().filename().string().starts_with("checkpoint"))
          names.push_back(file.path().filename());
    return names;
  }
  [[nodiscard]] io::Path saved() const {
    for (const auto& unit : std::filesystem::directory_iterator(world.project / "units"))
      return unit.path() / "checkpoint-0";
    return {};
  }
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

TEST_CASE("A long item is saved while it is computed, and the server is told") {
  Saving saving;
  saving.world.server.queue_unit({0, 2});
  REQUIRE(saving.world.run_until([&] { return saving.told().has_value(); }));
  const protocol::SavedItem item = *saving.told();
  CHECK(item.item == 0);
  const auto step = io::decompress(item.data, 100);
  REQUIRE(step.ok());
  CHECK(item.share == Approx(std::stod(*step) * 0.0012).margin(0.05));
  CHECK(saving.world.gate.paused.empty());
  REQUIRE(saving.world.run_until([&] { return saving.told() && saving.world.server.items.contains(0); }));
  saving.world.run_for(std::chrono::seconds{3}, std::chrono::milliseconds{20});
  CHECK(saving.files().size() <= 2);  // of the item in progress alone, with its digest
  REQUIRE(saving.world.run_until([&] { return saving.world.has_all({0, 2}); }));
}

TEST_CASE("A unit begins where another computer left its first item") {
  Saving saving;
  protocol::Grant grant = saving.world.server.make_grant({0, 1});
  grant.begun = protocol::BegunItem{0.9, io::compress("750\n")};
  saving.world.server.queue_statement(saving.world.server.sign_grant(grant));
  REQUIRE(saving.world.run_until([&] { return saving.world.has_all({0, 1}); }));
  CHECK(saving.world.lines_of("steps") <= 51);
  CHECK(saving.world.server.failures.empty());
}

TEST_CASE("What another computer left and nobody can read is begun anew") {
  Saving saving(replaced(saving_kernel, "-lt 800", "-lt 80"));
  protocol::Grant grant = saving.world.server.make_grant({0, 1});
  grant.begun = protocol::BegunItem{0.9, "no zlib"};
  saving.world.server.queue_statement(saving.world.server.sign_grant(grant));
  REQUIRE(saving.world.run_until([&] { return saving.world.has_all({0, 1}); }));
  CHECK(saving.world.lines_of("steps") == 80);
}

TEST_CASE("What was saved here counts only as it was") {
  Saving saving;
  saving.world.server.queue_unit({0, 1});
  REQUIRE(saving.world.run_until([&] { return saving.files().size() == 2; }));
  saving.world.kill();
  const auto before = saving.world.lines_of("steps");
  const bool damaged = GENERATE(false, true);
  if (damaged) {
    auto text = io::real_files().read(saving.saved(), 100);
    REQUIRE(text.ok());
    REQUIRE(io::real_files().write(saving.saved(), Bytes(text->size(), '\0'), io::Mode::normal).ok());
  }
  saving.world.start();
  REQUIRE(saving.world.run_until([&] { return saving.world.has_all({0, 1}); }));
  const auto after = saving.world.lines_of("steps") - before;
  CHECK((damaged ? after == 800 : after < 800));
}

TEST_CASE("A kernel that leaves a link to another file has saved nothing") {
  Saving saving(replaced(saving_kernel, R"(echo "$step" >checkpoint;)",
                         "ln -sf /etc/hostname checkpoint; echo >>../../asked;"));
  saving.world.server.queue_unit({0, 1});
  REQUIRE(saving.world.run_until([&] { return saving.world.has_all({0, 1}); }));
  CHECK_FALSE(saving.told());
  CHECK(saving.files().empty());
  CHECK(saving.world.server.heartbeats.size() > 0);
  CHECK(saving.world.lines_of("asked") > 0);
}

}  // namespace
}  // namespace gleaner::engine::testing
