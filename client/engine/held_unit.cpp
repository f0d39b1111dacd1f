#include "client/engine/held_unit.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/segment.h"

namespace gleaner::engine {
namespace {
constexpr const char* grant_file = "grant.json";
constexpr const char* lease_file = "lease.json";
constexpr const char* journal_file = "journal";
}  // namespace

HeldUnit::HeldUnit(io::Files& files, io::Path directory, Granted granted, protocol::Grant grant)
    : files_(files),
      directory_(std::move(directory)),
      granted_(std::move(granted)),
      grant_(std::move(grant)),
      journal_(std::make_unique<Journal>(files_, directory_ / journal_file, grant_.unit)),
      finished_(grant_.range.begin),
      end_(grant_.range.end),
      acknowledged_(grant_.range.begin),
      cut_(grant_.range.begin) {}

Result<std::unique_ptr<HeldUnit>> HeldUnit::create(io::Files& files, const io::Path& directory,
                                                   const Granted& granted, const protocol::Grant& grant) {
  TRY(files.make_directories(directory));
  // The grant last: it is read first, and nothing of it without its lease.
  if (granted.lease)
    TRY(files.write(directory / lease_file, protocol::encode(*granted.lease), io::Mode::secret));
  TRY(files.write(directory / grant_file, protocol::encode(granted.statement), io::Mode::secret));
  std::unique_ptr<HeldUnit> unit(new HeldUnit(files, directory, granted, grant));
  TRY(unit->journal_->open([&unit](const JournalEntry& entry) { return unit->replay(entry); }));
  return unit;
}

Result<std::unique_ptr<HeldUnit>> HeldUnit::load(io::Files& files, const io::Path& directory) {
  TRY_ASSIGN(const Bytes text, files.read(directory / grant_file, limits::json_message_bytes_max));
  Granted granted;
  TRY_ASSIGN(granted.statement, protocol::decode<protocol::SignedStatement>(text));
  if (granted.statement.type == protocol::StatementType::relay_grant) {
    TRY_ASSIGN(const Bytes lease, files.read(directory / lease_file, limits::json_message_bytes_max));
    TRY_ASSIGN(granted.lease, protocol::decode<protocol::LeaseChain>(lease));
  }
  TRY_ASSIGN(protocol::Grant grant, read_granted(granted));
  if (std::to_string(grant.unit.value) != directory.filename())
    return Error{ErrorKind::untrusted, "the grant in " + utf8_text(directory) + " is for another unit"};
  std::unique_ptr<HeldUnit> unit(new HeldUnit(files, directory, std::move(granted), std::move(grant)));
  TRY(unit->journal_->open([&unit](const JournalEntry& entry) { return unit->replay(entry); }));
  return unit;
}

// What contradicts the records before it is damage: the journal is cut off there.
Status HeldUnit::replay(const JournalEntry& entry) {
  const Error contradiction{ErrorKind::invalid, "the journal contradicts itself"};
  switch (entry.kind) {
    case JournalEntry::Kind::item:
      if (entry.index != finished_ || entry.index >= grant_.range.end) return contradiction;
      places_.push_back({entry.offset, entry.bytes});
      ++finished_;
      return {};
    case JournalEntry::Kind::cut:
      if (pending_ || entry.cut.range.begin != cut_ || entry.cut.range.empty() ||
          entry.cut.range.end > finished_)
        return contradiction;
      pending_ = entry.cut;
      cut_ = entry.cut.range.end;
      return {};
    case JournalEntry::Kind::acknowledged:
      return release(entry.index) ? Status() : Status(contradiction);
    case JournalEntry::Kind::held:
      if (!pending_ || entry.index != pending_->range.end) return contradiction;
      held_.push_back(*std::exchange(pending_, std::nullopt));
      return {};
    case JournalEntry::Kind::end:
      end_ = std::clamp(entry.index, grant_.range.begin, end_);
      return {};
    case JournalEntry::Kind::stopped:
      stopped_ = true;
      return {};
  }
  return contradiction;
}

std::int64_t HeldUnit::uncut() const {
  return std::max<std::int64_t>(0, std::min(finished_, end_) - cut_);
}

bool HeldUnit::acknowledged(Range range) const {
  const auto meets = [range](const Cut& cut) {
    return range.begin < cut.range.end && cut.range.begin < range.end;
  };
  return range.begin >= grant_.range.begin && range.end <= cut_ && !(pending_ && meets(*pending_)) &&
         std::none_of(held_.begin(), held_.end(), meets);
}

// Cuts are acknowledged in any order; places are forgotten up to the first that is not.
bool HeldUnit::release(std::int64_t end) {
  if (pending_ && pending_->range.end == end)
    pending_.reset();
  else if (std::erase_if(held_, [end](const Cut& cut) { return cut.range.end == end; }) == 0)
    return false;
  std::int64_t first = pending_ ? pending_->range.begin : cut_;
  for (const Cut& cut : held_) first = std::min(first, cut.range.begin);
  places_.erase(places_.begin(), places_.begin() + (first - acknowledged_));
  acknowledged_ = first;
  return true;
}

void HeldUnit::add_item(std::int64_t index, std::string_view bytes) {
  if (index >= end_) return;
  CHECK_TRUE(index == finished_);
  places_.push_back({journal_->add_item(index, bytes), static_cast<std::int64_t>(bytes.size())});
  ++finished_;
}

void HeldUnit::trim(std::int64_t end) {
  end = std::max(end, grant_.range.begin);
  if (end >= end_) return;
  end_ = end;
  journal_->add_end(end);
}

void HeldUnit::stop() {
  if (stopped_) return;
  stopped_ = true;
  journal_->add_stopped();
}

Status HeldUnit::save() {
  return journal_->flush();
}

Status HeldUnit::sync() {
  return journal_->sync();
}

Result<Bytes> HeldUnit::build(Range range) const {
  const auto first = static_cast<std::size_t>(range.begin - acknowledged_);
  const auto count = static_cast<std::size_t>(range.size());
  const std::int64_t start = places_[first].offset;
  const Place& last = places_[first + count - 1];
  TRY_ASSIGN(const Bytes block, journal_->read(start, last.offset + last.bytes - start));
  Bytes segment;
  segment.reserve(block.size());
  for (std::size_t i = first; i < first + count; ++i)
    protocol::append_item(segment,
                          std::string_view(block).substr(static_cast<std::size_t>(places_[i].offset - start),
                                                         static_cast<std::size_t>(places_[i].bytes)));
  return segment;
}

Status HeldUnit::cut(double compute_seconds) {
  CHECK_TRUE(!pending_ && uncut() > 0);
  TRY(journal_->flush());
  Cut cut;
  cut.range = {cut_, cut_};
  std::int64_t total = 0;
  const std::int64_t limit = std::min(finished_, end_);
  while (cut.range.end < limit) {
    const std::int64_t bytes = 4 + places_[static_cast<std::size_t>(cut.range.end - acknowledged_)].bytes;
    if (cut.range.end > cut.range.begin && total + bytes > cut_bytes_max) break;
    total += bytes;
    ++cut.range.end;
  }
  TRY_ASSIGN(const Bytes segment, build(cut.range));
  cut.digest = crypto::sha256_hex(segment);
  cut.bytes = static_cast<std::int64_t>(segment.size());
  cut.compute_seconds = std::max(0.0, compute_seconds);
  cut.last = cut.range.end >= end_;
  journal_->add_cut(cut);
  pending_ = cut;
  cut_ = cut.range.end;
  return journal_->sync();
}

Result<Bytes> HeldUnit::segment() const {
  CHECK_TRUE(pending_.has_value());
  TRY_ASSIGN(Bytes bytes, build(pending_->range));
  if (crypto::sha256_hex(bytes) != pending_->digest)
    return Error{ErrorKind::untrusted, "the disk no longer has what was computed of unit " +
                                           std::to_string(id().value) + ": it is computed again"};
  return bytes;
}

void HeldUnit::acknowledge() {
  CHECK_TRUE(pending_.has_value());
  acknowledge(pending_->range.end);
}

void HeldUnit::acknowledge(std::int64_t end) {
  CHECK_TRUE(release(end));
  journal_->add_acknowledged(end);
}

void HeldUnit::hold() {
  CHECK_TRUE(pending_.has_value());
  // One that was recalled is held in the journal already.
  if (pending_->range.end != recalled_) journal_->add_held(pending_->range.end);
  recalled_ = -1;
  held_.push_back(*std::exchange(pending_, std::nullopt));
}

// In memory only: a restart finds it held, and in time recalls it again.
void HeldUnit::recall() {
  CHECK_TRUE(!pending_ && !held_.empty());
  pending_ = held_.front();
  held_.erase(held_.begin());
  recalled_ = pending_->range.end;
}

// A kernel may still be at it until its slot is told: an end in front of its items lets them fall.
void HeldUnit::abandon() {
  pending_.reset();
  cut_ = acknowledged_;
  for (const Cut& cut : held_) cut_ = std::max(cut_, cut.range.end);
  trim(cut_);
  stop();
  places_.resize(static_cast<std::size_t>(cut_ - acknowledged_));
  finished_ = cut_;
}

Status HeldUnit::remove() {
  return files_.remove_all(directory_);
}

}  // namespace gleaner::engine
