// Lists of password digests: the first byte chooses the algorithm. What is accepted has whole digests.
#include "apps/passwords/accounts.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::passwords;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Algorithm algorithm = data[0] % 3 == 0   ? Algorithm::md5
                              : data[0] % 3 == 1 ? Algorithm::sha1
                                                 : Algorithm::sha256;
  const auto accounts = read_accounts(algorithm, fuzz::text_of(data + 1, size - 1));
  if (!accounts.ok()) {
    CHECK_TRUE(!accounts.error().message.empty());
    return 0;
  }
  for (const Account& account : *accounts) CHECK_TRUE(account.digest.size() == digest_bytes(algorithm));
  return 0;
}
