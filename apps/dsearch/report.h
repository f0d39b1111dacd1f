// The artefacts: tables of hits, alignments as text and in SAM's form, the distribution of scores. Texts are
// the same bytes everywhere.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "apps/dsearch/database.h"
#include "apps/dsearch/found.h"
#include "apps/dsearch/layout.h"
#include "apps/dsearch/settings.h"

namespace gleaner::dsearch {

struct QueryName {
  std::string name, description;
};

// Everything that a report is about.
struct Search {
  const Settings& settings;
  const Layout& layout;
  const DatabaseSize& database;
  const std::vector<QueryName>& queries;
  const Found& found;
};

// A hit, and its alignment once there is one.
struct Told {
  std::size_t query = 0;
  std::int64_t rank = 1;
  const Hit* hit = nullptr;
  Names::Name record;
  const Alignment* alignment = nullptr;
};

[[nodiscard]] std::string table_header();
[[nodiscard]] std::string table_line(const Search& search, const Told& told);
// `wanted`: what was aligned.
[[nodiscard]] std::string alignment_text(const Search& search, const Told& told, const Wanted& wanted);
[[nodiscard]] std::string sam_line(const Search& search, const Told& told);
// The head of SAM's form: the records of the hits, in order of the database.
[[nodiscard]] Result<std::string> sam_header(const Search& search, Names& names);

[[nodiscard]] Result<std::string> summary(const Search& search, Names& names);
[[nodiscard]] std::string scores_chart(const Search& search);

}  // namespace gleaner::dsearch
