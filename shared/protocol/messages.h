// Every message of the wire, version 1, as plain structs. JSON names equal the field names (only an
// application's `version` is "application_version": "version" is the protocol's); the codec (codec.h) writes
// and reads them. What a field means, with its bounds, is in the field lists (fields_*.h), from which
// tools/wire makes the published form (server/http/openapi.yaml) and the console's types.
// Receivers ignore unknown fields and reject wrong types, missing required fields and values over
// shared/base/limits.h.
//
// Digests are SHA-256, lower-case hex. Keys and signatures are base64url. Times are microseconds since 1970
// UTC in memory and RFC 3339 in nothing but displays. Rates are in cost-hint units (items, where a problem
// gives no hints) per second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"

namespace gleaner::protocol {

inline constexpr int version = 1;

// ---- Signed statements ------------------------------------------------------------------------------------

// What a signature is for. It is part of the signed bytes, so that no statement can stand in for another.
enum class StatementType : int {
  work_key_certificate = 1,  // by the root key
  signer_certificate = 2,    // by the root key
  project = 3,               // by the work key
  application = 4,           // by a signer key
  grant = 5,                 // by the work key
  acknowledgement = 6,       // by the work key
  revocations = 7,           // by the root key
  blob_address = 8,          // by the work key
  put_addresses = 9,         // by the work key
  relay_certificate = 10,    // by the work key
  relay_grant = 11,          // by a relay's key
  delivery = 12,             // by a host key
  enrolment = 13,            // by a host key
  failure = 14,              // by a host key
};
[[nodiscard]] const char* name_of(StatementType type);

// `payload` is JSON text; the signature is over "gleaner-1\n" + name_of(type) + "\n" + payload. With a proof
// it is over the root of a hash tree that has these bytes among its leaves (shared/crypto/hash_tree.h), so
// that one signature covers a whole reply, and each statement can still be checked alone.
struct SignedStatement {
  StatementType type = StatementType::project;
  std::string payload;
  std::string key;
  std::string signature;  // 64 bytes, raw
  std::optional<Bytes> proof;
  std::optional<Bytes> context = {};
};

// The root key says: this key may act for the project in this period.
struct KeyCertificate {
  std::string project;
  std::string key;  // 32 raw bytes
  std::string name;
  Timestamp not_before;
  Timestamp not_after;
};

// The public half of a work key or of a signer's key.
struct RevokedKey {
  std::string key;  // 32 raw bytes
  std::string reason;
};

struct RevokedTlsKey {
  std::string digest;
  std::string reason;
};

struct RevokedArchive {
  std::string archive;
  std::string reason;
};

// Every version of the application that is lower is revoked (shared/crypto/revocations.h says what is lower).
struct MinimumVersion {
  std::string application;
  std::string version;
  std::string reason;
};

// All that the root key has taken back, each time in full; signed by the root key. Of two lists the one with
// the higher number holds.
struct RevocationList {
  std::string project;
  std::int64_t number = 1;
  Timestamp issued_at;
  std::vector<RevokedKey> keys;
  std::vector<RevokedTlsKey> tls_keys;
  std::vector<RevokedArchive> applications;
  std::vector<MinimumVersion> minimum_versions;
};

// What a server says of itself; signed by its work key.
struct ProjectDocument {
  std::string project;
  std::string name;
  std::string root_key;
  SignedStatement work_certificate;
  std::vector<SignedStatement> signer_certificates;
  std::int64_t heartbeat_seconds = 60;
  std::int64_t commit_seconds = 60;
  Timestamp issued_at;
  std::optional<SignedStatement> revocations = {};
  std::optional<std::vector<SignedStatement>> former_work_certificates = {};
};

// An application version, signed offline by a signer: the digest covers every byte of the archive.
struct ApplicationStatement {
  std::string project;
  std::string name;
  std::string version;
  std::string archive;
  std::int64_t archive_bytes = 0;
  Timestamp signed_at;
};

// A file that a kernel needs; with a range, only units that overlap it need it.
struct Input {
  std::string name;
  std::string digest;
  std::int64_t bytes = 0;
  std::optional<Range> range;

  friend bool operator==(const Input&, const Input&) = default;
};

// A unit's first item as another host left it: the kernel goes on from there.
struct BegunItem {
  double share = 0;
  Bytes data;
};

// What all grants of a problem have in common. It is said once to a host that can keep it; grants then name
// the digest of its text, which their signature so covers.
struct GrantContext {
  ProblemId problem;
  SignedStatement application;
  SignedStatement signer;
  std::string parameters;
};

// Everything a client acts on when it computes a unit; signed by the work key.
struct Grant {
  UnitId unit;
  HostId host;
  ProblemId problem;
  std::string problem_name;
  int stage = 0;
  Range range;
  // If there is a context it says these four, and they are not written.
  SignedStatement application;
  SignedStatement signer;
  std::string parameters;
  std::string parameters_digest;
  std::vector<Input> inputs;
  std::optional<BegunItem> begun;
  double cost = 0;
  std::int64_t commit_seconds = 60;
  Timestamp issued_at;
  Timestamp deadline;
  std::string reason;
  std::optional<std::string> context = {};
  std::optional<bool> direct = {};
};

// What stands behind a relay's grant: the certificate of the relay that signed it, the statement that gave
// that relay the range, the certificate of that one's signer if it is a relay too, and so on; the last is the
// project's Grant (shared/crypto/relay_chain.h).
struct LeaseChain {
  std::vector<SignedStatement> statements;
};

// Where a blob can be had without the server, in its object store, by whoever knows this; signed by the work
// key. What it gives is not believed before it has its digest.
struct BlobAddress {
  HostId host;
  std::string digest;
  std::string address;  // https://...
  Timestamp ends_at;
};

// Which bytes of an upload, and where in the object store they may be put, all at once, with PUT.
struct PartAddress {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::string address;
};

// What of an upload is not in the object store yet; signed by the work key. None: all is there, and the
// server can be told that it is complete.
struct PutAddresses {
  HostId host;
  std::string digest;
  std::int64_t bytes = 0;
  std::vector<PartAddress> parts;
  Timestamp ends_at;
};

// ---- Joining ----------------------------------------------------------------------------------------------

struct Benchmark {
  double mflops = 0;
  Timestamp measured_at;
};

// What else a host measured of itself, each 0 where that is not known. For plans and for people; never
// trusted for credit.
struct HostSpeeds {
  double all_cores_mflops = 0;
  double memory_bytes_per_second = 0;
  double download_bytes_per_second = 0, upload_bytes_per_second = 0;
  friend bool operator==(const HostSpeeds&, const HostSpeeds&) = default;
};

// What else a relay says of itself.
struct RelayRequest {
  std::string tls_key;
};

struct EnrolRequest {
  std::string secret;
  std::string host_key;  // the host's public key, 32 raw bytes
  std::string machine;
  std::string name;
  std::string platform;
  int cores = 1;
  std::int64_t memory_bytes = 0;
  std::string client_version;
  std::optional<Benchmark> benchmark;
  std::optional<RelayRequest> relay = {};
  std::optional<SignedStatement> proof = {};
  std::optional<HostId> copy_of = {};
};

struct EnrolReply {
  HostId host;
  std::string token;
  std::optional<SignedStatement> certificate = {};
};

// ---- Working ----------------------------------------------------------------------------------------------

// A unit as a host was given it under a relay: its RelayGrant, and what stands behind that.
struct GivenUnit {
  SignedStatement grant;
  LeaseChain lease;
};

// A finished prefix of a unit. Either `data` (small: rides along, zlib-compressed) or already uploaded under
// its digest.
struct CommitRequest {
  UnitId unit;
  Range range;
  std::string digest;
  std::int64_t bytes = 0;
  std::optional<Bytes> data;
  double compute_seconds = 0;
  bool last = false;
  std::optional<SignedStatement> delivery = {};
  std::optional<GivenUnit> given = {};
};

// A relay has this on its disk; the project's acknowledgement follows, with any later answer.
struct HeldResult {
  UnitId unit;
  Range range;
  std::string digest;
};

enum class CommitStatus : int {
  accepted = 1,   // stored durably; may be deleted by the client
  duplicate = 2,  // all of it was already accepted from elsewhere: credited as waste; may be deleted
  refused = 3,    // will never be accepted; `reason` says why; may be deleted
};
[[nodiscard]] const char* name_of(CommitStatus status);

// Signed by the work key: only this lets a client delete a result.
struct Acknowledgement {
  UnitId unit;
  HostId host;
  Range range;
  std::string digest;
  CommitStatus status = CommitStatus::refused;
  std::string reason;
  std::int64_t items_accepted = 0;
  Timestamp at;
};

enum class RunState : int { running = 1, paused = 2, waiting = 3 /* fetched, not started */ };
[[nodiscard]] const char* name_of(RunState state);

// How a unit of a relay stands, whose hosts are anywhere in it.
struct RelayProgress {
  std::int64_t begun = 0;
  double seconds_left = 0;
  double rate = 0;
  int slots = 1;
};

// What a client says of one unit it holds.
struct UnitReport {
  UnitId unit;
  std::int64_t finished = 0;
  RunState state = RunState::running;
  std::string reason;
  double rate = 0;
  double item_seconds = 0;
  double item_share = 0;
  double running_seconds = 0;
  std::optional<RelayProgress> relay = {};
};

// What a kernel saved of its item in progress, for a host that may go on with it.
struct SavedItem {
  UnitId unit;
  std::int64_t item = 0;
  double share = 0;
  Bytes data;
};

// The last that the kernel of a unit said which is no result.
struct UnitOutput {
  UnitId unit;
  std::string text;
};

// One run of a host's program, and how often it has spoken. Two programs that use one identity are told apart
// by it (server/policy/instances.h).
struct Instance {
  std::int64_t id = 1;
  std::int64_t sequence = 1;
};

// What the program that speaks is to do about another one that uses its identity.
enum class InstanceOrder : int {
  renew = 1,  // draw another id: its memory was put back to an earlier state
  part = 2,   // it is a copy: deliver what it has finished, then join as a host of its own
};
[[nodiscard]] const char* name_of(InstanceOrder order);

// Of a computer as a whole, the project's kernels and all other programs together. A reading that it does not
// have is absent.
struct Readings {
  std::optional<double> cpu = {};
  std::optional<double> memory = {};
  std::optional<double> celsius = {};
};

struct HeartbeatRequest {
  std::vector<UnitReport> units;
  std::optional<std::vector<SavedItem>> saved;
  std::optional<Instance> instance = {};
  std::optional<Readings> readings = {};
  std::optional<std::vector<UnitOutput>> outputs = {};
};

enum class UnitAction : int {
  go_on = 1,   // until `end`, which may have become earlier
  cancel = 2,  // stop; what is finished may still be committed
  pause = 3,   // stop for now (the problem is paused)
};
[[nodiscard]] const char* name_of(UnitAction action);

struct UnitOrder {
  UnitId unit;
  UnitAction action = UnitAction::go_on;
  std::int64_t end = 0;
  std::string reason;
};

// A problem's present stage, to a relay that has units of it.
struct StageNews {
  ProblemId problem;
  int stage = 0;
  double seconds = 0;
  bool dry = false;
};

struct HeartbeatReply {
  std::vector<UnitOrder> units;
  double interval_seconds = 60;
  std::optional<std::int64_t> revocations = {};
  std::optional<std::vector<SignedStatement>> acknowledgements = {};
  std::optional<std::vector<StageNews>> stages = {};
  std::optional<InstanceOrder> instance = {};
  std::optional<std::vector<UnitId>> outputs = {};
};

// What the client proposes for a slot by worker-initiated sizing (WIS, spec eq. 10-12).
struct Proposal {
  double performance = 0;
  double queue_unloaded = 1;
  double queue_current = 1;
  double items = 0;
  double watts = 0;
};

struct SlotRequest {
  int slot = 0;
  bool urgent = true;
};

// Of one item, on the average of the latest that passed a relay: inputs of its own, and its result, raw.
struct ItemBytes {
  double down = 0, up = 0;
};

// What a relay's hosts have together.
struct RelayOffer {
  double performance = 0;
  double rate = 0;
  int slots = 1;
  std::optional<ItemBytes> item = {};
};

// What a host under a relay measured of itself.
struct MeasuredHost {
  HostId host;
  std::optional<Benchmark> benchmark;
  std::optional<HostSpeeds> speeds;
};

struct WorkRequest {
  std::vector<CommitRequest> commits;
  std::vector<UnitReport> units;
  std::vector<SlotRequest> slots;
  std::vector<std::string> platforms;
  std::int64_t memory_bytes = 0;
  int cores = 1;
  Proposal proposal;
  std::optional<Benchmark> benchmark;
  std::optional<std::vector<std::string>> applications;
  std::optional<HostSpeeds> speeds;
  bool proofs = false;
  std::optional<std::vector<std::string>> contexts = {};
  std::optional<RelayOffer> relay = {};
  std::optional<std::vector<MeasuredHost>> measured = {};
  std::optional<std::string> trouble = {};
  std::optional<Instance> instance = {};
  std::optional<double> cpu_share = {};
  std::optional<Readings> readings = {};
  std::vector<std::string> capabilities = {};
};

// How far a problem's present stage is, with what all computers gave: for people to look at.
struct ProblemProgress {
  ProblemId problem;
  std::int64_t items = 0;
  std::int64_t accepted = 0;
  std::int64_t hosts = 0;
  double done = -1;
};

struct WorkReply {
  std::vector<SignedStatement> acknowledgements;
  std::vector<UnitOrder> units;
  std::vector<SignedStatement> grants;
  std::vector<int> grant_slots;
  double retry_after_seconds = 0;
  double interval_seconds = 60;
  double slowest_performance = 0;
  std::string reason;
  std::optional<std::vector<ProblemProgress>> progress;
  std::optional<std::int64_t> revocations = {};
  std::optional<std::vector<LeaseChain>> leases = {};
  std::optional<std::vector<HeldResult>> held = {};
  std::optional<std::vector<StageNews>> stages = {};
  std::optional<std::vector<HostId>> put_out = {};
  std::optional<InstanceOrder> instance = {};
};

enum class FailureKind : int {
  kernel_crashed = 1,
  kernel_hung = 2,
  kernel_error = 3,    // it said so itself
  bad_output = 4,      // not the contract's grammar, too much, or ended too early
  resource_limit = 5,  // memory, disk or processes
  not_executable = 6,  // the host lacks something: platform, library, module, disk, memory, sandbox
  untrusted = 7,       // chain, digest or signature did not hold
  download_failed = 8,
};
[[nodiscard]] const char* name_of(FailureKind kind);

struct FailureReport {
  UnitId unit;
  FailureKind kind = FailureKind::kernel_error;
  std::int64_t item = 0;
  std::string message;
  std::optional<SignedStatement> statement = {};
};

// ---- Uploads ----------------------------------------------------------------------------------------------

// POST /v1/addresses/DIGEST: of how many bytes the blob is that a host wants to put into the object store.
struct PutRequest {
  std::int64_t bytes = 0;
};

// GET /v1/uploads/DIGEST: how much is there. PATCH appends at Upload-Offset. Complete when offset = bytes.
struct UploadState {
  std::string digest;
  std::int64_t offset = 0;
  bool complete = false;
};

// ---- Errors -----------------------------------------------------------------------------------------------

// RFC 9457 problem document.
struct ProblemDocument {
  std::string type;
  std::string title;
  int status = 500;
  std::string detail;
};

}  // namespace gleaner::protocol
