// Applications, problems and their results.
#include "server/storage/list_text.h"
#include "server/storage/sqlite_store.h"

namespace gleaner::storage {
namespace {

void add_statement(Query& query, const protocol::SignedStatement& statement) {
  query.add(statement.type).add(statement.payload).add_bytes(statement.key).add_bytes(statement.signature);
}

void take_statement(Query& query, protocol::SignedStatement& statement) {
  query.take_all(statement.type, statement.payload, statement.key, statement.signature);
}

ApplicationRow read_application(Query& query) {
  ApplicationRow row;
  query.take_all(row.id, row.name, row.version);
  query.take_digest(row.archive);
  query.take_all(row.archive_bytes, row.title);
  take_list(query, row.platforms);
  take_statement(query, row.statement);
  take_statement(query, row.signer);
  query.take(row.added_at);
  return row;
}

// In the order of the columns of both statements that write problems.
void add_problem_columns(Query& query, const ProblemRow& row, const std::string& inputs) {
  query.add(row.name).add(row.application).add(row.parameters).add(inputs).add(row.state).add(row.resume_to);
  query.add(row.message)
      .add(row.strategy)
      .add(row.straggler)
      .add(row.weight)
      .add(row.priority)
      .add(row.service);
  query.add(row.commit_seconds).add(row.stage).add(row.created_at).add(row.started_at).add(row.finished_at);
  query.add(row.validation);
}

ProblemRow read_problem(Query& query) {
  ProblemRow row;
  query.take_all(row.id, row.name, row.application, row.parameters);
  take_list(query, row.inputs);
  query.take_all(row.state, row.resume_to, row.message, row.strategy, row.straggler, row.weight, row.priority,
                 row.service, row.commit_seconds, row.stage, row.created_at, row.started_at, row.finished_at,
                 row.validation);
  return row;
}

protocol::ResultFile read_result(Query& query) {
  protocol::ResultFile file;
  query.take(file.name);
  query.take_digest(file.digest);
  query.take_all(file.bytes, file.media_type);
  return file;
}

}  // namespace

Result<ApplicationId> SqliteStore::add_application(const ApplicationRow& row) {
  TRY_ASSIGN(const std::string platforms, to_text(row.platforms));
  Query query = database_->query(R"(
INSERT INTO applications (name, version, archive, archive_bytes, title, platforms, statement_type, statement_payload,
  statement_key, statement_signature, signer_type, signer_payload, signer_key, signer_signature, added_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))");
  query.add(row.name)
      .add(row.version)
      .add_digest(row.archive)
      .add(row.archive_bytes)
      .add(row.title)
      .add(platforms);
  add_statement(query, row.statement);
  add_statement(query, row.signer);
  TRY(query.add(row.added_at).run());
  return ApplicationId{database_->last_id()};
}

Result<std::vector<ApplicationRow>> SqliteStore::applications() {
  Query query = database_->query(R"(
SELECT id, name, version, archive, archive_bytes, title, platforms, statement_type, statement_payload, statement_key,
  statement_signature, signer_type, signer_payload, signer_key, signer_signature, added_at
FROM applications ORDER BY id)");
  return all_rows(query, read_application);
}

Result<ProblemId> SqliteStore::next_problem() {
  Query query =
      database_->query("SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'problems'), 0) + 1");
  ProblemId id;
  TRY_ASSIGN(const bool found, query.step());
  CHECK_TRUE(found);  // it has no condition
  query.take(id);
  TRY(query.checked());
  return id;
}

Result<ProblemId> SqliteStore::add_problem(const ProblemRow& row) {
  TRY_ASSIGN(const std::string inputs, to_text(row.inputs));
  Query query = database_->query(R"(
INSERT INTO problems (id, name, application, parameters, inputs, state, resume_to, message, strategy, straggler, weight,
  priority, service, commit_seconds, stage, created_at, started_at, finished_at, validation)
VALUES (NULLIF(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))");
  query.add(row.id);
  add_problem_columns(query, row, inputs);
  TRY(query.run());
  return ProblemId{database_->last_id()};
}

Status SqliteStore::update_problem(const ProblemRow& row) {
  TRY_ASSIGN(const std::string inputs, to_text(row.inputs));
  Query query = database_->query(R"(
UPDATE problems SET (name, application, parameters, inputs, state, resume_to, message, strategy, straggler, weight,
  priority, service, commit_seconds, stage, created_at, started_at, finished_at, validation) =
  (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?)");
  add_problem_columns(query, row, inputs);
  TRY(query.add(row.id).run());
  if (database_->changes() == 0)
    return Error{ErrorKind::not_found, "there is no problem " + std::to_string(row.id.value)};
  return {};
}

Result<std::vector<ProblemRow>> SqliteStore::problems() {
  Query query = database_->query(R"(
SELECT id, name, application, parameters, inputs, state, resume_to, message, strategy, straggler, weight, priority,
  service, commit_seconds, stage, created_at, started_at, finished_at, validation FROM problems ORDER BY id)");
  return all_rows(query, read_problem);
}

Status SqliteStore::delete_problem(ProblemId id) {
  TRY(write_host_records());
  // Whatever refers to the problem first, the problem last.
  for (const char* sql :
       {"DELETE FROM acknowledgements WHERE unit IN (SELECT id FROM units WHERE problem = ?)",
        "DELETE FROM decisions WHERE problem = ?", "DELETE FROM failures WHERE problem = ?",
        "DELETE FROM verdicts WHERE problem = ?", "DELETE FROM accepted WHERE problem = ?",
        "DELETE FROM segment_bytes WHERE segment IN (SELECT id FROM segments WHERE problem = ?)",
        "DELETE FROM segments WHERE problem = ?", "DELETE FROM host_records WHERE problem = ?",
        "DELETE FROM units WHERE problem = ?", "DELETE FROM stage_costs WHERE problem = ?",
        "DELETE FROM stages WHERE problem = ?", "DELETE FROM results WHERE problem = ?"}) {
    TRY(database_->query(sql).add(id).run());
  }
  TRY(database_->query("DELETE FROM problems WHERE id = ?").add(id).run());
  if (database_->changes() == 0)
    return Error{ErrorKind::not_found, "there is no problem " + std::to_string(id.value)};
  decision_numbers_.erase(id);
  return {};
}

Status SqliteStore::put_results(ProblemId problem, const std::vector<protocol::ResultFile>& files) {
  TRY(database_->query("DELETE FROM results WHERE problem = ?").add(problem).run());
  std::int64_t position = 0;
  for (const auto& file : files) {
    Query query = database_->query(
        "INSERT INTO results (problem, position, name, digest, bytes, media_type) VALUES (?, ?, ?, ?, ?, ?)");
    query.add(problem)
        .add(position++)
        .add(file.name)
        .add_digest(file.digest)
        .add(file.bytes)
        .add(file.media_type);
    TRY(query.run());
  }
  return {};
}

Result<std::vector<protocol::ResultFile>> SqliteStore::results(ProblemId problem) {
  Query query = database_->query(
      "SELECT name, digest, bytes, media_type FROM results WHERE problem = ? ORDER BY position");
  query.add(problem);
  return all_rows(query, read_result);
}

}  // namespace gleaner::storage
