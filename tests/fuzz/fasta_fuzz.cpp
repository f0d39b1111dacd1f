// FASTA, plain and gzipped: the first byte chooses the alphabet and how the rest is cut into pieces. However
// it is cut, the same records or the same complaint come out.
#include <string>

#include "apps/dsearch/fasta.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::dsearch;

namespace {

std::string decoded(Alphabet alphabet, std::string_view bytes, std::size_t piece) {
  FastaLimits limits;
  limits.record_residues = 10'000;
  limits.residues = 30'000;
  limits.records = 1000;
  limits.text_bytes = 1 << 20;
  std::string all;
  FastaDecoder decoder(alphabet, "input", limits, [&](Record&& record) -> Status {
    CHECK_TRUE(!record.name.empty() && record.name.size() <= 128 && record.description.size() <= 256);
    CHECK_TRUE(record.name.find_first_of(" \t\n") == std::string::npos);
    CHECK_TRUE(record.description.find_first_of("\t\n") == std::string::npos);
    for (const char code : record.codes)
      CHECK_TRUE(static_cast<unsigned char>(code) < letters(alphabet).size());
    std::string back;
    CHECK_TRUE(unpack_codes(alphabet, pack_codes(alphabet, record.codes), record.codes.size(), back));
    CHECK_TRUE(back == record.codes);
    all += record.name + '\t' + record.description + '\t' + record.codes + '\n';
    return {};
  });
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (const Status fed = decoder.feed(bytes.substr(at, piece)); !fed.ok()) {
      CHECK_TRUE(fed.error().message.size() < 1000);
      return "refused";
    }
  }
  return decoder.finish().ok() ? all : "refused";
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  const Alphabet alphabet = (data[0] & 1) != 0 ? Alphabet::dna : Alphabet::protein;
  const std::string whole = decoded(alphabet, bytes, bytes.size() + 1);
  CHECK_TRUE(decoded(alphabet, bytes, std::size_t{1} + data[0] / 2) == whole);
  return 0;
}
