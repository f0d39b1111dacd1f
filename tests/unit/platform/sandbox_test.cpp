#include "client/platform/sandbox.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "client/platform/cgroup.h"
#include "shared/io/distribution.h"
#include "shared/sandbox/confinement.h"
#include "shared/sandbox/runtime_files.h"
#include "tests/catch.h"

namespace gleaner::platform {
namespace {
using namespace std::chrono_literals;
using sandbox::Runtime;

struct Directory {
  io::Path root = std::filesystem::temp_directory_path() / ("gleaner-sandbox-" + std::to_string(::getpid()));
  Directory() {
    std::filesystem::remove_all(root);
    std::filesystem::create_directories(root);
  }
  ~Directory() { std::filesystem::remove_all(root); }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::filesystem::create_symlink(target, root / path);
  }
};

std::vector<std::string> names(const std::vector<sandbox::RuntimeFile>& files) {
  std::vector<std::string> all;
  for (const sandbox::RuntimeFile& file : files)
    all.push_back(file.path.string() + (file.link.empty() ? "" : " -> " + file.link));
  return all;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

TEST_CASE("A script needs its interpreter, through all links, and that one's modules; nothing else") {
  const Directory system;
  system.put("usr/bin/python3.11", "");
  system.link("usr/bin/python3", "python3.11");
  system.put("usr/bin/env", "");
  system.put("usr/bin/bash", "");
  system.put("usr/lib/python3/os.py", "");
  system.put("usr/lib/python3.11/os.py", "");
  system.put("usr/lib/other/secret", "");
  system.link("lib", "usr/lib");
  system.put("kernel.py", "#!/usr/bin/env python3\nprint(1)\n");
  const auto files = names(sandbox::runtime_files(system.root / "kernel.py", Runtime::promised, system.root));
  CHECK(has(files, "/usr/bin/env"));
  CHECK(has(files, "/usr/bin/python3 -> python3.11"));
  CHECK(has(files, "/usr/bin/python3.11"));
  CHECK(has(files, "/usr/lib/python3"));
  CHECK(has(files, "/usr/lib/python3.11"));
  CHECK(has(files, "/lib -> usr/lib"));
  CHECK_FALSE(has(files, "/usr/bin/bash"));
  CHECK_FALSE(has(files, "/usr/lib/other"));
}

std::string machine_name() {
  utsname facts{};
  REQUIRE(::uname(&facts) == 0);
  return facts.machine;
}

TEST_CASE("A script finds modules that somebody installed only where its manifest declares them") {
  const Directory system;
  system.put("usr/bin/python3", "");
  system.put("usr/lib/python3/dist-packages/numpy/__init__.py", "");
  system.put("usr/lib/python3.11/os.py", "");
  system.put("usr/lib/python3.12/os.py", "");
  system.put("usr/lib/python3.12/site-packages/numpy/__init__.py", "");
  system.put("usr/local/lib/python3.11/dist-packages/own.py", "");
  system.put("kernel.py", "#!/usr/bin/python3\nprint(1)\n");
  const auto declared =
      names(sandbox::runtime_files(system.root / "kernel.py", Runtime::modules, system.root));
  for (const char* directory :
       {"/usr/lib/python3", "/usr/lib/python3.11", "/usr/lib/python3.12", "/usr/local/lib/python3.11"})
    CHECK(has(declared, directory));
  const auto files = sandbox::runtime_files(system.root / "kernel.py", Runtime::promised, system.root);
  const auto promised = names(files);
  CHECK(has(promised, "/usr/lib/python3.11"));
  CHECK(has(promised, "/usr/lib/python3.12"));
  CHECK_FALSE(has(promised, "/usr/lib/python3"));
  CHECK_FALSE(has(promised, "/usr/local/lib/python3.11"));
  for (const sandbox::RuntimeFile& file : files)
    CHECK(file.hidden == (file.path == "/usr/lib/python3.12/site-packages"));
  CHECK(has(promised, "/usr/lib/python3.12/site-packages"));
}

TEST_CASE("A Python script finds the libraries that Python's own modules need, and no others") {
  const io::Path modules = "/usr/lib/python3.11/lib-dynload";
  if (!std::filesystem::exists(modules)) return;  // another system's
  const Directory directory;
  directory.put("kernel.py", "#!/usr/bin/python3.11\nprint(1)\n");
  const std::string libraries = "/usr/lib/" + machine_name() + "-linux-gnu";
  const auto promised = names(sandbox::runtime_files(directory.root / "kernel.py", Runtime::promised));
  const auto declared = names(sandbox::runtime_files(directory.root / "kernel.py", Runtime::modules));
  const auto named = [&](const std::string& start) {
    return std::ranges::any_of(promised,
                               [&](const std::string& file) { return file.starts_with(libraries + start); });
  };
  CHECK(named("/libm.so.6"));       // of each system
  CHECK(named("/libcrypto.so.3"));  // of hashlib
  CHECK(named("/libffi.so.8"));     // of ctypes
  CHECK_FALSE(named("/libpng16"));
  CHECK_FALSE(has(promised, libraries));
  CHECK(has(declared, libraries));
}

TEST_CASE("A program finds the libraries that every system has, with their links, and no others") {
  const Directory system;
  const std::string libraries = "usr/lib/" + machine_name() + "-linux-gnu/";
  system.link("lib", "usr/lib");
  system.link("lib64", "usr/lib64");
  system.link("usr/lib64/ld-linux-x86-64.so.2", "/lib/" + machine_name() + "-linux-gnu/ld-linux-x86-64.so.2");
  system.put(libraries + "ld-linux-x86-64.so.2", "");
  system.put(libraries + "libc.so.6", "");
  system.link(libraries + "libstdc++.so.6", "libstdc++.so.6.0.30");
  system.put(libraries + "libstdc++.so.6.0.30", "");
  system.put(libraries + "libblas.so.3", "");
  system.put("etc/ld.so.cache", "");
  system.put("kernel",
             "\x7f"
             "ELF");
  const auto files = names(sandbox::runtime_files(system.root / "kernel", Runtime::promised, system.root));
  CHECK(files ==
        std::vector<std::string>{
            "/lib -> usr/lib", "/lib64 -> usr/lib64", "/" + libraries + "ld-linux-x86-64.so.2",
            "/" + libraries + "libc.so.6", "/" + libraries + "libstdc++.so.6 -> libstdc++.so.6.0.30",
            "/" + libraries + "libstdc++.so.6.0.30",
            "/usr/lib64/ld-linux-x86-64.so.2 -> /lib/" + machine_name() + "-linux-gnu/ld-linux-x86-64.so.2"});
  const auto all = names(sandbox::runtime_files(system.root / "kernel", Runtime::installed, system.root));
  CHECK(has(all, "/" + libraries.substr(0, libraries.size() - 1)));
  CHECK(has(all, "/etc/ld.so.cache"));
}

TEST_CASE("A script finds libraries that Debian links through /etc/alternatives, and no other alternatives") {
  const Directory system;
  const std::string libraries = "usr/lib/" + machine_name() + "-linux-gnu/";
  system.put(libraries + "blas/libblas.so.3", "");
  system.link(libraries + "libblas.so.3", "/etc/alternatives/libblas.so.3");
  system.link("etc/alternatives/libblas.so.3", "/" + libraries + "blas/libblas.so.3");
  system.put("usr/bin/nano", "");
  system.link("etc/alternatives/editor", "/usr/bin/nano");
  system.put("kernel", "#!/usr/bin/awk -f\n");
  const auto files = names(sandbox::runtime_files(system.root / "kernel", Runtime::promised, system.root));
  CHECK(has(files, "/" + libraries.substr(0, libraries.size() - 1)));
  CHECK(has(files, "/etc/alternatives/libblas.so.3 -> /" + libraries + "blas/libblas.so.3"));
  CHECK_FALSE(has(files, "/etc/alternatives/editor -> /usr/bin/nano"));
  CHECK_FALSE(has(files, "/usr/bin/nano"));
}

TEST_CASE("A missing interpreter is named, with what this distribution's user types") {
  const Directory system;
  system.put("usr/bin/env", "");
  system.put("kernel.py", "#!/usr/bin/env python3\n");
  system.put("kernel.pl", "#!/usr/bin/perl -w\n");
  system.put("kernel",
             "\x7f"
             "ELF");
  system.put("etc/os-release", "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n");
  CHECK(sandbox::missing_interpreter(system.root / "kernel.py", system.root) ==
        "this computer lacks python3, which the application needs: apt install python3");
  system.put("etc/os-release", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n");
  CHECK(sandbox::missing_interpreter(system.root / "kernel.pl", system.root) ==
        "this computer lacks /usr/bin/perl, which the application needs: dnf install perl");
  // Of a virtual environment no package is known.
  system.put("kernel.venv", "#!/home/ada/venv/bin/python\n");
  CHECK(sandbox::missing_interpreter(system.root / "kernel.venv", system.root) ==
        "this computer lacks /home/ada/venv/bin/python, which the application needs");
  // Options and variables of env are no interpreter.
  system.put("kernel.split", "#!/usr/bin/env -S LC_ALL=C python3 -I\n");
  CHECK(sandbox::script_interpreter(system.root / "kernel.split") == "python3");
  CHECK(sandbox::missing_interpreter(system.root / "kernel.split", system.root) ==
        "this computer lacks python3, which the application needs: dnf install python3");
  system.put("etc/os-release", "ID=else\n");
  CHECK(io::install_command("perl", system.root) == "install perl");
  CHECK(io::install_command("Rscript", system.root) == "install Rscript");
  struct Expected {
    const char *id, *program, *module, *other;
  };
  for (const auto& [id, program, module, other] : {
           Expected{"debian", "apt install r-base-core", "apt install python3-numpy",
                    "apt install python3-pil"},
           Expected{"fedora", "dnf install R-core", "dnf install python3-numpy",
                    "dnf install python3-pillow"},
           Expected{"arch", "pacman -S r", "pacman -S python-numpy", "pacman -S python-pillow"},
           Expected{"alpine", "apk add R", "apk add py3-numpy", "apk add py3-pillow"},
       }) {
    system.put("etc/os-release", std::string("ID=") + id + "\n");
    CHECK(io::install_command("Rscript", system.root) == program);
    CHECK(io::install_python_module("numpy.linalg", system.root) == module);
    CHECK(io::install_python_module("PIL", system.root) == other);
  }
  system.put("etc/os-release", "ID=debian\n");
  CHECK(io::install_command("node", system.root) == "apt install nodejs");
  CHECK(io::install_command("octave", system.root) == "apt install octave");
  CHECK(io::install_python_module("typing_extensions", system.root) ==
        "apt install python3-typing-extensions");
  CHECK(sandbox::missing_interpreter(system.root / "kernel", system.root).empty());
  system.put("usr/bin/python3", "");
  CHECK(sandbox::missing_interpreter(system.root / "kernel.py", system.root).empty());
  CHECK(sandbox::missing_interpreter(system.root / "kernel.split", system.root).empty());
}

TEST_CASE("A setting that forbids namespaces to users is named with the command that permits them") {
  const Directory directory;
  const io::Path proc = directory.root / "proc";
  CHECK(sandbox::permit_namespaces(proc).empty());
  directory.put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n");
  directory.put("proc/sys/user/max_user_namespaces", "31259\n");
  CHECK(sandbox::permit_namespaces(proc).empty());
  directory.put("proc/sys/user/max_user_namespaces", "0\n");
  CHECK(sandbox::permit_namespaces(proc) ==
        "echo user.max_user_namespaces=10000 | sudo tee -a /etc/sysctl.d/99-gleaner.conf && sudo sysctl -p "
        "/etc/sysctl.d/99-gleaner.conf");
  directory.put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  CHECK(sandbox::permit_namespaces(proc) ==
        "echo kernel.apparmor_restrict_unprivileged_userns=0 | sudo tee -a /etc/sysctl.d/99-gleaner.conf && "
        "sudo sysctl -p /etc/sysctl.d/99-gleaner.conf");
}

TEST_CASE("Links that lead in circles, and programs that cannot be read, need nothing") {
  const Directory system;
  system.link("usr/bin/a", "b");
  system.link("usr/bin/b", "a");
  system.put("kernel", "#!/usr/bin/a\n");
  CHECK(names(sandbox::runtime_files(system.root / "kernel", Runtime::promised, system.root)).size() <= 2);
  CHECK(sandbox::runtime_files(system.root / "absent", Runtime::promised, system.root).empty());
}

std::string first_word(const io::Path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

// As this client makes it, with the files that a control group has.
std::string kernels_group() {
  return "gleaner-" + std::to_string(::getpid()) + "-kernels";
}

TEST_CASE("Control groups of version 2: all kernels come last, each is limited") {
  const Directory system;
  const std::string service = "cgroup/user.slice/client/";
  system.put("proc/self/cgroup", "0::/user.slice/client\n");
  system.put(service + "cgroup.procs", "");
  system.put(service + "cgroup.controllers", "cpuset cpu memory pids\n");
  system.put(service + kernels_group() + "/cpu.weight", "100\n");
  const bool knows_idle = GENERATE(true, false);
  if (knows_idle) system.put(service + kernels_group() + "/cpu.idle", "0\n");
  Cgroups groups(true, {system.root / "proc", system.root / "cgroup"});
  REQUIRE_FALSE(groups.none());
  CHECK(groups.describe() == "control groups for the processor, memory, processes");
  const io::Path kernels = system.root / service / kernels_group();
  CHECK(first_word(kernels / "cpu.idle") == (knows_idle ? "1" : ""));
  CHECK(first_word(kernels / "cpu.weight") == (knows_idle ? "100" : "1"));
  const auto joined = groups.prepare(3, 1 << 20, 40);
  REQUIRE(joined.size() == 1);
  CHECK(joined.front() == kernels / "slot-3");
  CHECK(first_word(joined.front() / "memory.max") == "1048576");
  CHECK(first_word(joined.front() / "pids.max") == "40");
  // A count of all kernels that the group served.
  const std::string events = service + kernels_group() + "/slot-3/memory.events";
  system.put(events, "low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\n");
  CHECK(groups.out_of_memory(3));
  CHECK_FALSE(groups.out_of_memory(2));
  (void)groups.prepare(3, 1 << 20, 40);
  CHECK_FALSE(groups.out_of_memory(3));
  system.put(events, "oom 3\noom_kill 2\noom_group_kill 0\n");
  CHECK(groups.out_of_memory(3));
}

TEST_CASE("Control groups of version 1: a kernel joins one of each hierarchy") {
  const Directory system;
  system.put("proc/self/cgroup", "3:cpu,cpuacct:/\n2:pids:/within\n1:name=systemd:/\n0::/\n");
  for (const char* hierarchy : {"cpu", "pids"})
    system.put("cgroup/" + std::string(hierarchy) + "/" + kernels_group() + "/cgroup.procs", "");
  system.put("cgroup/cpu/" + kernels_group() + "/cpu.shares", "1024\n");
  const bool last_in_line = GENERATE(true, false);
  Cgroups groups(last_in_line, {system.root / "proc", system.root / "cgroup"});
  CHECK(groups.describe() ==
        (last_in_line ? "control groups for the processor, processes" : "control groups for processes"));
  CHECK(first_word(system.root / "cgroup/cpu" / kernels_group() / "cpu.shares") ==
        (last_in_line ? "2" : "1024"));
  const auto joined = groups.prepare(0, 1 << 20, 40);
  const io::Path slot = system.root / "cgroup/pids" / kernels_group() / "slot-0";
  CHECK(std::find(joined.begin(), joined.end(), slot) != joined.end());
  CHECK(first_word(slot / "pids.max") == "40");
  CHECK(joined.size() == (last_in_line ? 2 : 1));
}

TEST_CASE(
    "A client's control groups are left alone as long as it lives, whichever container sees its process") {
  const Directory system;
  system.put("proc/self/cgroup", "2:pids:/\n");
  for (const char* client : {"lives", "is-dead"})  // neither has a process in this /proc
    std::filesystem::create_directories(system.root / "cgroup/pids" /
                                        ("gleaner-1234567-" + std::string(client)) / "slot-0");
  const io::Path lives = system.root / "cgroup/pids/gleaner-1234567-lives";
  const io::Descriptor lock(::open(lives.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(::flock(lock.get(), LOCK_EX | LOCK_NB) == 0);
  const Cgroups groups(false, {system.root / "proc", system.root / "cgroup"});
  CHECK(std::filesystem::exists(lives / "slot-0"));
  CHECK_FALSE(std::filesystem::exists(system.root / "cgroup/pids/gleaner-1234567-is-dead"));
}

TEST_CASE("Control groups that somebody removed are made anew for the next kernel") {
  const Directory system;
  system.put("proc/self/cgroup", "0::/\n");
  system.put("cgroup/cgroup.procs", "");
  system.put("cgroup/cgroup.controllers", "cpu memory pids\n");
  system.put("cgroup/" + kernels_group() + "/cpu.weight", "100\n");
  Cgroups groups(true, {system.root / "proc", system.root / "cgroup"});
  const io::Path kernels = system.root / "cgroup" / kernels_group();
  REQUIRE(groups.prepare(0, 1 << 20, 40).size() == 1);
  std::filesystem::remove_all(kernels / "slot-0");
  CHECK(groups.prepare(0, 1 << 20, 40).size() == 1);
  CHECK(first_word(kernels / "slot-0/memory.max") == "1048576");
  // With all that holds for the kernels together. Somebody else's group of that name has the file already.
  std::filesystem::rename(kernels, system.root / "cgroup/away");
  system.put("cgroup/" + kernels_group() + "/cpu.weight", "100\n");
  CHECK(groups.prepare(1, 1 << 20, 40).size() == 1);
  CHECK(first_word(kernels / "cpu.weight") == "1");
  CHECK(first_word(kernels / "slot-1/pids.max") == "40");
}

TEST_CASE("Where no control group can be made there is none, and nothing fails") {
  const Directory system;
  Cgroups groups(true, {system.root / "proc", system.root / "cgroup"});
  CHECK(groups.none());
  CHECK(groups.describe().empty());
  CHECK(groups.prepare(0, 1, 1).empty());
}

host::KernelLaunch launch_in(const Directory& state, const std::string& script) {
  for (const char* part : {"bundles/app", "problems/1", "slots/0"})
    std::filesystem::create_directories(state.root / part);
  state.put("bundles/app/kernel", "#!/bin/sh\n" + script);
  std::filesystem::permissions(state.root / "bundles/app/kernel", std::filesystem::perms(0755));
  state.put("problems/1/parameters.json", "{}\n");
  state.put("identity/host.key", "secret\n");
  // Another problem's, another project's, and another slot's.
  state.put("problems/2/0-theirs/parameters.json", "{}\n");
  state.put("projects/other/problems/1/parameters.json", "{}\n");
  state.put("projects/other/bundles/app/kernel", "theirs\n");
  state.put("slots/1/checkpoint", "theirs\n");
  host::KernelLaunch launch;
  launch.program = state.root / "bundles/app/kernel";
  launch.bundle_directory = state.root / "bundles/app";
  launch.problem_directory = state.root / "problems/1";
  launch.slot_directory = state.root / "slots/0";
  launch.memory_bytes = launch.disk_bytes = 64 << 20;
  return launch;
}

// What the script prints in `sandbox`; nothing if this system permits no such sandbox.
std::string run_in(const Directory& state, const SandboxSettings& settings, const std::string& script) {
  const host::KernelLaunch launch = launch_in(state, script);
  auto sandbox = make_sandbox(settings, io::real_processes());
  if (!sandbox->refusal().empty()) {
    WARN("this system permits no sandbox: " << sandbox->refusal());
    return {};
  }
  const auto launcher = make_process_launcher(std::move(sandbox), io::real_processes());
  auto started = launcher->start(launch);
  REQUIRE(started.ok());
  Bytes output;
  for (int i = 0; i < 5000 && (*started)->read_some(output, 4096) != io::ReadKind::closed; ++i)
    std::this_thread::sleep_for(2ms);
  return output + (*started)->error_tail();
}

constexpr const char* probing =
    "{ read x < /etc/passwd; } 2>/dev/null && echo open\n"
    "for device in /dev/input/event*; do { : < $device; } 2>/dev/null && echo open; done\n"
    "{ read x < ../../identity/host.key; } 2>/dev/null && echo open\n"
    "{ read x < ../../problems/2/0-theirs/parameters.json; } 2>/dev/null && echo open\n"
    "{ read x < /problem/../2/0-theirs/parameters.json; } 2>/dev/null && echo open\n"
    "{ read x < /problems/2/0-theirs/parameters.json; } 2>/dev/null && echo open\n"
#ifndef GLEANER_SANITIZED  // the sanitizers' run-time reads /proc
    "for f in /proc/self/mountinfo /proc/self/cgroup /proc/sys/kernel/random/boot_id /proc/interrupts; do\n"
    "  { read x < $f; } 2>/dev/null && echo open\ndone\n"
#endif
    "{ read x < ../../projects/other/problems/1/parameters.json; } 2>/dev/null && echo open\n"
    "{ read x < ../../projects/other/bundles/app/kernel; } 2>/dev/null && echo open\n"
    "{ read x < ../1/checkpoint; } 2>/dev/null && echo open\n"
    "echo words > own && read x < own && echo \"wrote $x\"\n"
    "{ echo words > ../own; } 2>/dev/null && echo open\n";

TEST_CASE("A kernel reads what it needs, writes to its slot, and sees nothing else: with namespaces") {
  const Directory state;
  const std::string said = run_in(state, {state.root, Priority::normal, GLEANER_SANDBOX_HELPER, {}}, probing);
  if (said.empty()) return;
  INFO(said);
  CHECK(said.find("wrote words") != std::string::npos);
  CHECK(said.find("open") == std::string::npos);
}

TEST_CASE("The superuser's kernels become somebody, and not the same one each time") {
  if (::geteuid() != 0) return;
  const Directory state;
  auto sandbox =
      make_sandbox({state.root, Priority::normal, GLEANER_SANDBOX_HELPER, {}}, io::real_processes());
  if (!sandbox->refusal().empty()) {
    WARN("this system permits no sandbox: " << sandbox->refusal());
    return;
  }
  const host::KernelLaunch launch = launch_in(state, "");
  std::set<unsigned> users;
  for (int i = 0; i < 10; ++i) {
    REQUIRE(sandbox->confine(launch).ok());
    struct stat facts {};
    REQUIRE(::stat(launch.slot_directory.c_str(), &facts) == 0);
    CHECK(::getpwuid(facts.st_uid) == nullptr);
    users.insert(facts.st_uid);
  }
  CHECK(users.size() > 2);  // all the same by chance: never
}

SandboxSettings without_namespaces(const io::Path& state) {
  SandboxSettings settings{state, Priority::normal, GLEANER_SANDBOX_HELPER, "none"};
  settings.accept_weak = true;
  return settings;
}

TEST_CASE("A kernel reads what it needs, writes to its slot, and sees nothing else: with Landlock alone") {
  const Directory state;
  const std::string said = run_in(state, without_namespaces(state.root), probing);
  if (said.empty()) return;
  INFO(said);
  CHECK(said.find("wrote words") != std::string::npos);
  CHECK(said.find("open") == std::string::npos);
}

TEST_CASE(
    "A slot in memory begins with what was laid out, holds no more than it may, and is read from outside") {
  const Directory state;
  std::filesystem::create_directories(state.root / "slots/0");
  state.put("slots/0/checkpoint", "begun");
  auto sandbox =
      make_sandbox({state.root, Priority::normal, GLEANER_SANDBOX_HELPER, {}}, io::real_processes());
  if (sandbox->describe().find("a slot in memory") == std::string::npos) {
    WARN("this system permits no slot in memory: " << sandbox->describe());
    return;
  }
  const auto launcher = make_process_launcher(std::move(sandbox), io::real_processes());
  host::KernelLaunch launch =
      launch_in(state,
                "read -r words <checkpoint; echo \"found $words\"\n"
                "echo further >checkpoint\n"
                "x=0123456789abcdef; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do x=$x$x; done\n"
                "i=0; while echo $x >$i; do i=$((i + 1)); done 2>/dev/null\n"
                "echo \"wrote $i\"; read -r end\n");
  launch.disk_bytes = 1 << 20;
  auto started = launcher->start(launch);
  REQUIRE(started.ok());
  io::Process& kernel = **started;
  Bytes output;
  for (int i = 0; i < 5000 && output.find("wrote") == output.npos; ++i) {
    (void)kernel.read_some(output, 4096);
    std::this_thread::sleep_for(2ms);
  }
  INFO(output << kernel.error_tail());
  CHECK(output.starts_with("found begun\n"));
  const auto wrote = output.find("wrote ");
  REQUIRE(wrote != output.npos);
  CHECK(std::stoi(output.substr(wrote + 6)) <= 15);  // files of 68 KiB
  const io::Path written = launcher->written_by(launch, kernel);
  CHECK(io::real_files().read_plain(written / "checkpoint", 100).value() == "further\n");
  CHECK_FALSE(std::filesystem::exists(launch.slot_directory / "0"));  // nothing of it is on the disk
}

TEST_CASE("A larger slot is a directory") {
  const Directory state;
  auto sandbox =
      make_sandbox({state.root, Priority::normal, GLEANER_SANDBOX_HELPER, {}}, io::real_processes());
  if (!sandbox->refusal().empty()) {
    WARN("this system permits no sandbox: " << sandbox->refusal());
    return;
  }
  const auto launcher = make_process_launcher(std::move(sandbox), io::real_processes());
  host::KernelLaunch launch = launch_in(state, "echo words >file; echo done; read -r end\n");
  launch.disk_bytes = std::int64_t{300} << 20;
  auto started = launcher->start(launch);
  REQUIRE(started.ok());
  Bytes output;
  for (int i = 0; i < 5000 && output.empty(); ++i) {
    (void)(*started)->read_some(output, 4096);
    std::this_thread::sleep_for(2ms);
  }
  CHECK(launcher->written_by(launch, **started) == launch.slot_directory);
  CHECK(std::filesystem::exists(launch.slot_directory / "file"));
}

TEST_CASE("Landlock alone is for owners who accept in words what it cannot hide, and of version 3 on") {
  const Directory state;
  SandboxSettings settings = without_namespaces(state.root);
  settings.accept_weak = false;
  const auto refused = make_sandbox(settings, io::real_processes());
  CHECK(refused->refusal().find(sandbox_weak) != std::string::npos);
  CHECK(refused->refusal().find("install bubblewrap") != std::string::npos);
  settings.accept_weak = true;
  settings.landlock = 2;
  const auto old = make_sandbox(settings, io::real_processes());
  CHECK(old->refusal().find("Landlock is too old") != std::string::npos);
  CHECK(old->refusal().find(sandbox_off) != std::string::npos);
}

TEST_CASE("What cannot be confined is refused in a sentence that says what to do") {
  const Directory state;
  SandboxSettings settings = without_namespaces(state.root);
  settings.helper = state.root / "no-such-helper";
  const auto sandbox = make_sandbox(settings, io::real_processes());
  CHECK_FALSE(sandbox->refusal().empty());
  CHECK(sandbox->refusal().find("install bubblewrap") != std::string::npos);
  CHECK(sandbox->refusal().find(sandbox_off) != std::string::npos);
  CHECK_FALSE(sandbox->confine({}).ok());
}

}  // namespace
}  // namespace gleaner::platform
