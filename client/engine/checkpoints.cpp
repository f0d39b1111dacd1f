#include "client/engine/checkpoints.h"

#include <spdlog/spdlog.h>

#include "client/policy/delivery.h"
#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"

namespace gleaner::engine {
namespace {

constexpr const char* checkpoint_file = "checkpoint";  // apps/CONTRACT.md

io::Path noted_digest(io::Path checkpoint) {
  return checkpoint += ".sha256";
}

}  // namespace

io::Path Checkpoints::path_of(const Unit& unit) {
  return unit.held->directory() / ("checkpoint-" + std::to_string(unit.held->finished()));
}

// What lay on the disk when the power went may be anything: it counts if it has the digest that was noted.
bool Checkpoints::is_whole(const io::Path& checkpoint) const {
  if (!files_.exists(checkpoint)) return false;
  const auto noted = files_.read(noted_digest(checkpoint), limits::name_length_max);
  const auto digest = digest_of_file(files_, checkpoint);
  return noted.ok() && digest.ok() && *noted == *digest;
}

Checkpoint Checkpoints::find(const Unit& unit) const {
  using Where = Checkpoint::Where;
  if (is_whole(path_of(unit))) return {Where::here, {}};
  const protocol::Grant& grant = unit.grant();
  if (!grant.begun || unit.held->finished() != grant.range.begin || !unit.prepared->manifest.checkpoint)
    return {};
  auto data = io::decompress(grant.begun->data, limits::saved_bytes_max);
  if (data.ok()) return {Where::elsewhere, std::move(data).value()};
  spdlog::warn("slot {}: what another computer saved of item {} of {} cannot be read: {}", unit.slot,
               grant.range.begin, grant.problem_name, data.error().message);
  return {};
}

Status Checkpoints::lay_out(const Unit& unit, const Checkpoint& checkpoint) {
  const io::Path path = slot_ / checkpoint_file;
  switch (checkpoint.where) {
    case Checkpoint::Where::nowhere:
      return {};
    case Checkpoint::Where::here:
      return files_.rename(path_of(unit), path);
    case Checkpoint::Where::elsewhere:
      return files_.write(path, checkpoint.data, io::Mode::normal);
  }
  return {};
}

void Checkpoints::start(SteadyTime now) {
  awaited_ = false;
  asked_at_ = now;
  kept_.reset();
}

bool Checkpoints::due(Duration interval, Duration on_item, SteadyTime now) const {
  return !awaited_ && client_policy::save_due(interval, on_item, now - asked_at_);
}

void Checkpoints::asked(SteadyTime now) {
  awaited_ = true;
  asked_at_ = now;
}

// The file is the kernel's, and might be anything; the copy is ours.
Status Checkpoints::keep(const Unit& unit, const io::Path& written) {
  const io::Path to = path_of(unit);
  TRY_ASSIGN(const Bytes saved, files_.read_plain(written / checkpoint_file, limits::checkpoint_bytes_max));
  if (kept_ && *kept_ != to) {  // of an item that is done
    TRY(files_.remove(*kept_));
    TRY(files_.remove(noted_digest(*kept_)));
  }
  kept_ = to;
  TRY(files_.remove(noted_digest(to)));
  TRY(files_.remove(to));
  TRY(files_.remove(written / checkpoint_file));
  TRY(files_.write_at(to, 0, saved));
  return files_.write_at(noted_digest(to), 0, crypto::sha256_hex(saved));
}

}  // namespace gleaner::engine
