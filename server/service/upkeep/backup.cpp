#include "server/service/upkeep/backup.h"

#include <array>
#include <filesystem>
#include <unordered_set>

#include "server/service/core/acts.h"
#include "server/service/core/lost_blobs.h"
#include "server/storage/blob_inventory.h"
#include "server/storage/blob_store.h"
#include "server/storage/store_copy.h"
#include "shared/base/figures.h"

namespace gleaner::service {
namespace {

constexpr std::string_view first_line = "gleaner-backup 1\n";
constexpr std::int64_t marker_bytes_max = 4096;
// Not secret, and needed to know whose project it is.
constexpr std::array public_files{"keys/root.public", "keys/work.certificate.json", "keys/tls.pem",
                                  "keys/revocations.json", "admin/admin.json"};
constexpr std::array secret_files{"keys/work.key", "keys/tls.key", "keys/enrolment.secret",
                                  "keys/link.pem", "keys/tickets", "keys/blobs.keys",
                                  "admin/token"};
// Without these a server does not start.
constexpr std::array needed_keys{"keys/work.key", "keys/tls.key", "admin/token"};

io::Path marker(const io::Path& backup) {
  return backup / "gleaner-backup";
}

Status check_empty(const io::Files& files, const io::Path& directory) {
  if (!files.exists(directory)) return {};
  const auto names = files.list(directory);
  if (names.ok() && names->empty()) return {};
  return Error{ErrorKind::conflict,
               directory.string() + " is not empty: name a new directory, or move what is there away"};
}

// One directory being put together from another.
class Transfer {
 public:
  Transfer(io::Files& files, io::Path from, io::Path to, io::Place place)
      : files_(files), from_(std::move(from)), to_(std::move(to)), place_(place) {}

  [[nodiscard]] BackupReport& report() { return report_; }

  // What may change, or is secret, is never a link.
  Status copy_if_there(const std::string& name) {
    if (!files_.exists(from_ / name)) return {};
    TRY(files_.make_directories((to_ / name).parent_path()));
    TRY(io::place_file(from_ / name, to_ / name, io::Place::copy));
    return {};
  }

  Status copy_directory(const std::string& name) {
    if (!files_.exists(from_ / name)) return {};
    TRY_ASSIGN(const auto names, files_.list(from_ / name));
    for (const auto& each : names) TRY(copy_if_there(name + "/" + each));
    return {};
  }

  Status place_blob(const std::string& digest) {
    if (!placed_.insert(digest).second) return {};
    const io::Path name = io::Path("blobs") / digest.substr(0, 2) / digest;
    TRY(files_.make_directories((to_ / name).parent_path()));
    TRY_ASSIGN(const io::Placed how, io::place_file(from_ / name, to_ / name, place_));
    if (how == io::Placed::linked) ++report_.linked;
    ++report_.blobs;
    if (const auto bytes = files_.size(to_ / name); bytes.ok()) report_.bytes += *bytes;
    return {};
  }
  Status place_all_blobs() {
    TRY_ASSIGN(const auto there, storage::list_blobs(files_, from_));
    for (const auto& [digest, bytes] : there.blobs) {
      const Status placed = place_blob(digest);
      // One that went meanwhile nobody may refer to.
      if (!placed.ok() && placed.error().kind == ErrorKind::not_found)
        placed_.erase(digest);
      else
        TRY(placed);
    }
    return {};
  }

  // The same of an object store; of those in a backup that has them, a link or a copy.
  Status place_objects(const storage::ObjectInventory& inventory, const io::Path& former) {
    TRY_ASSIGN(const auto there, inventory.list());
    for (const auto& [digest, bytes] : there.blobs) {
      const Status placed = place_object(inventory, former, digest, bytes);
      if (!placed.ok() && !is_lost(placed.error())) return placed;
    }
    return {};
  }
  // What came in between, or is lost.
  Status place_named_object(const storage::ObjectInventory& inventory, const io::Path& former,
                            const std::string& digest) {
    if (placed_.contains(digest)) return {};
    const Status placed = place_object(inventory, former, digest, -1);
    if (placed.ok() || !is_lost(placed.error())) return placed;
    report_.lost.push_back(digest);
    return {};
  }

  // An unpacked application; absent where it is not whole: the server unpacks it again.
  Status place_bundle(const std::string& archive) {
    const io::Path root = from_ / "bundles" / archive;
    if (!files_.exists(root)) return {};
    std::error_code why;
    for (auto entry = std::filesystem::recursive_directory_iterator(root, why);
         !why && entry != std::filesystem::recursive_directory_iterator(); entry.increment(why)) {
      if (!entry->is_regular_file()) continue;
      const io::Path target = to_ / "bundles" / archive / entry->path().lexically_relative(root);
      TRY(files_.make_directories(target.parent_path()));
      TRY(io::place_file(entry->path(), target, place_));
    }
    if (why) return Error{ErrorKind::io, "cannot read " + root.string() + ": " + why.message()};
    return {};
  }

  Status place_bundles() {
    if (!files_.exists(from_ / "bundles")) return {};
    TRY_ASSIGN(const auto names, files_.list(from_ / "bundles"));
    for (const auto& name : names)
      if (storage::BlobStore::is_digest(name)) TRY(place_bundle(name));
    return {};
  }

 private:
  static bool is_lost(const Error& error) {
    return error.kind == ErrorKind::not_found || error.kind == ErrorKind::untrusted;
  }

  // `bytes`: as the store lists it; negative: not known.
  Status place_object(const storage::ObjectInventory& inventory, const io::Path& former,
                      const std::string& digest, std::int64_t bytes) {
    const io::Path name = io::Path("blobs") / digest.substr(0, 2) / digest;
    TRY(files_.make_directories((to_ / name).parent_path()));
    const auto before = former.empty() ? Result<std::int64_t>(-1) : files_.size(former / name);
    if (before.ok() && *before >= 0 && *before == bytes) {
      TRY_ASSIGN(const io::Placed how, io::place_file(former / name, to_ / name, place_));
      if (how == io::Placed::linked) ++report_.linked;
    } else {
      TRY(inventory.copy(files_, digest, to_ / name));
      ++report_.fetched;
    }
    placed_.insert(digest);
    TRY_ASSIGN(const std::int64_t size, files_.size(to_ / name));
    ++report_.blobs;
    report_.bytes += size;
    return {};
  }

  io::Files& files_;
  const io::Path from_, to_;
  const io::Place place_;
  std::unordered_set<std::string> placed_;
  BackupReport report_;
};

Status copy_settings_and_keys(Transfer& transfer, Keys keys) {
  for (const char* name : public_files) TRY(transfer.copy_if_there(name));
  TRY(transfer.copy_directory("keys/former"));
  if (keys == Keys::left_out) return {};
  for (const char* name : secret_files) TRY(transfer.copy_if_there(name));
  return {};
}

Status check_marker(const io::Files& files, const io::Path& backup) {
  const auto text = files.read(marker(backup), marker_bytes_max);
  if (text.ok() && text->starts_with(first_line)) return {};
  return Error{
      ErrorKind::invalid,
      backup.string() + " is no whole backup: `gleaner-server backup` writes its file gleaner-backup last"};
}

// Bytes that only the log has would be forgotten.
Status check_log(const io::Files& files, const io::Path& backup) {
  const auto log = files.size(backup / "store.sqlite-wal");
  if (!log.ok() || *log == 0) return {};
  return Error{ErrorKind::invalid, backup.string() + " was served or changed after it was made: use another"};
}

}  // namespace

bool is_backup(const io::Files& files, const io::Path& directory) {
  return files.exists(marker(directory));
}

Result<BackupReport> back_up(io::Files& files, const io::Path& project, const io::Path& into,
                             const BackupOptions& options, Timestamp now) {
  if (!files.exists(project / "server.toml"))
    return Error{ErrorKind::not_found, project.string() + " holds no project"};
  if (!options.former.empty()) TRY(check_marker(files, options.former));
  TRY(check_empty(files, into));
  TRY(files.make_directories(into));
  Transfer transfer(files, project, into, options.place);
  if (!options.objects) TRY(transfer.place_all_blobs());
  if (options.copied != nullptr) TRY(transfer.place_objects(*options.copied, options.former));
  TRY_ASSIGN(const storage::StoreCopy copy, storage::copy_store(options.store_url, project, into));
  for (const auto& digest : copy.blobs)
    if (!options.objects && files.exists(project / "blobs" / digest.substr(0, 2) / digest))
      TRY(transfer.place_blob(digest));
    else if (options.copied != nullptr)
      TRY(transfer.place_named_object(*options.copied, options.former, digest));
  for (const auto& archive : copy.archives) TRY(transfer.place_bundle(archive));
  TRY(copy_settings_and_keys(transfer, options.keys));
  TRY(transfer.copy_if_there("server.toml"));
  BackupReport& report = transfer.report();
  report.at = copy.at;
  report.at.at = now;
  report.with_keys = options.keys == Keys::included;
  TRY(storage::write_generation_note(files, into, report.at));
  TRY(io::sync_file_system(into));
  TRY(files.write(marker(into),
                  std::string(first_line) + "generation " + std::to_string(copy.at.generation) + "\nat " +
                      to_rfc3339(now) + "\nkeys " + (report.with_keys ? "included" : "left out") + "\n",
                  io::Mode::normal));
  return report;
}

Result<BackupReport> restore(io::Files& files, const io::Path& backup, const io::Path& project,
                             io::Place place, Timestamp now) {
  TRY(check_marker(files, backup));
  TRY(check_log(files, backup));
  TRY(check_empty(files, project));
  TRY(files.make_directories(project));
  Transfer transfer(files, backup, project, place);
  TRY(transfer.place_all_blobs());
  TRY(transfer.place_bundles());
  TRY(copy_settings_and_keys(transfer, Keys::included));
  TRY(transfer.copy_if_there("store.sqlite"));
  TRY(io::sync_file_system(project));
  BackupReport& report = transfer.report();
  {
    TRY_ASSIGN(const auto note, storage::read_generation_note(files, backup));
    TRY_ASSIGN(const auto store, storage::open_restored_store(project));
    const std::string since = note ? utc_text(note->at) : "an unknown time";
    TRY(note_act(*store, server_actor("store restore", "store.sqlite"),
                 "from a backup of " + since + "; what was stored after it is given up", now));
    report.at = store->generation();
    report.at.at = now;
  }
  TRY(storage::write_generation_note(files, project, report.at));
  TRY(transfer.copy_if_there("server.toml"));  // last: without it there is no project yet
  TRY(io::sync_file_system(project));
  for (const char* name : needed_keys)
    if (!files.exists(project / name)) report.missing.push_back(project / name);
  report.with_keys = report.missing.empty();
  return report;
}

}  // namespace gleaner::service
