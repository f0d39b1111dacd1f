#include "apps/passwords/keyspace.h"

#include <algorithm>
#include <array>

namespace gleaner::passwords {

Result<std::string> expand_alphabet(std::string_view text) {
  std::array<bool, 256> present{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    auto last = first;
    if (i + 2 < text.size() && text[i + 1] == '-') {
      last = static_cast<unsigned char>(text[i + 2]);
      i += 2;
    }
    if (last < first) {
      return Error{ErrorKind::invalid, std::string("the range ") + static_cast<char>(first) + "-" +
                                           static_cast<char>(last) + " runs backwards"};
    }
    if (first < 0x20 || last > 0x7e)
      return Error{ErrorKind::invalid, "only printable ASCII characters can be searched"};
    std::fill(present.begin() + first, present.begin() + last + 1, true);
  }
  std::string alphabet;
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (present[i]) alphabet.push_back(static_cast<char>(i));
  }
  if (alphabet.empty()) return Error{ErrorKind::invalid, "names no character; for example \"a-z0-9\""};
  return alphabet;
}

Result<Keyspace> Keyspace::create(std::string alphabet, int shortest, int longest) {
  Keyspace space;
  space.alphabet_ = std::move(alphabet);
  space.shortest_ = shortest;
  space.starts_.push_back(0);
  const auto radix = static_cast<std::int64_t>(space.alphabet_.size());
  std::int64_t of_length = 1;
  for (int length = 0; length <= longest; ++length) {
    if (length >= shortest) {
      if (of_length > keyspace_max - space.starts_.back()) {
        return Error{ErrorKind::invalid,
                     "there would be more than 2^62 candidates: lower maximum_length or "
                     "take a smaller alphabet"};
      }
      space.starts_.push_back(space.starts_.back() + of_length);
    }
    of_length = of_length > keyspace_max / radix ? keyspace_max + 1 : of_length * radix;
  }
  return space;
}

Range Keyspace::of_length(int length) const {
  const auto at = static_cast<std::size_t>(length - shortest_);
  return {starts_.at(at), starts_.at(at + 1)};
}

std::string Keyspace::plaintext(std::int64_t index) const {
  CHECK_TRUE(index >= 0 && index < size());
  int length = shortest_;
  while (index >= of_length(length).end) ++length;
  index -= of_length(length).begin;
  const auto radix = static_cast<std::int64_t>(alphabet_.size());
  std::string text(static_cast<std::size_t>(length), '\0');
  for (char& character : text) {
    character = alphabet_[static_cast<std::size_t>(index % radix)];
    index /= radix;
  }
  return text;
}

std::int64_t Keyspace::index_of(std::string_view plaintext) const {
  const auto length = static_cast<int>(plaintext.size());
  if (length < shortest_ || length > longest()) return -1;
  std::int64_t index = 0;
  for (std::size_t i = plaintext.size(); i-- > 0;) {
    const std::size_t digit = alphabet_.find(plaintext[i]);
    if (digit == std::string::npos) return -1;
    index = index * static_cast<std::int64_t>(alphabet_.size()) + static_cast<std::int64_t>(digit);
  }
  return of_length(length).begin + index;
}

}  // namespace gleaner::passwords
