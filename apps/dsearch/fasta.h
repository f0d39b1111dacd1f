// FASTA files, plain or gzipped (several members too), a record at a time: memory is one record. Lines end in
// LF or CRLF; empty lines and lines that begin with ';' do not count; '-' and '.' (gaps of an alignment) and
// spaces are left out. Identifiers need not be unique. Errors: invalid (with the line), too_large.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "apps/dsearch/alphabet.h"
#include "shared/base/result.h"

namespace gleaner::dsearch {

struct Record {
  std::string name;         // the header's first word; "record-N" if there is none
  std::string description;  // the rest of it
  std::string codes;        // alphabet.h
};

struct FastaLimits {
  std::int64_t record_residues = 64 << 20;
  std::int64_t residues = std::int64_t{8} << 30;  // of all records
  std::int64_t records = 100'000'000;
  std::int64_t text_bytes = std::int64_t{32} << 30;  // unpacked
};

class FastaDecoder {
 public:
  // `take` gets each record; its error ends the decoding. `source` is named in messages: "input database".
  FastaDecoder(Alphabet alphabet, std::string source, const FastaLimits& limits,
               std::function<Status(Record&&)> take);
  ~FastaDecoder();
  // The file's bytes, in pieces of any size. After an error nothing more.
  [[nodiscard]] Status feed(std::string_view bytes);
  [[nodiscard]] Status finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] Status read_fasta(const std::filesystem::path& path, Alphabet alphabet,
                                const std::string& source, const FastaLimits& limits,
                                const std::function<Status(Record&&)>& take);

}  // namespace gleaner::dsearch
