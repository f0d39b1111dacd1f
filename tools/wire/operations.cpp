#include "tools/wire/operations.h"

#include <utility>

namespace gleaner::wire {
namespace {

using namespace protocol;

// Bodies of JSON, whose messages are added to the catalog.
struct Json {
  Catalog& catalog;

  template <typename Message>
  [[nodiscard]] Body of(bool required = true) const {
    return {catalog.add<Message>(), {}, {}, required};
  }
  template <typename Element>
  [[nodiscard]] Body list() const {
    return of<std::vector<Element>>();
  }
  template <typename Payload>
  [[nodiscard]] Body statement() const {
    return {catalog.add<SignedStatement>(), catalog.add<Payload>(), {}, true};
  }
};

const Body none{};
const Body nothing{"Nothing", {}, {}, false};
const Body octets{{}, {}, {"application/octet-stream"}, true};
const Body plain{{}, {}, {"text/plain"}, true};

void add_host_operations(const Json& json, std::vector<Operation>& to) {
  const std::string from =
      "name: from, in: query, schema: { type: integer, minimum: 0 }, description: the first item";
  const std::string relay =
      "name: host, in: query, schema: { type: integer, minimum: 0 }, description: a relay under the sender";
  const std::vector<Operation> operations{
      {"GET", "/v1/project", Who::anyone, none, json.statement<ProjectDocument>(),
       "The project document, signed by the work key"},
      {"GET", "/v1/enrol/nonce", Who::anyone, none, json.of<EnrolmentNonce>(),
       "A nonce for one proof of a host key, valid for five minutes"},
      {"POST", "/v1/enrol", Who::anyone, json.of<EnrolRequest>(), json.of<EnrolReply>(),
       "A host joins with the secret of its join code and a proof of its host key; 422: the proof does not "
       "hold"},
      {"GET", "/v1/relay", Who::anyone, none, json.statement<RelayCertificate>(),
       "The certificate of the relay that replies; the project's server has none"},
      {"GET",
       "/v1/relay/certificate",
       Who::relay,
       none,
       json.statement<RelayCertificate>(),
       "A fresh certificate of the relay that requests it, or of one under it",
       {relay}},
      {"POST", "/v1/relay/hosts", Who::relay, json.of<EnrolRequest>(), json.of<RelayHostReply>(),
       "A host joins through a relay, which passes on the host's request and proof; of a relay under it also "
       "the "
       "secret of that relay's code"},
      {"POST", "/v1/relay/hosts/leave", Who::relay, json.of<RelayHostLeft>(), nothing,
       "A host under the relay has left"},
      {"GET", "/v1/relay/stages/{problem}/{stage}", Who::relay, none, json.of<StageDescription>(),
       "What a relay must know of a problem's present stage to schedule its own hosts; 404: another stage"},
      {"GET",
       "/v1/relay/stages/{problem}/{stage}/costs",
       Who::relay,
       none,
       octets,
       "Costs of at most 262,144 items: zlib of a little-endian double each; 404: all items cost the same",
       {from}},
      {"POST", "/v1/work", Who::host, json.of<WorkRequest>(), json.of<WorkReply>(),
       "Takes small results; replies with orders and new units: one round trip a cycle"},
      {"POST", "/v1/heartbeat", Who::host, json.of<HeartbeatRequest>(), json.of<HeartbeatReply>(),
       "Progress of the host's units; replies with orders for them"},
      {"POST", "/v1/failure", Who::host, json.of<FailureReport>(), nothing,
       "A kernel failed; the host returns the unit"},
      {"POST", "/v1/leave", Who::host, nothing, nothing, "The host leaves the project for good"},
      {"GET", "/v1/uploads/{digest}", Who::host_or_admin, none, json.of<UploadState>(),
       "How much of an upload is stored; offset 0: nothing"},
      {"PATCH",
       "/v1/uploads/{digest}",
       Who::host_or_admin,
       octets,
       json.of<UploadState>(),
       "Appends a piece; the last byte, or an empty piece after it, has the digest checked and the blob "
       "stored; 503: more "
       "than the host's units can produce",
       {"name: Upload-Offset, in: header, required: true, schema: { type: integer, minimum: 0 }, "
        "description: raw bytes "
        "that are stored",
        "name: Upload-Length, in: header, required: true, schema: { type: integer, minimum: 0 }, "
        "description: raw bytes of "
        "the whole blob",
        "name: Content-Encoding, in: header, schema: { type: string, enum: [deflate, identity] }, "
        "description: deflate is "
        "one zlib stream a piece"}},
      {"GET",
       "/v1/blobs/{digest}",
       Who::host_or_admin,
       none,
       octets,
       "A blob, or the part that Range names; 416: no such part; 503: the blob is needed, but damaged or "
       "missing",
       {"name: Range, in: header, schema: { type: string, pattern: \"^bytes=\" }"}},
      {"GET", "/v1/addresses/{digest}", Who::host, none, json.statement<BlobAddress>(),
       "Address of a blob in the object store; 404: this server has none"},
      {"POST", "/v1/addresses/{digest}", Who::host, json.of<PutRequest>(), json.statement<PutAddresses>(),
       "Addresses in the object store for the missing parts of an upload; 404: this server has none; 503: "
       "more than the "
       "host's units can produce"},
  };
  to.insert(to.end(), operations.begin(), operations.end());
}

void add_problem_operations(const Json& json, std::vector<Operation>& to) {
  const std::string count =
      "name: count, in: query, schema: { type: integer, minimum: 1, maximum: 10000, default: 50 }";
  const std::string hosts =
      "name: hosts, in: query, schema: { type: string }, description: \"all: up to 10,000 hosts\"";
  const std::vector<Operation> operations{
      {"GET", "/v1/admin/applications", Who::admin, none, json.list<ApplicationInfo>(),
       "All application versions"},
      {"POST", "/v1/admin/applications", Who::admin, json.of<AddApplication>(), json.of<ApplicationInfo>(),
       "Adds an application whose archive was uploaded"},
      {"GET", "/v1/admin/applications/{name}", Who::admin, none, json.of<ApplicationInfo>(),
       "An application, NAME or NAME@VERSION, with its parameters and inputs"},
      {"GET", "/v1/admin/problems", Who::admin, none, json.list<ProblemInfo>(), "All problems"},
      {"POST", "/v1/admin/problems", Who::admin, json.of<AddProblem>(), json.of<ProblemInfo>(),
       "Adds a problem; the reply follows once its first stage is planned"},
      {"GET",
       "/v1/admin/problems/{id}",
       Who::admin,
       none,
       json.of<ProblemInfo>(),
       "A problem with its results and the thousand hosts that did most of it",
       {hosts,
        "name: inputs, in: query, schema: { type: boolean }, description: with its parameters and inputs"}},
      {"DELETE", "/v1/admin/problems/{id}", Who::admin, none, nothing, "Deletes a problem and its results"},
      {"POST", "/v1/admin/problems/{id}/pause", Who::admin, nothing, json.of<ProblemInfo>(),
       "Hands out no more units and pauses the open ones"},
      {"POST", "/v1/admin/problems/{id}/resume", Who::admin, nothing, json.of<ProblemInfo>(),
       "Resumes the problem"},
      {"POST", "/v1/admin/problems/{id}/cancel", Who::admin, nothing, json.of<ProblemInfo>(),
       "Ends the problem and drops its results"},
      {"POST", "/v1/admin/problems/{id}/retry", Who::admin, nothing, json.of<ProblemInfo>(),
       "Retries quarantined items; resumes a failed or stopped problem"},
      {"POST", "/v1/admin/problems/{id}/retry-failed", Who::admin, nothing, json.of<ProblemInfo>(),
       "Computes items again whose results say that they failed, of a finished problem, too; 409: there are "
       "none"},
      {"POST", "/v1/admin/problems/{id}/append", Who::admin, json.of<AppendInputs>(), json.of<ProblemInfo>(),
       "Adds rows to a table's problem, of a finished one, too; 409: its application does not take more"},
      {"POST", "/v1/admin/problems/{id}/strategy", Who::admin, json.of<ChangeStrategy>(),
       json.of<ProblemInfo>(), "Changes the strategies of a running problem; no unit is lost"},
      {"POST", "/v1/admin/estimates", Who::admin, json.of<AddProblem>(), json.of<ProblemEstimate>(),
       "Cost and finish time of a problem; its manager plans it, and nothing is added"},
      {"POST", "/v1/admin/problems/{id}/application", Who::admin, json.of<ChangeApplication>(),
       json.of<ProblemInfo>(),
       "Computes the rest with another version of the application, which must continue the present one"},
      {"POST", "/v1/admin/problems/{id}/preview", Who::admin, nothing, json.of<Preview>(),
       "Files that the application makes of the accepted items; they stay for a day; 409: it makes none yet"},
      {"GET", "/v1/admin/problems/{id}/picture", Who::admin, none, json.of<Preview>(),
       "The preview that all who look share, made anew as items come; 409: there is none"},
      {"POST", "/v1/admin/problems/{id}/partial", Who::admin, nothing, json.of<Preview>(),
       "As preview, of any problem that is not finished; the accepted items themselves where the application "
       "has no preview"},
      {"GET",
       "/v1/admin/problems/{id}/items",
       Who::admin,
       none,
       octets,
       "Accepted items of the present stage as they come, each as uint64 number, uint32 length and bytes; "
       "some 4 MiB "
       "of them; 409: another stage is computed, or the problem is over",
       {"name: stage, in: query, schema: { type: integer, minimum: 0, default: 0 }",
        "name: known, in: query, schema: { type: string }, description: \"items to leave out: "
        "BEGIN-END,...; "
        "at most 500 ranges\""}},
      {"GET", "/v1/admin/strategies", Who::admin, none, json.list<StrategyInfo>(),
       "Strategies and straggler rules"},
      {"GET",
       "/v1/admin/problems/{id}/decisions",
       Who::admin,
       none,
       json.list<DecisionInfo>(),
       "The last decisions with their reasons, newest first",
       {count}},
      {"GET",
       "/v1/admin/problems/{id}/output",
       Who::admin,
       none,
       json.of<KernelOutput>(),
       "The last 64 KiB that a running kernel wrote. The host sends it while this is asked every few seconds",
       {"name: host, in: query, schema: { type: integer, minimum: 1 }"}},
      {"GET", "/v1/admin/problems/{id}/hosts", Who::admin, none, json.of<ProblemHosts>(),
       "What a problem needs of a host, which hosts online can compute it, and why the others cannot"},
      {"POST", "/v1/admin/flows", Who::admin, json.of<FlowInfo>(), json.of<FlowInfo>(),
       "Says which problems named FLOW/NODE need each other's results, so that people can see it; adds no "
       "problem, and replaces the plan of that name"},
      {"GET", "/v1/admin/flows/{name}", Who::admin, none, json.of<FlowInfo>(),
       "The plan of a flow, and how far its problems are"},
      {"GET", "/v1/admin/problems/{id}/map", Who::admin, none, json.of<ItemMap>(),
       "State of the present stage's items in at most 2,000 cells; refreshed at most once a second"},
      {"GET", "/v1/admin/problems/{id}/history", Who::admin, none, json.list<ProblemSample>(),
       "Progress of a problem since the server started; at most 480 samples"},
  };
  to.insert(to.end(), operations.begin(), operations.end());
}

void add_host_views(const Json& json, std::vector<Operation>& to) {
  const std::string count =
      "name: count, in: query, schema: { type: integer, minimum: 1, maximum: 10000, default: 100 }";
  const std::vector<Operation> operations{
      {"GET", "/v1/admin/hosts", Who::admin, none, json.list<HostInfo>(), "All hosts"},
      {"GET", "/v1/admin/hosts/{id}", Who::admin, none, json.of<HostInfo>(), "A host"},
      {"POST", "/v1/admin/hosts/{id}/revoke", Who::admin, json.of<RevokeHost>(false), json.of<HostInfo>(),
       "Ends the host's token and gives its units to others"},
      {"POST", "/v1/admin/hosts/{id}/hold", Who::admin, json.of<HoldHost>(false), json.of<HostInfo>(),
       "The host gets no new unit until it is released; its open units stay"},
      {"POST", "/v1/admin/hosts/{id}/release", Who::admin, nothing, json.of<HostInfo>(),
       "Release a host: it gets new units"},
      {"POST", "/v1/admin/hosts/{id}/tags", Who::admin, json.of<TagHost>(), json.of<HostInfo>(),
       "Replaces the host's tags"},
      {"GET",
       "/v1/admin/hosts/{id}/units",
       Who::admin,
       none,
       json.list<UnitInfo>(),
       "The host's last units of all problems, newest first",
       {count}},
      {"GET",
       "/v1/admin/tables/{digest}",
       Who::admin,
       none,
       json.of<TablePage>(),
       "Rows of a result that is a table of text, from its first line's columns",
       {"name: from, in: query, schema: { type: integer, minimum: 0, default: 0 }",
        "name: count, in: query, schema: { type: integer, minimum: 1, maximum: 500, default: 100 }",
        "name: order, in: query, schema: { type: string }, description: \"column, with - in front the other "
        "way "
        "round; without, as in the file\"",
        "name: failed, in: query, schema: { type: boolean }, description: only rows whose status is not ok"}},
      {"GET",
       "/v1/admin/host-pages",
       Who::admin,
       none,
       json.of<HostPage>(),
       "A page of hosts",
       {"name: after, in: query, schema: { type: integer, minimum: 0, default: 0 }, description: \"`next` of "
        "the page before\"",
        "name: text, in: query, schema: { type: string }, description: \"part of a name, tag, version or "
        "platform, in any case\"",
        "name: state, in: query, schema: { type: string, enum: [active, revoked, left] }",
        "name: tag, in: query, schema: { type: string }, description: \"exact tag of the host\"",
        "name: relay, in: query, schema: { type: integer, minimum: 0 }, description: host number of the "
        "relay directly above",
        "name: on_hold, in: query, schema: { type: boolean }, description: only hosts on hold",
        "name: needs, in: query, schema: { type: string }, description: \"needs that the host meets, "
        "comma-separated, such as python>=3.9,numpy\"",
        "name: order, in: query, schema: { type: string, default: number }, description: \"column: number, "
        "name, "
        "state, reason, cores, speed, trust, items, cost, version, contact or delivered (most first); with - "
        "in "
        "front the other way round; as of at most ten seconds ago\""}},
  };
  to.insert(to.end(), operations.begin(), operations.end());
}

void add_project_views(const Json& json, std::vector<Operation>& to) {
  const std::vector<Operation> operations{
      {"GET", "/v1/admin/status", Who::admin, none, json.of<ServerStatus>(), "The server and its warnings"},
      {"GET", "/v1/admin/history", Who::admin, none, json.list<OverviewSample>(),
       "The project's curves since the server started; at most 480 samples"},
      {"GET", "/v1/admin/days", Who::admin, none, json.list<DayInfo>(),
       "What hosts contributed day by day (UTC); the newest 366 days, oldest first"},
      {"GET", "/v1/admin/errors", Who::admin, none, json.list<ErrorGroup>(),
       "Recent failures of unfinished problems, grouped by their last words"},
      {"GET",
       "/v1/admin/events",
       Who::admin_or_session,
       none,
       {json.of<LiveView>().schema, {}, {"text/event-stream"}, true},
       "Server-sent events, one a second, each a LiveView; ends after a minute"},
      {"GET", "/v1/admin/settings", Who::admin, none, json.list<SettingInfo>(),
       "The server's settings (operators)"},
      {"POST", "/v1/console/links", Who::admin, none, json.of<ConsoleLink>(),
       "A link that logs in to the console, once, within two minutes"},
      {"GET", "/v1/console/session", Who::session, none, json.of<SessionInfo>(), "The session"},
      {"POST", "/v1/console/session", Who::anyone, json.of<OpenSession>(), json.of<SessionInfo>(),
       "Logs in with a link or an admin token; the session is a cookie, which then stands for that token. "
       "Another "
       "administrator's session stays unless `instead` is set"},
      {"DELETE", "/v1/console/session", Who::session, none, nothing, "Logs out"},
      {"GET",
       "/",
       Who::anyone,
       none,
       {{}, {}, {"text/html", "text/plain"}, true},
       "The status page; two sentences where server.public_page is off"},
      {"GET", "/healthz", Who::anyone, none, plain, "The process is running"},
      {"GET", "/readyz", Who::anyone, none, plain,
       "The server takes requests; 503, with the reason: it stops, cannot store, is overloaded or has no "
       "room"},
      {"GET", "/metrics", Who::admin_or_session, none, plain,
       "Metrics in Prometheus' text format 0.0.4; a viewer may read them"},
      {"GET", "/status.json", Who::anyone, none, json.list<ProblemInfo>(),
       "The status page as JSON; 404 where server.public_page is off"},
  };
  to.insert(to.end(), operations.begin(), operations.end());
}

void add_access_operations(const Json& json, std::vector<Operation>& to) {
  const std::string after =
      "name: after, in: query, schema: { type: integer, minimum: 0 }, description: acts with higher numbers";
  const std::vector<Operation> operations{
      {"GET", "/v1/admin/codes", Who::admin, none, json.list<CodeInfo>(), "All enrolment codes"},
      {"POST", "/v1/admin/codes", Who::admin, json.of<AddCode>(), json.of<MadeCode>(),
       "Makes a code; only this reply has its join code"},
      {"GET", "/v1/admin/codes/{name}", Who::admin, none, json.of<CodeInfo>(), "An enrolment code"},
      {"POST", "/v1/admin/codes/{name}/rotate", Who::admin, nothing, json.of<MadeCode>(),
       "Replaces the code's secret; its hosts stay"},
      {"POST", "/v1/admin/codes/{name}/withdraw", Who::admin, json.of<WithdrawCode>(), json.of<CodeInfo>(),
       "No host joins with the code any longer"},
      {"GET", "/v1/admin/relays", Who::admin, none, json.list<RelayInfo>(),
       "The relays that were allowed, by name"},
      {"POST", "/v1/admin/relays", Who::admin, json.of<AddRelay>(), json.of<MadeCode>(),
       "Makes a code that admits one relay, once; only this reply has its join code"},
      {"GET", "/v1/admin/relays/{name}/limit", Who::admin, none, json.of<RelayLimit>(),
       "The relay's bottleneck, as far as anything was measured"},
      {"POST", "/v1/admin/relays/{name}/quota", Who::admin, json.of<RelayQuota>(), json.of<RelayInfo>(),
       "Changes how many hosts may be under the relay; present hosts stay"},
      {"GET", "/v1/admin/relay", Who::admin, none, json.of<RelayStatus>(),
       "A relay's own status; 404: this is the project's server. A relay's admin token may only read"},
      {"GET", "/v1/admin/tokens", Who::admin, none, json.list<TokenInfo>(), "All admin tokens"},
      {"POST", "/v1/admin/tokens", Who::admin, json.of<AddToken>(), json.of<MadeToken>(),
       "Makes an admin token (owners); only this reply has it, and it ends with the token that makes it"},
      {"POST", "/v1/admin/tokens/{name}/withdraw", Who::admin, json.of<WithdrawToken>(false),
       json.of<TokenInfo>(), "Withdraws an admin token (owners)"},
      {"GET", "/v1/admin/bans", Who::admin, none, json.list<Ban>(), "All bans in force"},
      {"POST", "/v1/admin/bans", Who::admin, json.of<AddBan>(), json.of<Ban>(),
       "Bans a code, a key or a network (operators); replaces a ban of the same subject"},
      {"POST", "/v1/admin/bans/{kind}/remove", Who::admin, json.of<RemoveBan>(), json.of<Ban>(),
       "Ends a ban (operators)"},
      {"GET",
       "/v1/admin/audit",
       Who::admin,
       none,
       json.of<AuditPage>(),
       "A page of the audit log, whose acts form a chain of digests (shared/crypto/act_chain.h)",
       {after}},
  };
  to.insert(to.end(), operations.begin(), operations.end());
}

}  // namespace

std::vector<Operation> operations(Catalog& catalog) {
  const Json json{catalog};
  std::vector<Operation> all;
  add_host_operations(json, all);
  add_project_views(json, all);
  add_problem_operations(json, all);
  add_host_views(json, all);
  add_access_operations(json, all);
  catalog.add<KeyCertificate>();
  catalog.add<RevocationList>();
  catalog.add<ApplicationStatement>();
  catalog.add<GrantContext>();
  catalog.add<Grant>();
  catalog.add<Acknowledgement>();
  catalog.add<RelayGrant>();
  catalog.add<Delivery>();
  catalog.add<Enrolment>();
  catalog.add<Failure>();
  catalog.add<ProblemDocument>();
  return all;
}

}  // namespace gleaner::wire
