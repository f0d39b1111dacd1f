// sizes: a divisible job under the papers' own conditions, to look at one sizing strategy alone.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <ostream>

#include "shared/base/limits.h"
#include "shared/json/text.h"
#include "tools/papers/paper.h"
#include "tools/simulator/command/commands.h"
#include "tools/simulator/command/instance.h"

namespace gleaner::simulator {
namespace {

struct SizesOptions {
  std::string file;
  std::string strategy;
  bool json = false;
};

Result<PaperInstance> read_paper_instance(Instance& root) {
  PaperInstance instance;
  TRY_ASSIGN(instance.items, root.whole("items", 1, limits::simulated_items_max));
  if (root.has("costs")) {
    const auto items = static_cast<std::size_t>(instance.items);
    TRY_ASSIGN(instance.costs, root.numbers_for("costs", at_least_zero, items, "item"));
  }
  TRY_ASSIGN(std::vector<Instance> hosts, root.objects("hosts", limits::simulated_hosts_max));
  if (hosts.empty()) return root.mistake("hosts", "at least one object with a speed");
  for (Instance& object : hosts) {
    PaperHost host;
    TRY_ASSIGN(host.speed, object.number("speed", above_zero));
    TRY_ASSIGN(host.performance, object.number("performance", above_zero, host.speed));
    TRY_ASSIGN(host.clock, object.number("clock", above_zero, 0));
    TRY_ASSIGN(host.dies_at, object.number("dies_at", at_least_zero, host.dies_at));
    TRY(object.nothing_left());
    instance.hosts.push_back(host);
  }
  TRY_ASSIGN(instance.duplicate, root.flag("duplicate", false));
  TRY_ASSIGN(instance.omit, root.flag("omit", false));
  TRY_ASSIGN(instance.slowest_registered, root.number("slowest_registered", above_zero, 0));
  TRY_ASSIGN(instance.limits.target_seconds,
             root.number("target_seconds", above_zero, instance.limits.target_seconds));
  TRY_ASSIGN(instance.limits.minimum_seconds, root.number("minimum_seconds", at_least_zero, 0));
  TRY_ASSIGN(instance.limits.lease_seconds,
             root.number("lease_seconds", above_zero, instance.limits.lease_seconds));
  TRY(root.nothing_left());
  return instance;
}

json::Value document_of(const PaperInstance& instance, const PaperRun& run) {
  json::Value document;
  document["strategy"] = instance.strategy;
  document["grants"] = json::Value::array();
  for (const PaperGrant& grant : run.grants) {
    document["grants"].push_back(json::Value::array({grant.host, grant.count, grant.copy}));
  }
  document["requests"] = run.requests;
  document["copies"] = run.copies;
  document["given_back"] = run.given_back;
  document["complete"] = run.complete;
  document["makespan"] = run.complete ? json::Value(run.makespan) : json::Value();
  return document;
}

void print_table(Console& console, const PaperInstance& instance, const PaperRun& run) {
  console.out << fmt::format("{:>8} {:>8} {:>12}\n", "request", "host", "items");
  std::vector<std::int64_t> items(instance.hosts.size()), requests(instance.hosts.size());
  for (std::size_t i = 0; i < run.grants.size(); ++i) {
    const PaperGrant& grant = run.grants[i];
    console.out << fmt::format("{:>8} {:>8} {:>12}{}\n", i + 1, grant.host, grant.count,
                               grant.copy ? "  copy" : "");
    items[static_cast<std::size_t>(grant.host)] += grant.count;
    ++requests[static_cast<std::size_t>(grant.host)];
  }
  console.out << fmt::format("\n{:>8} {:>12} {:>8} {:>12}\n", "host", "speed", "requests", "items");
  for (std::size_t host = 0; host < items.size(); ++host) {
    console.out << fmt::format("{:>8} {:>12g} {:>8} {:>12}\n", host, instance.hosts[host].speed,
                               requests[host], items[host]);
  }
  const std::string end = run.complete ? fmt::format("makespan {:g}", run.makespan)
                                       : std::string("it never ends: hosts that died hold the rest");
  console.out << fmt::format("\n{} requests, {} of them copies; {}\n", run.requests, run.copies, end);
}

Result<int> sizes(Console& console, const SizesOptions& options) {
  TRY_ASSIGN(Instance file, Instance::read(options.file));
  TRY_ASSIGN(PaperInstance instance, read_paper_instance(file));
  instance.strategy = options.strategy;
  if (instance.strategy.find(",mode=") == std::string::npos) instance.strategy += ",mode=paper";
  TRY_ASSIGN(const PaperRun run, run_paper(instance));
  if (options.json) {
    console.out << json::write(document_of(instance, run)) << '\n';
  } else {
    print_table(console, instance, run);
  }
  return 0;
}

}  // namespace

void add_sizes_command(CLI::App& program, Action& chosen) {
  auto* command = program.add_subcommand("sizes", "hands out one divisible job under the papers' conditions");
  const auto options = std::make_shared<SizesOptions>();
  command->add_option("instance", options->file, "JSON: items, costs, hosts with speeds, duplicate, omit")
      ->required();
  command->add_option("--strategy", options->strategy, "NAME[,key=value...], in paper mode unless mode=grid")
      ->required();
  command->add_flag("--json", options->json, "print JSON");
  on_parse(command, chosen, options, sizes);
}

}  // namespace gleaner::simulator
