// What the client's programs say to viewers and in `gleaner top`.
#include "client/program/view_publisher.h"

#include <algorithm>

#include "client/program/top_program.h"
#include "shared/json/text.h"
#include "tests/catch.h"

namespace gleaner::program {
namespace {

TEST_CASE("A declared view takes its numbers from the problem, or its defaults") {
  bundle::ViewDeclaration declared;
  declared.kind = "rows";
  declared.value = "escape";
  declared.rows = "height";
  declared.rows_default = 512;
  declared.inside = "iterations";
  declared.inside_default = 1000;
  view::PictureSpec spec = spec_of(declared, 0, R"({"height":300,"width":2})");
  CHECK(spec.kind == view::PictureKind::rows);
  CHECK(spec.value == view::Value::escape);
  CHECK(spec.rows == 300);
  CHECK(spec.inside == 1000);
  for (const char* odd : {R"({"height":"many"})", R"({"height":1.5})", "[]", "{", ""})
    CHECK(spec_of(declared, 0, odd).rows == 512);
  CHECK(spec_of(declared, 0, R"({"height":-3})").rows == 0);
  CHECK(spec_of(declared, 1, "{}").kind == view::PictureKind::quilt);  // another stage's items
  CHECK(spec_of({}, 0, "{}").kind == view::PictureKind::quilt);
}

TEST_CASE("A declared view may be a part of an item, or tiles") {
  bundle::ViewDeclaration declared;
  declared.kind = "heat";
  declared.columns = "depth";
  declared.columns_default = 100;
  declared.columns_more = 1;
  declared.lines = "radius";
  declared.lines_default = 90;
  CHECK(spec_of(declared, 0, R"({"depth":30})").columns == 31);
  CHECK(spec_of(declared, 0, "{}").columns == 101);
  CHECK(spec_of(declared, 0, R"({"radius":7})").lines == 7);
  declared.kind = "tiles";
  declared.tile_part = 32;
  declared.tile_min = 8;
  declared.tile_max = 64;
  const view::PictureSpec spec = spec_of(declared, 0, "{}");
  CHECK(spec.kind == view::PictureKind::tiles);
  CHECK((spec.tile_part == 32 && spec.tile_min == 8 && spec.tile_max == 64 && spec.lines == 90));
  declared.kind = "cells";
  CHECK(spec_of(declared, 0, "{}").kind == view::PictureKind::cells);
}

TEST_CASE("What is new is written soon; that time went by is not new") {
  view::View shown;
  shown.mode = "pause";
  shown.reason = "not computing: no work available for this computer right now";
  shown.cores = {{"idle", "", 0, 0, 0}};
  view::View now = shown;
  CHECK(patience_between(shown, now) == ViewPublisher::calm_interval);
  now.reason = "not computing: on battery";
  CHECK(patience_between(shown, now) == ViewPublisher::rest_interval);
  now.cores[0].state = "running";
  CHECK(patience_between(shown, now) == Duration{0});
}

TEST_CASE("The live view fits its screen, and is tolerant of missing fields") {
  json::Value slots = json::Value::array();
  for (int i = 0; i < 40; ++i)
    slots.push_back(json::Value{
        {"slot", i}, {"state", "running"}, {"unit", 9}, {"begin", 10}, {"end", 20}, {"finished", 15}});
  const json::Value reply = {
      {"status", json::Value{{"reason", "computing Zürich"}, {"core_seconds_today", 420}, {"slots", slots}}}};
  const std::string text = top_text(reply, {60, 20}, Colour::no);
  CHECK(text.starts_with("computing Zürich\n"));
  CHECK(text.find("7 min of a core today") != std::string::npos);
  CHECK(text.find("50 %") != std::string::npos);
  CHECK(text.find("more cores") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') < 20);
  CHECK(text.find('\033') == std::string::npos);
  CHECK(top_text(reply, {60, 20}, Colour::yes).find("\033[32m") != std::string::npos);
  const std::string narrow = top_text(reply, {15, 20}, Colour::no);
  CHECK(narrow.starts_with("computing Züric\n"));
  for (const char* odd : {"null", "7", R"({"status":{"slots":[1,"x"]}})"})
    CHECK_FALSE(top_text(json::parse_or_null(odd), {80, 24}, Colour::no).empty());
}

}  // namespace
}  // namespace gleaner::program
