// Figures as the text format 0.0.4 of Prometheus has them.
#include "server/metrics/exposition.h"

#include <limits>

#include "tests/catch.h"

using gleaner::metrics::Exposition;
using gleaner::metrics::Histogram;

TEST_CASE("a family has its help, its type and its samples") {
  Exposition out;
  out.gauge("hosts", "Those \"known\".", 3);
  out.family("requests_total", Exposition::Type::counter, "By kind.");
  out.sample(1e15, {{"kind", "work"}, {"code", "2xx"}});
  out.sample(0.1, {{"kind", "other"}, {"code", "5xx"}});
  CHECK(std::move(out).take() ==
        "# HELP hosts Those \"known\".\n"
        "# TYPE hosts gauge\n"
        "hosts 3\n"
        "# HELP requests_total By kind.\n"
        "# TYPE requests_total counter\n"
        "requests_total{kind=\"work\",code=\"2xx\"} 1e+15\n"
        "requests_total{kind=\"other\",code=\"5xx\"} 0.1\n");
}

TEST_CASE("a label's value cannot end its line or its quotes, whatever a problem is called") {
  Exposition out;
  out.family("done", Exposition::Type::gauge, "a\\b\nc");
  out.sample(1, {{"name", "a\\b\"c\nd{e=\"f\"} 7"}});
  CHECK(std::move(out).take() ==
        "# HELP done a\\\\b\\nc\n"
        "# TYPE done gauge\n"
        "done{name=\"a\\\\b\\\"c\\nd{e=\\\"f\\\"} 7\"} 1\n");
}

TEST_CASE("numbers read back as they are, and those that are none have names") {
  Exposition out;
  out.family("n", Exposition::Type::gauge, "");
  for (const double value :
       {1.0 / 3, -0.5, 9007199254740991.0, std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    out.sample(value);
  CHECK(std::move(out).take() ==
        "# HELP n \n# TYPE n gauge\n"
        "n 0.3333333333333333\nn -0.5\nn 9007199254740991\nn +Inf\nn -Inf\nn NaN\n");
}

TEST_CASE("a histogram's buckets count all values up to their bound, the last one all") {
  Histogram histogram({0.5, 1, 2});
  for (const double value : {0.25, 0.5, 0.75, 2.0, 7.0}) histogram.observe(value);
  Exposition out;
  out.family("waits", Exposition::Type::histogram, "Seconds.");
  out.sample(histogram);
  CHECK(std::move(out).take() ==
        "# HELP waits Seconds.\n# TYPE waits histogram\n"
        "waits_bucket{le=\"0.5\"} 2\nwaits_bucket{le=\"1\"} 3\nwaits_bucket{le=\"2\"} 4\n"
        "waits_bucket{le=\"+Inf\"} 5\nwaits_sum 10.5\nwaits_count 5\n");
}
