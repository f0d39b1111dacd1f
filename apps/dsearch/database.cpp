#include "apps/dsearch/database.h"

#include <charconv>

#include "apps/kit/packing.h"

namespace gleaner::dsearch {
namespace {

constexpr const char* index_file = "names.index";  // where in the text each name begins, 8 bytes each
constexpr const char* text_file = "names.text";    // name, length, description, with tabulators between
constexpr std::size_t name_line_max = 1024;

class ChunkWriter {
 public:
  ChunkWriter(Alphabet alphabet, std::int64_t residues)
      : alphabet_(alphabet),
        residues_(residues),
        index_(index_file, std::ios::binary | std::ios::trunc),
        text_(text_file, std::ios::binary | std::ios::trunc) {}

  Status take(Record&& record) {
    Bytes place;
    kit::pack(place, names_bytes_);
    index_ << place;
    const std::string line =
        record.name + "\t" + std::to_string(record.codes.size()) + "\t" + record.description + "\n";
    text_ << line;
    names_bytes_ += static_cast<std::int64_t>(line.size());
    if (!index_ || !text_) return Error{ErrorKind::io, "cannot write the names (is the disk full?)"};
    const auto length = static_cast<std::int64_t>(record.codes.size());
    if (!records_.empty() && sum_ + length > residues_) TRY(close_chunk());
    // Each record adds a little, so that a chunk never holds a million empty ones.
    sum_ += length + 8;
    records_.push_back(std::move(record.codes));
    return {};
  }

  Result<std::vector<Layout::Chunk>> finish() {
    TRY(close_chunk());
    index_.close();
    text_.close();
    if (!index_ || !text_) return Error{ErrorKind::io, "cannot write the names (is the disk full?)"};
    return std::move(chunks_);
  }

 private:
  Status close_chunk() {
    if (records_.empty()) return {};
    Layout::Chunk chunk;
    chunk.first = chunks_.empty() ? 0 : chunks_.back().first + chunks_.back().records;
    chunk.records = records_.size();
    for (const std::string& record : records_) chunk.residues += record.size();
    TRY(kit::write_file(chunk_name(chunks_.size()), encode_chunk(alphabet_, records_)));
    chunks_.push_back(chunk);
    records_.clear();
    sum_ = 0;
    return {};
  }

  const Alphabet alphabet_;
  const std::int64_t residues_;
  std::ofstream index_, text_;
  std::int64_t names_bytes_ = 0;
  std::vector<std::string> records_;
  std::int64_t sum_ = 0;
  std::vector<Layout::Chunk> chunks_;
};

}  // namespace

Result<DatabaseSize> measure_database(const std::filesystem::path& path, Alphabet alphabet) {
  DatabaseSize size;
  TRY(read_fasta(path, alphabet, "input database", {}, [&](Record&& record) -> Status {
    const auto length = static_cast<std::int64_t>(record.codes.size());
    ++size.records;
    size.residues += length;
    size.longest = std::max(size.longest, length);
    const std::uint8_t bits = length_class(record.codes.size());
    ++size.classes.records.at(bits);
    size.classes.residues.at(bits) += length;
    return {};
  }));
  if (size.residues == 0)
    return Error{ErrorKind::invalid, "input database: it has no residues: is this FASTA?"};
  return size;
}

Result<std::vector<Layout::Chunk>> write_chunks(const std::filesystem::path& path, Alphabet alphabet,
                                                std::int64_t residues) {
  ChunkWriter writer(alphabet, residues);
  TRY(read_fasta(path, alphabet, "input database", {},
                 [&](Record&& record) { return writer.take(std::move(record)); }));
  return writer.finish();
}

Result<Names> Names::open() {
  Names names;
  names.index_.open(index_file, std::ios::binary);
  names.text_.open(text_file, std::ios::binary);
  if (!names.index_ || !names.text_) return Error{ErrorKind::io, "cannot open the database's names"};
  return names;
}

Result<Names::Name> Names::of(std::uint64_t record) {
  char place[8];
  std::string line;
  if (!index_.seekg(static_cast<std::streamoff>(8 * record)) || !index_.read(place, sizeof place) ||
      !text_.seekg(static_cast<std::streamoff>(kit::Unpacker({place, sizeof place}).get<std::int64_t>())) ||
      !std::getline(text_, line) || line.size() > name_line_max)
    return Error{ErrorKind::io, "cannot read the name of record " + std::to_string(record)};
  const std::size_t first = line.find('\t');
  const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
  Name name;
  const auto read = second == std::string::npos
                        ? std::from_chars_result{nullptr, std::errc::invalid_argument}
                        : std::from_chars(line.data() + first + 1, line.data() + second, name.length);
  if (read.ec != std::errc{}) return Error{ErrorKind::io, std::string(text_file) + " is damaged"};
  name.name = line.substr(0, first);
  name.description = line.substr(second + 1);
  return name;
}

}  // namespace gleaner::dsearch
