// The server's one settings file, server.toml, and a relay's, relay.toml: typed, commented, every mistake
// reported with its line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::service {

inline constexpr const char* manager_sandbox_off =
    "off: I accept that managers read this server's keys and everybody's results";

struct Configuration {
  std::string name = "A Gleaner project";
  std::string address = "0.0.0.0";
  std::int64_t port = 8443;
  std::string public_host;  // in the join code; empty: this machine's name
  bool public_certificate = false;
  std::int64_t threads = 2;
  std::int64_t connections_max = 4000;
  std::int64_t connections_per_network_max = 1000;
  std::int64_t network_requests_per_second = 1000;
  std::int64_t network_megabytes_per_second = 256;
  std::string proxies;  // comma-separated addresses and networks
  bool public_page = false;
  bool former_own = false;           // the file still has hosts.own, which counts no more
  std::string service_order = "bc";  // of a relay: a rule of shared/planning/serving.h
  std::int64_t joins_per_hour = 300;
  std::int64_t host_requests_per_second = 50;
  std::int64_t host_megabytes_per_second = 64;
  std::int64_t heartbeat_seconds = 60;
  std::int64_t commit_seconds = 60;
  std::string strategy = "gleaner";
  std::string straggler = "split";
  double unit_minimum_seconds = 60;
  double unit_maximum_seconds = 1200;
  std::int64_t lease_hours = 24;
  std::string manager_sandbox = "on";
  std::int64_t manager_memory_megabytes = 4096;
  std::int64_t manager_disk_megabytes = 65536;
  std::string store_url;  // empty: a file of the project's directory
  std::string blobs_url;  // empty: files of the project's directory
  std::string blobs_region = "us-east-1";
  std::string blobs_keys;        // a file; empty: keys/blobs.keys
  std::string blobs_public_url;  // empty: hosts never speak with the object store
  std::int64_t blobs_cache_megabytes = 10'240;
  std::string link_listen;   // where front ends find this server; empty: nowhere
  std::string link_servers;  // where a front end finds the project's servers; comma-separated
  std::int64_t disk_reserve_megabytes = 256;
  std::int64_t results_megabytes = 20'000;  // of a relay: that wait for its parent
  std::int64_t keep_ended_days = 0;         // problems that are over; 0: for ever
  bool check_store_at_start = true;
  std::int64_t scrub_megabytes_per_second = 4;
  std::int64_t decisions_megabytes = 256;
  std::string log_level = "info";
  std::string log_format = "text";
  std::string notices_mail;     // comma-separated addresses; empty: none
  std::string notices_webhook;  // https://...; empty: none
  std::string sendmail = "/usr/sbin/sendmail";
};

[[nodiscard]] Result<Configuration> parse_configuration(std::string_view text, const std::string& file);
// Whether an address is one of `proxies`; null where there are none.
[[nodiscard]] std::function<bool(const std::string& address)> proxy_check(const Configuration& configuration);
[[nodiscard]] std::string render_configuration(const Configuration& configuration);
// Of a relay, relay.toml: it has a part of these settings; the others stay as they are. A lab joins all at
// once, behind one address or one switch, and again with each new image: what bounds that is the quota of the
// relay. A secret of 128 bits is not guessed at three tries a second either, and who shows a wrong one costs
// the parent nothing.
[[nodiscard]] Configuration relay_defaults();
[[nodiscard]] Result<Configuration> parse_relay_configuration(std::string_view text, const std::string& file);
[[nodiscard]] std::string render_relay_configuration(const Configuration& configuration);

}  // namespace gleaner::service
