// A generator's run from its command line on: finds the server, checks who it is, gets hosts, and drives
// them. Errors as Error; exit codes are the program's. One thread.
#pragma once

#include <string>
#include <vector>

#include "shared/protocol/join_code.h"
#include "tools/loadgen/report.h"

namespace gleaner::loadgen {

struct ServerOptions {
  std::string join_code;
  std::string server;  // HOST:PORT; empty: the join code's
  std::int64_t connections = 32;
  std::int64_t networks = 1;
  std::int64_t opening = 32;
  bool stubborn = false;
  std::uint64_t seed = 1;
};

struct RunOptions {
  ServerOptions server;
  WorkOptions work;
  Reconnect reconnect = Reconnect::kept;
  std::int64_t hosts = 100;
  std::string hosts_file;  // empty: they are enrolled first
  double seconds = 10;
  double warm_up_seconds = 2;
  double drain_seconds = 10;
  std::string ledger_file;          // empty: none
  std::int64_t server_process = 0;  // 0: it is not looked at
};

struct Enrolled {
  std::vector<EnrolledHost> hosts;
  Report report;
};

// Enrols `hosts` hosts; with a file, they are written to it.
[[nodiscard]] Result<Enrolled> enrol(const ServerOptions& options, std::int64_t hosts,
                                     const std::string& hosts_file, std::int64_t server_process);
[[nodiscard]] Result<Report> run(const RunOptions& options);

}  // namespace gleaner::loadgen
