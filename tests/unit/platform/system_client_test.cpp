#include "client/program/system_client.h"

#include "client/program/exit_status.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

namespace gleaner::program {
namespace {

TEST_CASE("The system's client is meant where the user has none, and shows everybody its sentence alone") {
  const testing::TemporaryDirectory directory;
  const SystemClient client{directory.path() / "system", directory.path() / "view"};
  const io::Path own = directory.path() / "own";
  io::Files& files = io::real_files();
  CHECK_FALSE(is_meant(client, own));  // nor is the system's there
  REQUIRE(files.make_directories(client.state).ok());
  CHECK(is_meant(client, own));
  CHECK_FALSE(is_meant(client, client.state));  // the superuser's own
  CHECK(answer_for(client, "status", false) == exit_not_running);
  view::View view;
  view.reason = "computing words on 1 of 2 cores";
  view.project = "Atlas\033[31m";
  REQUIRE(files.write(client.view, view::encode_head(view), io::Mode::normal).ok());
  CHECK(answer_for(client, "status", false) == exit_ok);
  CHECK(answer_for(client, "why", false) == exit_ok);
  CHECK(answer_for(client, "why", true) == exit_problem);
  CHECK(answer_for(client, "prefs", false) == exit_problem);
  CHECK(text_of(view).starts_with("computing words on 1 of 2 cores\n  project   Atlas"));
  CHECK(text_of(view).find('\033') == std::string::npos);
  REQUIRE(files.write(client.view, "half a head", io::Mode::normal).ok());
  CHECK(answer_for(client, "status", false) == exit_problem);
  REQUIRE(files.make_directories(own).ok());
  CHECK_FALSE(is_meant(client, own));
}

TEST_CASE(
    "The picture of the system's client is where its service puts it; another client's beside its state") {
  const testing::TemporaryDirectory directory;
  const SystemClient client{directory.path() / "system", directory.path() / "run/view"};
  io::Files& files = io::real_files();
  for (const io::Path& path : {client.state, client.view.parent_path(), directory.path() / "own"})
    REQUIRE(files.make_directories(path).ok());
  CHECK(view_of(client, client.state) ==
        client.state / "view");  // started by hand, without a runtime directory
  REQUIRE(files.write(client.view, "a head", io::Mode::normal).ok());
  CHECK(view_of(client, client.state) == client.view);
  CHECK(view_of(client, client.state / "") == client.view);  // as somebody types it
  CHECK(view_of(client, directory.path() / "own") == directory.path() / "own/view");
}

}  // namespace
}  // namespace gleaner::program
