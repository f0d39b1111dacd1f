#include "shared/base/figures.h"

#include "tests/catch.h"

namespace gleaner {

TEST_CASE("Numbers, sizes and dates read alike in all programs") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(-1234) == "-1,234");
  CHECK(count_text(1234567) == "1,234,567");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text((std::int64_t{1} << 20) - 1) == "1.0 MiB");
  CHECK(bytes_text(std::int64_t{3} << 39) == "1.5 TiB");
  CHECK(figure_text(0.01234) == "0.0123");
  CHECK(figure_text(12.3) == "12.3");
  CHECK(core_hours_text(0) == "0");
  CHECK(core_hours_text(0.0000728) == "< 0.001");
  CHECK(core_hours_text(1234.5) == "1,235");
  CHECK(percent_text(1, 3) == "33.3 %");
  CHECK(percent_text(3, 3) == "100 %");
  CHECK(duration_text(7200) == "2 h 0 min");
  CHECK(counted(1, "split") == "1 split");
  CHECK(counted(0, "split") == "0 splits");
  CHECK(counted(1234, "entry", "entries") == "1,234 entries");
  CHECK(counted(1, "blob is", "blobs are") == "1 blob is");
  CHECK(utc_text(from_microseconds(1'795'212'245'123'999)) == "2026-11-20 22:04 UTC");
  CHECK(utc_text(from_microseconds(-1)) == "1969-12-31 23:59 UTC");
}

}  // namespace gleaner
