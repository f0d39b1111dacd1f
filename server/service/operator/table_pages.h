// A result that is a table of text (shared/base/csv_table.h), a page at a time, sorted by any column. The
// table that was asked for last is kept for a minute, with its order: a million rows are some 60 MB, and
// sorting them takes about a second and 16 MB. It makes one page at a time, on one thread of the pool, and
// other requests wait: a viewer who opens table after table takes no more threads. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/service/core/kernel.h"
#include "shared/base/csv_table.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

struct TableQuery {
  std::string digest;  // of the blob
  std::int64_t from = 0;
  int count = 100;         // limits::table_page_rows_max at most
  std::string order = {};  // a column; empty: as in the file
  bool descending = false;
  bool failed = false;  // only rows whose status is not "ok"
};

class TablePages {
 public:
  explicit TablePages(Kernel& kernel) : kernel_(kernel) {}
  static constexpr std::size_t waiting_max = 64;  // some seconds of work

  // not_found: no such blob. invalid: it is no table, or has no such column. unavailable: too many wait.
  void page(TableQuery query, Done<protocol::TablePage> done);
  // Once a second: forgets what nobody has asked for lately.
  void tick();

 private:
  struct Opened {
    std::string digest;
    CsvTable table;
    std::vector<std::uint32_t> failed = {};  // rows
    // The rows that were asked for last, in their order.
    std::string order = {};
    bool descending = false, only_failed = false, ordered = false;
    std::vector<std::uint32_t> chosen = {};
  };

  struct Waiting {
    TableQuery query;
    Done<protocol::TablePage> done;
  };

  void work();  // answers the first that waits
  [[nodiscard]] Result<protocol::TablePage> make(const TableQuery& query);
  [[nodiscard]] Status open(const std::string& digest);  // into opened_
  [[nodiscard]] Status choose(const TableQuery& query);

  Kernel& kernel_;
  std::mutex mutex_;  // of the next two
  std::deque<Waiting> waiting_;
  bool working_ = false;  // then the pool's thread that works has what follows, else who holds the mutex
  std::unique_ptr<Opened> opened_;
  SteadyTime used_{};
};

}  // namespace gleaner::service
