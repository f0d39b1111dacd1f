// The append-only file of one held unit: finished items, cuts, acknowledgements, trims. After a kill at any
// instant it reads back to a prefix of what was written; a torn or damaged tail is cut off. Not thread-safe.
//
// "GLNJ0001", then records: payload length (4 bytes, little-endian), checksum (4), kind (1), payload. The
// checksum is CRC-32 over kind, length and payload, started from the checksum of the record before (the
// unit's id for the first), so that bytes which once were valid elsewhere never pass. Kinds and their
// payloads are numbered for ever:
//   1 item: index (8), bytes
//   2 cut: begin (8), end (8), last (1), bytes (8), compute seconds as double (8), digest (64)
//   3 acknowledged: end of the cut (8)      4 end: new end (8)
//   5 stopped: nothing more will be computed      6 held: end of the cut (8): a relay has it, too
#pragma once

#include <functional>
#include <string>

#include "shared/base/encoding.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::engine {

struct Cut {
  Range range;
  std::string digest;
  std::int64_t bytes = 0;  // raw
  double compute_seconds = 0;
  bool last = false;
};

struct JournalEntry {
  enum class Kind : int {
    item = 1,
    cut = 2,
    acknowledged = 3,
    end = 4,
    stopped = 5,
    held = 6
  } kind = Kind::item;
  std::int64_t index = 0;   // item: its index; acknowledged, held: the cut's end; end: the end
  std::int64_t offset = 0;  // item: where its bytes are in the file
  std::int64_t bytes = 0;   // item: how many
  Cut cut;
};

class Journal {
 public:
  Journal(io::Files& files, io::Path path, UnitId unit);

  // Creates the file, or reads it and gives every intact record to `visit`, in order; an error of `visit`
  // ends the reading there and counts as damage. Cuts off what is damaged.
  [[nodiscard]] Status open(const std::function<Status(const JournalEntry&)>& visit);

  // Records are buffered; flush() writes them, sync() also makes them durable. Returns the offset of the
  // bytes.
  std::int64_t add_item(std::int64_t index, std::string_view bytes);
  void add_cut(const Cut& cut);
  void add_acknowledged(std::int64_t end);
  void add_end(std::int64_t end);
  void add_stopped();
  void add_held(std::int64_t end);
  [[nodiscard]] Status flush();
  [[nodiscard]] Status sync();
  [[nodiscard]] std::int64_t buffered() const { return static_cast<std::int64_t>(buffer_.size()); }

  // REQUIRES: flushed beyond offset + bytes.
  [[nodiscard]] Result<Bytes> read(std::int64_t offset, std::int64_t bytes) const;

 private:
  void append(JournalEntry::Kind kind, std::string_view head, std::string_view tail);
  [[nodiscard]] Status cut_off(std::int64_t end);

  io::Files& files_;
  io::Path path_;
  std::uint32_t checksum_;
  std::int64_t written_ = 0;  // bytes in the file
  Bytes buffer_;              // what follows them
};

}  // namespace gleaner::engine
