#include "tools/loadgen/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/json/text.h"

namespace gleaner::loadgen {
namespace {

double per(double what, std::int64_t count) {
  return what / static_cast<double>(std::max<std::int64_t>(count, 1));
}

double microseconds(Duration duration) {
  return static_cast<double>(duration.count());
}

double milliseconds(Duration duration) {
  return microseconds(duration) / 1000;
}

json::Value latency_of(const Histogram& latency) {
  return {{"p50", milliseconds(latency.percentile(0.5))},
          {"p95", milliseconds(latency.percentile(0.95))},
          {"p99", milliseconds(latency.percentile(0.99))},
          {"longest", milliseconds(latency.longest())}};
}

}  // namespace

Tally difference(const Tally& late, const Tally& early) {
  Tally between;
  for (const auto field :
       {&Tally::cycles, &Tally::units, &Tally::given, &Tally::idle, &Tally::heartbeats, &Tally::verified,
        &Tally::untrusted, &Tally::contradictions, &Tally::refused, &Tally::oversized, &Tally::dismissed,
        &Tally::repeated, &Tally::spoiled, &Tally::vanished})
    between.*field = late.*field - early.*field;
  return between;
}

std::string text_of(const Report& report) {
  const Counters& counters = report.counters;
  const Tally& tally = report.tally;
  const Histogram& latency = counters.latency;
  const std::int64_t all = counters.answers + counters.busy;
  std::string text = fmt::format(
      "{:.1f} s measured: {:.0f} answers a second, {:.0f} cycles, {:.0f} units\n"
      "latency in ms: p50 {:.2f}, p95 {:.2f}, p99 {:.2f}, longest {:.2f}\n"
      "bytes an answer: {:.0f} up, {:.0f} down; {} connections opened\n",
      report.seconds, static_cast<double>(counters.answers) / report.seconds,
      static_cast<double>(tally.cycles) / report.seconds, static_cast<double>(tally.units) / report.seconds,
      milliseconds(latency.percentile(0.5)), milliseconds(latency.percentile(0.95)),
      milliseconds(latency.percentile(0.99)), milliseconds(latency.longest()),
      per(static_cast<double>(counters.bytes_up), all), per(static_cast<double>(counters.bytes_down), all),
      counters.opened);
  if (report.server)
    text += fmt::format("server: {:.1f} us of CPU an answer, {:.1f} MB resident\n",
                        per(microseconds(report.server->cpu), all),
                        static_cast<double>(report.server->resident_bytes) / 1e6);
  text += fmt::format("generator: {:.1f} us of CPU an answer\n", per(microseconds(report.own_cpu), all));
  text += fmt::format(
      "busy (429, 503) {}, other errors {}, connections lost {}, requests sent again {}, hung up {}, without "
      "work {}\n",
      counters.busy, counters.errors, counters.lost, counters.resent, counters.hung_up, tally.idle);
  text += fmt::format(
      "whole run: accepted {}, duplicate {}, refused {}, unanswered {}; answers verified {}, untrusted {}, "
      "contradictions {}; hosts dismissed {}\n",
      report.accepted, report.duplicate, report.refused, report.unanswered, report.whole.verified,
      report.whole.untrusted, report.whole.contradictions, report.whole.dismissed);
  if (!report.trouble.empty()) text += "last trouble: " + report.trouble + "\n";
  if (!report.fault.empty()) text += "first wrong answer: " + report.fault + "\n";
  return text;
}

std::string json_of(const Report& report) {
  const Counters& counters = report.counters;
  const Tally& tally = report.tally;
  const std::int64_t all = counters.answers + counters.busy;
  json::Value document = {{"seconds", report.seconds},
                          {"answers", counters.answers},
                          {"cycles", tally.cycles},
                          {"units", tally.units},
                          {"answers_per_second", static_cast<double>(counters.answers) / report.seconds},
                          {"cycles_per_second", static_cast<double>(tally.cycles) / report.seconds},
                          {"units_per_second", static_cast<double>(tally.units) / report.seconds},
                          {"latency_ms", latency_of(counters.latency)},
                          {"busy_latency_ms", latency_of(counters.busy_latency)},
                          {"bytes_up", per(static_cast<double>(counters.bytes_up), all)},
                          {"bytes_down", per(static_cast<double>(counters.bytes_down), all)},
                          {"connections_opened", counters.opened},
                          {"generator_cpu_us", per(microseconds(report.own_cpu), all)},
                          {"busy", counters.busy},
                          {"errors", counters.errors},
                          {"lost", counters.lost},
                          {"resent", counters.resent},
                          {"hung_up", counters.hung_up},
                          {"without_work", tally.idle},
                          {"heartbeats", tally.heartbeats},
                          {"whole_run", json::Value{{"accepted", report.accepted},
                                                    {"duplicate", report.duplicate},
                                                    {"refused", report.refused},
                                                    {"unanswered", report.unanswered},
                                                    {"refused_though_right", report.whole.refused},
                                                    {"oversized", report.whole.oversized},
                                                    {"verified", report.whole.verified},
                                                    {"untrusted", report.whole.untrusted},
                                                    {"contradictions", report.whole.contradictions},
                                                    {"dismissed", report.whole.dismissed},
                                                    {"repeated", report.whole.repeated},
                                                    {"spoiled", report.whole.spoiled},
                                                    {"vanished", report.whole.vanished}}},
                          {"trouble", report.trouble},
                          {"fault", report.fault}};
  if (report.server) {
    document["server_cpu_us"] = per(microseconds(report.server->cpu), all);
    document["server_resident_bytes"] = report.server->resident_bytes;
  }
  return json::write(document) + "\n";
}

}  // namespace gleaner::loadgen
