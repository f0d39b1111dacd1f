// plan: what a fleet can do, before it does it.
#include "shared/base/limits.h"
#include "shared/io/gnuplot.h"
#include "tools/admin/commands.h"
#include "tools/admin/plan_views.h"

namespace gleaner::admin {
namespace {

constexpr double default_mflop = 1e6;

struct PlanOptions {
  std::string file;
  std::string problem;
  double mflop = default_mflop;
  double load_seconds = 0, result_seconds = 0;
  double load_bytes = 0, result_bytes = 0;
  bool half_duplex = false;
  std::string plot;
  std::string shown;
};

Result<Fleet> read_fleet(const io::Files& files, const std::string& file) {
  TRY_ASSIGN(const Bytes text, files.read(file, limits::plan_file_bytes_max));
  auto fleet = parse_fleet(text);
  if (!fleet.ok()) return fleet.error().within(file);
  return fleet;
}

Result<LiveLinks> links_of(Api& api, const PlanOptions& options) {
  LiveLinks links{options.load_seconds, options.result_seconds};
  if (options.load_bytes > 0 || options.result_bytes > 0) {
    TRY_ASSIGN(const auto hosts, api.hosts());
    TRY_ASSIGN(links, measured_links(hosts, options.load_bytes, options.result_bytes));
  }
  if (options.half_duplex) links.duplex = planning::Duplex::half;
  return links;
}

// From the file, or from the server.
Result<PlanView> make_view(Session& session, const PlanOptions& options) {
  PlanView view;
  std::optional<protocol::ProblemInfo> problem;
  if (!options.file.empty()) {
    TRY_ASSIGN(view.fleet, read_fleet(session.outside().files, options.file));
  } else {
    TRY_ASSIGN(Api* const api, session.api());
    TRY_ASSIGN(const LiveLinks links, links_of(*api, options));
    LiveFleet live;
    if (!options.problem.empty()) {
      TRY_ASSIGN(problem, find_problem(*api, options.problem));
      if (problem->shares_total > std::ssize(problem->shares)) {
        TRY_ASSIGN(problem, api->problem(problem->id, Api::Shares::all));
      }
      TRY_ASSIGN(live, live_fleet(*problem, links));
    } else {
      TRY_ASSIGN(const auto hosts, api->hosts());
      TRY_ASSIGN(live, live_fleet(hosts, options.mflop, links));
    }
    view.fleet = std::move(live.fleet);
    view.load = std::move(live.load);
    view.remarks = std::move(live.remarks);
  }
  TRY_ASSIGN(view.plan, planning::plan_fleet(view.fleet.tree, view.fleet.cost));
  if (problem) view.forecast = forecast(*problem, view.plan.best().finish);
  return view;
}

Status plot(Session& session, const PlanView& view, const PlanOptions& options) {
  const planning::StrategyPlan* shown = options.shown.empty() ? &view.plan.best() : nullptr;
  for (const planning::StrategyPlan* each : view.plan.all()) {
    if (each->name == options.shown) shown = each;
  }
  if (shown == nullptr)
    return Error{ErrorKind::too_large, "the linear program is only solved for fleets of up to " +
                                           std::to_string(limits::plan_optimum_nodes_max) +
                                           " nodes: plot another plan"};
  TRY_ASSIGN(const std::string script, plan_script(view, *shown, options.plot));
  Outside& outside = session.outside();
  return io::run_gnuplot(outside.files, outside.processes, ".", script);
}

Result<ExitCode> run(Session& session, const PlanOptions& options) {
  if (!options.file.empty() && !options.problem.empty())
    return Error{ErrorKind::invalid,
                 "a fleet file and --problem exclude each other: the hosts of a problem "
                 "are those of the live project"};
  TRY_ASSIGN(const PlanView view, make_view(session, options));
  if (!options.plot.empty()) TRY(plot(session, view, options));
  if (session.json())
    session.print_json(plan_document(view));
  else
    session.people() << plan_text(view, session.people_display());
  return ExitCode::ok;
}

}  // namespace

void add_plan_command(CLI::App& program, Action& chosen) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command = program.add_subcommand("plan", "Plan a load for a fleet, or for the live project");
  command->add_option("fleet", options->file, "the fleet; else the live project's hosts as a star")
      ->type_name("FLEET.json");
  command->add_option("--problem", options->problem, "plan the rest of a problem and predict its finish")
      ->type_name("ID|NAME");
  command->add_option("--mflop", options->mflop, "load for the live project's hosts")
      ->check(CLI::Range(1e-6, limits::plan_number_max))
      ->capture_default_str();
  command
      ->add_option("--load-seconds", options->load_seconds,
                   "transfer time of the whole load over a host's link; default: none")
      ->check(CLI::Range(0.0, limits::plan_number_max));
  command->add_option("--result-seconds", options->result_seconds, "the same for the whole result")
      ->check(CLI::Range(0.0, limits::plan_number_max));
  CLI::Option* const load = command->add_option(
      "--load-bytes", options->load_bytes, "size of the whole load, for the links that the hosts measured");
  CLI::Option* const result =
      command->add_option("--result-bytes", options->result_bytes, "the same for the whole result");
  for (CLI::Option* const bytes : {load, result})
    bytes->check(CLI::Range(0.0, limits::plan_number_max))
        ->excludes("--load-seconds")
        ->excludes("--result-seconds");
  command->add_flag("--half-duplex", options->half_duplex, "hosts and server cannot send while they receive");
  command->add_option("--plot", options->plot, "plot transfers and computing over time (needs gnuplot)")
      ->type_name("FILE.svg|FILE.png");
  command->add_option("--show", options->shown, "the plan to draw; else the one that ends earliest")
      ->check(CLI::IsMember({"eas", "sos", "sos_pruned", "mos", "optimum"}));
  command->footer(
      "Plans by divisible load theory: equal allocation (eas), sequential optimal (sos), the same without "
      "the\n"
      "hosts that only slow it down (sos_pruned), multi-installment (mos), and the linear program's "
      "optimum.\n"
      "FINISH is what a replay of all transfers gives; closed forms are the papers' formulas. With a fleet "
      "file\n"
      "no server is needed; gleaner-admin(1) describes the file.");
  on_parse(command, chosen, options, run);
}

}  // namespace gleaner::admin
