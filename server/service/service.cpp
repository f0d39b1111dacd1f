#include "server/service/service.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "server/service/core/bundles.h"
#include "server/service/core/relay_rows.h"
#include "server/service/work/own_items.h"
#include "shared/base/version.h"
#include "shared/crypto/keys.h"

namespace gleaner::service {

Result<std::unique_ptr<Service>> Service::open(Settings settings, ProjectSecrets secrets,
                                               Dependencies dependencies,
                                               std::unique_ptr<storage::Store> store) {
  if (dependencies.parent == nullptr && secrets.work_certificate_expires != Timestamp{})
    settings.work_certificate_expires = secrets.work_certificate_expires;
  if (!settings.make_origin) settings.make_origin = make_own_items;
  std::unique_ptr<Service> service(
      new Service(std::move(settings), std::move(secrets), std::move(dependencies), std::move(store)));
  TRY(service->start());
  return service;
}

Service::Service(Settings settings, ProjectSecrets secrets, Dependencies dependencies,
                 std::unique_ptr<storage::Store> store)
    : secrets_(std::move(secrets)),
      kernel_(std::move(settings), std::move(dependencies), std::move(store)),
      load_(kernel_.clock(), kernel_.settings().configuration),
      revocation_watch_(kernel_, secrets_),
      scrub_(kernel_),
      overview_(kernel_, secrets_, scrub_),
      notices_(kernel_.settings().configuration, kernel_.processes(),
               [] {
                 return io::make_curl_client(io::any_authority,
                                             std::string("gleaner-server/") + version_text);
               }),
      views_(kernel_, overview_, notices_),
      vitals_(kernel_, overview_, views_, load_),
      jobs_(kernel_, tokens_, admin_tokens_, ban_registry_, overview_, published_),
      subtree_(kernel_, secrets_),
      enrolment_(kernel_, tokens_, ban_registry_, secrets_, published_, subtree_),
      hosts_(kernel_),
      admins_(kernel_, admin_tokens_),
      logins_(kernel_, admin_tokens_),
      audit_(kernel_),
      bans_(kernel_, ban_registry_, secrets_),
      codes_(
          kernel_, [this] { return overview_.listening_port(); }, secrets_),
      relays_(kernel_, enrolment_, codes_, subtree_, secrets_, published_),
      stages_(kernel_),
      commits_(kernel_, upload_accounts_, secrets_),
      work_(kernel_, commits_, secrets_),
      uploads_(kernel_, upload_accounts_),
      downloads_(kernel_),
      addresses_(kernel_, uploads_, secrets_),
      applications_(kernel_, secrets_),
      problems_(kernel_),
      previews_(kernel_),
      accepted_items_(kernel_),
      ticker_(kernel_, upload_accounts_, audit_, revocation_watch_, scrub_, views_, problems_, subtree_,
              work_) {}

Service::~Service() {
  stop();
}

Status Service::check_project() {
  storage::Store& store = kernel_.store();
  TRY(store.begin());
  TRY_ASSIGN(const auto project, store.get_value("project"));
  if (project && *project != secrets_.project) {
    store.rollback();
    return Error{ErrorKind::invalid,
                 "the store in " + kernel_.settings().directory.root().string() +
                     " belongs to another project than the keys beside it: restore both from the "
                     "same backup"};
  }
  if (!project) TRY(store.set_value("project", secrets_.project));
  TRY_ASSIGN(const auto audit_key, store.get_value("audit_key"));
  if (!audit_key) TRY(store.set_value("audit_key", to_base64url(crypto::random_secret(32))));
  if (kernel_.settings().relay.valid()) TRY(number_units(store, kernel_.settings().relay));
  // Nobody can change anything at a relay but through the project.
  const protocol::Role role = kernel_.parent() == nullptr ? protocol::Role::own : protocol::Role::view;
  TRY(store_project_token(store, secrets_, role, kernel_.clock().now()));
  TRY(store_default_code(store, secrets_, kernel_.clock().now()));
  return store.commit();
}

// Before anything is answered: what was revoked while the server was down holds from its first answer on.
Status Service::open_revocations() {
  storage::Store& store = kernel_.store();
  TRY_ASSIGN(crypto::Revocations newest, stored_revocations(store));
  const std::int64_t stored = newest.number();
  const bool has_file = kernel_.files().exists(kernel_.settings().directory.revocations());
  if (const auto list = revocation_watch_.look(); list && list->number() > stored) {
    newest = *list;
    TRY(store.begin());
    TRY(store_revocations(store, newest));
    TRY(store.commit());
  } else if (kernel_.parent() == nullptr && stored > 0 && (!has_file || (list && list->number() < stored))) {
    spdlog::warn("keys/revocations.json is {}, and list {} is known here: the newer one holds; put it back",
                 has_file ? "an older list" : "gone", stored);
  }
  if (newest.number() == 0) return {};
  if (to_hex(crypto::fingerprint(newest.statement().key)) != secrets_.project)
    return Error{ErrorKind::invalid, "the revocation list in the store is of another project"};
  TRY(check_own_keys(newest, secrets_));
  published_.set(newest);
  return {};
}

// A relay checks and combines nothing.
Status Service::prepare_managers() {
  if (kernel_.parent() != nullptr) return {};
  TRY_ASSIGN(const auto restored,
             restore_bundles(kernel_.store(), kernel_.blobs(), kernel_.settings().directory));
  for (const auto& line : restored) spdlog::warn("{}", line);
  return {};
}

void Service::tell_of_sandbox() {
  if (kernel_.parent() != nullptr) return;
  const ManagerSandbox& sandbox = kernel_.managers().sandbox();
  if (sandbox.refusal().empty())
    spdlog::info("{}", sandbox.describe());
  else
    spdlog::warn("{}", sandbox.refusal());
}

Status Service::start() {
  tell_of_sandbox();
  TRY(kernel_.blobs().open(secrets_.project));
  if (const Status there = kernel_.blobs().health(); !there.ok())
    spdlog::warn("{}: results of more than 64 KiB wait until it is back", there.error().message);
  TRY(check_project());
  TRY(open_revocations());
  TRY(audit_.open(kernel_.store()));
  overview_.watch([this] { return audit_.doubt(); });
  TRY(scrub_.restore(kernel_.store()));
  TRY(subtree_.restore(kernel_.store()));
  TRY(prepare_managers());
  const Status loaded = kernel_.writer().reload();
  TRY(kernel_.store().checked());  // of a damaged store it says more than what could not be read
  TRY(loaded);
  tokens_.rebuild(kernel_.writer().model());
  admin_tokens_.rebuild(kernel_.writer().model());
  ban_registry_.set(std::make_shared<const BanTable>(kernel_.writer().model()));
  kernel_.writer().start([this](std::vector<Effect> effects) { jobs_.perform(std::move(effects)); },
                         [this](std::vector<Writer::Answer> answers) { kernel_.answer(std::move(answers)); },
                         resume_problems, advance_due);
  kernel_.writer().submit_surely(stop_revoked);
  subtree_.tell();
  return {};
}

void Service::stop() {
  ticker_.stop();
  notices_.stop();
  audit_.store_refusals();
  subtree_.stop();
  work_.stop_waiting();
  kernel_.stop();
  ticker_.note_generation();
  audit_.note_last_head();
}

}  // namespace gleaner::service
