#include "apps/wrap/item.h"

#include <algorithm>
#include <cstdint>

#include "apps/kit/packing.h"

namespace gleaner::wrap {
namespace {

// FNV-1a, 64 bits (Fowler, Noll, Vo): against accidents and mix-ups, not against forgery.
std::uint64_t fnv(std::uint64_t state, std::string_view bytes) {
  for (const char c : bytes) {
    state ^= static_cast<unsigned char>(c);
    state *= 0x100000001b3;
  }
  return state;
}

std::uint64_t check_of(const std::string& identity, std::string_view content) {
  const std::uint64_t state = fnv(0xcbf29ce484222325, identity);
  return fnv(fnv(state, std::string_view("\0", 1)), content);
}

void append(Bytes& to, std::string_view part) {
  kit::pack(to, static_cast<std::uint64_t>(part.size()));
  to.append(part);
}

std::string_view take(kit::Unpacker& from) {
  return from.take(from.get<std::uint64_t>());
}

}  // namespace

Bytes seal(const std::string& identity, const Outcome& outcome) {
  Bytes content;
  append(content, outcome.status);
  append(content, outcome.words);
  for (const std::string_view file : outcome.files) append(content, file);
  Bytes item;
  item.reserve(content.size() + sizeof(std::uint64_t));
  kit::pack(item, check_of(identity, content));
  return item.append(content);
}

std::vector<std::string_view> files_in(std::string_view item) {
  kit::Unpacker unpacker(item);
  (void)unpacker.get<std::uint64_t>();  // the check
  (void)take(unpacker);                 // status
  (void)take(unpacker);                 // words
  std::vector<std::string_view> files;
  while (unpacker.left() > 0) files.push_back(take(unpacker));
  return files;
}

Result<Outcome> unseal(const std::string& identity, std::size_t files, std::string_view item) {
  kit::Unpacker unpacker(item);
  const auto check = unpacker.get<std::uint64_t>();
  Outcome outcome;
  outcome.status = take(unpacker);
  outcome.words = take(unpacker);
  if (outcome.status.empty())
    for (std::size_t i = 0; i < files; ++i) outcome.files.push_back(take(unpacker));
  const std::string_view content = item.substr(std::min(item.size(), sizeof check));
  if (!unpacker.complete() || check != check_of(identity, content))
    return Error{ErrorKind::invalid, "it is not what the program made of " + identity};
  const bool failed = !outcome.status.empty();
  if (outcome.status.size() > status_length_max || outcome.words.size() > last_words_bytes_max ||
      (!failed && !outcome.words.empty()))
    return Error{ErrorKind::invalid, "it does not say how the program ended at " + identity};
  return outcome;
}

}  // namespace gleaner::wrap
