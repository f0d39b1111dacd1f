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
  CHECK(rate_text(0) == "0.00");
  CHECK(rate_text(0.01234) == "0.0123");
  CHECK(rate_text(1.234) == "1.23");
  CHECK(rate_text(12.34) == "12.3");
  CHECK(rate_text(1234.4) == "1234");
  CHECK(rate_text(12'345) == "12.3 k");
  CHECK(rate_text(2.5e6) == "2.50 M");
  CHECK(rate_text(-1) == "-");
  CHECK(rate_text(std::numeric_limits<double>::quiet_NaN()) == "-");
  CHECK(percent_text(1, 3) == "33.3 %");
  CHECK(percent_text(1, 0) == "-");
}

TEST_CASE("times", "[figures]") {
  CHECK(span_text(0.4) == "0:00");
  CHECK(span_text(7) == "0:07");
  CHECK(span_text(59.6) == "1:00");
  CHECK(span_text(754) == "12:34");
  CHECK(span_text(3723) == "1:02:03");
  CHECK(span_text(2 * 86'400 + 3 * 3600 + 240) == "2 d 03:04");
  CHECK(span_text(-1) == "-");
  CHECK(span_text(std::numeric_limits<double>::infinity()) == "-");
  CHECK(ago_text(5) == "5 s ago");
  CHECK(ago_text(200) == "3 min ago");
  CHECK(ago_text(7200) == "2 h ago");
  CHECK(ago_text(400'000) == "5 d ago");
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
