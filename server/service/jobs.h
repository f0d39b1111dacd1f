// Performs what operations ask for (effects.h), after their sync: tokens, files and log lines at once, on the
// writer thread; planning, combining, comparing and mapping on the pool, whose results come back as
// operations that are not lost.
#pragma once

#include <vector>

#include "server/service/core/admin_tokens.h"
#include "server/service/core/ban_registry.h"
#include "server/service/core/kernel.h"
#include "server/service/core/revocations.h"
#include "server/service/core/tokens.h"
#include "server/service/operator/overview.h"

namespace gleaner::service {

class Jobs {
 public:
  Jobs(Kernel& kernel, Tokens& tokens, AdminTokens& admin_tokens, BanRegistry& bans, Overview& overview,
       PublishedRevocations& revocations)
      : kernel_(kernel),
        tokens_(tokens),
        admin_tokens_(admin_tokens),
        bans_(bans),
        overview_(overview),
        revocations_(revocations) {}
  // Writer thread.
  void perform(std::vector<Effect> effects);

 private:
  void perform(effect::Plan job);
  void perform(effect::Combine job);
  void perform(effect::Review job);
  void perform(effect::Map job);
  void perform(const effect::EndManager& end);
  void perform(const effect::AdmitToken& token);
  void perform(const effect::DropToken& token);
  void perform(const effect::RefuseToken& token);
  void perform(const effect::PutAdminToken& token);
  void perform(const effect::SetBans& bans);
  void perform(const effect::RemoveFile& file);
  void perform(const effect::Announce& announce);
  void perform(const effect::PublishRevocations& revocations);
  void perform(const effect::Reload& reload);
  void perform(const effect::LogLine& line);

  Kernel& kernel_;
  Tokens& tokens_;
  AdminTokens& admin_tokens_;
  BanRegistry& bans_;
  Overview& overview_;
  PublishedRevocations& revocations_;
};

}  // namespace gleaner::service
