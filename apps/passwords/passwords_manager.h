// What the blocks mean: which digests are looked for, whether a block was really searched, and the report.
//
// Among the digests that kernels get are those of candidates that the manager drew (a few thousand blocks
// have one): a kernel cannot tell them from the list's, and a block that comes back without its own was not
// searched. Hits are checked by hashing them again.
#pragma once

#include <map>
#include <vector>

#include "apps/kit/manager.h"
#include "apps/passwords/accounts.h"
#include "apps/passwords/report.h"
#include "apps/passwords/settings.h"

namespace gleaner::passwords {

class PasswordsManager final : public kit::Manager {
 public:
  [[nodiscard]] Status check(const kit::Problem& problem) override;
  [[nodiscard]] Result<std::optional<kit::Stage>> plan(int stage) override;
  [[nodiscard]] Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override;
  [[nodiscard]] Status combine(int stage, kit::ItemSource& items, kit::Output& output) override;
  [[nodiscard]] Status preview(int stage, kit::ItemSource& items, kit::Output& output) override;

 private:
  [[nodiscard]] Status load_targets();
  [[nodiscard]] Status check_block(std::int64_t item, std::string_view bytes) const;
  [[nodiscard]] Status report(kit::ItemSource& items, kit::Output& output);

  Settings settings_;
  std::vector<Account> accounts_;
  std::optional<Targets> targets_;                // once they are needed
  std::map<std::int64_t, std::int64_t> planted_;  // item: position of the manager's own candidate
};

}  // namespace gleaner::passwords
