#include "server/service/core/configuration.h"

#include <algorithm>

#include "server/policy/networks/prefix.h"
#include "server/policy/stage/stage.h"
#include "server/policy/strategies.h"
#include "server/storage/open_blobs.h"
#include "server/storage/open_store.h"
#include "shared/base/clean_text.h"
#include "shared/base/limits.h"
#include "shared/io/settings.h"
#include "shared/planning/serving.h"

namespace gleaner::service {
namespace {

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::size_t first = text.find_first_not_of(' ', begin);
    std::string part = first < comma ? text.substr(first, comma - first) : "";
    while (part.ends_with(' ')) part.pop_back();
    parts.push_back(std::move(part));
    begin = comma + 1;
  }
  return parts;
}

Result<std::vector<policy::Prefix>> prefixes(const std::string& text) {
  std::vector<policy::Prefix> all;
  for (const std::string& part : listed(text)) {
    TRY_ASSIGN(const auto prefix, policy::parse_prefix(part));
    all.push_back(prefix);
  }
  return all;
}

void declare_serving(io::Settings& settings, Configuration& c) {
  settings.add("server.address", &c.address,
               "Address to listen on; 0.0.0.0 or :: for all of this machine's.");
  settings.add("server.port", &c.port, 1, 65535, "TCP port.");
  settings.add("server.public_host", &c.public_host,
               "Name or address that volunteers can reach; it goes into the join code.\n"
               "Empty: this machine's host name.");
  settings.add("server.threads", &c.threads, 1, 64, "Threads that speak TLS and HTTP.");
  settings.add("server.connections_max", &c.connections_max, 16, 1'000'000,
               "Connections beyond this number are closed at once.");
  settings.add("server.connections_per_network_max", &c.connections_per_network_max, 1, 1'000'000,
               "The same limit for one IPv4 address or IPv6 /64. All connections through a proxy that is not "
               "in\nserver.proxies count as one address.");
  settings.add("server.proxies", &c.proxies,
               "Comma-separated addresses and networks of reverse proxies that begin each connection with "
               "the\nPROXY protocol (1 or 2), so that bans and limits apply to the clients behind them. "
               "Connections\nfrom there must begin with it.",
               [](const std::string& text) -> Status {
                 TRY(prefixes(text));
                 return {};
               });
  settings.add("server.requests_per_second_per_network", &c.network_requests_per_second, 1, 1'000'000,
               "Requests of the hosts in one network and of clients without a login, on average; a "
               "minute's\nworth may come at once. The server asks clients to retry the rest later.");
  settings.add("server.megabytes_per_second_per_network", &c.network_megabytes_per_second, 1, 1'000'000,
               "The same limit in megabytes. Set it to your line's capacity for fairer sharing.");
}

void declare_limits(io::Settings& settings, Configuration& c) {
  settings.add("hosts.joins_per_hour", &c.joins_per_hour, 1, 1'000'000,
               "Maximum join attempts per hour from one IPv4 address or IPv6 /64.");
  settings.add("hosts.requests_per_second", &c.host_requests_per_second, 1, 1'000'000,
               "Requests of one host, on average; a minute's worth may come at once. A client needs few.");
  settings.add("hosts.megabytes_per_second", &c.host_megabytes_per_second, 1, 1'000'000,
               "The same limit in megabytes, sent and fetched.");
}

void declare_log(io::Settings& settings, Configuration& c) {
  settings.add("log.decisions_megabytes", &c.decisions_megabytes, 0, 1 << 20,
               "The server logs its events and decisions in decisions/project.jsonl up to this size, for\n"
               "`gleaner-sim replay`. A start renames a log that is more than half full to\n"
               "decisions/project-former.jsonl, and begins a new one. 0 disables the log.");
  settings.add("log.level", &c.log_level, "trace, debug, info, warning or error.",
               [](const std::string& level) -> Status {
                 for (const char* known : {"trace", "debug", "info", "warning", "error"})
                   if (level == known) return {};
                 return Error{ErrorKind::invalid, "expected trace, debug, info, warning or error"};
               });
  settings.add("log.format", &c.log_format, "text, or json: a JSON document a line.",
               [](const std::string& format) -> Status {
                 if (format == "text" || format == "json") return {};
                 return Error{ErrorKind::invalid, "expected text or json"};
               });
}

void declare(io::Settings& settings, Configuration& c) {
  settings.add("project.name", &c.name, "What volunteers see.", [](const std::string& name) -> Status {
    if (!name.empty() && name.size() <= limits::name_length_max && is_clean(name)) return {};
    return Error{ErrorKind::invalid,
                 "expected one line of 1 to 64 bytes without invisible characters, got \"" + name + "\""};
  });
  declare_serving(settings, c);
  settings.add(
      "server.public_certificate", &c.public_certificate,
      "Volunteers are shown a certificate of a public authority for server.public_host, by this server\n"
      "or by a proxy before it: join codes say so. Otherwise a client trusts the project's root key\nalone, "
      "and no authority that its computer trusts: that may belong to a proxy that reads along.");
  settings.add(
      "server.public_page", &c.public_page,
      "Anyone may see problems, applications and the names of hosts on the status page, without logging in.");
  settings.add_former("hosts.own", &c.former_own);
  declare_limits(settings, c);
  settings.add("work.heartbeat_seconds", &c.heartbeat_seconds, 1, 3600,
               "How often a computing client reports, at most; shorter near the end of a problem.");
  settings.add("work.commit_seconds", &c.commit_seconds, 1, 3600,
               "A client sends what it has finished about this often.");
  settings.add("work.strategy", &c.strategy, "Strategy of new problems that name none.",
               [](const std::string& text) -> Status {
                 TRY(policy::strategy_kind(text));
                 return {};
               });
  settings.add("work.straggler", &c.straggler,
               "What to do about slow units: a straggler rule of `gleaner-admin strategy list`.",
               [](const std::string& text) -> Status {
                 TRY(policy::straggler_from(text));
                 return {};
               });
  settings.add("work.unit_minimum_seconds", &c.unit_minimum_seconds, 0.1, 86400,
               "Least work in one unit (less for problems that are short).");
  settings.add("work.unit_maximum_seconds", &c.unit_maximum_seconds, 1, 604800, "Most work in one unit.");
  settings.add("work.lease_hours", &c.lease_hours, 1, 8760,
               "A unit is given up when its host has been silent for this long (stalled work is "
               "reassigned\nlong before).");
  settings.add(
      "managers.sandbox", &c.manager_sandbox,
      std::string("Applications' managers parse what volunteers deliver, and run confined. Where this\n"
                  "computer cannot confine them none is started, unless you say here\n\"") +
          manager_sandbox_off + "\".",
      [](const std::string& words) -> Status {
        if (words == "on" || words == manager_sandbox_off) return {};
        return Error{ErrorKind::invalid, std::string("expected on, or \"") + manager_sandbox_off + "\""};
      });
  settings.add("managers.memory_megabytes", &c.manager_memory_megabytes, 64, 1 << 24,
               "Memory limit of a manager; one that takes more is ended.");
  settings.add("managers.disk_megabytes", &c.manager_disk_megabytes, 16, 1 << 30,
               "Disk limit of a manager; one whose files take more is ended.");
  settings.add(
      "store.url", &c.store_url,
      "Empty: rows are in store.sqlite, beside this file. postgresql://HOST/DATABASE: there; several\n"
      "servers may then share the directory, of which one leads and the others stand by.",
      [](const std::string& url) -> Status {
        if (url.empty() || storage::is_database_url(url)) return {};
        return Error{ErrorKind::invalid, "expected postgresql://..."};
      });
  settings.add("store.disk_reserve_megabytes", &c.disk_reserve_megabytes, 0, 1 << 20,
               "Results are refused (clients keep them and try again) below this much free space.");
  settings.add(
      "store.keep_ended_days", &c.keep_ended_days, 0, 36'500,
      "Finished, failed and cancelled problems are deleted with their results after this many days.\nNone is "
      "deleted in the first day after a start, or after this computer's date was set. 0: never.");
  settings.add("store.check_at_start", &c.check_store_at_start, "Read the whole store once at each start.");
  settings.add(
      "store.scrub_megabytes_per_second", &c.scrub_megabytes_per_second, 0, 10'000,
      "Stored files are read again and compared with their digests, once a day or as often as this\n"
      "allows: 4 is a small part of what a disk gives, and reads a terabyte in three days. 0: never.");
  settings.add("blobs.url", &c.blobs_url,
               "Empty: archives, inputs and large results are files beside this one.\n"
               "s3+https://HOST/BUCKET or s3+https://HOST/BUCKET/PREFIX: in an S3-compatible object store.\n"
               "Blobs that there are already have to be moved: gleaner-server migrate.",
               [](const std::string& url) { return storage::check_blob_url(url); });
  settings.add(
      "blobs.public_url", &c.blobs_public_url,
      "https://HOST[:PORT], where hosts reach that store themselves: they then fetch applications and\n"
      "inputs there, and put large results there, by addresses that this server signs for a quarter\n"
      "of an hour. Their computers must trust its certificate. Empty: all of it passes this server.",
      [](const std::string& url) { return storage::check_public_url(url); });
  settings.add("blobs.region", &c.blobs_region, "The region of that store, as it names it.");
  settings.add("blobs.keys", &c.blobs_keys,
               "File of mode 600 with the id and the secret of an access key, on two lines.\n"
               "Empty: keys/blobs.keys.");
  settings.add(
      "blobs.cache_megabytes", &c.blobs_cache_megabytes, 0, 1 << 30,
      "Size of the local cache of the object store's blobs; blobs used within the hour stay as well.");
  settings.add(
      "link.listen", &c.link_listen,
      "Where front ends (gleaner-server front) reach this server while it leads:\n"
      "unix:/run/gleaner-server/link.sock, or HOST:PORT under the key in keys/link.pem. Empty: nowhere.");
  settings.add(
      "link.servers", &c.link_servers,
      "For a front end: comma-separated addresses of the project's servers, as in their link.listen.");
  declare_log(settings, c);
  settings.add("notices.mail", &c.notices_mail,
               "Comma-separated e-mail addresses to notify when a problem finishes or fails, when no "
               "host\nreports, and when an administrator should act.",
               [](const std::string& text) -> Status {
                 for (const std::string& part : listed(text))
                   if (part.find('@') == std::string::npos || part.starts_with('-') ||
                       std::any_of(part.begin(), part.end(), [](unsigned char byte) { return byte <= ' '; }))
                     return Error{ErrorKind::invalid, "expected addresses like ann@example.org"};
                 return {};
               });
  settings.add("notices.webhook", &c.notices_webhook,
               "URL that receives the same notifications as JSON. This computer must trust its certificate.",
               [](const std::string& url) -> Status {
                 if (url.empty() || url.starts_with("https://")) return {};
                 return Error{ErrorKind::invalid, "expected https://..."};
               });
  settings.add("notices.sendmail", &c.sendmail, "The program that takes mail on its standard input.");
}

// What a relay has of it. All else is the project's, and comes with its document and with each lease.
void declare_relay(io::Settings& settings, Configuration& c) {
  settings.add("relay.name", &c.name, "Name of this relay in lists and pages.");
  declare_serving(settings, c);
  declare_limits(settings, c);
  settings.add(
      "work.service", &c.service_order,
      "Which waiting host gets the next unit that arrives: bc, that with the fastest link;\n"
      "geo, the same, but in pairs of which one is fetched from as well as the other is sent to, where\n"
      "results are large; otf, that furthest behind its part of the best plan; round-robin, each in turn as\n"
      "many as that plan has for it; fifo, that which waits longest.",
      [](const std::string& rule) -> Status {
        const auto made = planning::make_serving_rule(rule);
        return made.ok() ? Status{} : Status{made.error()};
      });
  settings.add("store.disk_reserve_megabytes", &c.disk_reserve_megabytes, 0, 1 << 20,
               "Below twice this much free space the relay gives its leases back and serves no host.");
  settings.add(
      "store.results_megabytes", &c.results_megabytes, 1, 1 << 30,
      "Most results that wait here for the parent. Hosts keep further ones until the parent has taken some.");
  settings.add(
      "blobs.cache_megabytes", &c.blobs_cache_megabytes, 0, 1 << 30,
      "Size of the cache of the project's archives and inputs; those used within the hour stay as well.");
  declare_log(settings, c);
}

}  // namespace

std::function<bool(const std::string& address)> proxy_check(const Configuration& configuration) {
  const auto proxies = prefixes(configuration.proxies);
  CHECK_TRUE(proxies.ok());  // it was parsed so
  if (proxies->empty()) return {};
  return [all = *proxies](const std::string& text) {
    const auto address = policy::parse_address(text);
    return address && std::any_of(all.begin(), all.end(),
                                  [&](const policy::Prefix& each) { return each.contains(*address); });
  };
}

Configuration relay_defaults() {
  Configuration configuration;
  configuration.joins_per_hour = 10'000;
  return configuration;
}

Result<Configuration> parse_relay_configuration(std::string_view text, const std::string& file) {
  Configuration configuration = relay_defaults();
  io::Settings settings;
  declare_relay(settings, configuration);
  TRY(settings.parse(text, file));
  return configuration;
}

std::string render_relay_configuration(const Configuration& configuration) {
  Configuration copy = configuration;
  io::Settings settings;
  declare_relay(settings, copy);
  return settings.render();
}

Result<Configuration> parse_configuration(std::string_view text, const std::string& file) {
  Configuration configuration;
  io::Settings settings;
  declare(settings, configuration);
  TRY(settings.parse(text, file));
  return configuration;
}

std::string render_configuration(const Configuration& configuration) {
  Configuration copy = configuration;
  io::Settings settings;
  declare(settings, copy);
  return settings.render();
}

}  // namespace gleaner::service
