// Scores and alignments of dsearch against the textbook, by every instruction set.
#include <cmath>

#include "apps/dsearch/align.h"
#include "apps/dsearch/engine.h"
#include "apps/dsearch/statistics.h"
#include "tests/catch.h"
#include "tests/unit/apps/dsearch_samples.h"

namespace gleaner::dsearch {
namespace {

constexpr Mode modes[] = {Mode::local, Mode::global, Mode::semi_global};

Scheme scheme_of(const std::string& matrix, int open, int extend, int match = 5, int mismatch = -4) {
  return *Scheme::create(matrix, match, mismatch, open, extend);
}

int score(Mode mode, const Scheme& scheme, std::string_view query, std::string_view record,
          kit::CpuLevel level = kit::CpuLevel::baseline) {
  return Scorer(mode, scheme, query, level).score(record);
}

const auto always = [](double) { return true; };

std::vector<std::int32_t> scores(Mode mode, const Scheme& scheme, std::string_view query,
                                 const std::vector<std::string>& records, kit::CpuLevel level) {
  const RecordBlock block({records.begin(), records.end()}, mode == Mode::local && has_lanes(level));
  std::vector<std::int32_t> result;
  Scorer(mode, scheme, query, level).scores(block, result, always);
  return result;
}

}  // namespace

TEST_CASE("Scores that are known", "[dsearch]") {
  const Scheme blosum50 = scheme_of("blosum50", 8, 8);
  const std::string heagawghee = codes(Alphabet::protein, "HEAGAWGHEE");
  const std::string pawheae = codes(Alphabet::protein, "PAWHEAE");
  const Scheme three = scheme_of("dna", 2, 2, 3, -3);
  const Scheme one = scheme_of("dna", 1, 1, 1, -1);
  for (const kit::CpuLevel level : kit::cpu_levels()) {
    CHECK(score(Mode::global, blosum50, heagawghee, pawheae, level) == 1);
    CHECK(score(Mode::local, blosum50, heagawghee, pawheae, level) == 28);
    CHECK(score(Mode::local, three, codes(Alphabet::dna, "TGTTACGG"), codes(Alphabet::dna, "GGTTGACTA"),
                level) == 13);
    CHECK(score(Mode::global, one, codes(Alphabet::dna, "GATTACA"), codes(Alphabet::dna, "GCATGCG"), level) ==
          0);
  }
  // The first gap residue costs `open`, further ones `extend`.
  CHECK(score(Mode::global, scheme_of("dna", 7, 2), codes(Alphabet::dna, "ACGT"),
              codes(Alphabet::dna, "A")) == 5 - 7 - 2 - 2);
}

TEST_CASE("Every instruction set scores as the textbook does", "[dsearch]") {
  const std::uint64_t seed = 11;
  Random random(seed);
  for (const auto& [matrix, open, extend] : {std::tuple{"blosum62", 12, 1},
                                             {"blosum50", 8, 8},
                                             {"pam250", 16, 2},
                                             {"dnafull", 16, 4},
                                             {"dna", 1, 1}}) {
    const Scheme scheme = scheme_of(matrix, open, extend);
    const std::uint64_t kinds = letters(scheme.alphabet()).size();
    for (int round = 0; round < 6; ++round) {
      const std::string query = random_codes(random, 1 + random.below(70), kinds);
      std::vector<std::string> records;
      for (int i = 0; i < 70; ++i) {
        records.push_back(i % 7 == 0 ? relative_of(random, query, 0.2, kinds)
                                     : random_codes(random, random.below(round == 0 ? 4 : 90), kinds));
      }
      for (const Mode mode : modes) {
        std::vector<std::int32_t> expected;
        for (const std::string& record : records) {
          expected.push_back(
              record.empty() && mode == Mode::semi_global ? 0 : textbook_score(mode, scheme, query, record));
        }
        for (const kit::CpuLevel level : kit::cpu_levels()) {
          INFO("seed " << seed << ", " << matrix << ", mode " << static_cast<int>(mode) << ", "
                       << kit::name_of(level) << ", query of " << query.size());
          REQUIRE(scores(mode, scheme, query, records, level) == expected);
        }
      }
    }
  }
}

TEST_CASE("Scores beyond 8 and 16 bits are exact", "[dsearch]") {
  const Scheme scheme = scheme_of("blosum62", 12, 1);
  Random random(3);
  const char tryptophan = static_cast<char>(code_of(Alphabet::protein, 'W'));
  const std::string long_one(3000, tryptophan);
  std::vector<std::string> records(40, random_codes(random, 50));
  for (const std::size_t length : {22U, 23U, 24U, 100U, 2978U, 2979U, 2990U, 3000U})
    records.push_back(std::string(length, tryptophan));
  for (const kit::CpuLevel level : kit::cpu_levels()) {
    for (const Mode mode : {Mode::local, Mode::semi_global}) {
      const auto found = scores(mode, scheme, long_one, records, level);
      for (std::size_t i = 40; i < records.size(); ++i)
        CHECK(found[i] == 11 * static_cast<std::int32_t>(records[i].size()));
      CHECK(scores(mode, scheme, records.back(), {long_one}, level).front() == 33'000);
    }
    // A global score far below what 16 bits hold.
    const Scheme dear = scheme_of("blosum62", 100, 100);
    CHECK(score(Mode::global, dear, std::string(1, tryptophan), long_one, level) == 11 - 100 * 2999);
    CHECK(score(Mode::global, dear, long_one, std::string(1, tryptophan), level) == 11 - 100 * 2999);
  }
}

TEST_CASE("Ends are the first of the best ones, by every instruction set", "[dsearch]") {
  const std::uint64_t seed = 5;
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    // Few kinds of residues make many ties; the longer ones need more than 8 bits.
    const Scheme scheme = scheme_of("dna", 3 + round % 5, 1 + round % 3);
    const bool large = round % 10 == 0;
    const std::string query = random_codes(random, 1 + random.below(large ? 400 : 40), 2);
    const std::string record =
        large ? relative_of(random, query, 0.1, 2) : random_codes(random, 1 + random.below(40), 2);
    // Smith and Waterman, row by row; the first cell in order of record, then query.
    Ends expected;
    std::vector<int> h(query.size() + 1, 0), e(query.size() + 1, -1000);
    for (std::uint32_t j = 0; j < record.size(); ++j) {
      int diagonal = 0, f = -1000;
      for (std::uint32_t i = 0; i < query.size(); ++i) {
        e[i + 1] = std::max(e[i + 1] - scheme.extend(), h[i + 1] - scheme.open());
        f = std::max(f - scheme.extend(), h[i] - scheme.open());
        const int paired = diagonal + scheme.score(query[i], record[j]);
        diagonal = h[i + 1];
        h[i + 1] = std::max({0, paired, e[i + 1], f});
        if (h[i + 1] > expected.score) expected = {h[i + 1], i, j};
      }
    }
    if (expected.score == 0) continue;
    for (const kit::CpuLevel level : kit::cpu_levels()) {
      INFO("seed " << seed << ", round " << round << ", " << kit::name_of(level));
      const Ends found = Scorer(Mode::local, scheme, query, level).ends(record);
      REQUIRE(found.score == expected.score);
      REQUIRE(found.record == expected.record);
      REQUIRE(found.query == expected.query);
    }
  }
}

TEST_CASE("Scores keep their symmetries", "[dsearch]") {
  const std::uint64_t seed = 8;
  Random random(seed);
  const Scheme scheme = scheme_of("blosum62", 12, 1);
  for (int round = 0; round < 100; ++round) {
    INFO("seed " << seed << ", round " << round);
    const std::string a = random_codes(random, 1 + random.below(200));
    const std::string b =
        round % 2 == 0 ? relative_of(random, a, 0.2) + a.back() : random_codes(random, 1 + random.below(200));
    const std::string a_back(a.rbegin(), a.rend());
    const std::string b_back(b.rbegin(), b.rend());
    for (const Mode mode : modes) {
      REQUIRE(score(mode, scheme, a, b) == score(mode, scheme, b, a));
      REQUIRE(score(mode, scheme, a, b) == score(mode, scheme, a_back, b_back));
    }
    REQUIRE(score(Mode::local, scheme, a, b) >= std::max(0, score(Mode::global, scheme, a, b)));
    REQUIRE(score(Mode::local, scheme, a, b) >= score(Mode::semi_global, scheme, a, b));
    int diagonal = 0;
    for (const char code : a) diagonal += scheme.score(code, code);
    REQUIRE(score(Mode::local, scheme, a, a) == diagonal);
  }
}

TEST_CASE("Alignments are worth their score", "[dsearch]") {
  const std::uint64_t seed = 21;
  Random random(seed);
  for (int round = 0; round < 400; ++round) {
    INFO("seed " << seed << ", round " << round);
    const bool dna = round % 3 == 0;
    const Scheme scheme =
        dna ? scheme_of("dna", 1 + round % 9, 1) : scheme_of("blosum62", 12, 1 + round % 12);
    const std::uint64_t kinds = dna ? 2 : 20;
    const std::string query = random_codes(random, 1 + random.below(round % 20 == 0 ? 900 : 60), kinds);
    const std::string record = round % 2 == 0 ? random_codes(random, random.below(40), kinds) +
                                                    relative_of(random, query, 0.15, kinds) +
                                                    random_codes(random, 1, kinds)
                                              : random_codes(random, 1 + random.below(60), kinds);
    for (const Mode mode : modes) {
      Scorer scorer(mode, scheme, query, kit::cpu_level());
      const Ends ends = mode == Mode::local ? scorer.ends(record) : Ends{scorer.score(record), 0, 0};
      if (mode == Mode::local && ends.score == 0) continue;
      const auto found = align(mode, scheme, query, record, ends, always);
      REQUIRE(found.ok());
      REQUIRE(found->score == ends.score);
      const auto worth = rescore(mode, scheme, query, record, *found);
      REQUIRE(worth.ok());
      REQUIRE(*worth == ends.score);
      if (mode == Mode::local) {
        REQUIRE(found->query_end == ends.query + 1);
        REQUIRE(found->record_end == ends.record + 1);
        REQUIRE(found->steps.front().kind <= Step::Kind::different);  // it would be better without a gap
        REQUIRE(found->steps.back().kind <= Step::Kind::different);
      }
      REQUIRE(*decode_alignment(7, encode(7, *found)) == *found);
      CHECK_FALSE(decode_alignment(8, encode(7, *found)).ok());
      // What is changed is worth something else, or is no alignment.
      Alignment forged = *found;
      forged.steps[random.below(forged.steps.size())].count += 1;
      CHECK_FALSE(rescore(mode, scheme, query, record, forged).ok());
      forged = *found;
      forged.steps[random.below(forged.steps.size())].kind = Step::Kind::different;
      const auto other = rescore(mode, scheme, query, record, forged);
      CHECK((!other.ok() || forged == *found));
      Ends wrong = ends;
      wrong.score += 1;
      CHECK_FALSE(align(mode, scheme, query, record, wrong, always).ok());
    }
  }
}

TEST_CASE("An alignment is given up when nobody wants it", "[dsearch]") {
  Random random(2);
  const Scheme scheme = scheme_of("blosum62", 12, 1);
  const std::string query = random_codes(random, 3000);
  int asked = 0;
  const auto result = align(Mode::global, scheme, query, query,
                            {Scorer(Mode::global, scheme, query, kit::cpu_level()).score(query), 0, 0},
                            [&](double part) { return part >= 0 && ++asked < 3; });
  CHECK_FALSE(result.ok());
  CHECK(asked == 3);
}

TEST_CASE("Statistics: published ones, and those that a fit finds again", "[dsearch]") {
  REQUIRE(published("blosum62", 12, 1));
  CHECK(published("blosum62", 12, 1)->lambda == 0.267);
  CHECK_FALSE(published("blosum62", 12, 5));
  // BLAST's own figure: score 100 with 11/1 are 43.1 bits.
  CHECK(published("blosum62", 12, 1)->bits(100) == Approx(43.1).margin(0.05));

  // Scores of chance drawn from the law itself.
  const std::uint64_t seed = 17;
  Random random(seed);
  const double lambda = 0.27, k = 0.04;
  const std::int64_t query = 250;
  Histogram histogram;
  LengthClasses classes;
  std::int64_t database = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t length = random.between(256, 511);
    const double chance = std::max(random.uniform(), 1e-300);
    const double score =
        (std::log(k * static_cast<double>(query * length)) - std::log(-std::log(chance))) / lambda;
    const std::uint8_t bits = length_class(static_cast<std::size_t>(length));
    ++histogram[{bits, histogram_score(Mode::local, static_cast<std::int32_t>(std::floor(score)))}];
    ++classes.records[bits];
    classes.residues[bits] += length;
    database += length;
  }
  // A family of relatives must not count as chance.
  for (int i = 0; i < 40; ++i) ++histogram[{9, 200 + i}];
  const auto fitted = fit(histogram, classes, query);
  REQUIRE(fitted);
  INFO("seed " << seed << ": lambda " << fitted->lambda << ", K " << fitted->k);
  CHECK(fitted->lambda == Approx(lambda).epsilon(0.03));
  // Whole numbers are rounded down: about half a score off.
  CHECK(std::log(fitted->expected(60, query, database)) ==
        Approx(std::log(k * static_cast<double>(query) * static_cast<double>(database)) - lambda * 60)
            .margin(0.5));
  CHECK_FALSE(fit({{{9, 30}, 50}}, classes, query));
}

}  // namespace gleaner::dsearch
