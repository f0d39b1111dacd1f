#include "server/storage/generation_note.h"

#include <charconv>
#include <vector>

#include "shared/crypto/keys.h"

namespace gleaner::storage {
namespace {

constexpr std::int64_t note_bytes_max = 4096;
constexpr std::string_view first_line = "gleaner-generation 1";
constexpr std::size_t digest_digits = 16;  // against damage, not against forgers

std::string text_of(const GenerationNote& note) {
  return std::string(first_line) + "\ngeneration " + std::to_string(note.generation) + "\nunits " +
         std::to_string(note.units) + "\nsegments " + std::to_string(note.segments) + "\nat " +
         std::to_string(note.at.time_since_epoch().count()) + "\n";
}

std::string check_line(std::string_view text) {
  return "check " + crypto::sha256_hex(text).substr(0, digest_digits) + "\n";
}

bool take_number(std::string_view& text, std::string_view name, std::int64_t& number) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(name) || text.size() <= name.size()) return false;
  const std::string_view digits = text.substr(name.size() + 1, end - name.size() - 1);
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  text.remove_prefix(end + 1);
  return error == std::errc{} && stop == digits.data() + digits.size() && number >= 0;
}

std::optional<GenerationNote> parse(std::string_view text) {
  const auto check = text.rfind("check ");
  if (check == std::string_view::npos || text.substr(check) != check_line(text.substr(0, check)))
    return std::nullopt;
  if (!text.starts_with(first_line)) return std::nullopt;
  text.remove_prefix(first_line.size() + 1);
  GenerationNote note;
  std::int64_t at = 0;
  if (!take_number(text, "generation", note.generation) || !take_number(text, "units", note.units) ||
      !take_number(text, "segments", note.segments) || !take_number(text, "at", at))
    return std::nullopt;
  note.at = Timestamp{Duration{at}};
  return note;
}

}  // namespace

io::Path generation_note_path(const io::Path& directory) {
  return directory / "store.generation";
}

Result<std::optional<GenerationNote>> read_generation_note(const io::Files& files,
                                                           const io::Path& directory) {
  const io::Path path = generation_note_path(directory);
  if (!files.exists(path)) return std::optional<GenerationNote>{};
  TRY_ASSIGN(const Bytes text, files.read(path, note_bytes_max));
  auto note = parse(text);
  if (!note)
    return Error{ErrorKind::invalid,
                 path.string() + " is damaged: it cannot show whether the store beside it is the newest one"};
  return note;
}

Status write_generation_note(io::Files& files, const io::Path& directory, const GenerationNote& note) {
  const std::string text = text_of(note);
  return files.write(generation_note_path(directory), text + check_line(text), io::Mode::normal);
}

}  // namespace gleaner::storage
