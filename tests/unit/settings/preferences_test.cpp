#include "client/settings/preferences.h"

#include <unistd.h>

#include <cmath>

#include "client/settings/preference_texts.h"
#include "tests/catch.h"

namespace gleaner::settings {
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
  const OwnerSettings owner_settings = book->values().owner_settings(8'000'000);
  CHECK(owner_settings.owner.run == client_policy::RunWhen::idle);
  CHECK(owner_settings.owner.idle_after == Duration{std::chrono::minutes{5}});
  CHECK(owner_settings.memory_bytes == 4'000'000);
  CHECK(owner_settings.give_back_after == Duration{std::chrono::minutes{10}});
  CHECK(book->origin("run") == "default");
  CHECK(book->lines().size() == 38);
}

TEST_CASE("Every preset is whole, and the one for everything leaves nothing alone") {
  const Places places;
  for (const char* preset :
       {"only-when-idle", "quiet", "balanced", "lab", "gentle", "dedicated", "everything"}) {
    places.put("preferences.toml", std::string("preset = \"") + preset + "\"\n");
    const auto book = places.load();
    REQUIRE(book.ok());
    const auto lines = book->lines();
    CHECK(lines.size() == 38);
    for (const auto& line : lines) {
      CHECK_FALSE(line.value.empty());
      CHECK_FALSE(line.meaning.empty());
    }
  }
  const client_policy::OwnerRules owner = places.load()->values().owner_settings(0).owner;
  CHECK(owner.run == client_policy::RunWhen::always);
  CHECK(owner.on_battery);
  CHECK(owner.when_watching);
}

TEST_CASE("Levels are one preference, checked word by word") {
  using client_policy::Situation;
  const Places places;
  auto book = places.load();
  REQUIRE(book.ok());
  REQUIRE(book->set(places.files, "levels", R"(["used 1 core 25% 60C 1200rpm", "battery off"])").ok());
  REQUIRE(book->set(places.files, "night_hours", "22-7").ok());
  const client_policy::OwnerRules owner = book->values().owner_settings(0).owner;
  REQUIRE(owner.levels[Situation::used]);
  CHECK(owner.levels[Situation::used]->cores == 1);
  CHECK(owner.levels[Situation::used]->cpu_share == 0.25);
  CHECK(owner.levels[Situation::used]->temperature_max == 60);
  CHECK(owner.levels[Situation::used]->fan_rpm_max == 1200);
  CHECK_FALSE(owner.fan_rpm_max);
  REQUIRE(book->set(places.files, "fan_rpm_max", "1500").ok());
  CHECK(book->values().owner_settings(0).owner.fan_rpm_max == 1500);
  CHECK(owner.levels[Situation::battery]->off);
  CHECK_FALSE(owner.levels[Situation::idle]);
  CHECK(owner.night_hours.size() == 7);
  const Status wrong = book->set(places.files, "levels", "used everything");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("is not like \"used 1 core 25% 60C\"") != std::string::npos);
  places.put("preferences.toml", "preset = \"balanced\"\n");
  CHECK(places.load()->values().owner_settings(0).owner.levels.permits(Situation::used));
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
  CHECK(
      book->set(places.files, "sandbox", "weak: I accept that kernels see names, sizes and times of my files")
          .ok());
  CHECK(book->set(places.files, "sandbox", "off: I accept that kernels run with my rights").ok());
  CHECK(book->set(places.files, "exclusive", "[\"steam\", \"blender\"]").ok());
  CHECK(book->set(places.files, "expensive_hours", "mon-fri 17-20").ok());
  CHECK(book->set(places.files, "upload_kilobytes", "50").ok());
  for (const auto& [key, value] : {std::pair{"run", "sometimes"},
                                   {"network_hours", "at night"},
                                   {"cores", "-1"},
                                   {"disk_megabytes", "1.5"},
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
  CHECK(again->values().owner_settings(0).owner.hours.size() == 5);
  CHECK(again->values().sandbox != "on");
  const OwnerSettings owner_settings = again->values().owner_settings(0);
  CHECK(owner_settings.exclusive == std::vector<std::string>{"steam", "blender"});
  CHECK(owner_settings.owner.expensive_hours.size() == 5);
  CHECK(owner_settings.upload_bytes_per_second == 50'000);
}

TEST_CASE("A share may be a percentage, and a question be answered as people do") {
  const Places places;
  auto book = places.load();
  REQUIRE(book.ok());
  CHECK(book->set(places.files, "cpu_share", "50%").ok());
  CHECK(book->values().cpu_share == 0.5);
  for (const auto& [word, value] : {std::pair{"yes", true}, {"no", false}, {"on", true}, {"off", false}}) {
    CHECK(book->set(places.files, "on_metered", word).ok());
    CHECK(book->values().on_metered == value);
  }
  CHECK(book->set(places.files, "notifications", "off").ok());
  CHECK(book->values().notifications == "off");
  for (const char* const wrong : {"%", "200%", "0%", "50 %%", "nan%"})
    CHECK_FALSE(book->set(places.files, "cpu_share", wrong).ok());
}

TEST_CASE("Applications are names that a server takes, and a list that is none is refused") {
  const Places places;
  auto book = places.load();
  REQUIRE(book.ok());
  CHECK(book->set(places.files, "applications", "raytrace").ok());
  CHECK(book->set(places.files, "applications", "[\"raytrace\", \"held\"]").ok());
  const std::string long_name(70, 'a');
  for (const std::string& wrong : {long_name, std::string("[\"raytrace\""), std::string("[1]"),
                                   std::string("[\"\"]"), std::string("[raytrace]")})
    CHECK_FALSE(book->set(places.files, "applications", wrong).ok());
  CHECK(places.load()->values().applications == std::vector<std::string>{"raytrace", "held"});
}

TEST_CASE("What is unset is the preset's again, and a preset says what it does not decide") {
  const Places places;
  auto book = places.load();
  REQUIRE(book.ok());
  CHECK(book->set(places.files, "cpu_share", "0.75").ok());
  CHECK(book->set(places.files, "cores", "1").ok());
  CHECK(book->set(places.files, "preset", "quiet").ok());
  CHECK(book->values().cpu_share == 0.75);
  CHECK(book->beside_preset() == std::vector<std::string>{"cpu_share"});
  CHECK(book->unset(places.files, "cpu_share").ok());
  CHECK(book->values().cpu_share == 0.5);
  CHECK(book->origin("cpu_share") == "preset quiet");
  CHECK(book->values().cores == 1);
  CHECK(book->beside_preset().empty());
  CHECK(book->unset(places.files, "cpu_share").ok());  // it was not set
  CHECK(book->unset(places.files, "nonsense").error().kind == ErrorKind::not_found);
  places.put("locked.d/10.toml", "cores = 1\n");
  auto locked = places.load();
  REQUIRE(locked.ok());
  CHECK(locked->unset(places.files, "cores").error().kind == ErrorKind::forbidden);
}

TEST_CASE("A value is read alone: nothing else that it holds becomes a setting") {
  const Places places;
  auto book = places.load();
  REQUIRE(book.ok());
  for (const std::string value : {"1\nsandbox = \"off: I accept that kernels run with my rights\"",
                                  "1\rrun = \"always\"", "\"1\"\n[table]", "1\xE2\x80\xA8"})
    CHECK_FALSE(book->set(places.files, "cores", value).ok());
  CHECK_FALSE(book->set(places.files, "applications", "[\"a\"]\nsandbox = \"on\"").ok());
  CHECK(book->set(places.files, "cores", "1 # sandbox = 2").ok());
  const auto text = places.files.read(places.root / "preferences.toml", 4096);
  REQUIRE(text.ok());
  CHECK(text->find("cores = 1\n") != std::string::npos);
  CHECK(text->find("sandbox") == std::string::npos);
  CHECK(places.load()->values().sandbox == "on");
}

TEST_CASE("A key in quotes is a key, and stays when another value is set") {
  const Places places;
  places.put("preferences.toml", "\"idle_minutes\" = 7\n# cpu_share = 0.1\n");
  auto book = places.load();
  REQUIRE(book.ok());
  CHECK(book->origin("idle_minutes") == (places.root / "preferences.toml").string());
  CHECK(book->origin("cpu_share") == "default");
  CHECK(book->set(places.files, "cores", "2").ok());
  CHECK(places.load()->values().idle_minutes == 7);
}

TEST_CASE("A list of several lines, written by hand, stays whole when another value is set") {
  const Places places;
  places.put("preferences.toml", "exclusive = [\n  \"steam\",\n  \"a = b\",\n]\n");
  auto book = places.load();
  REQUIRE(book.ok());
  CHECK(book->set(places.files, "cores", "2").ok());
  CHECK(places.load()->values().exclusive == std::vector<std::string>{"steam", "a = b"});
}

TEST_CASE("A wrong value is answered with the key, the value and what it may be") {
  const Places places;
  auto book = places.load();
  REQUIRE(book.ok());
  const auto answer = [&](const char* key, const char* value) {
    return book->set(places.files, key, value).error().message;
  };
  CHECK(answer("cores", "many") == "cores: \"many\" is not a whole number from 0 to 4096");
  CHECK(answer("cores", "1.5") == "cores: \"1.5\" is not a whole number from 0 to 4096");
  CHECK(answer("cores", "9999") == "cores: 9999 is not from 0 to 4096");
  CHECK(answer("cpu_share", "2") == "cpu_share: 2 is not from 0.01 to 1, or like 50%");
  CHECK(answer("cpu_share", "half") == "cpu_share: \"half\" is not a number from 0.01 to 1, or like 50%");
  CHECK(answer("on_battery", "maybe") == "on_battery: \"maybe\" is not true or false, yes or no");
  CHECK(answer("run", "sometimes") ==
        "run: \"sometimes\" is not one of \"when-idle\", \"always\", \"never\"");
  CHECK(answer("hours", "noon").starts_with("hours: \"noon\" is not like"));
  CHECK(answer("sandbox", "of").starts_with("sandbox: expected one of \"on\""));
}

TEST_CASE("Shares of projects are numbers by name, suspended ones are names") {
  const Places places;
  auto book = places.load();
  REQUIRE(book.ok());
  CHECK(book->set(places.files, "project_shares", R"(["a = b=3", "0123abcd=0", "Atlas=0.5"])").ok());
  CHECK(book->set(places.files, "projects_suspended", "Birds").ok());
  for (const char* wrong :
       {"Atlas", "Atlas=", "=2", "Atlas=-1", "Atlas=2000", "Atlas=1e-9", "Atlas=nan", "Atlas=2x"})
    CHECK_FALSE(book->set(places.files, "project_shares", wrong).ok());
  const OwnerSettings owner_settings = places.load()->values().owner_settings(0);
  REQUIRE(owner_settings.shares.size() == 3);
  CHECK(owner_settings.shares[0].project == "a = b");
  CHECK(owner_settings.shares[0].share == 3);
  CHECK(owner_settings.shares[1].share == 0);
  CHECK(owner_settings.suspended == std::vector<std::string>{"Birds"});
  CHECK(book->set(places.files, "projects_suspended", "[]").ok());
  CHECK(places.load()->values().projects_suspended.empty());
}

TEST_CASE("What a page is told of a preference is what the file takes") {
  const Places places;
  for (const DescribedPreference& one : described_preferences()) {
    INFO(one.key);
    auto book = places.load();
    REQUIRE(book.ok());
    const auto takes = [&](const std::string& value) { return book->set(places.files, one.key, value).ok(); };
    CHECK((*one.label != '\0' && *one.group != '\0'));
    const auto number = [](double value) {
      return std::to_string(static_cast<std::int64_t>(std::round(value)));
    };
    switch (one.kind) {
      case PreferenceKind::flag:
        CHECK((takes("true") && takes("false") && !takes("1")));
        break;
      case PreferenceKind::share:
      case PreferenceKind::number:
      case PreferenceKind::count:
        CHECK((takes(number(one.high)) && !takes(number(one.high + 1)) && !takes("-1")));
        CHECK(takes(number(std::ceil(one.low))));
        break;
      case PreferenceKind::choice:
        REQUIRE_FALSE(one.words.empty());
        for (const char* const word : one.words) CHECK(takes(word));
        CHECK_FALSE(takes("something else"));
        break;
      case PreferenceKind::hours:
        CHECK((takes(R"(["mon 0:00-24:00", "sat,sun"])") && takes("[]") && !takes(R"(["noon"])")));
        break;
      case PreferenceKind::names:
        CHECK((takes(R"(["one=1", "two=2"])") && takes("[]")));
        break;
      case PreferenceKind::levels:
        CHECK((takes(R"(["used 1 core", "night 50% 60C"])") && takes("[]") && !takes(R"(["used loud"])")));
        break;
      case PreferenceKind::text:
        CHECK(takes(one.key == std::string("sandbox") ? "on" : "/usr/local/bin/power"));
        break;
    }
  }
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
}  // namespace gleaner::settings
