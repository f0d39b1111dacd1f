#include "apps/dsearch/scheme.h"

#include <parasail.h>
#include <algorithm>

namespace gleaner::dsearch {

const std::vector<MatrixName>& matrix_names() {
  // The costs are those of BLAST (and, for PAM120 and BLOSUM50, FASTA36), in this file's convention.
  static const std::vector<MatrixName> names{
      {"blosum62", Alphabet::protein, 12, 1}, {"blosum45", Alphabet::protein, 16, 2},
      {"blosum50", Alphabet::protein, 12, 2}, {"blosum80", Alphabet::protein, 11, 1},
      {"blosum90", Alphabet::protein, 11, 1}, {"pam30", Alphabet::protein, 10, 1},
      {"pam70", Alphabet::protein, 11, 1},    {"pam120", Alphabet::protein, 20, 4},
      {"pam250", Alphabet::protein, 16, 2},   {"dnafull", Alphabet::dna, 16, 4},
      {"dna", Alphabet::dna, 16, 4}};
  return names;
}

Result<Scheme> Scheme::create(const std::string& matrix, int match, int mismatch, int open, int extend) {
  const auto& names = matrix_names();
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const MatrixName& known) { return known.name == matrix; });
  if (found == names.end()) return Error{ErrorKind::invalid, "there is no matrix " + matrix};
  Scheme scheme;
  scheme.alphabet_ = found->alphabet;
  scheme.open_ = open;
  scheme.extend_ = extend;
  scheme.scores_.fill(padding_score);
  const std::string_view known = letters(found->alphabet);
  const parasail_matrix_t* table = matrix == "dna" ? nullptr : parasail_matrix_lookup(matrix.c_str());
  if (matrix != "dna" && !table) return Error{ErrorKind::internal, "parasail does not have " + matrix};
  for (std::size_t a = 0; a < known.size(); ++a) {
    for (std::size_t b = 0; b < known.size(); ++b) {
      int score = a == b && a < 4 ? match : mismatch;
      if (table) {
        const auto place = [&](char letter) { return table->mapper[static_cast<unsigned char>(letter)]; };
        score = table->matrix[place(known[a]) * table->size + place(known[b])];
      }
      scheme.scores_[index(static_cast<int>(a), static_cast<int>(b))] = static_cast<std::int8_t>(score);
      scheme.highest_ = std::max(scheme.highest_, score);
    }
  }
  return scheme;
}

}  // namespace gleaner::dsearch
