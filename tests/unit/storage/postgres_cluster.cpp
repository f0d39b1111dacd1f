#include "tests/unit/storage/postgres_cluster.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "server/storage/postgres.h"
#include "tests/unit/others_reach.h"

namespace gleaner::storage::testing {
namespace {

constexpr ::uid_t nobody = 65534;  // PostgreSQL refuses to be run by root

// Runs a program as an ordinary user, which ends with this process; what it says goes to a file.
pid_t start(const std::vector<std::string>& words, const std::string& log) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0))
    ::_exit(126);
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::dup2(file, 1) < 0 || ::dup2(file, 2) < 0) ::_exit(125);
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
  ::_exit(127);
}

void must_do(const Status& done) {
  if (!done.ok()) throw std::runtime_error(done.error().message);
}

}  // namespace

std::optional<std::string> postgres_programs() {
  const std::filesystem::path versions("/usr/lib/postgresql");
  std::error_code none;
  for (const auto& version : std::filesystem::directory_iterator(versions, none))
    if (std::filesystem::exists(version.path() / "bin/initdb") &&
        (::geteuid() != 0 || others_reach(version.path() / "bin/initdb")))
      return (version.path() / "bin").string();
  return std::nullopt;
}

PostgresCluster& PostgresCluster::started() {
  static PostgresCluster cluster;
  return cluster;
}

PostgresCluster::PostgresCluster() {
  std::string made = std::filesystem::temp_directory_path() / "gleaner-postgres-XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) throw std::runtime_error("no temporary directory");
  directory_ = made;
  if (::geteuid() == 0 && ::chown(made.c_str(), nobody, nobody) != 0) throw std::runtime_error("chown");
  const std::string programs = postgres_programs().value(), data = directory_ + "/data";
  int status = 0;
  ::waitpid(start({programs + "/initdb", "-D", data, "-A", "trust", "-U", "gleaner", "--no-locale", "-E",
                   "UTF8", "--no-sync", "--no-instructions"},
                  directory_ + "/log"),
            &status, 0);
  if (status != 0) throw std::runtime_error("initdb failed");
  // What a power cut would take is not what these tests are about.
  process_ = start({programs + "/postgres", "-D", data, "-k", directory_, "-c", "listen_addresses=", "-c",
                    "fsync=off", "-c", "full_page_writes=off", "-c", "log_min_messages=fatal"},
                   directory_ + "/log");
  for (int tries = 0; tries < 1000; ++tries) {
    if (Postgres::open(url("postgres")).ok()) return;
    ::usleep(20'000);
  }
  throw std::runtime_error("postgres did not start");
}

PostgresCluster::~PostgresCluster() {
  ::kill(process_, SIGQUIT);
  ::waitpid(process_, nullptr, 0);
  std::error_code left;
  std::filesystem::remove_all(directory_, left);
}

std::string PostgresCluster::url(const std::string& database) const {
  return "postgresql:///" + database + "?host=" + directory_ + "&user=gleaner";
}

std::string PostgresCluster::create_database() {
  const std::string name = "store_" + std::to_string(++databases_);
  auto session = Postgres::open(url("postgres"));
  if (!session.ok()) throw std::runtime_error(session.error().message);
  must_do((*session)->execute("CREATE DATABASE " + name));
  return name;
}

void PostgresCluster::drop_database(const std::string& name) {
  auto session = Postgres::open(url("postgres"));
  if (!session.ok()) throw std::runtime_error(session.error().message);
  must_do((*session)->execute("DROP DATABASE " + name + " WITH (FORCE)"));
}

double PostgresCluster::processor_seconds() const {
  double seconds = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text)) continue;
    // state, parent, ... user and system time are the 12th and 13th word behind the name.
    std::istringstream words(text.substr(text.rfind(')') + 2));
    std::vector<std::string> fields;
    for (std::string word; fields.size() < 13 && words >> word;) fields.push_back(word);
    if (fields.size() == 13 && fields[1] == std::to_string(process_))
      seconds +=
          (std::stod(fields[11]) + std::stod(fields[12])) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return seconds;
}

}  // namespace gleaner::storage::testing
