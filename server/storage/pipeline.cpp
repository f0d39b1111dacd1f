#include "server/storage/pipeline.h"

#include <array>
#include <utility>

#include "shared/base/check.h"

namespace gleaner::storage {
namespace {

std::string trimmed(const char* text) {
  std::string result = text != nullptr ? text : "";
  while (!result.empty() && (result.back() == '\n' || result.back() == ' ')) result.pop_back();
  return result;
}

std::string_view state_of(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state != nullptr ? state : "";
}

}  // namespace

Result<std::unique_ptr<Pipeline>> Pipeline::connect(const std::string& url) {
  // What the URL says comes last and holds. A network that is cut is noticed within five seconds: by what is
  // not acknowledged, or, while an answer is awaited, by probes that are not.
  const std::array<const char*, 8> names{
      "application_name",    "connect_timeout",  "tcp_user_timeout", "keepalives_idle",
      "keepalives_interval", "keepalives_count", "dbname",           nullptr};
  const std::array<const char*, 8> values{"gleaner-server", "3", "5000", "2", "1", "3", url.c_str(), nullptr};
  std::unique_ptr<Pipeline> pipeline(new Pipeline(PQconnectdbParams(names.data(), values.data(), 1)));
  PGconn* const connection = pipeline->connection_;
  const char* const host = PQhost(connection);
  pipeline->place_ = "the database " + trimmed(PQdb(connection)) + " at " + trimmed(host);
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorKind::unavailable, "cannot use " + pipeline->place_ + ": " + why};
  };
  if (PQstatus(connection) != CONNECTION_OK) return refuse(trimmed(PQerrorMessage(connection)));
  const char* const encoding = PQparameterStatus(connection, "server_encoding");
  if (encoding == nullptr || std::string_view(encoding) != "UTF8")
    return refuse("its encoding is " + trimmed(encoding) + ": create it with ENCODING 'UTF8'");
  if (PQsetClientEncoding(connection, "UTF8") != 0) return refuse(trimmed(PQerrorMessage(connection)));
  PQsetNoticeReceiver(connection, &Pipeline::hear, pipeline.get());
  // An acknowledgement must not be sent before what it acknowledges is on a disk, whatever the database's own
  // settings are; those that ask for more are left alone. And the database is to notice a cut network, too,
  // so that nothing waits for who is behind it. Settings that it does not
  // know, or that its operator has made, are left alone.
  TRY(pipeline->execute(
      "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = "
      "'off'"));
  TRY(pipeline->execute(
      "SELECT set_config(name, wanted, false) FROM pg_settings JOIN (VALUES ('tcp_user_timeout', '5000'), "
      "('tcp_keepalives_idle', '2'), ('tcp_keepalives_interval', '1'), ('tcp_keepalives_count', '3'), "
      "('client_connection_check_interval', '1000')) AS ours (name, wanted) USING (name) WHERE source = "
      "'default'"));
  return pipeline;
}

Pipeline::~Pipeline() {
  PQfinish(connection_);
}

void Pipeline::hear(void* pipeline, const PGresult* notice) {
  // "The transaction has already committed locally, but might not have been replicated to the standby."
  if (state_of(notice) == "01000") static_cast<Pipeline*>(pipeline)->in_doubt_ = true;
}

void Pipeline::send(Prepared& statement, const Values& values, Kind kind) {
  if (broken_) return;
  CHECK_TRUE(!streaming_);
  if (PQpipelineStatus(connection_) == PQ_PIPELINE_OFF && PQenterPipelineMode(connection_) != 1)
    return (void)lose(trimmed(PQerrorMessage(connection_)));
  const auto count = static_cast<int>(values.count());
  if (!statement.known) {
    if (PQsendPrepare(connection_, statement.name.c_str(), statement.sql.c_str(), count,
                      values.types().data()) != 1)
      return (void)lose(trimmed(PQerrorMessage(connection_)));
    sent_.push_back({&statement, Kind::plain});
    statement.known = true;  // unless it turns out to have failed
  }
  constexpr std::size_t length_bytes = 4;
  std::vector<const char*> places;
  std::vector<int> lengths;
  const std::vector<int> formats(values.count(), 1);
  for (std::size_t i = 0; i < values.count(); ++i) {
    const std::string_view value = values.element(i).substr(length_bytes);
    places.push_back(value.data());
    lengths.push_back(static_cast<int>(value.size()));
  }
  if (PQsendQueryPrepared(connection_, statement.name.c_str(), count, places.data(), lengths.data(),
                          formats.data(), 1) != 1)
    return (void)lose(trimmed(PQerrorMessage(connection_)));
  sent_.push_back({nullptr, kind});
  committing_ = committing_ || kind == Kind::commit;
}

void Pipeline::note(const Sent& sent, const PGresult* result) {
  if (PQresultStatus(result) == PGRES_FATAL_ERROR && said_.empty())
    said_ = trimmed(PQresultErrorMessage(result));
  const auto error = judge(sent, result);
  if (error && sent.prepares != nullptr) sent.prepares->known = false;
  if (error && !failed_) failed_ = error;
}

// The last of a statement's results.
Pipeline::Answer Pipeline::take_results(const Sent& sent) {
  Answer last;
  while (PGresult* const result = PQgetResult(connection_)) {
    last.reset(result);
    note(sent, result);
  }
  return last;
}

Status Pipeline::end_sync() {
  const Answer end{PQgetResult(connection_)};
  const auto failed = std::exchange(failed_, std::nullopt);
  const std::string said = std::exchange(said_, {});
  if (end == nullptr || PQresultStatus(end.get()) != PGRES_PIPELINE_SYNC ||
      PQstatus(connection_) != CONNECTION_OK)
    return lose(said.empty() ? trimmed(PQerrorMessage(connection_)) : said);
  sent_.clear();
  committing_ = false;
  if (in_doubt_) return lose("the database no longer waits for its replica");
  if (failed) return *failed;
  return {};
}

Result<Pipeline::Answer> Pipeline::sync() {
  while (streaming_) TRY(next());
  if (broken_) return *broken_;
  if (sent_.empty()) return Answer{};
  if (PQpipelineSync(connection_) != 1) return lose(trimmed(PQerrorMessage(connection_)));
  Answer last;
  for (const Sent& sent : sent_) last = take_results(sent);
  TRY(end_sync());
  return last;
}

Status Pipeline::stream() {
  if (broken_) return *broken_;
  CHECK_TRUE(!sent_.empty() && !streaming_);
  if (PQpipelineSync(connection_) != 1) return lose(trimmed(PQerrorMessage(connection_)));
  for (std::size_t i = 0; i + 1 < sent_.size(); ++i) (void)take_results(sent_[i]);
  (void)PQsetSingleRowMode(connection_);  // refused after an error, where no rows come
  streaming_ = true;
  return {};
}

Result<Pipeline::Answer> Pipeline::next() {
  if (broken_) return *broken_;
  if (!streaming_) return Answer{};
  Answer row{PQgetResult(connection_)};
  if (row != nullptr && PQresultStatus(row.get()) == PGRES_SINGLE_TUPLE) return row;
  streaming_ = false;
  if (row != nullptr) {  // the end of the rows, or why there are no more
    CHECK_TRUE(PQntuples(row.get()) == 0);
    note(sent_.back(), row.get());
    (void)take_results(sent_.back());
  }
  TRY(end_sync());
  return Answer{};
}

// What a statement came to, if that is an error.
std::optional<Error> Pipeline::judge(const Sent& sent, const PGresult* result) const {
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
      break;
    case PGRES_PIPELINE_ABORTED:  // after the error that counts
      return Error{ErrorKind::internal, "not done after an error"};
    default:
      return describe(result);
  }
  const std::string done = PQcmdStatus(const_cast<PGresult*>(result));
  if (sent.kind == Kind::commit && done != "COMMIT")
    return Error{ErrorKind::internal, place_ + " rolled a transaction back instead of committing it"};
  return std::nullopt;
}

Status Pipeline::execute(const std::string& sql) {
  if (broken_) return *broken_;
  CHECK_TRUE(sent_.empty());
  if (PQpipelineStatus(connection_) != PQ_PIPELINE_OFF && PQexitPipelineMode(connection_) != 1)
    return lose(trimmed(PQerrorMessage(connection_)));
  const Answer answer{PQexec(connection_, sql.c_str())};
  if (PQstatus(connection_) != CONNECTION_OK) return lose(trimmed(PQerrorMessage(connection_)));
  const auto status = PQresultStatus(answer.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return {};
  return describe(answer.get());
}

Error Pipeline::describe(const PGresult* result) const {
  const std::string_view state = state_of(result);
  const std::string said = trimmed(PQresultErrorMessage(result));
  // https://www.postgresql.org/docs/15/errcodes-appendix.html
  if (state == "22012")  // division by zero: only the check of the epoch divides (postgres.cpp)
    return {ErrorKind::unavailable, "another server leads this project now: nothing of this was stored"};
  if (state == "23505") return {ErrorKind::conflict, "there is one like that already (" + said + ")"};
  if (state == "2201F")  // a root of a negative number: of rows that are missing, by postgres.cpp alone
    return {ErrorKind::not_found, "there is no host or problem of that number"};
  if (state == "23503")
    return {ErrorKind::not_found, "the problem, application or host that this belongs to does not exist"};
  if (state == "53100")
    return {ErrorKind::io, "cannot write " + place_ + ": its disk is full: free some space (" + said + ")"};
  if (state.starts_with("58") || state.starts_with("53"))
    return {ErrorKind::io, "cannot read or write " + place_ + ": " + said};
  if (state.starts_with("XX001") || state.starts_with("XX002"))
    return {ErrorKind::invalid, place_ + " is damaged (" + said + "): restore the newest backup"};
  if (state == "42P05" || state == "26000")  // of a prepared statement: there is one already, or none
    return {ErrorKind::invalid, "something gives the connection to " + place_ +
                                    " to others, too, as a pooler of transactions does (" + said +
                                    "): name the database itself in store.url, or pool sessions"};
  if (state.starts_with("42"))  // our texts are fixed: what does not fit them is the schema
    return {ErrorKind::invalid, "the tables of " + place_ + " are not this program's: " + said};
  if (state == "54000") return {ErrorKind::too_large, "a value is too large for " + place_};
  return {ErrorKind::internal, place_ + " failed: " + said};
}

Error Pipeline::lose(const std::string& said) {
  if (!broken_)
    broken_ = Error{
        ErrorKind::unavailable,
        committing_ || in_doubt_
            ? place_ + " did not say what became of a transaction (" + said +
                  "): nothing of it is acknowledged; whether it is stored shows when a server starts again"
            : "the connection to " + place_ + " is lost (" + said +
                  "): another server may lead this project now"};
  sent_.clear();
  streaming_ = false;
  return *broken_;
}

}  // namespace gleaner::storage
