#include "apps/photons/tissue.h"

#include <charconv>
#include <limits>
#include <optional>

namespace gleaner::photons {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double index_max = 4;
constexpr double coefficient_max = 1e5;  // 1/cm; a metal's
constexpr double thickness_max = 1e4;
constexpr std::size_t name_length_max = 40;
constexpr std::size_t statements_max = 64;

// An example of an adult's head in the near infrared, after Okada and Delpy 2003 (Applied Optics 42, 2906)
// with g = 0.9. The numbers were not compared with their table: take your own for a study.
constexpr std::string_view head = R"(above 1.0
layer scalp 1.4 0.18 190 0.9 0.3
layer skull 1.4 0.16 160 0.9 0.7
layer csf 1.4 0.04 24 0.9 0.2
layer grey 1.4 0.36 220 0.9 0.4
layer white 1.4 0.14 910 0.9 infinite
below 1.4
)";
// The two cases of Wang, Jacques and Zheng 1995 that other methods have solved.
constexpr std::string_view slab = "above 1; layer slab 1 10 90 0.75 0.02; below 1";
constexpr std::string_view half_space = "above 1; layer tissue 1.5 10 90 0 infinite; below 1.5";

std::string_view next_word(std::string_view& text) {
  constexpr std::string_view blanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

// Reads the numbers of one statement; the first mistake stays.
class Statement {
 public:
  Statement(std::size_t number, std::string_view words) : number_(number), rest_(words) {}

  double value(const std::string& what, double low, double high, bool infinite_allowed = false) {
    const std::string_view word = next_word(rest_);
    if (infinite_allowed && word == "infinite") return infinity;
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool read = !word.empty() && error == std::errc() && end == word.data() + word.size();
    if (read && value >= low && value <= high) return value;
    char bounds[80];
    std::snprintf(bounds, sizeof bounds, "from %g to %g", low, high);
    mistake(what + " must be a number " + bounds + (infinite_allowed ? " or the word infinite" : ""));
    return low;
  }
  std::string name() {
    const std::string_view word = next_word(rest_);
    bool plain = !word.empty() && word.size() <= name_length_max;
    for (const char c : word)
      plain = plain && (c == '-' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                        (c >= 'A' && c <= 'Z'));
    if (!plain) mistake("a layer's name has 1 to 40 letters, digits, '-' or '_'");
    return plain ? std::string(word) : "";
  }
  void mistake(const std::string& text) {
    if (!error_) error_ = Error{ErrorKind::invalid, "line " + std::to_string(number_) + ": " + text};
  }
  [[nodiscard]] Status finish() {
    if (!next_word(rest_).empty()) mistake("there are words too many");
    if (error_) return *error_;
    return {};
  }

 private:
  std::size_t number_;
  std::string_view rest_;
  std::optional<Error> error_;
};

TissueLayer read_layer(Statement& statement) {
  TissueLayer layer;
  layer.name = statement.name();
  layer.index = statement.value("the refractive index", 1, index_max);
  layer.absorption = statement.value("the absorption coefficient", 0, coefficient_max);
  layer.scattering = statement.value("the scattering coefficient", 0, coefficient_max);
  layer.anisotropy = statement.value("the anisotropy", -1, 1);
  layer.thickness = statement.value("the thickness", 1e-9, thickness_max, true);
  if (layer.thickness == infinity && layer.absorption + layer.scattering == 0)
    statement.mistake("an infinite layer must absorb or scatter");
  return layer;
}

Status read_statement(Tissue& tissue, std::size_t number, std::string_view words) {
  const std::string_view kind = next_word(words);
  if (kind.empty()) return {};
  Statement statement(number, words);
  if (kind == "above") {
    tissue.index_above = statement.value("the refractive index", 1, index_max);
  } else if (kind == "below") {
    tissue.index_below = statement.value("the refractive index", 1, index_max);
  } else if (kind == "layer") {
    if (tissue.layers.size() == static_cast<std::size_t>(layers_max))
      statement.mistake("at most 16 layers are allowed");
    else if (!tissue.layers.empty() && tissue.layers.back().thickness == infinity)
      statement.mistake("there can be no layer under an infinite one");
    tissue.layers.push_back(read_layer(statement));
  } else {
    statement.mistake("it must begin with above, layer or below");
  }
  return statement.finish();
}

}  // namespace

Result<Tissue> parse_tissue(std::string_view text) {
  if (text.size() > tissue_bytes_max)
    return Error{ErrorKind::invalid, "the tissue is longer than 16384 bytes"};
  Tissue tissue;
  for (std::size_t number = 1; !text.empty(); ++number) {
    if (number > statements_max) return Error{ErrorKind::invalid, "the tissue has more than 64 lines"};
    const std::size_t end = std::min(text.find_first_of("\n;"), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    TRY(read_statement(tissue, number, line.substr(0, line.find('#'))));
  }
  if (tissue.layers.empty()) return Error{ErrorKind::invalid, "the tissue has no layer"};
  return tissue;
}

std::string_view bundled_tissue(std::string_view name) {
  if (name == "head") return head;
  if (name == "slab") return slab;
  if (name == "half-space") return half_space;
  return {};
}

}  // namespace gleaner::photons
