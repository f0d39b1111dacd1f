#include "shared/sandbox/helper/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace gleaner::sandbox {
namespace {

// The system's header may be older than the kernel: names of our own, from the interface's documentation.
constexpr long call_create = 444, call_add_rule = 445, call_restrict = 446;
constexpr std::uint32_t create_version = 1;
constexpr int rule_path_beneath = 1;

constexpr std::uint64_t execute = 1 << 0, write_file = 1 << 1, read_file = 1 << 2, read_directory = 1 << 3,
                        remove_directory = 1 << 4, remove_file = 1 << 5, make_directory = 1 << 7,
                        make_regular = 1 << 8, make_symlink = 1 << 12, refer = 1 << 13, truncate = 1 << 14,
                        device_control = 1 << 15;
constexpr std::uint64_t first_rights = (1 << 13) - 1;
constexpr std::uint64_t bind_tcp = 1 << 0, connect_tcp = 1 << 1;
constexpr std::uint64_t scope_abstract_socket = 1 << 0, scope_signal = 1 << 1;
constexpr std::uint64_t file_rights = execute | write_file | read_file | truncate | device_control;

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scoped;
};

struct __attribute__((packed)) PathAttributes {
  std::uint64_t allowed;
  std::int32_t parent;
};

std::uint64_t known_rights(int version) {
  std::uint64_t rights = first_rights;
  if (version >= 2) rights |= refer;
  if (version >= 3) rights |= truncate;
  if (version >= 5) rights |= device_control;
  return rights;
}

void allow(int ruleset, const std::vector<std::string>& paths, std::uint64_t rights) {
  for (const std::string& path : paths) {
    PathAttributes rule{};
    rule.parent = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (rule.parent < 0) continue;  // not on this system, and so not readable either
    struct stat facts {};
    if (::fstat(rule.parent, &facts) != 0) give_up(path.c_str());
    rule.allowed = S_ISDIR(facts.st_mode) ? rights : rights & file_rights;
    if (::syscall(call_add_rule, ruleset, rule_path_beneath, &rule, 0) != 0) give_up(path.c_str());
    ::close(rule.parent);
  }
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(call_create, nullptr, 0, create_version);
  return version > 0 ? static_cast<int>(version) : 0;
}

void enter_landlock(const Options& options) {
  const int version = landlock_version();
  RulesetAttributes attributes{};
  const std::uint64_t known = known_rights(version);
  attributes.files = known;
  if (version >= 4) attributes.network = bind_tcp | connect_tcp;  // no rule: none at all
  if (version >= 6) attributes.scoped = scope_abstract_socket | scope_signal;
  const std::size_t size = version >= 6   ? sizeof attributes
                           : version >= 4 ? 2 * sizeof(std::uint64_t)
                                          : sizeof(std::uint64_t);
  const long ruleset = ::syscall(call_create, &attributes, size, 0);
  if (ruleset < 0) give_up("cannot create Landlock rules");
  const int descriptor = static_cast<int>(ruleset);
  allow(descriptor, options.read, known & (read_file | read_directory | execute));
  allow(descriptor, options.devices, known & (read_file | write_file | truncate));
  // What is written there cannot be executed; devices, sockets and pipes cannot be made.
  allow(descriptor, options.write,
        known & (read_file | read_directory | write_file | truncate | remove_file | remove_directory |
                 make_regular | make_directory | make_symlink | refer));
  if (::syscall(call_restrict, descriptor, 0) != 0) give_up("cannot confine by Landlock");
  ::close(descriptor);
}

}  // namespace gleaner::sandbox
