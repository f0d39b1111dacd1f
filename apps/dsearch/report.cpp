#include "apps/dsearch/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "apps/kit/portable_math.h"
#include "apps/kit/svg.h"

namespace gleaner::dsearch {
namespace {

constexpr std::size_t columns_a_line = 60;
constexpr std::size_t summary_hits_max = 500;  // of one query; the table has all
constexpr std::size_t charted_queries_max = 3;
constexpr double ln_10 = 2.302585092994046;

std::string fixed(double value, int decimals) {
  char text[400];  // what a double can have before its point
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string significant(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string with_commas(std::int64_t value) {
  std::string text = std::to_string(value);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::int64_t length_of(const Search& search, std::size_t query) {
  return static_cast<std::int64_t>(search.layout.queries[query].size());
}

std::string bits_of(const Search& search, const Told& told) {
  const auto& statistics = search.found.queries[told.query].statistics;
  return statistics ? fixed(statistics->bits(told.hit->score), 1) : "-";
}

std::string evalue_of(const Search& search, const Told& told) {
  const auto& statistics = search.found.queries[told.query].statistics;
  if (!statistics) return "-";
  return significant(
      statistics->expected(told.hit->score, length_of(search, told.query), search.database.residues), 2);
}

std::string mode_name(Mode mode) {
  return mode == Mode::local    ? "local (Smith-Waterman)"
         : mode == Mode::global ? "global (Needleman-Wunsch)"
                                : "semi-global (free end gaps)";
}

std::string padded(std::string text, std::size_t width) {
  // Bytes, so that a name in UTF-8 is a little narrower: tables stay readable, and the text is never cut.
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string padded_left(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace

std::string table_header() {
  return "query\trank\trecord\tlength\tscore\tbits\tevalue\tquery_begin\tquery_end\trecord_begin\trecord_"
         "end\t"
         "columns\tidentical\tgaps\tcigar\tdescription\n";
}

std::string table_line(const Search& search, const Told& told) {
  std::string line = search.queries[told.query].name + "\t" + std::to_string(told.rank) + "\t" +
                     told.record.name + "\t" + std::to_string(told.record.length) + "\t" +
                     std::to_string(told.hit->score) + "\t" + bits_of(search, told) + "\t" +
                     evalue_of(search, told);
  if (const Alignment* alignment = told.alignment) {
    const std::int64_t gaps =
        alignment->count(Step::Kind::insertion) + alignment->count(Step::Kind::deletion);
    for (const std::int64_t value :
         {std::int64_t{alignment->query_begin} + 1, std::int64_t{alignment->query_end},
          std::int64_t{alignment->record_begin} + 1, std::int64_t{alignment->record_end},
          alignment->columns(), alignment->count(Step::Kind::same), gaps})
      line += "\t" + std::to_string(value);
    line += "\t" + alignment->cigar();
  } else {
    line += "\t-\t-\t-\t-\t-\t-\t-\t-";
  }
  return line + "\t" + told.record.description + "\n";
}

std::string alignment_text(const Search& search, const Told& told, const Wanted& wanted) {
  const Alignment& alignment = *told.alignment;
  const Alphabet alphabet = search.layout.alphabet;
  const std::string& query = search.layout.queries[told.query];
  std::string rows[3];  // query, what is between, record
  std::size_t i = alignment.query_begin;
  std::size_t j = alignment.record_begin - wanted.window_begin;
  for (const Step& step : alignment.steps) {
    for (std::uint32_t k = 0; k < step.count; ++k) {
      const char a =
          step.kind == Step::Kind::deletion ? '-' : letters(alphabet)[static_cast<std::size_t>(query[i])];
      const char b = step.kind == Step::Kind::insertion
                         ? '-'
                         : letters(alphabet)[static_cast<std::size_t>(wanted.window[j])];
      const bool paired = a != '-' && b != '-';
      const bool alike = paired && search.settings.scheme.score(query[i], wanted.window[j]) > 0;
      rows[0] += a;
      rows[1] += step.kind == Step::Kind::same ? (alphabet == Alphabet::dna ? '|' : a) : alike ? '+' : ' ';
      rows[2] += b;
      i += a != '-' ? 1 : 0;
      j += b != '-' ? 1 : 0;
    }
  }
  const std::int64_t columns = alignment.columns();
  const std::int64_t same = alignment.count(Step::Kind::same);
  const std::int64_t gaps = alignment.count(Step::Kind::insertion) + alignment.count(Step::Kind::deletion);
  const auto part = [&](std::int64_t of) {
    return std::to_string(of) + "/" + std::to_string(columns) + " (" +
           std::to_string(columns == 0 ? 0 : 100 * of / columns) + " %)";
  };
  std::string text = ">" + told.record.name + " " + told.record.description + "\n  query " +
                     search.queries[told.query].name + ", hit " + std::to_string(told.rank) + ", length " +
                     std::to_string(told.record.length) + "\n  score " + std::to_string(alignment.score) +
                     ", bits " + bits_of(search, told) + ", E " + evalue_of(search, told) + ", identical " +
                     part(same) + ", gaps " + part(gaps) + "\n\n";
  std::size_t at_query = alignment.query_begin;
  std::size_t at_record = alignment.record_begin;
  for (std::size_t at = 0; at < rows[0].size(); at += columns_a_line) {
    const auto line = [&](const char* title, const std::string& row, std::size_t& place) {
      const std::string piece = row.substr(at, columns_a_line);
      const auto residues =
          piece.size() - static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '-'));
      const std::string from = padded(std::to_string(residues == 0 ? place : place + 1), 9);
      place += residues;
      return std::string(title) + from + piece + "  " + std::to_string(place) + "\n";
    };
    text += line("query   ", rows[0], at_query);
    text += std::string(17, ' ') + rows[1].substr(at, columns_a_line) + "\n";
    text += line("record  ", rows[2], at_record) + "\n";
  }
  return text;
}

std::string sam_line(const Search& search, const Told& told) {
  const Alignment& alignment = *told.alignment;
  const std::string& query = search.layout.queries[told.query];
  std::string cigar = alignment.query_begin > 0 ? std::to_string(alignment.query_begin) + "S" : "";
  cigar += alignment.cigar();
  if (alignment.query_end < query.size()) cigar += std::to_string(query.size() - alignment.query_end) + "S";
  const std::int64_t edits = alignment.columns() - alignment.count(Step::Kind::same);
  std::string line = search.queries[told.query].name + "\t" + (told.rank == 1 ? "0" : "256") + "\t" +
                     told.record.name + "\t" + std::to_string(alignment.record_begin + 1) + "\t255\t" +
                     cigar + "\t*\t0\t0\t" + to_letters(search.layout.alphabet, query) +
                     "\t*\tAS:i:" + std::to_string(alignment.score) + "\tNM:i:" + std::to_string(edits);
  if (search.found.queries[told.query].statistics)
    line += "\tZS:f:" + bits_of(search, told) + "\tZE:f:" + evalue_of(search, told);
  return line + "\n";
}

Result<std::string> sam_header(const Search& search, Names& names) {
  std::set<std::uint64_t> records;
  for (const Found::Query& query : search.found.queries) {
    for (const Hit& hit : query.hits) records.insert(hit.record);
  }
  std::string text = "@HD\tVN:1.6\tSO:unsorted\tGO:query\n";
  std::set<std::string> told;  // SAM wants names once; a database may repeat them
  for (const std::uint64_t record : records) {
    TRY_ASSIGN(const Names::Name name, names.of(record));
    if (told.insert(name.name).second)
      text += "@SQ\tSN:" + name.name + "\tLN:" + std::to_string(name.length) + "\n";
  }
  return text + "@PG\tID:dsearch\tPN:gleaner-dsearch\n";
}

Result<std::string> summary(const Search& search, Names& names) {
  const Settings& settings = search.settings;
  std::string text = "Database search: " + mode_name(settings.mode) +
                     "\n\nDatabase: " + with_commas(search.database.records) + " records, " +
                     with_commas(search.database.residues) + " residues\nMatrix: " + settings.matrix +
                     ", gaps: " + std::to_string(settings.scheme.open()) + " for the first residue, " +
                     std::to_string(settings.scheme.extend()) + " for each further one\n";
  for (std::size_t i = 0; i < search.found.queries.size(); ++i) {
    const Found::Query& query = search.found.queries[i];
    text += "\nQuery " + search.queries[i].name + " (" + with_commas(length_of(search, i)) +
            " residues): " + with_commas(static_cast<std::int64_t>(query.hits.size())) + " hits; " +
            with_commas(static_cast<std::int64_t>(query.records())) + " records compared\n";
    if (const auto& statistics = query.statistics) {
      text += "  lambda " + significant(statistics->lambda, 4) + ", K " + significant(statistics->k, 4) +
              (statistics->fitted ? ", fitted to the scores\n" : ", published for these costs\n");
    } else if (settings.mode == Mode::local) {
      text += "  no statistics: too few records for a fit, and none published for these costs\n";
    }
    if (query.hits.empty()) continue;
    text += "  " + padded("record", 28) + padded_left("length", 10) + padded_left("score", 8) +
            padded_left("bits", 9) + padded_left("E", 10) + "\n";
    for (std::size_t rank = 0; rank < std::min(query.hits.size(), summary_hits_max); ++rank) {
      Told told{i, static_cast<std::int64_t>(rank + 1), &query.hits[rank], {}, nullptr};
      TRY_ASSIGN(told.record, names.of(told.hit->record));
      text += "  " + padded(told.record.name, 28) + padded_left(std::to_string(told.record.length), 10) +
              padded_left(std::to_string(told.hit->score), 8) + padded_left(bits_of(search, told), 9) +
              padded_left(evalue_of(search, told), 10) + "\n";
    }
    if (query.hits.size() > summary_hits_max) text += "  and more: see hits.tsv\n";
  }
  return text;
}

std::string scores_chart(const Search& search) {
  // Records by score, and what the statistics expect of chance: N K m n lambda exp(-lambda S) in the tail.
  std::vector<kit::Curve> curves;
  double right = 1, top = 1, left = 0;
  const auto height = [](double records) { return kit::portable_log(records) / ln_10; };
  for (std::size_t i = 0; i < std::min(search.found.queries.size(), charted_queries_max); ++i) {
    const Found::Query& query = search.found.queries[i];
    std::map<std::int32_t, double> records;
    for (const auto& [key, number] : query.histogram) records[key.second] += number;
    kit::Curve curve{search.queries[i].name, {}};
    const double scale = search.settings.mode == Mode::local ? 1 : histogram_step;
    for (const auto& [score, number] : records) {
      curve.points.emplace_back(scale * score, height(number));
      right = std::max(right, scale * score);
      left = std::min(left, scale * score);
      top = std::max(top, height(number));
    }
    curves.push_back(std::move(curve));
  }
  for (std::size_t i = 0; i < std::min(search.found.queries.size(), charted_queries_max); ++i) {
    const auto& statistics = search.found.queries[i].statistics;
    if (!statistics) continue;
    kit::Curve chance{"by chance, as fitted", {}};
    if (!statistics->fitted) chance.name = "by chance, as published";
    for (double score = 0; score <= right; score += 1) {
      const auto whole = static_cast<std::int32_t>(score);
      const double above = statistics->expected(whole, length_of(search, i), search.database.residues) -
                           statistics->expected(whole + 1, length_of(search, i), search.database.residues);
      if (above > 0 && height(above) >= 0 && height(above) <= top)
        chance.points.emplace_back(score, height(above));
    }
    if (!chance.points.empty()) curves.push_back(std::move(chance));
  }
  kit::Axis x{"score", left, right, {}};
  for (int i = 0; i <= 4; ++i) {
    const double at = left + (right - left) * i / 4;
    x.ticks.emplace_back(at, fixed(at, 0));
  }
  kit::Axis y{"records", 0, std::ceil(top), {}};
  for (int power = 0; power <= static_cast<int>(std::ceil(top)); ++power)
    y.ticks.emplace_back(power, "10^" + std::to_string(power));
  return kit::draw_chart("Scores of the database's records", x, y, curves);
}

}  // namespace gleaner::dsearch
