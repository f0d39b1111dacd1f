#include "apps/dsearch/fasta.h"

#include <zlib.h>
#include <algorithm>
#include <fstream>
#include <optional>
#include <vector>

namespace gleaner::dsearch {
namespace {

constexpr std::size_t header_bytes_max = 4096;  // more is left out
constexpr std::size_t name_bytes_max = 128;
constexpr std::size_t description_bytes_max = 256;
constexpr std::size_t unpacked_at_once = 256 << 10;
constexpr int gzip_window = 15 + 16;

// Fit for a column of a table: visible ASCII and UTF-8's bytes; `instead` of everything else.
std::string clean(std::string_view text, std::size_t length_max, char instead) {
  std::string result(text.substr(0, length_max));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = instead;
  }
  return result;
}

std::string shown(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte > 0x20 && byte < 0x7f ? "'" + std::string(1, letter) + "'" : "byte " + std::to_string(byte);
}

}  // namespace

struct FastaDecoder::State {
  State(Alphabet alphabet_, std::string source_, const FastaLimits& limits_,
        std::function<Status(Record&&)> take_)
      : alphabet(alphabet_), source(std::move(source_)), limits(limits_), take(std::move(take_)) {}
  ~State() {
    if (inflating) inflateEnd(&stream);
  }

  [[nodiscard]] Error wrong(ErrorKind kind, const std::string& what) const {
    return {kind, source + ", line " + std::to_string(line) + ": " + what};
  }

  Status unpack(std::string_view bytes) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    bool more = stream.avail_in > 0;  // input, or output that did not fit
    while (more) {
      if (member_over) {  // another member, or zeros that fill up a tape's block
        if (*stream.next_in == 0) {
          ++stream.next_in, --stream.avail_in;
          more = stream.avail_in > 0;
          continue;
        }
        if (inflateReset(&stream) != Z_OK) return Error{ErrorKind::internal, "zlib cannot start anew"};
        member_over = false;
      }
      stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
      stream.avail_out = static_cast<uInt>(unpacked.size());
      const int done = inflate(&stream, Z_NO_FLUSH);
      const bool starved = done == Z_BUF_ERROR && stream.avail_in == 0;
      if (done != Z_OK && done != Z_STREAM_END && !starved)
        return Error{ErrorKind::invalid, source + ": the gzip data is damaged"};
      TRY(parse({unpacked.data(), unpacked.size() - stream.avail_out}));
      member_over = done == Z_STREAM_END;
      more = stream.avail_in > 0 || (stream.avail_out == 0 && !member_over);
    }
    return {};
  }

  Status parse(std::string_view text) {
    text_bytes += static_cast<std::int64_t>(text.size());
    if (text_bytes > limits.text_bytes)
      return Error{ErrorKind::too_large,
                   source + ": more than " + std::to_string(limits.text_bytes) + " bytes of text"};
    while (!text.empty()) {
      if (at_line_start) {
        at_line_start = false;
        in_comment = text.front() == ';';
        if (text.front() == '>') {
          TRY(end_record());
          header.emplace();
          text.remove_prefix(1);
          continue;
        }
      }
      const std::size_t end = std::min(text.find('\n'), text.size());
      TRY(take_part(text.substr(0, end)));
      if (end == text.size()) break;
      text.remove_prefix(end + 1);
      TRY(end_line());
    }
    return {};
  }

  // A part of a line, without its end.
  Status take_part(std::string_view part) {
    if (in_comment) return {};
    if (header) {
      header->append(part.substr(0, header_bytes_max - std::min(header_bytes_max, header->size())));
      return {};
    }
    const std::size_t before = record ? record->codes.size() : 0;
    if (record) record->codes.resize(before + part.size());
    std::size_t kept = before;
    for (const char letter : part) {
      const std::int8_t code = codes[static_cast<unsigned char>(letter)];
      if (code >= 0) {
        if (!record)
          return wrong(ErrorKind::invalid,
                       "expected '>' and a name before the first residue: is this FASTA?");
        record->codes[kept++] = static_cast<char>(code);
        continue;
      }
      if (std::string_view(" \t\r-.").find(letter) == std::string_view::npos)
        return wrong(ErrorKind::invalid, shown(letter) + " is no residue of " +
                                             (alphabet == Alphabet::protein ? "a protein" : "DNA"));
    }
    if (record) record->codes.resize(kept);
    if (record && static_cast<std::int64_t>(record->codes.size()) > limits.record_residues)
      return wrong(ErrorKind::too_large, record->name + " has more than " +
                                             std::to_string(limits.record_residues) + " residues: split it");
    return {};
  }

  Status end_line() {
    if (header) {
      std::string_view text = *header;
      const std::size_t first = text.find_first_not_of(" \t\r");
      text.remove_prefix(std::min(first, text.size()));
      const std::size_t end = std::min(text.find_first_of(" \t\r"), text.size());
      record.emplace();
      record->name = clean(text.substr(0, end), name_bytes_max, '_');
      if (record->name.empty()) record->name = "record-" + std::to_string(records + 1);
      text.remove_prefix(end);
      text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
      while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
      record->description = clean(text, description_bytes_max, ' ');
      header.reset();
    }
    at_line_start = true;
    in_comment = false;
    ++line;
    return {};
  }

  Status end_record() {
    if (!record) return {};
    residues += static_cast<std::int64_t>(record->codes.size());
    if (++records > limits.records)
      return wrong(ErrorKind::too_large, "more than " + std::to_string(limits.records) + " records");
    if (residues > limits.residues)
      return wrong(ErrorKind::too_large, "more than " + std::to_string(limits.residues) + " residues in all");
    Record done = std::move(*record);
    record.reset();
    return take(std::move(done));
  }

  const Alphabet alphabet;
  const std::array<std::int8_t, 256>& codes = codes_of(alphabet);
  const std::string source;
  const FastaLimits limits;
  const std::function<Status(Record&&)> take;

  std::string magic;  // the first two bytes, until both are there
  bool decided = false;
  bool inflating = false;
  bool member_over = false;
  z_stream stream{};
  std::vector<char> unpacked;

  std::int64_t line = 1;
  std::int64_t text_bytes = 0;
  std::int64_t records = 0;
  std::int64_t residues = 0;
  bool at_line_start = true;
  bool in_comment = false;
  std::optional<std::string> header;  // of the line in hand
  std::optional<Record> record;
};

FastaDecoder::FastaDecoder(Alphabet alphabet, std::string source, const FastaLimits& limits,
                           std::function<Status(Record&&)> take)
    : state_(std::make_unique<State>(alphabet, std::move(source), limits, std::move(take))) {}

FastaDecoder::~FastaDecoder() = default;

Status FastaDecoder::feed(std::string_view bytes) {
  State& state = *state_;
  std::string begun;
  if (!state.decided) {
    state.magic += bytes;
    if (state.magic.size() < 2) return {};
    state.decided = true;
    if (state.magic.starts_with("\x1f\x8b")) {
      if (inflateInit2(&state.stream, gzip_window) != Z_OK)
        return Error{ErrorKind::internal, "zlib cannot start: out of memory"};
      state.inflating = true;
      state.unpacked.resize(unpacked_at_once);
    }
    begun = std::move(state.magic);
    bytes = begun;
  }
  return state.inflating ? state.unpack(bytes) : state.parse(bytes);
}

Status FastaDecoder::finish() {
  State& state = *state_;
  if (!state.decided) TRY(state.parse(state.magic));
  if (state.inflating && !state.member_over)
    return Error{ErrorKind::invalid, state.source + ": the gzip data is cut short"};
  if (state.header) TRY(state.end_line());
  return state.end_record();
}

Status read_fasta(const std::filesystem::path& path, Alphabet alphabet, const std::string& source,
                  const FastaLimits& limits, const std::function<Status(Record&&)>& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorKind::io, "cannot open " + path.string()};
  FastaDecoder decoder(alphabet, source, limits, take);
  std::vector<char> buffer(1 << 20);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    TRY(decoder.feed({buffer.data(), static_cast<std::size_t>(file.gcount())}));
  }
  if (file.bad()) return Error{ErrorKind::io, "cannot read " + path.string()};
  return decoder.finish();
}

}  // namespace gleaner::dsearch
