// problem result, preview: what a problem has computed, in files.
#include "shared/base/limits.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"
#include "tools/admin/problem_views.h"
#include "tools/admin/progress.h"
#include "tools/admin/row_files.h"

namespace gleaner::admin {
namespace {

struct ResultChoice {
  std::string which;  // id or name
  std::string out = ".";
  bool force = false;
  bool partial = false;
  std::vector<std::string> rows;
};

// Fetches the files and tells a person their paths; for programs, what each is.
Result<std::vector<Document>> download_all(Session& session, Api& api,
                                           const std::vector<protocol::ResultFile>& files,
                                           const ResultChoice& choice) {
  std::vector<Document> downloaded;
  for (const auto& each : files) {
    Result<io::Path> path = [&] {
      TransferBar bar(session, "downloading " + each.name);
      return download_result(api, session.outside().files, each, choice.out,
                             choice.force ? Overwrite::yes : Overwrite::no, bar.progress());
    }();
    if (!path.ok()) return path.error();
    if (!session.json()) session.people() << path->string() << '\n';
    downloaded.push_back(std::move(Document()
                                       .text("name", each.name)
                                       .text("path", path->string())
                                       .text("media_type", each.media_type)
                                       .text("digest", each.digest)
                                       .number("bytes", each.bytes)));
  }
  return downloaded;
}

// Fetches what a preview or a partial result consists of.
Result<ExitCode> download_preview(Session& session, Api& api, const protocol::Preview& shown,
                                  const ResultChoice& choice) {
  if (!session.json())
    session.people() << "from " << count_text(shown.accepted) << " of " << count_text(shown.items)
                     << " items of stage " << shown.stage + 1
                     << (shown.stage_name.empty() ? "" : " (" + shown.stage_name + ")") << ":\n";
  TRY_ASSIGN(const auto downloaded, download_all(session, api, shown.files, choice));
  if (session.json())
    session.print_json(Document()
                           .number("id", shown.id.value)
                           .number("stage", shown.stage)
                           .number("stage_items", shown.items)
                           .number("accepted", shown.accepted)
                           .list("items", downloaded)
                           .render());
  return ExitCode::ok;
}

Result<ExitCode> result_of_rows(Session& session, Api& api, const protocol::ProblemInfo& problem,
                                const ResultChoice& choice) {
  TRY_ASSIGN(const RangeSet rows, parse_rows(choice.rows));
  TRY_ASSIGN(const auto written, download_rows(api, session.outside().files, problem.results, rows,
                                               choice.out, choice.force ? Overwrite::yes : Overwrite::no));
  std::vector<Document> described;
  for (const RowFile& file : written) {
    if (!session.json()) session.people() << file.path.string() << '\n';
    described.push_back(std::move(
        Document().number("row", file.row).text("name", file.name).text("path", file.path.string())));
  }
  if (session.json()) session.print_json(Document().list("items", described).render());
  return ExitCode::ok;
}

// The application writes all files of rows at the end; before that it can show the table alone.
Error no_rows_yet(const protocol::ProblemInfo& problem) {
  const std::string id = std::to_string(problem.id.value);
  std::string text = "problem " + id + " is " + protocol::name_of(problem.state) + ": ";
  if (ended(problem.state))
    text += "it has no files of rows";
  else
    text += "the files of rows are there once all rows are done (" + time_left_text(problem) +
            "); `problem watch " + id + "` waits for that";
  if (problem.accepted > 0)
    text += ". `problem preview " + id + "` fetches the table of the rows done so far";
  return {ErrorKind::not_found, text};
}

Result<ExitCode> result(Session& session, const ResultChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto problem, find_problem(*api, choice.which));
  if (choice.partial && problem.results.empty()) {
    TRY_ASSIGN(const auto shown, api->partial(problem.id));
    return download_preview(session, *api, shown, choice);
  }
  if (problem.results.empty() && !choice.rows.empty()) return no_rows_yet(problem);
  if (problem.results.empty())
    return Error{ErrorKind::not_found,
                 "problem " + std::to_string(problem.id.value) + " is " + protocol::name_of(problem.state) +
                     " and has no result" +
                     (ended(problem.state) ? "" : " yet: `problem watch` waits for its end") +
                     (problem.accepted > 0 ? ". Use --partial for the accepted items" : "")};
  if (!choice.rows.empty()) return result_of_rows(session, *api, problem, choice);
  TRY_ASSIGN(const auto downloaded, download_all(session, *api, problem.results, choice));
  if (session.json()) session.print_json(Document().list("items", downloaded).render());
  return ExitCode::ok;
}

Result<ExitCode> preview(Session& session, const ResultChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto problem, find_problem(*api, choice.which));
  TRY_ASSIGN(const auto shown, api->preview(problem.id));
  return download_preview(session, *api, shown, choice);
}

CLI::App* declare(CLI::App& problems, Action& chosen, const std::string& name, const std::string& help,
                  const std::shared_ptr<ResultChoice>& choice,
                  Result<ExitCode> (*action)(Session&, const ResultChoice&)) {
  CLI::App* command = problems.add_subcommand(name, help);
  command->add_option("problem", choice->which, "problem id, or its name if no other problem has it")
      ->required()
      ->type_name("ID|NAME");
  command->add_option("-o,--out", choice->out, "directory for the files; made if missing")
      ->capture_default_str()
      ->type_name("DIR");
  command->add_flag("--force", choice->force, "replace existing files that differ");
  on_parse(command, chosen, choice, action);
  return command;
}

}  // namespace

void add_result_commands(CLI::App& problems, Action& chosen) {
  const auto choice = std::make_shared<ResultChoice>();
  CLI::App* command =
      declare(problems, chosen, "result", "Download the results and print their paths", choice, result);
  CLI::Option* rows =
      command
          ->add_option("--row", choice->rows,
                       "only the files of these rows of a table, one directory per row (repeatable)")
          ->type_name("N[-M],...")
          ->check([](const std::string& text) {
            const auto parsed = parse_rows({text});
            return parsed.ok() ? std::string() : parsed.error().message;
          })
          ->allow_extra_args(false);
  CLI::Option* partial = command->add_flag(
      "--partial", choice->partial,
      "accepted items of a problem without a result: as the application shows them, or item by item");
  rows->excludes(partial);
  const auto shown = std::make_shared<ResultChoice>();
  shown->out = "preview";
  command = declare(problems, chosen, "preview", "Download the application's preview of the accepted items",
                    shown, preview);
  command->footer(
      "The problem is running, paused, cancelled or failed. The application's manager makes the files as "
      "it\nmakes results, with gaps. Example:\n  watch -n 60 gleaner-admin problem preview raytrace-1 "
      "--force");
}

}  // namespace gleaner::admin
