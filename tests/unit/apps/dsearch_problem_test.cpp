// dsearch as a whole: its properties, its artefacts, what it refuses and complains about.
#include <sstream>
#include <utility>

#include "apps/dsearch/alphabet.h"
#include "apps/dsearch/layout.h"
#include "tests/catch.h"
#include "tests/unit/apps/application.h"
#include "tests/unit/apps/dsearch_samples.h"

namespace gleaner::dsearch {
namespace {

using test::Application;
using test::Files;
using test::Items;

struct Sample {
  Files inputs;
  std::vector<std::string> planted;  // names, the nearest first
};

std::string fasta(const std::string& name, Alphabet alphabet, const std::string& text) {
  return ">" + name + " of a test\n" + to_letters(alphabet, text) + "\n";
}

// Two queries; relatives of the first in a database of chance, with an empty record and a repeated name.
Sample sample(Alphabet alphabet, int records, std::uint64_t seed) {
  Random random(seed);
  const std::uint64_t kinds = alphabet == Alphabet::protein ? 20 : 4;
  Sample made;
  const std::string query = random_codes(random, 120, kinds);
  made.inputs["query"] =
      fasta("first", alphabet, query) + fasta("second", alphabet, random_codes(random, 90, kinds));
  std::string& database = made.inputs["database"];
  for (int i = 0; i < records; ++i) {
    if (i == records / 4) {
      made.planted.push_back("near");
      database +=
          fasta("near", alphabet, random_codes(random, 30, kinds) + relative_of(random, query, 0.1, kinds));
    }
    if (i == records * 3 / 4) {
      made.planted.push_back("far");
      database += fasta("far", alphabet, relative_of(random, query.substr(20), 0.3, kinds));
    }
    database += fasta("chance" + std::to_string(i / 2), alphabet,
                      random_codes(random, 40 + random.below(160), kinds));
  }
  database += ">nothing\n";
  return made;
}

std::vector<std::vector<std::string>> rows(const std::string& table) {
  std::vector<std::vector<std::string>> all;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    all.emplace_back();
    for (std::string word; std::getline(words, word, '\t');) all.back().push_back(word);
  }
  return all;
}

// The whole problem in one process each.
Files solved(const std::string& parameters, const Files& inputs) {
  Application application("dsearch", parameters, inputs);
  Files results;
  for (int stage = 0;; ++stage) {
    const std::string plan = application.plan(stage);
    if (plan == "end\n") return results;
    INFO(plan);
    REQUIRE(plan.ends_with("ok\n"));
    const Range all{0, application.items()};
    results = application.combine(application.compute(all), {all});
  }
}

}  // namespace

TEST_CASE("dsearch has the properties of an application", "[dsearch]") {
  const Sample proteins = sample(Alphabet::protein, 160, 31);
  for (const char* parameters :
       {R"({"chunk_residues": 3000, "item_cells": 100000, "top": 8})",
        R"({"mode": "nw", "chunk_residues": 4000, "top": 5})",
        R"({"mode": "sg", "chunk_residues": 4000, "top": 5, "matrix": "blosum50"})"}) {
    test::check_properties({"dsearch", parameters, proteins.inputs, 41});
  }
  const Sample dna = sample(Alphabet::dna, 100, 32);
  test::check_properties(
      {"dsearch", R"({"matrix": "dnafull", "chunk_residues": 5000, "top": 3})", dna.inputs, 42});
}

TEST_CASE("A planted relative is found first, whatever the chunks", "[dsearch]") {
  const Sample made = sample(Alphabet::protein, 1200, 33);
  Files expected;
  for (const char* chunks : {"2000", "20000", "0"}) {
    const Files results = solved(
        R"({"top": 10, "item_cells": 2000000, "chunk_residues": )" + std::string(chunks) + "}", made.inputs);
    if (expected.empty()) expected = results;
    CHECK(results == expected);
    CHECK(results.size() == 5);
  }
  const auto table = rows(expected.at("hits.tsv"));
  REQUIRE(table.size() > 3);
  CHECK(table[0][0] == "query");
  CHECK(table[1][0] == "first");
  CHECK(table[1][2] == made.planted[0]);
  CHECK(table[2][2] == made.planted[1]);
  CHECK(std::stod(table[1][6]) < 1e-20);
  CHECK(table[1][14].find('=') != std::string::npos);
  // Chance alone gives about E records with an E-value of E.
  for (const auto& row : table) {
    if (row[0] == "second") CHECK(std::stod(row[6]) > 1e-4);
  }
  CHECK(expected.at("report.txt").find("fitted to the scores") != std::string::npos);
  CHECK(expected.at("report.txt").find("1,203 records compared") != std::string::npos);
  CHECK(expected.at("alignments.txt").starts_with(">near of a test\n"));
  const auto sam = rows(expected.at("alignments.sam"));
  CHECK(sam[0][0] == "@HD");
  for (const auto& line : sam) {
    if (line[0][0] == '@') continue;
    REQUIRE(line.size() >= 11);
    // A read's letters are those that its CIGAR consumes.
    std::size_t consumed = 0, count = 0;
    for (const char c : line[5]) {
      if (c >= '0' && c <= '9') {
        count = 10 * count + static_cast<std::size_t>(c - '0');
      } else {
        consumed += c == 'D' ? 0 : std::exchange(count, 0);
        count = 0;
      }
    }
    CHECK(consumed == line[9].size());
  }
}

TEST_CASE("More hits are asked for than there are", "[dsearch]") {
  const Files inputs{{"query", ">q\nHEAGAWGHEE\n"}, {"database", ">a\nPAWHEAE\n>b\n\n>c\nPPPP\n>a\nW\n"}};
  const Files local =
      solved(R"({"matrix": "blosum50", "gap_open": 8, "gap_extend": 8, "evalue_max": 1e9})", inputs);
  const auto table = rows(local.at("hits.tsv"));
  REQUIRE(table.size() == 3);  // c does not match anywhere
  CHECK(table[1][4] == "28");
  CHECK(table[1][14] == "2=1I2=");
  CHECK(table[2][4] == "15");
  const Files global =
      solved(R"({"mode": "nw", "matrix": "blosum50", "gap_open": 8, "gap_extend": 8})", inputs);
  const auto all = rows(global.at("hits.tsv"));
  REQUIRE(all.size() == 4);
  CHECK(all[1][4] == "1");
  // Nothing at all is an answer too.
  const Files none = solved(R"({"score_min": 1000})", inputs);
  CHECK(rows(none.at("hits.tsv")).size() == 1);
  CHECK(none.at("report.txt").find("0 hits; 4 records compared") != std::string::npos);
}

TEST_CASE("dsearch aligns nothing before all is scored, and refuses what is forged", "[dsearch]") {
  const Sample made = sample(Alphabet::protein, 60, 34);
  Application application("dsearch", R"({"chunk_residues": 2000, "top": 3})", made.inputs);
  REQUIRE(application.plan(0).ends_with("ok\n"));
  REQUIRE(application.items() > 2);
  const Range all{0, application.items()};
  Items items = application.compute(all);
  CHECK(application.plan(1).starts_with("error "));
  REQUIRE(application.plan(0).ends_with("ok\n"));
  // A score that is one more, in hits and histogram alike, is not believed.
  bool refused = false;
  for (const auto& [item, bytes] : items) {
    for (std::size_t at = 12; at + 4 <= bytes.size() && at < 60; at += 20) {
      std::string forged = bytes;
      forged[at] = static_cast<char>(forged[at] + 1);
      if (forged == bytes) continue;
      CHECK(application.validate({item, item + 1}, {{item, forged}}).starts_with("invalid "));
      refused = true;
    }
  }
  CHECK(refused);
  application.combine(items, {all});
  REQUIRE(application.plan(1).ends_with("ok\n"));
  const Range hits{0, application.items()};
  const Items alignments = application.compute(hits);
  CHECK(application.validate(hits, alignments) == "valid");
  for (const auto& [item, bytes] : alignments) {
    for (std::size_t at = 8; at < bytes.size(); at += 4) {
      std::string forged = bytes;
      forged[at] = static_cast<char>(forged[at] ^ 0x10);
      INFO("item " << item << ", byte " << at);
      CHECK(application.validate({item, item + 1}, {{item, forged}}).starts_with("invalid "));
    }
  }
}

TEST_CASE("dsearch complains key by key", "[dsearch]") {
  const Files inputs{{"query", ">q\nARND\n"}, {"database", ">a\nARND\n"}};
  const auto complaint = [&](const std::string& parameters) {
    return test::complaint("dsearch", parameters, inputs);
  };
  CHECK(complaint("{}") == "ok");
  CHECK(complaint(R"({"mode": "x"})").starts_with("error mode: must be one of \"sw\", \"nw\", \"sg\""));
  CHECK(complaint(R"({"matrix": "blosum61"})").starts_with("error matrix: must be one of "));
  CHECK(complaint(R"({"gap_open": 0})").starts_with("error gap_open: must be a whole number from 1 to 100"));
  CHECK(complaint(R"({"gap_open": 5, "gap_extend": 6})")
            .starts_with("error gap_extend: must not be above gap_open"));
  CHECK(complaint(R"({"match": 1})") == R"(error match: is for matrix "dna" only: leave it out)");
  CHECK(complaint(R"({"top": 0})").starts_with("error top: "));
  CHECK(complaint(R"({"score_min": 0})").starts_with("error score_min: "));
  CHECK(complaint(R"({"mode": "nw", "evalue_max": 1})").starts_with("error evalue_max: is for mode \"sw\""));
  CHECK(complaint(R"({"evalue_max": -1})").starts_with("error evalue_max: must be a number"));
  CHECK(complaint(R"({"statistics": 1})").starts_with("error statistics: must be one of"));
  CHECK(complaint(R"({"chunk_residues": -1})").starts_with("error chunk_residues: "));
  CHECK(complaint(R"({"item_cells": 0})").starts_with("error item_cells: "));
  CHECK(complaint(R"({"matrx": 1, "top": "x"})").find("; \"matrx\": there is no such parameter") !=
        std::string::npos);
  const auto with = [](const Files& files, const char* parameters = "{}") {
    return test::complaint("dsearch", parameters, files);
  };
  CHECK(with({{"query", ">q\nA\n"}}).find("`database` is missing") != std::string::npos);
  CHECK(with({{"database", ">q\nA\n"}}).find("`query` is missing") != std::string::npos);
  CHECK(with({{"query", ">q\n\n"}, {"database", ">a\nA\n"}}) == "error input query: q has no residues");
  CHECK(with({{"query", ""}, {"database", ">a\nA\n"}}) ==
        "error input query: it has no record: is this FASTA?");
  CHECK(with({{"query", ">q\nA\n"}, {"database", ">a\n"}}) ==
        "error input database: it has no residues: is this FASTA?");
  CHECK(with({{"query", ">q\nA\n"}, {"database", ">a\nA?\n"}}) ==
        "error input database, line 2: '?' is no residue of a protein");
  CHECK(with({{"query", ">q\n" + std::string(40'000, 'A')}, {"database", ">a\n" + std::string(200'000, 'A')}},
             R"({"mode": "nw"})")
            .starts_with("error input database: its longest record, 200000 residues, is too long"));
}

#ifndef GLEANER_SANITIZED
TEST_CASE("Large chunks, long records and long alignments keep to the memory that the manifest says",
          "[dsearch]") {
  Random random(9);
  const std::string query = random_codes(random, 5000);
  std::string database = fasta("long", Alphabet::protein, random_codes(random, 16'000'000));
  for (int i = 0; i < 20'000; ++i) database += fasta("short", Alphabet::protein, random_codes(random, 300));
  const Files long_one{{"query", fasta("q", Alphabet::protein, random_codes(random, 30))},
                       {"database", std::move(database)}};
  Application scores("dsearch", R"({"chunk_residues": 16777216, "top": 1})", long_one);
  REQUIRE(scores.plan(0).ends_with("ok\n"));
  scores.compute({0, scores.items()});
  CHECK(scores.kernel_memory() <= scores.promised_memory());

  const Files pair{{"query", fasta("q", Alphabet::protein, query)},
                   {"database", fasta("r", Alphabet::protein, relative_of(random, query, 0.1))}};
  Application alignment("dsearch", R"({"mode": "nw"})", pair);
  REQUIRE(alignment.plan(0).ends_with("ok\n"));
  alignment.combine(alignment.compute({0, 1}), {{0, 1}});
  REQUIRE(alignment.plan(1).ends_with("ok\n"));
  alignment.compute({0, 1});
  // 6 * query * sqrt(record) beside the program itself.
  CHECK(alignment.kernel_memory() <= (std::int64_t{24} << 20) + 6 * 5000 * 75);
}
#endif

}  // namespace gleaner::dsearch
