// The list that is audited: who has which digest. Read from a file, or made up: passwords as people choose
// them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/passwords/engine.h"
#include "shared/base/result.h"

namespace gleaner::passwords {

struct Account {
  std::string name;
  std::string digest;  // raw bytes
};

// A line an account: `NAME:HEX`, or `HEX` alone (the name is then its line number). White space around it,
// empty lines and lines that start with '#' do not count. invalid with the number of the first wrong line.
[[nodiscard]] Result<std::vector<Account>> read_accounts(Algorithm algorithm, std::string_view text);

// The password of account `number` of a made-up list. The same everywhere for a seed.
[[nodiscard]] std::string made_up_password(std::uint64_t seed, std::int64_t number);
[[nodiscard]] std::vector<Account> made_up_accounts(Algorithm algorithm, std::uint64_t seed,
                                                    std::int64_t count);

}  // namespace gleaner::passwords
