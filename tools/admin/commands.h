// The commands: each function declares a group of sub-commands with their options and help; a parsed one
// leaves what it is to do in `chosen`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/admin/session.h"

namespace gleaner::admin {

void add_key_commands(CLI::App& program, Action& chosen);
void add_revocation_commands(CLI::App& keys, Action& chosen);
void add_application_commands(CLI::App& program, Action& chosen);
void add_new_command(CLI::App& applications, Action& chosen);
void add_check_command(CLI::App& applications, Action& chosen);
void add_wrap_command(CLI::App& applications, Action& chosen);
void add_problem_commands(CLI::App& program, Action& chosen);
void add_flow_commands(CLI::App& program, Action& chosen);
void add_strategy_commands(CLI::App& program, CLI::App& problems, Action& chosen);
void add_errors_command(CLI::App& problems, Action& chosen);
void add_output_command(CLI::App& problems, Action& chosen);
void add_result_commands(CLI::App& problems, Action& chosen);
void add_contribution_command(CLI::App& program, Action& chosen);
void add_host_commands(CLI::App& program, Action& chosen);
void add_code_commands(CLI::App& program, Action& chosen);
void add_relay_commands(CLI::App& program, Action& chosen);
void add_token_commands(CLI::App& program, Action& chosen);
void add_audit_commands(CLI::App& program, Action& chosen);
void add_ban_commands(CLI::App& program, Action& chosen);
void add_console_command(CLI::App& program, Action& chosen);
void add_status_command(CLI::App& program, Action& chosen);
void add_run_local_command(CLI::App& program, Action& chosen);
void add_plan_command(CLI::App& program, Action& chosen);

// Of --root.
inline constexpr const char* root_help = "the root key: its file, or pkcs11:... in a hardware token";

struct NoOptions {};

// Declares that `command` does `action` with the options that `options` (a shared struct) will hold.
template <typename Options>
void on_parse(CLI::App* command, Action& chosen, std::shared_ptr<Options> options,
              Result<ExitCode> (*action)(Session&, const Options&)) {
  command->callback([&chosen, options, action] {
    chosen = [options, action](Session& session) { return action(session, *options); };
  });
}

// --own and --strangers, which is what they are without either. `whose`: "its hosts".
void add_own_flags(CLI::App& command, bool& own, const std::string& whose);

// What the server takes for a name: 1 to 64 bytes without control characters.
[[nodiscard]] CLI::Validator name_validator();

// A whole number is an id, anything else a name. Errors: not_found, conflict (several have the name).
[[nodiscard]] Result<protocol::ProblemInfo> find_problem(Api& api, const std::string& which);

// What a problem computes on, as `problem add` and `run-local` take it.
struct ProblemOptions {
  std::string parameters_file;
  std::vector<std::string> settings;  // KEY=VALUE
  std::vector<std::string> inputs;    // NAME=FILE
  std::string table;                  // the input table.csv of a wrapped program
};
void declare_problem_options(CLI::App* command, ProblemOptions& options);
[[nodiscard]] Result<std::string> read_parameters(const io::Files& files, const ProblemOptions& options);
struct NamedFile {
  std::string name;
  io::Path path;
};
// The inputs, and those in directories; their names are plain file names, each given once.
[[nodiscard]] Result<std::vector<NamedFile>> parse_inputs(const io::Files& files,
                                                          const ProblemOptions& options);

}  // namespace gleaner::admin
