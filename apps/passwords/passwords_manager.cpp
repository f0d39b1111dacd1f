#include "apps/passwords/passwords_manager.h"

#include <random>

#include "apps/kit/packing.h"
#include "shared/base/random.h"

namespace gleaner::passwords {
namespace {

constexpr std::int64_t planted_max = 4096;
constexpr std::int64_t hits_max = 1 << 20;  // of one item
constexpr std::int64_t digests_input_max = 128 << 20;
// In the working directory, so that they last.
constexpr const char* targets_file = "targets.bin";
constexpr const char* planted_file = "planted.bin";

std::uint64_t secret_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

Status PasswordsManager::check(const kit::Problem& problem) {
  TRY_ASSIGN(settings_, read_settings(problem));
  targets_.reset();
  if (settings_.generate > 0) {
    accounts_ = made_up_accounts(settings_.algorithm, settings_.generate_seed, settings_.generate);
    return {};
  }
  const auto text = problem.read_input("digests", digests_input_max);
  if (!text.ok()) {
    if (text.error().kind != ErrorKind::not_found) return text.error();
    return Error{ErrorKind::invalid,
                 "give the digests as the input `digests` (a line each), or set `generate` to make some up"};
  }
  TRY_ASSIGN(accounts_, read_accounts(settings_.algorithm, *text));
  return {};
}

Result<std::optional<kit::Stage>> PasswordsManager::plan(int stage) {
  if (stage > 0) return std::optional<kit::Stage>{};
  const std::int64_t items = settings_.items();
  std::vector<std::string> digests;
  for (const Account& account : accounts_) digests.push_back(account.digest);
  Random random(secret_seed());
  Bytes planted;
  const std::int64_t count = std::min(items, planted_max);
  for (std::int64_t i = 0; i < count; ++i) {
    // One in each part, so that all are of different items.
    const std::int64_t first = items / count * i;
    const std::int64_t item = random.between(first, i + 1 == count ? items - 1 : items / count * (i + 1) - 1);
    const Range positions = settings_.item_positions(item);
    const std::int64_t position = random.between(positions.begin, positions.end - 1);
    kit::pack(planted, item);
    kit::pack(planted, position);
    digests.push_back(
        digest_of(settings_.algorithm, settings_.keyspace.plaintext(settings_.candidate(position))));
  }
  TRY(kit::write_file(planted_file, planted));
  TRY(kit::write_file(targets_file, Targets(settings_.algorithm, std::move(digests)).bytes()));
  targets_.reset();
  kit::Stage planned{items, "blocks of guesses", {}, {{"targets", targets_file, std::nullopt}}};
  const std::int64_t rest = settings_.item_positions(items - 1).size();
  if (rest < settings_.block && items <= planted_max) {
    planned.hints.assign(static_cast<std::size_t>(items), {1, {settings_.block}});
    planned.hints.back() = {std::max(0.01, static_cast<double>(rest) / static_cast<double>(settings_.block)),
                            {rest}};
  }
  return std::optional(std::move(planned));
}

Status PasswordsManager::load_targets() {
  if (targets_) return {};
  TRY_ASSIGN(const Bytes digests, kit::read_file(targets_file, targets_max * 32));
  TRY_ASSIGN(targets_, Targets::from_bytes(settings_.algorithm, digests));
  TRY_ASSIGN(const Bytes planted, kit::read_file(planted_file, planted_max * 16));
  kit::Unpacker unpacker(planted);
  planted_.clear();
  while (unpacker.left() > 0) {
    const auto item = unpacker.get<std::int64_t>();
    planted_[item] = unpacker.get<std::int64_t>();
  }
  if (!unpacker.complete()) return Error{ErrorKind::io, std::string(planted_file) + " is damaged"};
  return {};
}

Status PasswordsManager::check_block(std::int64_t item, std::string_view bytes) const {
  const auto invalid = [](const std::string& why) { return Error{ErrorKind::invalid, why}; };
  TRY_ASSIGN(const Found found, decode(bytes));
  const Range positions = settings_.item_positions(item);
  if (found.tested != positions.size()) return invalid("it did not test all of its guesses");
  if (static_cast<std::int64_t>(found.hits.size()) > hits_max) return invalid("it has too many hits");
  std::int64_t before = -1;
  for (const Hit& hit : found.hits) {
    if (hit.position <= before || !positions.contains(hit.position) ||
        hit.candidate != settings_.candidate(hit.position))
      return invalid("a hit is not one of its guesses");
    before = hit.position;
    const std::string digest = digest_of(settings_.algorithm, settings_.keyspace.plaintext(hit.candidate));
    if (hit.target >= targets_->size() || targets_->digest(hit.target) != digest)
      return invalid("a hit does not have the digest that it names");
  }
  const auto planted = planted_.find(item);
  if (planted == planted_.end()) return {};
  for (const Hit& hit : found.hits) {
    if (hit.position == planted->second) return {};
  }
  return invalid("a hit is missing: the guesses were not all tested");
}

Result<kit::Validation> PasswordsManager::validate(int stage, kit::SegmentReader& segment) {
  TRY(load_targets());
  return kit::check_each(segment, stage == 0 ? settings_.items() : 0, "block",
                         [&](std::int64_t item, std::string_view bytes) { return check_block(item, bytes); });
}

Status PasswordsManager::report(kit::ItemSource& items, kit::Output& output) {
  TRY(load_targets());
  Progress progress;
  for (;;) {
    TRY_ASSIGN(const std::optional<kit::Item> item, items.next());
    if (!item) break;
    TRY_ASSIGN(const Found found, decode(item->bytes));
    progress.tested += found.tested;
    for (const Hit& hit : found.hits) {
      if (hit.target >= targets_->size()) return Error{ErrorKind::invalid, "a hit has no target"};
      const auto [at, fresh] = progress.first.try_emplace(targets_->digest(hit.target), hit);
      if (!fresh && hit.position < at->second.position) at->second = hit;
    }
    output.progress(items.fraction());
  }
  TRY(kit::write_file(output.directory() / "report.txt", text_report(settings_, accounts_, progress)));
  TRY(kit::write_file(output.directory() / "found.tsv", table_report(settings_, accounts_, progress)));
  TRY(kit::write_file(output.directory() / "found.svg", curve_report(settings_, accounts_, progress)));
  output.result("report.txt", "text/plain");
  output.result("found.tsv", "text/tab-separated-values");
  output.result("found.svg", "image/svg+xml");
  return {};
}

Status PasswordsManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "passwords has one stage: 0"};
  TRY(items.require_all(settings_.items()));
  return report(items, output);
}

Status PasswordsManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "passwords has one stage: 0"};
  TRY(items.require_within(settings_.items()));
  return report(items, output);
}

}  // namespace gleaner::passwords
