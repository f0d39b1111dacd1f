#include "server/policy/trust/validation.h"

#include <fmt/format.h>

#include <charconv>

namespace gleaner::policy {
namespace {

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Result<Validation> parse_validation(std::string_view text) {
  using Kind = Validation::Kind;
  Validation validation;
  if (text == "adaptive") return validation;
  if (text == "none") return Validation{Kind::none};
  if (text == "checks") return Validation{Kind::checks};
  constexpr std::string_view spot = "spot:", quorum = "quorum:";
  if (text.starts_with(spot) && parse(text.substr(spot.size()), validation.spot) && validation.spot > 0 &&
      validation.spot <= 1) {
    validation.kind = Kind::spot;
    return validation;
  }
  if (text.starts_with(quorum) && parse(text.substr(quorum.size()), validation.quorum) &&
      validation.quorum >= 2 && validation.quorum <= quorum_max) {
    validation.kind = Kind::quorum;
    return validation;
  }
  return Error{
      ErrorKind::invalid,
      fmt::format("validation \"{}\": expected none, checks, spot:P (0 < P <= 1), quorum:N (2 to {}) "
                  "or adaptive",
                  text, quorum_max)};
}

std::string text_of(const Validation& validation) {
  switch (validation.kind) {
    case Validation::Kind::none:
      return "none";
    case Validation::Kind::checks:
      return "checks";
    case Validation::Kind::spot:
      return fmt::format("spot:{}", validation.spot);
    case Validation::Kind::quorum:
      return fmt::format("quorum:{}", validation.quorum);
    case Validation::Kind::adaptive:
      break;
  }
  return "adaptive";
}

}  // namespace gleaner::policy
