#include "server/link/messages.h"

#include "server/link/pack.h"
#include "shared/base/limits.h"

namespace gleaner::link {
namespace {

constexpr std::size_t header_fields_max = 200;

void put(Packer& to, const Caller& caller) {
  to.text(caller.token_digest).text(caller.peer).text(caller.network);
}

Caller take_caller(Unpacker& from) {
  Caller caller;
  caller.token_digest = from.text();
  caller.peer = from.text();
  caller.network = from.text();
  return caller;
}

void put(Packer& to, const std::map<std::string, std::string>& fields) {
  to.number(static_cast<std::int64_t>(fields.size()));
  for (const auto& [name, value] : fields) to.text(name).text(value);
}

std::map<std::string, std::string> take_fields(Unpacker& from) {
  std::map<std::string, std::string> fields;
  const std::size_t count = from.count(2 * sizeof(std::int64_t));
  if (count > header_fields_max) from.fail();
  for (std::size_t i = 0; i < count && !from.failed(); ++i) {
    std::string name(from.text());
    fields.emplace(std::move(name), from.text());
  }
  return fields;
}

template <typename Id>
Id take_id(Unpacker& from) {
  return Id{from.number(0)};
}

int take_stage(Unpacker& from) {
  return static_cast<int>(from.number(0, limits::stages_max));
}

void take(Unpacker& from, Hello& message) {
  message.version = from.number();
  message.project = from.text();
}

void take(Unpacker& from, Call& message) {
  message.caller = take_caller(from);
  message.body = from.text();
}

void take(Unpacker& from, WhoAnswer& message) {
  message.host = take_id<HostId>(from);
  message.proven = from.number(0, 1) == 1;
}

void take(Unpacker& from, PlaceCall& message) {
  message.caller = take_caller(from);
  message.unit = take_id<UnitId>(from);
}

void take(Unpacker& from, PlaceAnswer& message) {
  message.problem = take_id<ProblemId>(from);
  message.stage = take_stage(from);
  message.item_bytes_max = from.number(0, limits::item_bytes_max);
  message.archive = from.text();
  message.program = from.text();
  message.parameters = from.text();
  const std::size_t inputs = from.count(3 * sizeof(std::int64_t));
  if (inputs > limits::inputs_max) from.fail();
  for (std::size_t i = 0; i < inputs && !from.failed(); ++i) {
    protocol::Input input;
    input.name = from.text();
    input.digest = from.text();
    input.bytes = from.number(0, limits::blob_bytes_max);
    message.inputs.push_back(std::move(input));
  }
  message.application = from.text();
}

void take(Unpacker& from, CheckedCall& message) {
  message.caller = take_caller(from);
  message.request = from.text();
  const std::size_t verdicts = from.count(5 * sizeof(std::int64_t));
  if (verdicts > limits::segments_per_request_max) from.fail();
  for (std::size_t i = 0; i < verdicts && !from.failed(); ++i) {
    Verdict verdict;
    verdict.problem = take_id<ProblemId>(from);
    verdict.stage = take_stage(from);
    verdict.enough = from.number(0, 1) == 1;
    verdict.refusal = from.text();
    verdict.bytes = from.text();
    message.verdicts.push_back(verdict);
  }
}

void take(Unpacker& from, WorkAnswer& message) {
  message.reply = from.text();
  const std::size_t units = from.count(3 * sizeof(std::int64_t));
  if (units > limits::units_per_request_max) from.fail();
  for (std::size_t i = 0; i < units && !from.failed(); ++i) {
    WorkAnswer::Unit unit;
    unit.unit = take_id<UnitId>(from);
    unit.problem = take_id<ProblemId>(from);
    unit.stage = take_stage(from);
    message.units.push_back(unit);
  }
}

void take(Unpacker& from, BlobCall& message) {
  message.digest = from.text();
  message.offset = from.number(0, limits::blob_bytes_max);
}

void take(Unpacker& from, BlobAnswer& message) {
  message.size = from.number(0, limits::blob_bytes_max);
  message.bytes = from.text();
}

void take(Unpacker& from, http::Request& message) {
  message.method = from.text();
  message.path = from.text();
  message.query = take_fields(from);
  message.headers = take_fields(from);
  message.body = from.text();
  message.peer = from.text();
  message.network = from.text();
}

void take(Unpacker& from, http::Response& message) {
  message.status = static_cast<int>(from.number(100, 599));
  message.headers = take_fields(from);
  message.body = from.text();
}

Error other_version() {
  return {ErrorKind::invalid,
          "what came over the link is not what it says: do leader and front ends have one version?"};
}

}  // namespace

Bytes pack(const Hello& message) {
  return Packer().number(message.version).text(message.project).take();
}

Bytes pack(const Call& message) {
  Packer to;
  put(to, message.caller);
  return to.text(message.body).take();
}

Bytes pack(const WhoAnswer& message) {
  return Packer().number(message.host.value).number(message.proven ? 1 : 0).take();
}

Bytes pack(const PlaceCall& message) {
  Packer to;
  put(to, message.caller);
  return to.number(message.unit.value).take();
}

Bytes pack(const PlaceAnswer& message) {
  Packer to;
  to.number(message.problem.value).number(message.stage).number(message.item_bytes_max);
  to.text(message.archive).text(message.program).text(message.parameters);
  to.number(static_cast<std::int64_t>(message.inputs.size()));
  for (const auto& input : message.inputs) to.text(input.name).text(input.digest).number(input.bytes);
  return to.text(message.application).take();
}

Bytes pack(const CheckedCall& message) {
  Packer to;
  put(to, message.caller);
  to.text(message.request).number(static_cast<std::int64_t>(message.verdicts.size()));
  for (const Verdict& verdict : message.verdicts)
    to.number(verdict.problem.value)
        .number(verdict.stage)
        .number(verdict.enough ? 1 : 0)
        .text(verdict.refusal)
        .text(verdict.bytes);
  return to.take();
}

Bytes pack(const WorkAnswer& message) {
  Packer to;
  to.text(message.reply).number(static_cast<std::int64_t>(message.units.size()));
  for (const auto& unit : message.units)
    to.number(unit.unit.value).number(unit.problem.value).number(unit.stage);
  return to.take();
}

Bytes pack(const BlobCall& message) {
  return Packer().text(message.digest).number(message.offset).take();
}

Bytes pack(const BlobAnswer& message) {
  return Packer().number(message.size).text(message.bytes).take();
}

Bytes pack(const Error& message) {
  return Packer().number(static_cast<int>(message.kind)).text(message.message).take();
}

Bytes pack(const http::Request& message) {
  Packer to;
  to.text(message.method).text(message.path);
  put(to, message.query);
  put(to, message.headers);
  return to.text(message.body).text(message.peer).text(message.network).take();
}

Bytes pack(const http::Response& message) {
  Packer to;
  to.number(message.status);
  put(to, message.headers);
  return to.text(message.body).take();
}

template <typename Message>
Result<Message> unpack(std::string_view bytes) {
  Unpacker from(bytes);
  Message message;
  take(from, message);
  if (!from.complete()) return other_version();
  return message;
}

Error unpack_error(std::string_view bytes) {
  Unpacker from(bytes);
  Error error;
  error.kind = static_cast<ErrorKind>(
      from.number(static_cast<int>(ErrorKind::invalid), static_cast<int>(ErrorKind::banned)));
  error.message = from.text();
  return from.complete() ? error : other_version();
}

template Result<Hello> unpack(std::string_view);
template Result<Call> unpack(std::string_view);
template Result<WhoAnswer> unpack(std::string_view);
template Result<PlaceCall> unpack(std::string_view);
template Result<PlaceAnswer> unpack(std::string_view);
template Result<CheckedCall> unpack(std::string_view);
template Result<WorkAnswer> unpack(std::string_view);
template Result<BlobCall> unpack(std::string_view);
template Result<BlobAnswer> unpack(std::string_view);
template Result<http::Request> unpack(std::string_view);
template Result<http::Response> unpack(std::string_view);

}  // namespace gleaner::link
