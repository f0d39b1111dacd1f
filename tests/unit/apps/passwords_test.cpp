// Keyspace, hashing variants against OpenSSL, searching, lists.
#include <openssl/evp.h>

#include <map>
#include <set>

#include "apps/passwords/accounts.h"
#include "apps/passwords/search.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/apps/application.h"

namespace gleaner::passwords {
namespace {

std::string by_openssl(Algorithm algorithm, const std::string& text) {
  const EVP_MD* const kinds[] = {EVP_md5(), EVP_sha1(), EVP_sha256()};
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  REQUIRE(EVP_Digest(text.data(), text.size(), digest, &size, kinds[static_cast<int>(algorithm)], nullptr) ==
          1);
  return {reinterpret_cast<const char*>(digest), size};
}

Settings enumeration(Algorithm algorithm, const std::string& alphabet, int shortest, int longest) {
  Settings settings;
  settings.algorithm = algorithm;
  settings.keyspace = *Keyspace::create(*expand_alphabet(alphabet), shortest, longest);
  settings.positions = settings.keyspace.size();
  settings.block = settings.positions;
  return settings;
}

Found search(const Settings& settings, const Targets& targets, kit::CpuLevel level, Range positions) {
  kit::ItemContext quiet;
  return Search(settings, targets, level).run(positions, quiet);
}

}  // namespace

TEST_CASE("Digests of single blocks are OpenSSL's", "[passwords]") {
  CHECK(to_hex(digest_of(Algorithm::md5, "")) == "d41d8cd98f00b204e9800998ecf8427e");
  CHECK(to_hex(digest_of(Algorithm::md5, "abc")) == "900150983cd24fb0d6963f7d28e17f72");
  CHECK(to_hex(digest_of(Algorithm::sha1, "")) == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(to_hex(digest_of(Algorithm::sha1, "abc")) == "a9993e364706816aba3e25717850c26c9cd0d89d");
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (std::uint64_t left = random.below(56); left > 0; --left)
      text.push_back(static_cast<char>(random.below(256)));
    for (const Algorithm algorithm : algorithms)
      REQUIRE(digest_of(algorithm, text) == by_openssl(algorithm, text));
  }
}

TEST_CASE("Alphabets are written as ranges", "[passwords]") {
  CHECK(*expand_alphabet("a-e") == "abcde");
  CHECK(*expand_alphabet("x0-2a-") == "-012ax");
  CHECK(*expand_alphabet("-a") == "-a");
  CHECK(*expand_alphabet("aab") == "ab");
  CHECK(expand_alphabet(" -~")->size() == 95);
  CHECK(expand_alphabet("z-a").error().message == "the range z-a runs backwards");
  CHECK_FALSE(expand_alphabet("").ok());
  CHECK_FALSE(expand_alphabet("\n").ok());
}

TEST_CASE("The key space is ordered by length, then with the first character fastest", "[passwords]") {
  const Keyspace space = *Keyspace::create("abc", 0, 3);
  CHECK(space.size() == 1 + 3 + 9 + 27);
  CHECK(space.plaintext(0).empty());
  CHECK(space.plaintext(1) == "a");
  CHECK(space.plaintext(4) == "aa");
  CHECK(space.plaintext(5) == "ba");
  CHECK(space.plaintext(39) == "ccc");
  std::set<std::string> seen;
  for (std::int64_t i = 0; i < space.size(); ++i) {
    CHECK(space.index_of(space.plaintext(i)) == i);
    seen.insert(space.plaintext(i));
  }
  CHECK(static_cast<std::int64_t>(seen.size()) == space.size());
  CHECK(space.index_of("abcd") == -1);
  CHECK(space.index_of("x") == -1);
  const Keyspace one = *Keyspace::create("a", 2, 20);
  CHECK(one.size() == 19);
  CHECK(one.plaintext(18) == std::string(20, 'a'));
  CHECK_FALSE(Keyspace::create(*expand_alphabet(" -~"), 1, 20).ok());
}

TEST_CASE("Every variant finds exactly the planted passwords", "[passwords]") {
  const std::uint64_t seed = 42;
  Random random(seed);
  for (const Algorithm algorithm : algorithms) {
    for (const std::string alphabet : {"a-z", "0-4", "a-zA-Z0-9", "x"}) {
      const int longest = alphabet == "0-4" ? 7 : alphabet == "x" ? 20 : 3;
      const Settings settings = enumeration(algorithm, alphabet, 0, longest);
      std::map<std::int64_t, std::string> planted;  // first, last, borders of lengths, and any
      for (int length = 0; length <= longest; ++length) {
        planted[settings.keyspace.of_length(length).begin];
        planted[settings.keyspace.of_length(length).end - 1];
      }
      for (int i = 0; i < 40; ++i) planted[random.between(0, settings.positions - 1)];
      std::vector<std::string> digests;
      for (auto& [index, digest] : planted) {
        digest = by_openssl(algorithm, settings.keyspace.plaintext(index));
        digests.push_back(digest);
      }
      for (int i = 0; i < 500; ++i) digests.push_back(by_openssl(algorithm, "absent " + std::to_string(i)));
      const Targets targets(algorithm, digests);
      Found expected;
      expected.tested = settings.positions;
      for (const auto& [index, digest] : planted)
        expected.hits.push_back({index, index, static_cast<std::uint32_t>(*targets.find(digest))});
      for (const kit::CpuLevel level : kit::cpu_levels()) {
        INFO(name_of(algorithm) << " " << alphabet << " " << kit::name_of(level) << " seed " << seed);
        const Found all = search(settings, targets, level, {0, settings.positions});
        REQUIRE(all.tested == expected.tested);
        REQUIRE((all.hits == expected.hits));
        // In pieces that start and end anywhere
        Found pieces;
        for (std::int64_t at = 0; at < settings.positions;) {
          const std::int64_t end =
              std::min(settings.positions, at + random.between(1, 1 + settings.positions / 3));
          const Found piece = search(settings, targets, level, {at, end});
          pieces.tested += piece.tested;
          pieces.hits.insert(pieces.hits.end(), piece.hits.begin(), piece.hits.end());
          at = end;
        }
        REQUIRE(pieces.tested == expected.tested);
        REQUIRE((pieces.hits == expected.hits));
      }
    }
  }
}

TEST_CASE("Random guesses find what is to be expected, the same by every variant", "[passwords]") {
  for (const Algorithm algorithm : algorithms) {
    Settings settings = enumeration(algorithm, "0-9", 1, 5);
    settings.mode = Mode::random;
    settings.positions = 30'000;
    settings.seed = 5;
    std::vector<std::string> digests;
    for (int i = 0; i < 1000; ++i) digests.push_back(digest_of(algorithm, std::to_string(50'000 + i)));
    const Targets targets(algorithm, digests);
    const Found baseline = search(settings, targets, kit::CpuLevel::baseline, {0, settings.positions});
    CHECK(baseline.tested == 30'000);
    // Hits are binomial: 30,000 guesses at 1000 of 111,110 candidates; five standard deviations.
    const double expected = 30'000.0 * 1000 / 111'110;
    CHECK(std::abs(static_cast<double>(baseline.hits.size()) - expected) < 5 * std::sqrt(expected));
    for (const kit::CpuLevel level : kit::cpu_levels()) {
      CHECK((search(settings, targets, level, {0, settings.positions}).hits == baseline.hits));
      Found parts = search(settings, targets, level, {0, 4097});
      const Found rest = search(settings, targets, level, {4097, settings.positions});
      parts.hits.insert(parts.hits.end(), rest.hits.begin(), rest.hits.end());
      CHECK((parts.hits == baseline.hits));
    }
  }
}

TEST_CASE("Items keep their bytes", "[passwords]") {
  const Found found{77, {{5, 5, 0}, {1000, 1000, 3}}};
  const Bytes bytes = encode(found);
  CHECK(to_hex(bytes) ==
        "4d00000000000000"
        "05000000000000000500000000000000000000"
        "00e803000000000000e80300000000000003000000");
  CHECK((decode(bytes)->hits == found.hits));
  CHECK_FALSE(decode(bytes.substr(1)).ok());
  CHECK_FALSE(decode("").ok());
}

TEST_CASE("Lists are read with the number of a wrong line", "[passwords]") {
  const auto read = [](const std::string& text) { return read_accounts(Algorithm::md5, text); };
  const std::string hex = "900150983CD24fb0d6963f7d28e17f72";
  const auto accounts = *read("# comment\r\n\nanna:" + hex + "\r\n  " + hex + "\n a:b : " + hex);
  REQUIRE(accounts.size() == 3);
  CHECK(accounts[0].name == "anna");
  CHECK(accounts[0].digest == digest_of(Algorithm::md5, "abc"));
  CHECK(accounts[1].name == "line 4");
  CHECK(accounts[2].name == "a:b");
  CHECK(read("x:12").error().message.find("line 1: expected NAME:HEX") != std::string::npos);
  CHECK(read(hex + "\n" + hex + "00").error().message.find("line 2") != std::string::npos);
  CHECK(read("# nothing\n").error().message == "input digests: there is no digest in it");
  CHECK(made_up_password(1, 5) == made_up_password(1, 5));
  std::set<std::string> different;
  for (int i = 0; i < 200; ++i) different.insert(made_up_password(3, i));
  CHECK(different.size() > 100);
}

TEST_CASE("Targets travel as sorted bytes", "[passwords]") {
  const Targets targets(Algorithm::sha1, {digest_of(Algorithm::sha1, "a"), digest_of(Algorithm::sha1, "b"),
                                          digest_of(Algorithm::sha1, "a")});
  CHECK(targets.size() == 2);
  CHECK(Targets::from_bytes(Algorithm::sha1, targets.bytes())->bytes() == targets.bytes());
  CHECK_FALSE(Targets::from_bytes(Algorithm::sha1, targets.bytes().substr(1)).ok());
  CHECK_FALSE(Targets::from_bytes(Algorithm::sha1, "").ok());
  CHECK_FALSE(
      Targets::from_bytes(Algorithm::sha1, targets.bytes().substr(20) + targets.bytes().substr(0, 20)).ok());
  CHECK(targets.find(digest_of(Algorithm::sha1, "c")) == std::nullopt);
}

TEST_CASE("An audit has the properties of an application", "[passwords]") {
  for (const char* parameters :
       {R"({"generate": 60, "maximum_length": 3, "item_candidates": 3000, "reveal": true})",
        R"({"generate": 60, "maximum_length": 3, "mode": "random", "guesses": 20000, "item_candidates": 1500,
            "digest": "sha1"})",
        R"({"generate": 60, "maximum_length": 3, "item_candidates": 9000, "digest": "sha256"})"})
    test::check_properties({"passwords", parameters, {}, 11});
}

TEST_CASE("The report tells what fell and hides how", "[passwords]") {
  test::Application application(
      "passwords", R"({"alphabet": "a-c", "maximum_length": 3, "item_candidates": 10})",
      {{"digests", "anna:" + to_hex(digest_of(Algorithm::md5, "cab")) +
                       "\nbert:" + to_hex(digest_of(Algorithm::md5, "a")) +
                       "\ncarl:" + to_hex(digest_of(Algorithm::md5, "zzzz")) + "\n"}});
  REQUIRE(
      application.plan().starts_with("items 4\nname blocks of guesses\nhints hints-0.txt\ninput targets "));
  const test::Items items = application.compute({0, 4});
  const test::Files files = application.combine(items, {{0, 4}});
  const std::string& report = files.at("report.txt");
  CHECK(report.find("FOUND 2 of 3 accounts (66.7 %)") != std::string::npos);
  CHECK(report.find("Tested: 39 guesses in order of length, 100.0 % of the plan") != std::string::npos);
  // "cab" is candidate 2 + 3 * (0 + 3 * 1) of its length: the 24th guess.
  CHECK(files.at("found.tsv") == "account\tdigest\tfound\tguesses\tbits\nanna\t" +
                                     to_hex(digest_of(Algorithm::md5, "cab")) + "\tyes\t24\t4.58\nbert\t" +
                                     to_hex(digest_of(Algorithm::md5, "a")) + "\tyes\t1\t0.00\ncarl\t" +
                                     to_hex(digest_of(Algorithm::md5, "zzzz")) + "\tno\t\t\n");
  for (const auto& [name, bytes] : files) CHECK(bytes.find("cab") == std::string::npos);
  const test::Files early = application.combine(items, {{0, 1}}, "preview");
  CHECK(early.at("report.txt").find("FOUND 1 of 3") != std::string::npos);
}

TEST_CASE("A block that was not searched is told by the candidate that is missing", "[passwords]") {
  test::Application application("passwords",
                                R"({"alphabet": "a-z", "maximum_length": 3, "item_candidates": 5000,
                                                "generate": 5})");
  application.plan();
  const std::int64_t last = application.items() - 1;
  for (std::int64_t item = 0; item < last; ++item) {
    Found lazy;
    lazy.tested = 5000;
    CHECK(application.validate({item, item + 1}, {{item, encode(lazy)}}) ==
          "invalid block " + std::to_string(item) + ": a hit is missing: the guesses were not all tested");
  }
}

TEST_CASE("An audit's parameters are checked with messages", "[passwords]") {
  const auto answer = [](const std::string& parameters) { return test::complaint("passwords", parameters); };
  CHECK(answer(R"({"generate": 3})") == "ok");
  CHECK(answer("{}") ==
        "error give the digests as the input `digests` (a line each), or set `generate` to make some up");
  CHECK(
      answer(R"({"generate": 3, "alphabet": "z-a", "digest": "md4"})") ==
      "error digest: must be one of \"md5\", \"sha1\", \"sha256\", not \"md4\"; alphabet: the range z-a runs "
      "backwards");
  CHECK(answer(R"({"generate": 3, "minimum_length": 6})") ==
        "error maximum_length: must not be below minimum_length");
  CHECK(answer(R"({"generate": 3, "alphabet": " -~", "maximum_length": 12})").find("more than 2^62") !=
        std::string::npos);
  CHECK(answer(R"({"generate": 3, "guesses": 5})") ==
        "error guesses: is for mode \"random\" only: leave it out");
  CHECK(answer(R"({"generate": 3, "mode": "random"})").starts_with("error guesses: must be given"));
  for (const char* wrong :
       {R"({"generate": -1})", R"({"generate": 3, "maximum_length": 21})", R"({"generate": 3, "reveal": 1})",
        R"({"generate": 3, "item_candidates": 0})", R"({"generate": 3, "seeds": 4})",
        R"({"generate": 3, "generate_seed": -4})", R"({"generate": 3, "seed": 4})"})
    CHECK(answer(wrong).starts_with("error "));
}

}  // namespace gleaner::passwords
