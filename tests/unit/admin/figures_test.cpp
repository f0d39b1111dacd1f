#include "tools/admin/figures.h"

#include <limits>

#include "tests/catch.h"

namespace gleaner::admin {

TEST_CASE("counts have thousands separators", "[figures]") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1,000");
  CHECK(count_text(1234567) == "1,234,567");
  CHECK(count_text(-1234) == "-1,234");
  CHECK(count_text(-123) == "-123");
  CHECK(counted(1, "split") == "1 split");
  CHECK(counted(2000, "split") == "2,000 splits");
}

TEST_CASE("bytes, rates and percentages keep to a few digits", "[figures]") {
  CHECK(bytes_text(812) == "812 B");
  CHECK(bytes_text(1024) == "1.0 KiB");
  CHECK(bytes_text(1024 * 1024 - 1) == "1.0 MiB");  // not 1024.0 KiB
  CHECK(bytes_text(std::int64_t{20} << 30) == "20.0 GiB");
  CHECK(figure_text(0) == "0");
  CHECK(figure_text(0.01234) == "0.0123");
  CHECK(figure_text(1) == "1");
  CHECK(figure_text(1.234) == "1.23");
  CHECK(figure_text(1.5) == "1.5");
  CHECK(figure_text(10) == "10");
  CHECK(figure_text(12.25) == "12.3");  // a half goes up
  CHECK(figure_text(999.4) == "999");
  CHECK(figure_text(999.6) == "1,000");
  CHECK(figure_text(12'345.4) == "12,345");
  CHECK(figure_text(2.5e6) == "2,500,000");
  CHECK(figure_text(2.5e20) == "2.5e+20");
  CHECK(figure_text(-1) == "-");
  CHECK(figure_text(std::numeric_limits<double>::quiet_NaN()) == "-");
  CHECK(percent_text(1, 3) == "33.3 %");
  CHECK(percent_text(1, 16) == "6.3 %");
  CHECK(percent_text(0, 3) == "0 %");
  CHECK(percent_text(3, 3) == "100 %");
  CHECK(percent_text(1, 0) == "-");
}

TEST_CASE("times", "[figures]") {
  CHECK(duration_text(0.4) == "0 s");
  CHECK(duration_text(119.4) == "119 s");
  CHECK(duration_text(120) == "2 min");
  CHECK(duration_text(754) == "13 min");
  CHECK(duration_text(3 * 3600 + 5 * 60) == "3 h 5 min");
  CHECK(duration_text(2 * 86'400 + 3 * 3600 + 240) == "2 d 3 h");
  CHECK(duration_text(-1) == "-");
  CHECK(duration_text(std::numeric_limits<double>::infinity()) == "-");
  CHECK(span_text(720, 1560) == "12 to 26 min");
  CHECK(span_text(90, 180) == "90 s to 3 min");
  CHECK(span_text(3 * 3600, 4 * 3600) == "3 h 0 min to 4 h 0 min");
  CHECK(span_text(12, 12.2) == "12 s");
  CHECK(interval_text(1080, 720, 1560) == "about 18 min (12 to 26 min)");
  CHECK(interval_text(12, 12, 12.2) == "12 s");
  CHECK(ago_text(5) == "5 s ago");
  CHECK(ago_text(200) == "3 min ago");
  CHECK(ago_text(7200) == "2 h ago");
  CHECK(ago_text(400'000) == "4 days ago");
  CHECK(ago_text(-1) == "never");
  CHECK(time_text(from_microseconds(0)) == "-");
  CHECK(time_text(from_microseconds(1'795'212'245'123'000)) == "2026-11-20 22:04:05 UTC");
}

TEST_CASE("texts are measured and cut in characters, not bytes", "[figures]") {
  CHECK(columns_of("grün") == 4);
  CHECK(fit("grüne Wiese", 11) == "grüne Wiese");
  CHECK(fit("grüne Wiese", 6) == "grün..");
  CHECK(fit("abc", 2) == "ab");
  CHECK(fit("ü", 1) == "ü");
}

}  // namespace gleaner::admin
