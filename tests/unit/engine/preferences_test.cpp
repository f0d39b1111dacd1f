#include "client/engine/preferences.h"

#include <unistd.h>

#include "tests/catch.h"

namespace gleaner::engine {
namespace {

struct Places {
  io::Path root =
      std::filesystem::temp_directory_path() / ("gleaner-preferences-" + std::to_string(::getpid()));
  io::Files& files = io::real_files();
  Places() { std::filesystem::create_directories(root / "locked.d"); }
  ~Places() { std::filesystem::remove_all(root); }
  void put(const std::string& path, const std::string& text) const {
    REQUIRE(files.write(root / path, text, io::Mode::normal).ok());
  }
  [[nodiscard]] Result<PreferenceBook> load() const {
    return PreferenceBook::load(files, {root / "preferences.toml", root / "locked.d"});
  }
};

TEST_CASE("Without files the defaults hold: only while nobody uses the computer") {
  const Places places;
  const auto book = places.load();
  REQUIRE(book.ok());
  CHECK(book->values().wishes().run == client_policy::RunWhen::idle);
  CHECK(book->values().wishes().idle_after == Duration{std::chrono::minutes{5}});
  CHECK(book->origin("run") == "default");
  CHECK(book->lines().size() == 8);
}

TEST_CASE("Preset under file under lock, and each value knows where it is from") {
  const Places places;
  places.put("preferences.toml", "preset = \"gentle\"\nidle_minutes = 3\n");
  places.put("locked.d/10-lab.toml", "cpu_share = 0.8\n");
  auto book = places.load();
  REQUIRE(book.ok());
  CHECK(book->values().idle_minutes == 3);
  CHECK(book->values().cpu_share == 0.8);
  CHECK(book->values().temperature_max == 70);
  CHECK(book->origin("temperature_max") == "preset gentle");
  CHECK(book->origin("idle_minutes") == (places.root / "preferences.toml").string());
  const Status refused = book->set(places.files, "cpu_share", "1");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == ErrorKind::forbidden);
}

TEST_CASE("Setting a value writes a file that can be read again, and keeps the others") {
  const Places places;
  auto book = places.load();
  REQUIRE(book.ok());
  CHECK(book->set(places.files, "run", "always").ok());
  CHECK(book->set(places.files, "hours", "mon-fri 18:00-08:00").ok());
  CHECK(book->set(places.files, "cpu_share", "0.5").ok());
  CHECK(book->set(places.files, "on_battery", "true").ok());
  CHECK(book->set(places.files, "sandbox", "off: I accept that kernels run with my rights").ok());
  for (const auto& [key, value] : {std::pair{"run", "sometimes"},
                                   {"cpu_share", "2"},
                                   {"hours", "noon"},
                                   {"on_battery", "maybe"},
                                   {"sandbox", "off"},
                                   {"nonsense", "1"}})
    CHECK_FALSE(book->set(places.files, key, value).ok());
  const auto again = places.load();
  REQUIRE(again.ok());
  CHECK(again->values().run == "always");
  CHECK(again->values().cpu_share == 0.5);
  CHECK(again->values().on_battery);
  CHECK(again->values().wishes().hours.size() == 5);
  CHECK(again->values().sandbox != "on");
}

TEST_CASE("A mistake in a file is named with file, line and key") {
  const Places places;
  places.put("preferences.toml", "run = \"when-idle\"\ncpu_share = 7\n");
  const auto book = places.load();
  REQUIRE_FALSE(book.ok());
  CHECK(book.error().message.find("preferences.toml:2") != std::string::npos);
  CHECK(book.error().message.find("cpu_share") != std::string::npos);
  places.put("preferences.toml", "hours = [\"whenever\"]\n");
  CHECK(places.load().error().message.find("whenever") != std::string::npos);
}

}  // namespace
}  // namespace gleaner::engine
