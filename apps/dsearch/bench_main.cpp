// The whole of a search's first stage, for tools/bench: reads query and database (FASTA), scores all records
// with kernels of that level, and prints "HITS_SCORE_SUM CELLS SECONDS": processor time from start to end,
// reading included, as other programs are measured.
//   bench-dsearch QUERY DATABASE LEVEL MATRIX OPEN EXTEND
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "apps/dsearch/fasta.h"
#include "apps/dsearch/search.h"

int main(int count, char** arguments) {
  using namespace gleaner;
  using namespace gleaner::dsearch;
  if (count != 7) return 2;
  Settings settings;
  settings.matrix = arguments[4];
  settings.admission = {Mode::local, 1, 50};
  auto scheme = Scheme::create(settings.matrix, 5, -4, std::atoi(arguments[5]), std::atoi(arguments[6]));
  if (!scheme.ok()) return 2;
  settings.scheme = *scheme;
  Layout layout;
  layout.alphabet = settings.scheme.alphabet();
  std::vector<std::string> records;
  const auto queries_read =
      read_fasta(arguments[1], layout.alphabet, "query", {}, [&](Record&& record) -> Status {
        layout.queries.push_back(std::move(record.codes));
        return {};
      });
  constexpr std::int64_t chunk_residues = 4 << 20;
  Layout::Chunk chunk;
  std::int64_t cells = 0;
  std::int64_t sum = 0;
  std::int64_t item = 0;
  kit::CpuLevel level = kit::CpuLevel::baseline;
  for (const kit::CpuLevel known : kit::cpu_levels()) {
    if (kit::name_of(known) == arguments[3]) level = known;
  }
  const auto search = [&]() -> Status {
    if (records.empty()) return {};
    layout.group_queries(1 << 20);
    chunk.records = records.size();
    layout.chunks.push_back(chunk);
    // Packed and unpacked again, as a chunk travels.
    TRY_ASSIGN(const Chunk travelled,
               decode_chunk(layout, layout.chunks.size() - 1, encode_chunk(layout.alphabet, records)));
    const RecordBlock block(travelled.records, has_lanes(level));
    for (std::size_t group = 0; group + 1 < layout.groups.size(); ++group, ++item) {
      kit::ItemContext quiet;
      const Bytes bytes = search_chunk(settings, layout, block, item, level, quiet);
      TRY_ASSIGN(const auto found, decode_hits(item, layout.queries_of(item), layout.records_of(item),
                                               settings.admission, bytes));
      for (const QueryHits& query : found) {
        for (const Hit& hit : query.hits) sum += hit.score;
      }
    }
    for (const std::string& query : layout.queries)
      cells += static_cast<std::int64_t>(query.size() * chunk.residues);
    chunk = {chunk.first + chunk.records, 0, 0};
    records.clear();
    return {};
  };
  const auto database_read =
      read_fasta(arguments[2], layout.alphabet, "database", {}, [&](Record&& record) -> Status {
        if (chunk.residues + record.codes.size() > static_cast<std::uint64_t>(chunk_residues)) TRY(search());
        chunk.residues += record.codes.size();
        records.push_back(std::move(record.codes));
        return {};
      });
  const Status last = search();
  for (const Status& status : {queries_read, database_read, last}) {
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.error().message.c_str());
    return 1;
  }
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  std::printf("%lld %lld %.6f\n", static_cast<long long>(sum), static_cast<long long>(cells),
              static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
}
