#include "client/state/controls.h"

#include <unistd.h>

#include <filesystem>

#include "tests/catch.h"

namespace gleaner::state {
namespace {
using namespace std::chrono_literals;

TEST_CASE("Controls survive, whatever the calendar does to a pause") {
  const io::Path path =
      std::filesystem::temp_directory_path() / ("gleaner-controls-" + std::to_string(::getpid()));
  std::filesystem::remove(path);
  Controls controls = load_controls(io::real_files(), path).value();
  CHECK(controls.enabled);
  CHECK_FALSE(controls.pause_length);
  const Timestamp now = FakeClock().now();
  controls.pause_length = Duration{1h};
  controls.pause_begun = now;
  controls.finish = true;
  REQUIRE(save_controls(io::real_files(), path, controls).ok());
  const Controls again = load_controls(io::real_files(), path).value();
  CHECK(again.finish);
  CHECK(again.pause_left(now + 20min) == Duration{40min});
  CHECK_FALSE(again.pause_left(now + 2h).has_value());
  CHECK(again.pause_left(now - std::chrono::hours{10'000}) == Duration{1h});  // never longer than asked for
  controls.pause_length = Duration::max();
  REQUIRE(save_controls(io::real_files(), path, controls).ok());
  CHECK(load_controls(io::real_files(), path).value().pause_left(now + std::chrono::hours{1000}) ==
        Duration::max());
  REQUIRE(io::real_files().write(path, "nonsense = [", io::Mode::normal).ok());
  CHECK_FALSE(load_controls(io::real_files(), path).ok());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace gleaner::state
