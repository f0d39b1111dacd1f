#include "apps/tsp/tsplib.h"

#include <charconv>
#include <cmath>
#include <functional>

#include "shared/base/random.h"

namespace gleaner::tsp {
namespace {

using Place = std::pair<double, double>;

double nearest(double x) {
  return std::floor(x + 0.5);
}

double euclidean(const Place& a, const Place& b) {
  const double x = a.first - b.first;
  const double y = a.second - b.second;
  return std::sqrt(x * x + y * y);
}

// The documentation's formulas, with its value of pi.
double geographical(const Place& a, const Place& b) {
  constexpr double pi = 3.141592;
  constexpr double radius = 6378.388;
  const auto radians = [](double x) {
    const double degrees = std::trunc(x);
    return pi * (degrees + 5.0 * (x - degrees) / 3.0) / 180.0;
  };
  const double q1 = std::cos(radians(a.second) - radians(b.second));
  const double q2 = std::cos(radians(a.first) - radians(b.first));
  const double q3 = std::cos(radians(a.first) + radians(b.first));
  return std::floor(radius * std::acos(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)) + 1.0);
}

double pseudo_euclidean(const Place& a, const Place& b) {
  const double x = a.first - b.first;
  const double y = a.second - b.second;
  const double exact = std::sqrt((x * x + y * y) / 10.0);
  return nearest(exact) < exact ? nearest(exact) + 1 : nearest(exact);
}

using Metric = std::function<double(const Place&, const Place&)>;

Metric metric_of(const std::string& type) {
  if (type == "EUC_2D") return [](const Place& a, const Place& b) { return nearest(euclidean(a, b)); };
  if (type == "CEIL_2D") return [](const Place& a, const Place& b) { return std::ceil(euclidean(a, b)); };
  if (type == "MAN_2D")
    return [](const Place& a, const Place& b) {
      return nearest(std::abs(a.first - b.first) + std::abs(a.second - b.second));
    };
  if (type == "MAX_2D")
    return [](const Place& a, const Place& b) {
      return std::max(nearest(std::abs(a.first - b.first)), nearest(std::abs(a.second - b.second)));
    };
  if (type == "GEO") return geographical;
  if (type == "ATT") return pseudo_euclidean;
  return {};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  Result<Instance> read() {
    while (!rest_.empty()) {
      std::string_view line = next_line();
      const std::string key = word(line, ": \t");
      if (key.empty()) continue;
      if (key == "EOF") break;
      if (const std::string value = trimmed(line); key == "NAME") {
        instance_.name = value.substr(0, value.find_first_of(" \t"));
      } else if (key == "TYPE") {
        if (value != "TSP" && value != "ATSP") return wrong("TYPE must be TSP or ATSP, not " + value);
      } else if (key == "DIMENSION") {
        if (cities_ != 0) return wrong("DIMENSION is given twice");
        const auto number = std::from_chars(value.data(), value.data() + value.size(), cities_);
        if (number.ec != std::errc{} || cities_ < 1 || cities_ > cities_max)
          return wrong("DIMENSION must be 1 to " + std::to_string(cities_max) + ", not " + value);
      } else if (key == "EDGE_WEIGHT_TYPE") {
        weight_type_ = value;
      } else if (key == "EDGE_WEIGHT_FORMAT") {
        weight_format_ = value;
      } else if (key == "NODE_COORD_SECTION" || key == "DISPLAY_DATA_SECTION") {
        within_ = true;
        TRY(read_places());
        within_ = false;
        have_coordinates_ = have_coordinates_ || key == "NODE_COORD_SECTION";
      } else if (key == "EDGE_WEIGHT_SECTION") {
        within_ = true;
        TRY(read_weights());
        within_ = false;
      } else if (key != "COMMENT" && key != "DISPLAY_DATA_TYPE" && key != "NODE_COORD_TYPE" &&
                 key != "CAPACITY") {
        return wrong("unknown keyword " + key.substr(0, 40));
      }
    }
    return finish();
  }

 private:
  Error wrong(const std::string& what) const {
    return {ErrorKind::invalid,
            "input cities, line " + std::to_string(line_ + (within_ ? 1 : 0)) + ": " + what};
  }

  std::string_view next_line() {
    ++line_;
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return line;
  }

  static std::string trimmed(std::string_view text) {
    constexpr std::string_view space = ": \t\r";
    const std::size_t first = text.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
  }

  static std::string word(std::string_view& line, std::string_view ends) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    line.remove_prefix(first);
    const std::size_t end = std::min(line.find_first_of(ends), line.size());
    std::string result(line.substr(0, end));
    while (!result.empty() && result.back() == '\r') result.pop_back();
    line.remove_prefix(end);
    return result;
  }

  // The next number, over line ends.
  Result<double> number() {
    for (;;) {
      const std::size_t first = rest_.find_first_not_of(" \t\r");
      if (first == std::string_view::npos) return wrong("the file ends within a section");
      rest_.remove_prefix(first);
      if (rest_.front() != '\n') break;
      next_line();
    }
    const std::size_t length = std::min(rest_.find_first_of(" \t\r\n"), rest_.size());
    const std::string_view text =
        rest_.substr(rest_.front() == '+' ? 1 : 0, length - (rest_.front() == '+' ? 1 : 0));
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || !(std::abs(value) < 1e12))
      return wrong("expected a number, not " + std::string(text.substr(0, 40)));
    rest_.remove_prefix(length);
    return value;
  }

  Status read_places() {
    if (cities_ == 0) return wrong("DIMENSION must come before the sections");
    instance_.places.assign(static_cast<std::size_t>(cities_), {});
    for (int i = 0; i < cities_; ++i) {
      TRY_ASSIGN(const double index, number());
      TRY_ASSIGN(const double x, number());
      TRY_ASSIGN(const double y, number());
      if (index != i + 1) return wrong("expected city " + std::to_string(i + 1));
      instance_.places[static_cast<std::size_t>(i)] = {x, y};
    }
    return {};
  }

  Status set(int i, int j, double distance) {
    if (i == j) distance = 0;
    if (!(distance >= 0 && distance <= distance_max) || distance != std::floor(distance)) {
      return Error{ErrorKind::invalid, "input cities: the distance from city " + std::to_string(i + 1) +
                                           " to " + std::to_string(j + 1) +
                                           " must be a whole number from 0 to " +
                                           std::to_string(distance_max) + ": scale the distances"};
    }
    instance_.matrix.set(i, j, static_cast<std::int32_t>(distance));
    return {};
  }

  Status read_weights() {
    if (cities_ == 0) return wrong("DIMENSION must come before the sections");
    instance_.matrix = Matrix(cities_);
    const std::string& format = weight_format_;
    const bool full = format == "FULL_MATRIX";
    // Columns are rows of a symmetric matrix.
    const bool upper = format == "UPPER_ROW" || format == "UPPER_DIAG_ROW" || format == "LOWER_COL" ||
                       format == "LOWER_DIAG_COL";
    const bool lower = format == "LOWER_ROW" || format == "LOWER_DIAG_ROW" || format == "UPPER_COL" ||
                       format == "UPPER_DIAG_COL";
    if (!full && !upper && !lower) return wrong("EDGE_WEIGHT_FORMAT '" + format + "' is not known");
    const int diagonal = full || format.find("DIAG") != std::string::npos ? 0 : 1;
    for (int i = 0; i < cities_; ++i) {
      const int begin = upper ? i + diagonal : 0;
      const int end = lower ? i + 1 - diagonal : cities_;
      for (int j = begin; j < end; ++j) {
        TRY_ASSIGN(const double distance, number());
        TRY(set(i, j, distance));
        if (!full) TRY(set(j, i, distance));
      }
    }
    have_weights_ = true;
    return {};
  }

  Result<Instance> finish() {
    if (cities_ == 0)
      return Error{ErrorKind::invalid, "input cities: DIMENSION is missing: is this a TSPLIB file?"};
    if (weight_type_ == "EXPLICIT") {
      if (!have_weights_) return Error{ErrorKind::invalid, "input cities: EDGE_WEIGHT_SECTION is missing"};
      return std::move(instance_);
    }
    const Metric metric = metric_of(weight_type_);
    if (!metric) {
      return Error{ErrorKind::invalid,
                   "input cities: EDGE_WEIGHT_TYPE '" + weight_type_ +
                       "' is not one of EXPLICIT, EUC_2D, CEIL_2D, MAN_2D, MAX_2D, GEO, ATT"};
    }
    if (!have_coordinates_) return Error{ErrorKind::invalid, "input cities: NODE_COORD_SECTION is missing"};
    instance_.matrix = Matrix(cities_);
    for (int i = 0; i < cities_; ++i) {
      for (int j = 0; j < cities_; ++j)
        TRY(set(i, j,
                metric(instance_.places[static_cast<std::size_t>(i)],
                       instance_.places[static_cast<std::size_t>(j)])));
    }
    return std::move(instance_);
  }

  std::string_view rest_;
  int line_ = 0;         // lines read to their end
  bool within_ = false;  // a section: the line in hand is the next one
  Instance instance_;
  int cities_ = 0;
  std::string weight_type_;
  std::string weight_format_;
  bool have_weights_ = false;
  bool have_coordinates_ = false;
};

}  // namespace

Result<Instance> read_tsplib(std::string_view text) {
  return Reader(text).read();
}

Instance random_instance(int cities, std::uint64_t seed) {
  Instance instance;
  instance.name = "random-" + std::to_string(cities) + "-" + std::to_string(seed);
  Random random(seed);
  for (int i = 0; i < cities; ++i) {
    const auto x = static_cast<double>(random.below(10'001));
    const auto y = static_cast<double>(random.below(10'001));
    instance.places.emplace_back(x, y);
  }
  instance.matrix = Matrix(cities);
  for (int i = 0; i < cities; ++i) {
    for (int j = 0; j < cities; ++j) {
      const double distance = nearest(euclidean(instance.places[static_cast<std::size_t>(i)],
                                                instance.places[static_cast<std::size_t>(j)]));
      instance.matrix.set(i, j, static_cast<std::int32_t>(distance));
    }
  }
  return instance;
}

std::string write_tour(const std::string& name, const std::vector<int>& tour, std::int64_t length) {
  std::string text = "NAME : " + name + ".opt.tour\nCOMMENT : length " + std::to_string(length) +
                     "\nTYPE : TOUR\nDIMENSION : " + std::to_string(tour.size()) + "\nTOUR_SECTION\n";
  for (const int city : tour) text += std::to_string(city + 1) + "\n";
  return text + "-1\nEOF\n";
}

}  // namespace gleaner::tsp
