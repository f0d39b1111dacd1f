// A project's rows, moved from one store to another: from DIRECTORY/store.sqlite into a database, back, or
// between databases. No server may lead the project meanwhile, but all rows can be copied ahead while one
// does (copy_ahead()), so that it stands still for as long as reading them takes, and writing what has
// changed since. The former store stays as it was, but says of itself that its rows were moved, so that
// nobody goes on with it. Blocks until all is copied and compared.
//
// Whatever was copied before is used, if it is still the same: what is interrupted goes on when it is called
// again. Every row is read from both and compared before the former store gives anything up. Order of the
// last steps: compared; the former store says that its rows were moved; the new one is complete. Until then
// each refuses to be served at any moment at which the other could be, too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/storage/store.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::storage {

struct MoveProgress {
  enum class Step { finding, copying, comparing };  // finding: what is there already
  Step step = Step::finding;
  std::int64_t done = 0, all = 0;  // rows
};

struct MoveReport {
  struct Moved {
    std::string name;
    std::int64_t rows = 0;
    std::string digest;
  };
  std::string from, to;  // what they are called, without secrets
  std::vector<Moved> tables;
  std::int64_t rows = 0;
  std::int64_t there = 0;  // of them, those that were there before
  struct Time {
    MoveProgress::Step step;
    double seconds = 0, processor_seconds = 0;  // the latter of this process alone
  };
  std::vector<Time> times;
};

struct MovedStore {
  MoveReport report;
  std::unique_ptr<Store> store;  // the new one, which this process holds
};

// `from` and `to`: addresses of databases, or store_file (open_store.h). Errors: invalid (the new store has
// rows of another project, or of this one that are in use; the former one is damaged, older than its note, or
// was moved elsewhere), unavailable and conflict (a server runs), not_found (there is nothing to move), and
// those of both stores.
[[nodiscard]] Result<MovedStore> move_store(const io::Path& directory, const std::string& from,
                                            const std::string& to,
                                            const std::function<void(const MoveProgress&)>& progress);

// The same rows, as they are at one moment, while a server leads the project, which is not held up: into a
// store that no server starts on, until move_store() has completed it. May be called again, and copies what
// has changed. The log of store.sqlite grows meanwhile.
[[nodiscard]] Result<MoveReport> copy_ahead(const io::Path& directory, const std::string& from,
                                            const std::string& to,
                                            const std::function<void(const MoveProgress&)>& progress);

}  // namespace gleaner::storage
