// Figures as Prometheus reads them: the text format 0.0.4 (prometheus.io, "Exposition formats"): families
// with help and type, then their samples; backslash, newline and, in a label's value, the quotation mark
// escaped; histograms as cumulative buckets with +Inf, sum and count. Pure.
//
// Names and labels are the program's own and are checked (CHECK_TRUE); values of labels may be anything.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/metrics/histogram.h"

namespace gleaner::metrics {

inline constexpr const char* media_type = "text/plain; version=0.0.4; charset=utf-8";

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

class Exposition {
 public:
  enum class Type { counter, gauge, histogram };

  // The samples that follow are of it. A counter only grows while the server runs, and its name ends in
  // _total. REQUIRES: the name is new here, and [a-z_][a-z0-9_]*.
  void family(std::string_view name, Type type, std::string_view help);
  void sample(double value, const Labels& labels = {});
  void sample(const Histogram& histogram);
  // A family of one sample.
  void gauge(std::string_view name, std::string_view help, double value);
  void counter(std::string_view name, std::string_view help, double value);
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  void line(std::string_view suffix, const Labels& labels, double value);
  std::string family_;
  std::string text_;
};

}  // namespace gleaner::metrics
