// Residues as small numbers. Protein: the 20 amino acids, B, Z, X and '*'; DNA: the IUPAC letters. Lower case
// is upper case, and letters that the matrices do not know become their nearest relatives (U and O of
// proteins are C and K, as FASTA36 has it; J is X; DNA's U is T, and X is N). Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gleaner::dsearch {

enum class Alphabet : std::uint8_t { protein = 1, dna = 2 };

inline constexpr int codes_max = 32;

// The letters by code.
[[nodiscard]] std::string_view letters(Alphabet alphabet);
// The code of each byte; -1: it is no residue.
[[nodiscard]] const std::array<std::int8_t, 256>& codes_of(Alphabet alphabet);
[[nodiscard]] inline int code_of(Alphabet alphabet, char letter) {
  return codes_of(alphabet)[static_cast<unsigned char>(letter)];
}
// A text of codes, readable.
[[nodiscard]] std::string to_letters(Alphabet alphabet, std::string_view codes);

// Codes packed into 5 (protein) or 4 bits, for files that travel. The length is kept elsewhere.
[[nodiscard]] std::string pack_codes(Alphabet alphabet, std::string_view codes);
[[nodiscard]] std::size_t packed_bytes(Alphabet alphabet, std::size_t length);
// Nothing if the text has another length, or a code that is none.
[[nodiscard]] bool unpack_codes(Alphabet alphabet, std::string_view packed, std::size_t length,
                                std::string& codes);

}  // namespace gleaner::dsearch
