// dsearch's formats: FASTA, packed residues, items.
#include <zlib.h>

#include "apps/dsearch/fasta.h"
#include "apps/dsearch/layout.h"
#include "tests/catch.h"
#include "tests/unit/apps/dsearch_samples.h"

namespace gleaner::dsearch {
namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// The records in one word, or the complaint. Fed in pieces of that many bytes.
std::string decoded(const std::string& bytes, std::size_t piece, Alphabet alphabet = Alphabet::protein,
                    const FastaLimits& limits = {}) {
  std::string result;
  FastaDecoder decoder(alphabet, "input x", limits, [&](Record&& record) -> Status {
    result += record.name + "(" + record.description + ")" + to_letters(alphabet, record.codes) + ";";
    return {};
  });
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (const Status fed = decoder.feed(std::string_view(bytes).substr(at, piece)); !fed.ok())
      return fed.error().message;
  }
  const Status finished = decoder.finish();
  return finished.ok() ? result : finished.error().message;
}

}  // namespace

TEST_CASE("FASTA is read in any form", "[dsearch]") {
  const std::string text =
      "; a comment\n\n>one  the first\tone \r\nARND\r\n cqe-g.\r\n\r\n>empty\n>one\nuoj*\n;inner\nX\n>\nA";
  const std::string expected = "one(the first one)ARNDCQEG;empty();one()CKX*X;record-4()A;";
  for (const std::size_t piece : {1U, 2U, 7U, 1000U}) {
    INFO("pieces of " << piece);
    CHECK(decoded(text, piece) == expected);
    CHECK(decoded(gzipped(text), piece) == expected);
    // Several members, as bgzip writes them, cut anywhere.
    CHECK(decoded(gzipped(text.substr(0, 30)) + gzipped(text.substr(30)), piece) == expected);
    CHECK(decoded(gzipped(text) + std::string(600, '\0'), piece) == expected);
  }
  CHECK(decoded(">x\nACGTUN\nryx", 3, Alphabet::dna) == "x()ACGTTNRYN;");
  CHECK(decoded("", 1).empty());
  CHECK(decoded(">", 1) == "record-1();");
  CHECK(decoded(">x\n" + std::string(1'000'000, 'A') + "\n", 4096).size() == 1'000'004);
}

TEST_CASE("What is wrong with a FASTA file is said with its line", "[dsearch]") {
  CHECK(decoded("ACGT\n", 9) ==
        "input x, line 1: expected '>' and a name before the first residue: is this FASTA?");
  CHECK(decoded(">a\nAR\nA1\n", 2) == "input x, line 3: '1' is no residue of a protein");
  CHECK(decoded(">a\nACE\n", 2, Alphabet::dna) == "input x, line 2: 'E' is no residue of DNA");
  CHECK(decoded(">a\nA\x80", 2) == "input x, line 2: byte 128 is no residue of a protein");
  const std::string packed = gzipped(">a\nARND\n");
  CHECK(decoded(packed.substr(0, packed.size() - 9), 5) == "input x: the gzip data is cut short");
  std::string damaged = packed;
  damaged[12] = static_cast<char>(damaged[12] ^ 0x55);
  CHECK(decoded(damaged, 5).starts_with("input x: the gzip data is"));
  FastaLimits limits;
  limits.record_residues = 4;
  CHECK(decoded(">a\nARNDA\n", 99, Alphabet::protein, limits) ==
        "input x, line 2: a has more than 4 residues: split it");
  limits = {};
  limits.records = 1;
  CHECK(decoded(">a\n>b\n>c\n", 99, Alphabet::protein, limits) == "input x, line 3: more than 1 records");
  limits = {};
  limits.residues = 3;
  CHECK(decoded(">a\nAR\n>b\nAR\n", 99, Alphabet::protein, limits) ==
        "input x, line 5: more than 3 residues in all");
  limits = {};
  limits.text_bytes = 1000;
  CHECK(decoded(gzipped(">a\n" + std::string(100'000, '-')), 99, Alphabet::protein, limits) ==
        "input x: more than 1000 bytes of text");
}

TEST_CASE("Packed residues and chunks come back", "[dsearch]") {
  Random random(6);
  for (const Alphabet alphabet : {Alphabet::protein, Alphabet::dna}) {
    Layout layout;
    layout.alphabet = alphabet;
    layout.queries = {"\1\2", random_codes(random, 40, 15), "\3"};
    layout.group_queries(3);
    CHECK(layout.groups == std::vector<std::uint32_t>{0, 1, 2, 3});
    layout.group_queries(45);
    CHECK(layout.groups == std::vector<std::uint32_t>{0, 3});
    std::vector<std::string> records;
    Layout::Chunk chunk;
    for (std::size_t length = 0; length < 40; ++length) {
      const std::string text = random_codes(random, length, letters(alphabet).size());
      std::string back;
      REQUIRE(unpack_codes(alphabet, pack_codes(alphabet, text), length, back));
      REQUIRE(back == text);
      CHECK_FALSE(unpack_codes(alphabet, pack_codes(alphabet, text) + "x", length, back));
      records.push_back(text);
      chunk.residues += length;
    }
    chunk.records = records.size();
    layout.chunks = {chunk};
    const Bytes bytes = encode_chunk(alphabet, records);
    const auto decoded_chunk = decode_chunk(layout, 0, bytes);
    REQUIRE(decoded_chunk.ok());
    CHECK(std::equal(records.begin(), records.end(), decoded_chunk->records.begin(),
                     decoded_chunk->records.end()));
    const auto again = decode_layout(encode(layout));
    REQUIRE(again.ok());
    CHECK(encode(*again) == encode(layout));
    for (std::size_t cut = 0; cut < bytes.size(); cut += 13)
      CHECK_FALSE(decode_chunk(layout, 0, bytes.substr(0, cut)).ok());
    const Bytes whole = encode(layout);
    for (std::size_t cut = 0; cut < whole.size(); ++cut)
      CHECK_FALSE(decode_layout(whole.substr(0, cut)).ok());
  }
}

TEST_CASE("Hits and histogram of an item must agree", "[dsearch]") {
  const Admission admission{Mode::local, 1, 2};
  const ChunkRecords records{10, 4};
  QueryHits good;
  good.hits = {{50, 12, 3, 4}, {20, 10, 3, 4}};
  good.histogram = {{{5, 50}, 1}, {{5, 20}, 2}, {{0, 0}, 1}};
  const auto decode = [&](const QueryHits& query) {
    return decode_hits(3, 1, records, admission, encode(3, {query}));
  };
  REQUIRE(decode(good).ok());
  CHECK(decode(good)->front() == good);
  CHECK_FALSE(decode_hits(4, 1, records, admission, encode(3, {good})).ok());
  CHECK_FALSE(decode_hits(3, 2, records, admission, encode(3, {good})).ok());
  QueryHits bad = good;
  bad.hits.pop_back();  // one is missing
  CHECK_FALSE(decode(bad).ok());
  bad = good;
  std::swap(bad.hits[0], bad.hits[1]);
  CHECK_FALSE(decode(bad).ok());
  bad = good;
  bad.hits[0].record = 14;  // of another chunk
  CHECK_FALSE(decode(bad).ok());
  bad = good;
  bad.hits[0].score = 51;  // not in the histogram
  CHECK_FALSE(decode(bad).ok());
  bad = good;
  bad.histogram[{5, 20}] = 1;  // a record was not scored
  CHECK_FALSE(decode(bad).ok());
  bad = good;
  bad.histogram[{5, 20}] = 1;
  bad.histogram[{5, 60}] = 1;  // better than the best hit
  CHECK_FALSE(decode(bad).ok());
  const Bytes bytes = encode(3, {good});
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    CHECK_FALSE(decode_hits(3, 1, records, admission, bytes.substr(0, cut)).ok());
}

}  // namespace gleaner::dsearch
