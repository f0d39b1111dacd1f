// libpq in pipeline mode: what is sent is not waited for until somebody has to know. Private to this module.
// One thread at a time.
//
// Errors: conflict (a unique value is taken), not_found (refers to a row that is not there, or there is none
// to change), io (the database's disk), invalid (its data are damaged), unavailable (it cannot be reached,
// another server leads, or the connection broke: then all that follows fails, too), internal.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::storage {

// Types of PostgreSQL, by numbers that never change (pg_type.dat).
namespace oid {
inline constexpr Oid bytea = 17, int8 = 20, text = 25, float8 = 701;
}

// Values in PostgreSQL's binary format, each behind its length: as parameters are sent, and as arrays hold
// them.
class Values {
 public:
  void add(std::int64_t value);
  void add(double value);
  // What PostgreSQL's text cannot hold (zero bytes, what is no UTF-8) comes back all the same.
  void add_text(std::string_view text);
  void add_bytes(std::string_view bytes);
  void add_digest(std::string_view digest);
  // An array of elements of the type, each behind its length.
  void add_array(Oid element, std::int32_t count, std::string_view elements);
  void clear();

  [[nodiscard]] std::size_t count() const { return types_.size(); }
  [[nodiscard]] const std::vector<Oid>& types() const { return types_; }
  [[nodiscard]] std::string_view encoded() const { return bytes_; }
  // With its length.
  [[nodiscard]] std::string_view element(std::size_t i) const;

 private:
  void begin(Oid type, std::size_t bytes);
  std::string bytes_;
  std::vector<Oid> types_;
  std::vector<std::size_t> starts_;
};

// The other way; `bytes` without its length.
[[nodiscard]] std::int64_t integer_from(std::string_view bytes);
[[nodiscard]] double real_from(std::string_view bytes);
[[nodiscard]] std::string text_from(std::string_view bytes);
[[nodiscard]] std::string digest_from(std::string_view bytes);

struct Prepared {
  std::string name, sql;  // parameters are $1, $2 ...
  bool known = false;     // to the server
};

class Pipeline {
 public:
  // What a result is freed with.
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Answer = std::unique_ptr<PGresult, Clear>;
  enum class Kind {
    plain,
    commit,  // what it came to is not known if the connection breaks
  };

  // A URL as libpq takes it. The database must hold UTF-8.
  [[nodiscard]] static Result<std::unique_ptr<Pipeline>> connect(const std::string& url);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Told by sync(), if it fails: what follows it is not done either.
  void send(Prepared& statement, const Values& values, Kind kind = Kind::plain);
  // Waits for all that was sent. The answer to the last; the first error.
  [[nodiscard]] Result<Answer> sync();
  // The same, but that the rows of the last come one by one, as they arrive: so that they are never all in
  // memory. REQUIRES: nothing is sent until next() has answered null, or sync() has thrown the rest away.
  [[nodiscard]] Status stream();
  // The next row, alone in its answer; null: there is none left.
  [[nodiscard]] Result<Answer> next();
  [[nodiscard]] std::size_t sent() const { return sent_.size(); }
  // Several statements, at once. REQUIRES: all that was sent is waited for.
  [[nodiscard]] Status execute(const std::string& sql);

  // Why the connection is of no use any more.
  [[nodiscard]] const std::optional<Error>& broken() const { return broken_; }
  // "the database NAME at HOST", without secrets.
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  struct Sent {
    Prepared* prepares;  // or null
    Kind kind;
  };
  explicit Pipeline(PGconn* connection) : connection_(connection) {}
  static void hear(void* pipeline, const PGresult* notice);
  [[nodiscard]] Error describe(const PGresult* result) const;
  [[nodiscard]] std::optional<Error> judge(const Sent& sent, const PGresult* result) const;
  void note(const Sent& sent, const PGresult* result);
  Answer take_results(const Sent& sent);
  [[nodiscard]] Status end_sync();
  Error lose(const std::string& said);

  PGconn* connection_;
  std::string place_;
  std::vector<Sent> sent_;
  std::optional<Error> failed_;  // the first of what is being waited for
  std::string said_;             // and what the database said of it
  bool streaming_ = false;       // the last of it
  bool committing_ = false;
  bool in_doubt_ = false;  // a replica may lack what was committed
  std::optional<Error> broken_;
};

}  // namespace gleaner::storage
