#include "client/view/view_file.h"

#include "tests/catch.h"

namespace gleaner::view {
namespace {

View sample() {
  View view;
  view.written = 1'700'000'000'000'000;
  view.project = "Room 12";
  view.host = "pc-7";
  view.mode = "run";
  view.reason = "computing: nobody has used this computer for 7 minutes";
  view.given = {5, 6, 1234567};
  view.project_items = 640;
  view.project_done_millionths = 250'000;
  view.cores = {{"running", "scene D", 10, 15, 20}, {"idle", "", 0, 0, 0}};
  view.picture = {3, 9, 640, 480, "scene D", "Ray tracer", "one scan-line", 57};
  return view;
}

TEST_CASE("A view reads back as it was written") {
  const Bytes head = encode_head(sample());
  CHECK(head.size() < 2000);
  const auto read = parse_head(head + Bytes(500, '\0'));  // the file goes on
  REQUIRE(read.ok());
  CHECK(*read == sample());
}

TEST_CASE("A head that is being written, cut off or foreign is refused") {
  const Bytes head = encode_head(sample());
  for (std::size_t size = 0; size < head.size(); ++size) CHECK_FALSE(parse_head(head.substr(0, size)).ok());
  for (std::size_t at = 0; at < head.size(); at += 7) {
    Bytes torn = head;
    torn[at] = static_cast<char>(torn[at] ^ 0x20);
    CHECK_FALSE(parse_head(torn).ok());
  }
}

TEST_CASE("The longest of everything fits, with some cores left out") {
  View view = sample();
  const std::string quotes(1000, '"');
  view.project = view.host = view.reason = view.picture.problem = view.picture.application = quotes;
  view.cores.assign(100, {quotes, quotes, 1, 2, 3});
  const Bytes head = encode_head(view);
  CHECK(head.size() <= static_cast<std::size_t>(head_bytes));
  const auto read = parse_head(head);
  REQUIRE(read.ok());
  CHECK(read->reason == quotes.substr(0, text_bytes_max - 3) + "...");
  CHECK(read->cores.size() > 4);
}

TEST_CASE("Texts are one line of UTF-8, whatever a server or a kernel said") {
  CHECK(clean_text("a\nb\x1b[31m") == "a b [31m");
  CHECK(clean_text("Zürich · 日本") == "Zürich · 日本");
  CHECK(clean_text("\xff\xc3") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(clean_text("\xe2\x80\xae"
                   "abc") == "abc");                                    // right-to-left override
  CHECK(clean_text("\xed\xa0\x80").find('\xed') == std::string::npos);  // half of a surrogate pair
  std::string text(text_bytes_max - 1, 'x');
  CHECK(clean_text(text + "ü") == text.substr(2) + "...");  // no half characters
}

TEST_CASE("A picture that is too large is refused") {
  View view = sample();
  view.picture.width = picture_width_max + 1;
  CHECK_FALSE(parse_head(encode_head(view)).ok());
  view.picture.width = -5;
  const auto read = parse_head(encode_head(view));
  REQUIRE(read.ok());
  CHECK((read->picture.width == 0 && read->picture.height == 0));
}

}  // namespace
}  // namespace gleaner::view
