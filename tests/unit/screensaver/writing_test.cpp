#include "client/screensaver/writing.h"

#include "shared/base/figures.h"
#include "tests/catch.h"

namespace gleaner::screensaver {
namespace {

TEST_CASE("What is written says what is there, and nothing that is not known") {
  view::View view;
  view.project = "Room 12";
  view.reason = "computing";
  Writing writing = writing_of(view);
  CHECK(writing.title == "Room 12");
  CHECK(writing.sentence == "computing");
  CHECK((writing.here.empty() && writing.so_far.empty() && writing.others.empty()));
  view.picture = {1, 1, 10, 10, "scene D", "Ray tracer", "one scan-line", 57};
  view.given = {720, 11'160, 1'116'000};
  view.project_items = 640;
  view.project_done_millionths = 509'999;
  view.project_hosts = 4;
  writing = writing_of(view);
  CHECK(writing.title == "scene D  ·  Ray tracer");
  CHECK(writing.here == "57 scan-lines computed on this computer");
  CHECK(writing.so_far ==
        "This computer gave 12 min of a core today, 3.1 core-hours in the last 7 days, 310 core-hours in the "
        "last year");
  CHECK(writing.others == "All computers: 51.0 % done, by 4 computers");
  view.picture.items = 1;
  view.picture.meaning = "one row of the picture";
  CHECK(writing_of(view).here == "1 row of the picture computed on this computer");
  view.picture.items = 2;
  CHECK(writing_of(view).here == "2 pieces computed on this computer");
  CHECK(writing_of({}).sentence.starts_with("Gleaner is not computing"));
}

TEST_CASE("Title and sentence agree on what is computed") {
  view::View view;
  view.picture = {1, 1, 10, 10, "sceneD", "Ray tracer", "one scan-line", 57};
  view.cores = {{"running", "seahorse", 0, 3, 9}, {"idle", "", 0, 0, 0}};
  view.reason = "computing seahorse on 1 of 2 cores: nobody uses this computer";
  CHECK(writing_of(view).title == "Before: sceneD  ·  Ray tracer");
  view.cores[1] = {"running", "sceneD", 0, 1, 9};
  CHECK(writing_of(view).title == "sceneD  ·  Ray tracer");
  view.cores = {{"idle", "", 0, 0, 0}};  // nothing is computed: the picture is all that there is
  CHECK(writing_of(view).title == "sceneD  ·  Ray tracer");
}

TEST_CASE("Numbers have commas") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1,000");
  CHECK(count_text(-1234567) == "-1,234,567");
}

}  // namespace
}  // namespace gleaner::screensaver
