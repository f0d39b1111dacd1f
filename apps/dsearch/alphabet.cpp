#include "apps/dsearch/alphabet.h"

#include <algorithm>

#include "apps/kit/packing.h"

namespace gleaner::dsearch {
namespace {

constexpr std::string_view protein_letters = "ARNDCQEGHILKMFPSTWYVBZX*";
constexpr std::string_view dna_letters = "ATGCSWRYKMBVHDN";

using Codes = std::array<std::int8_t, 256>;

Codes make_codes(std::string_view known, std::string_view others) {
  Codes codes;
  codes.fill(-1);
  const auto set = [&](char letter, char as) {
    const auto code = static_cast<std::int8_t>(known.find(as));
    codes[static_cast<unsigned char>(letter)] = code;
    if (letter >= 'A' && letter <= 'Z') codes[static_cast<unsigned char>(letter - 'A' + 'a')] = code;
  };
  for (const char letter : known) set(letter, letter);
  for (std::size_t i = 0; i < others.size(); i += 2) set(others[i], others[i + 1]);
  return codes;
}

// 64 bits hold 12 residues of a protein, 16 of DNA.
constexpr unsigned bits_of(Alphabet alphabet) {
  return alphabet == Alphabet::protein ? 5 : 4;
}

}  // namespace

std::string_view letters(Alphabet alphabet) {
  return alphabet == Alphabet::protein ? protein_letters : dna_letters;
}

const Codes& codes_of(Alphabet alphabet) {
  static const Codes protein = make_codes(protein_letters, "UCOKJX");
  static const Codes dna = make_codes(dna_letters, "UTXN");
  return alphabet == Alphabet::protein ? protein : dna;
}

std::string to_letters(Alphabet alphabet, std::string_view codes) {
  std::string text(codes);
  for (char& code : text) code = letters(alphabet)[static_cast<unsigned char>(code)];
  return text;
}

std::size_t packed_bytes(Alphabet alphabet, std::size_t length) {
  const std::size_t a_word = 64 / bits_of(alphabet);
  return (length + a_word - 1) / a_word * 8;
}

std::string pack_codes(Alphabet alphabet, std::string_view codes) {
  const unsigned bits = bits_of(alphabet);
  const std::size_t a_word = 64 / bits;
  Bytes packed;
  packed.reserve(packed_bytes(alphabet, codes.size()));
  for (std::size_t begin = 0; begin < codes.size(); begin += a_word) {
    std::uint64_t word = 0;
    for (std::size_t i = std::min(begin + a_word, codes.size()); i-- > begin;)
      word = word << bits | static_cast<unsigned char>(codes[i]);
    kit::pack(packed, word);
  }
  return packed;
}

bool unpack_codes(Alphabet alphabet, std::string_view packed, std::size_t length, std::string& codes) {
  if (packed.size() != packed_bytes(alphabet, length)) return false;
  const unsigned bits = bits_of(alphabet);
  const std::size_t a_word = 64 / bits;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const auto known = static_cast<unsigned char>(letters(alphabet).size());
  codes.resize(length);
  kit::Unpacker unpacker(packed);
  unsigned char highest = 0;
  for (std::size_t begin = 0; begin < length; begin += a_word) {
    auto word = unpacker.get<std::uint64_t>();
    for (std::size_t i = begin; i < std::min(begin + a_word, length); ++i, word >>= bits) {
      const auto code = static_cast<unsigned char>(word & mask);
      highest = std::max(highest, code);
      codes[i] = static_cast<char>(code);
    }
  }
  return highest < known;
}

}  // namespace gleaner::dsearch
