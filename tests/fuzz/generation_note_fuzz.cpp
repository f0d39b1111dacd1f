// The note beside the store, damaged by whatever damages files: it is read as it was written or refused. The
// same bytes with a check line that holds, so that what is behind it is reached.
#include "server/storage/generation_note.h"
#include "shared/crypto/keys.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

using namespace gleaner;

namespace {

void check(Bytes text) {
  const io::Path directory = "project";
  fuzz::MemoryFiles files;
  files.files[storage::generation_note_path(directory)] = std::move(text);
  const auto note = storage::read_generation_note(files, directory);
  if (!note.ok()) return CHECK_TRUE(!note.error().message.empty());
  CHECK_TRUE(note->has_value() && (*note)->generation >= 0 && (*note)->units >= 0 && (*note)->segments >= 0);
  CHECK_TRUE(storage::write_generation_note(files, directory, **note).ok());
  const auto again = storage::read_generation_note(files, directory);
  CHECK_TRUE(again.ok() && *again == *note);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check(Bytes(text));
  check(Bytes(text) + "check " + crypto::sha256_hex(text).substr(0, 16) + "\n");
  return 0;
}
