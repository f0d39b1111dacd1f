// The server's use cases, made and put together: what the HTTP layer decodes into and encodes out of. Every
// call returns at once; `done` is called exactly once, on a thread of the pool, when the answer would survive
// a power cut. Errors are values with the ErrorKinds that shared/base/result.h explains.
//
// Threads: the writer thread owns the model and the store (writer.h); the pool checks results, talks to
// managers and signs. Which part a use case belongs to says what it is about; all stand on the kernel.
#pragma once

#include <memory>

#include "server/service/access/addresses.h"
#include "server/service/access/admins.h"
#include "server/service/access/bans.h"
#include "server/service/access/codes.h"
#include "server/service/access/enrolment.h"
#include "server/service/access/logins.h"
#include "server/service/access/relays.h"
#include "server/service/access/subtree.h"
#include "server/service/core/kernel.h"
#include "server/service/core/load.h"
#include "server/service/core/revocations.h"
#include "server/service/core/tokens.h"
#include "server/service/jobs.h"
#include "server/service/operator/accepted_items.h"
#include "server/service/operator/applications.h"
#include "server/service/operator/audit.h"
#include "server/service/operator/host_administration.h"
#include "server/service/operator/overview.h"
#include "server/service/operator/previews.h"
#include "server/service/operator/problems.h"
#include "server/service/operator/views.h"
#include "server/service/upkeep/ticker.h"
#include "server/service/upkeep/vitals.h"
#include "server/service/work/commits.h"
#include "server/service/work/downloads.h"
#include "server/service/work/revocation_watch.h"
#include "server/service/work/scrub.h"
#include "server/service/work/stages.h"
#include "server/service/work/uploads.h"
#include "server/service/work/work.h"

namespace gleaner::service {

class Service {
 public:
  // Reads everything, starts the threads and resumes what was under way. The store is that of the directory.
  [[nodiscard]] static Result<std::unique_ptr<Service>> open(Settings settings, ProjectSecrets secrets,
                                                             Dependencies dependencies,
                                                             std::unique_ptr<storage::Store> store);
  ~Service();  // stop()
  // From now on time passes: leases end, plans are made anew, old files go.
  void start_ticking() { ticker_.start(); }
  // Finishes what was taken: nothing acknowledged later, nothing received is dropped silently.
  void stop();

  [[nodiscard]] Enrolment& enrolment() { return enrolment_; }
  [[nodiscard]] HostAdministration& hosts() { return hosts_; }
  [[nodiscard]] Admins& admins() { return admins_; }
  [[nodiscard]] Logins& logins() { return logins_; }
  [[nodiscard]] Views& views() { return views_; }
  [[nodiscard]] Vitals& vitals() { return vitals_; }
  [[nodiscard]] Audit& audit() { return audit_; }
  [[nodiscard]] Bans& bans() { return bans_; }
  [[nodiscard]] Codes& codes() { return codes_; }
  [[nodiscard]] Relays& relays() { return relays_; }
  [[nodiscard]] Subtree& subtree() { return subtree_; }
  [[nodiscard]] Stages& stages() { return stages_; }
  [[nodiscard]] Work& work() { return work_; }
  [[nodiscard]] Commits& commits() { return commits_; }
  [[nodiscard]] Uploads& uploads() { return uploads_; }
  [[nodiscard]] Downloads& downloads() { return downloads_; }
  [[nodiscard]] Addresses& addresses() { return addresses_; }
  [[nodiscard]] Applications& applications() { return applications_; }
  [[nodiscard]] Problems& problems() { return problems_; }
  [[nodiscard]] Previews& previews() { return previews_; }
  [[nodiscard]] AcceptedItems& accepted_items() { return accepted_items_; }
  [[nodiscard]] Overview& overview() { return overview_; }
  [[nodiscard]] Ticker& ticker() { return ticker_; }
  [[nodiscard]] Load& load() { return load_; }
  [[nodiscard]] Kernel& kernel() { return kernel_; }

 private:
  Service(Settings settings, ProjectSecrets secrets, Dependencies dependencies,
          std::unique_ptr<storage::Store> store);
  Status start();
  Status check_project();
  Status open_revocations();
  void tell_of_sandbox();
  Status prepare_managers();

  const ProjectSecrets secrets_;
  Kernel kernel_;
  Load load_;
  Tokens tokens_;
  AdminTokens admin_tokens_;
  PublishedRevocations published_;
  RevocationWatch revocation_watch_;
  BanRegistry ban_registry_;
  UploadAccounts upload_accounts_;
  Scrub scrub_;
  Overview overview_;
  Notices notices_;
  Views views_;
  Vitals vitals_;
  Jobs jobs_;
  Subtree subtree_;
  Enrolment enrolment_;
  HostAdministration hosts_;
  Admins admins_;
  Logins logins_;
  Audit audit_;
  Bans bans_;
  Codes codes_;
  Relays relays_;
  Stages stages_;
  Commits commits_;
  Work work_;
  Uploads uploads_;
  Downloads downloads_;
  Addresses addresses_;
  Applications applications_;
  Problems problems_;
  Previews previews_;
  AcceptedItems accepted_items_;
  Ticker ticker_;
};

}  // namespace gleaner::service
