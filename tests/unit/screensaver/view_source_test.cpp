#include "client/screensaver/view_source.h"

#include <filesystem>
#include <fstream>

#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

namespace gleaner::screensaver {
namespace {

TEST_CASE("A view is followed through its changes, its end and its return") {
  const gleaner::testing::TemporaryDirectory directory;
  const std::string path = directory.path() / "view";
  const auto write = [&](const Bytes& bytes) {
    std::ofstream(path + ".new", std::ios::binary) << bytes;
    std::filesystem::rename(path + ".new", path);
  };
  view::View view;
  view.reason = "one";
  view.picture = {1, 1, 2, 1, "p", "a", "m", 1};
  const auto file = [&](const Bytes& pixels) {
    Bytes head = view::encode_head(view);
    head.resize(static_cast<std::size_t>(view::head_bytes), '\0');
    return head + pixels;
  };
  ViewSource source({directory.path() / "absent", path});
  CHECK_FALSE(source.look());
  CHECK_FALSE(source.view());
  write(file("abcdef"));
  CHECK(source.look());
  REQUIRE(source.view());
  CHECK((source.view()->reason == "one" && source.pixels() == "abcdef"));
  CHECK_FALSE(source.look());
  {
    std::ofstream in_place(path, std::ios::binary | std::ios::in | std::ios::out);
    in_place << "GLNVIEW1 torn";
  }
  CHECK_FALSE(source.look());
  CHECK(source.view()->reason == "one");
  view.reason = "two";
  view.picture.change = 2;
  write(file("abc"));  // pixels that are not there yet
  CHECK(source.look());
  CHECK((source.view()->reason == "two" && source.pixels() == "abc"));
  std::filesystem::remove(path);
  CHECK(source.look());
  CHECK_FALSE(source.view());
  std::filesystem::create_directory(path);
  CHECK_FALSE(source.look());
}

}  // namespace
}  // namespace gleaner::screensaver
