#include <fmt/format.h>

#include <algorithm>

#include "shared/json/text.h"
#include "shared/sandbox/systems.h"
#include "tools/local/check_parts.h"
#include "tools/local/libraries.h"
#include "tools/local/remedies.h"

namespace gleaner::local {
namespace {

constexpr std::size_t libraries_named_max = 40;

// "bin/draw needs liba.so.1, libb.so.2; lib/libb.so.2 needs libc.so.7".
std::string missing_text(const std::vector<MissingLibrary>& missing) {
  std::string text, file;
  for (std::size_t i = 0; i < missing.size() && i < libraries_named_max; ++i) {
    if (missing[i].file == file)
      text += ", ";
    else
      text += (text.empty() ? "" : "; ") + missing[i].file + " needs ";
    text += missing[i].library;
    file = missing[i].file;
  }
  if (missing.size() > libraries_named_max)
    text += fmt::format(", and there are {} more", missing.size() - libraries_named_max);
  return text;
}

std::string names_of_systems(bool with_a_client) {
  std::string names;
  for (const sandbox::System& system : sandbox::systems)
    if (system.client || !with_a_client) names += (names.empty() ? "" : ", ") + std::string(system.name);
  return names;
}

bool is_python(const std::string& interpreter) {
  return io::Path(interpreter).filename().string().starts_with("python");
}

}  // namespace

void BundleChecks::note_confinement() {
  const Confinement& confinement = context_.world.confinement;
  const std::string weakness = confinement.weakness();
  const LocalBundle& bundle = context_.bundle;
  const std::string interpreter = sandbox::script_interpreter(bundle.kernel);
  std::string found = "the C and C++ libraries of " + names_of_systems(false);
  if (!interpreter.empty())
    found = interpreter + (bundle.modules() == contract::Modules::declared
                               ? " with all libraries and modules that are installed here"
                               : " with its own modules, and libraries for them");
  if (bundle.emulator) found = "what the emulator needs";
  if (weakness.empty())
    context_.findings.passed("sandbox", "the programs are confined: " + confinement.describe() +
                                            ". The kernel runs with nothing of this computer but " + found);
  else
    context_.findings.noted("sandbox", confinement.describe() + ": " + weakness,
                            "on volunteers' computers kernels are confined by namespaces (bubblewrap)");
}

void BundleChecks::note_systems(const SystemNeeds& needs) {
  std::string text = "programs need only the bundle and the C and C++ libraries of " +
                     names_of_systems(!needs.newer.empty());
  if (needs.glibc.empty())
    text += std::string(" and ") + sandbox::musl_system;
  else
    text += "; " + needs.glibc + " does not start on " + sandbox::musl_system +
            ", which has no GNU C library: a static program does";
  context_.findings.passed("libraries", text);
}

Result<bool> BundleChecks::kernels_are_placed() {
  CheckContext& c = context_;
  TRY_ASSIGN(const auto wrong, misplaced_kernels(c.world.files, c.bundle.directory, c.bundle.manifest));
  for (const std::string& each : wrong)
    c.findings.failed("platforms", each,
                      "a host gets the kernel of its own platform: name the right file in [kernel]");
  return wrong.empty();
}

void BundleChecks::note_platforms() {
  CheckContext& c = context_;
  if (c.findings.has_failed("contract") || c.findings.has_failed("determinism")) return;
  const std::string asked = c.request.platform.empty() ? this_platform() : c.request.platform;
  std::string others;
  for (const auto& [platform, kernel] : c.bundle.manifest.kernels)
    if (c.bundle.directory / kernel != c.bundle.kernel &&
        (c.native == nullptr || c.bundle.directory / kernel != c.native->kernel))
      others += (others.empty() ? "" : ", ") + platform;
  if (others.empty() && !c.bundle.emulator && c.request.platform.empty()) return;
  std::string text = "the kernel for " + asked + " was run";
  if (c.bundle.emulator) text += " under " + io::Path(c.bundle.emulator->command.front()).filename().string();
  if (c.native != nullptr) text += ", and agrees with that for " + this_platform();
  if (others.empty())
    c.findings.passed("platforms", text);
  else
    c.findings.noted("platforms", text + "; not run: " + others, "`app check --platform` runs another");
}

// A typing mistake in a parameter's name should not go unnoticed.
Status BundleChecks::unknown_parameter() {
  CheckContext& c = context_;
  const std::string& text = c.request.content.parameters;
  const auto brace = text.find('{');
  if (brace == std::string::npos) return {};
  const bool empty = text.find_first_not_of(" \t\r\n", brace + 1) == text.find('}', brace);
  Content changed = c.request.content;
  changed.parameters.insert(brace + 1, "\"no-such-parameter\":1" + std::string(empty ? "" : ","));
  const io::Path problem = c.fresh("problem-changed"), directory = c.fresh("manager-changed");
  TRY(write_problem(c.world.files, problem, changed));
  TRY(c.world.files.make_directories(directory));
  TRY_ASSIGN(const auto manager, c.manager(problem, directory));
  const Status checked = manager->check();
  if (checked.ok())
    c.findings.noted("parameters", "the manager accepts an unknown parameter",
                     "reject unknown keys, so that users notice a typing error");
  else if (checked.error().kind == ErrorKind::unavailable)
    c.findings.failed("parameters", "given an unknown parameter, " + checked.error().message,
                      "answer `error TEXT` to an invalid problem");
  else
    c.findings.passed("parameters", "the manager rejects an unknown parameter");
  return {};
}

// What the manifest says that leaving a parameter out means: given, it must mean the same.
Status BundleChecks::defaults_change_nothing(const contract::StagePlan& plan) {
  CheckContext& c = context_;
  TRY_ASSIGN(json::Value parameters, json::parse(c.request.content.parameters));
  std::string added;
  for (const auto& each : c.bundle.manifest.form->parameters) {
    if (each.default_value.empty() || parameters.contains(each.name)) continue;
    TRY_ASSIGN(parameters[each.name], json::parse(each.default_value));
    added += (added.empty() ? "" : ", ") + each.name;
  }
  if (added.empty()) return {};
  Content changed = c.request.content;
  changed.parameters = json::write(parameters);
  const io::Path problem = c.fresh("problem-defaults"), directory = c.fresh("manager-defaults");
  TRY(write_problem(c.world.files, problem, changed));
  TRY(c.world.files.make_directories(directory));
  TRY_ASSIGN(const auto manager, c.manager(problem, directory));
  const auto planned = manager->plan(0);
  const std::string advice =
      "an omitted parameter has the manifest's default; if the default "
      "depends on other parameters, declare none";
  if (!planned.ok())
    c.findings.failed(
        "defaults", "given the defaults of the manifest (" + added + "), " + planned.error().message, advice);
  else if (planned->end || planned->items != plan.items || planned->name != plan.name)
    c.findings.failed(
        "defaults",
        fmt::format("with the defaults of the manifest given ({}) the first stage has {} items, and "
                    "{} when they are left out",
                    added, planned->items, plan.items),
        advice);
  else
    c.findings.passed("defaults", "the manager accepts the defaults of the manifest (" + added + ")");
  return {};
}

// Volunteers' computers may lack it, or have another version; a host that reports it gets the work.
void BundleChecks::interpreter() {
  CheckContext& c = context_;
  const std::string named = sandbox::script_interpreter(c.bundle.kernel);
  if (named.empty()) return;
  const std::string name = io::Path(named).filename().string();
  const std::string only = name.starts_with("python3.") ? "python==" + name.substr(6) : std::string();
  const bool declared = std::ranges::any_of(c.bundle.manifest.needs, [](const std::string& text) {
    const auto need = parse_need(text);
    return need.ok() && need->name == "python";
  });
  if (const std::string lack = sandbox::missing_interpreter(c.bundle.kernel); !lack.empty())
    c.findings.failed("interpreter", lack,
                      "name an interpreter that volunteers' computers have, such as #!/usr/bin/python3");
  else if (!sandbox::is_of_a_package(named))
    c.findings.failed("interpreter", "the kernel is a script for " + named + ", which only this computer has",
                      "name an interpreter that volunteers' computers have, such as #!/usr/bin/python3");
  else if (!is_python(named))
    c.findings.noted("interpreter", "the kernel is a script for " + name + ", which hosts do not report",
                     "a host without it gets the work, fails once and is held back from the application");
  else if (!declared)
    c.findings.noted("interpreter",
                     "the kernel is a script for " + name + ", and the manifest does not say so",
                     "declare it, so that only hosts that have it get work: needs = [\"python>=3.9\"]");
  else if (!only.empty() && std::ranges::find(c.bundle.manifest.needs, only) == c.bundle.manifest.needs.end())
    c.findings.noted("interpreter",
                     "the kernel is a script for " + name + ", which hosts with another Python lack",
                     "begin it with #!/usr/bin/python3, or declare the version: needs = [\"" + only + "\"]");
  else
    c.findings.passed("interpreter",
                      "only hosts with " + words_of_needs(c.bundle.manifest.needs) + " get work");
}

// On this machine all of it may be there.
Status BundleChecks::needed_libraries_are_there() {
  CheckContext& c = context_;
  const io::Path compare = c.bundle.compare.lexically_relative(c.bundle.directory);
  TRY_ASSIGN(const SystemNeeds needs,
             system_needs(c.world.files, c.bundle.directory, {c.bundle.manifest.manager, compare.string()}));
  if (!needs.missing.empty())
    c.findings.failed("libraries",
                      missing_text(needs.missing) + ": kernels do not find " +
                          (needs.missing.size() == 1 ? "it" : "these") + " on volunteers' computers",
                      library_remedy(c.bundle));
  std::vector<NewerSymbol> newer = needs.newer;
  std::erase_if(newer, [](const NewerSymbol& each) {  // ours comes with the clients
    return !each.client && each.file.ends_with("gleaner-wrap-kernel");
  });
  for (const NewerSymbol& each : newer) {
    const std::string what = each.file + " needs " + each.version + ", and " + each.system;
    if (each.client)
      c.findings.failed("libraries", what, "build it on the oldest of these systems, or link it statically");
    else
      c.findings.noted("libraries", what, "there is no client for that system yet");
  }
  if (!needs.on_server.empty())
    c.findings.noted("libraries", missing_text(needs.on_server) + ": a server may lack it",
                     "install it on the server, or put it into the bundle where the program finds it");
  if (needs.missing.empty() && newer.empty()) note_systems(needs);
  return {};
}

}  // namespace gleaner::local
