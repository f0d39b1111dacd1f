#include "apps/passwords/accounts.h"

#include <algorithm>
#include <array>

#include "apps/passwords/targets.h"
#include "shared/base/encoding.h"
#include "shared/base/random.h"

namespace gleaner::passwords {
namespace {

constexpr std::array<std::string_view, 40> words{
    "love",  "star", "moon",  "dragon", "shadow", "summer", "winter", "tiger", "coffee", "monkey",
    "hello", "blue", "green", "silver", "magic",  "happy",  "music",  "rose",  "angel",  "king",
    "queen", "cat",  "dog",   "fish",   "anna",   "peter",  "maria",  "john",  "lucy",   "tom",
    "pass",  "word", "admin", "test",   "login",  "secret", "qwert",  "asdf",  "abc",    "xyz"};

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view space = " \t\r";
  const std::size_t first = line.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(space) - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string drawn(Random& random, std::string_view alphabet, std::int64_t length) {
  std::string text;
  for (std::int64_t i = 0; i < length; ++i) text.push_back(alphabet[random.below(alphabet.size())]);
  return text;
}

std::string speakable(Random& random) {
  std::string text;
  const std::int64_t syllables = random.between(2, 3);
  for (std::int64_t i = 0; i < syllables; ++i)
    text += drawn(random, "bcdfgklmnprstvz", 1) + drawn(random, "aeiou", 1);
  return text;
}

}  // namespace

Result<std::vector<Account>> read_accounts(Algorithm algorithm, std::string_view text) {
  std::vector<Account> accounts;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(
        std::min(text.size(), text.find('\n') == std::string_view::npos ? text.size() : text.find('\n') + 1));
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = line.rfind(':');
    const std::string_view hex = colon == std::string_view::npos ? line : trimmed(line.substr(colon + 1));
    const auto digest = from_hex(lower(hex));
    if (!digest || digest->size() != digest_bytes(algorithm)) {
      return Error{ErrorKind::invalid, "input digests, line " + std::to_string(number) +
                                           ": expected NAME:HEX or HEX with the " +
                                           std::to_string(2 * digest_bytes(algorithm)) + " digits of " +
                                           std::string(name_of(algorithm)) + " (see the parameter `digest`)"};
    }
    std::string name(colon == std::string_view::npos ? "line " + std::to_string(number)
                                                     : std::string(trimmed(line.substr(0, colon))));
    std::replace_if(
        name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
        '?');
    accounts.push_back({std::move(name), *digest});
    if (static_cast<std::int64_t>(accounts.size()) > targets_max / 2)
      return Error{ErrorKind::too_large,
                   "input digests: at most 524288 accounts are allowed: split the list"};
  }
  if (accounts.empty()) return Error{ErrorKind::invalid, "input digests: there is no digest in it"};
  return accounts;
}

std::string made_up_password(std::uint64_t seed, std::int64_t number) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view digits = "0123456789";
  Random random(seed ^ static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15);
  const std::string word(words.at(random.below(words.size())));
  switch (random.below(10)) {
    case 0:
    case 1:
      return word;
    case 2:
    case 3:
      return word + drawn(random, digits, random.between(1, 2));
    case 4:
      return drawn(random, digits, random.between(4, 6));
    case 5:
    case 6:
      return speakable(random);
    case 7:
      return drawn(random, letters, random.between(3, 6));
    case 8:
      return word + (random.chance(0.5) ? "19" : "20") + drawn(random, digits, 2);
    default:
      return drawn(random, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!?.-",
                   random.between(8, 10));
  }
}

std::vector<Account> made_up_accounts(Algorithm algorithm, std::uint64_t seed, std::int64_t count) {
  std::vector<Account> accounts;
  for (std::int64_t i = 0; i < count; ++i)
    accounts.push_back({"account-" + std::to_string(i + 1), digest_of(algorithm, made_up_password(seed, i))});
  return accounts;
}

}  // namespace gleaner::passwords
