// A file that is sent: its bytes are taken before, so that many at a time are counted, and given back as far
// as they did not go.
#pragma once

#include <cstdint>
#include <memory>

#include "server/service/core/load.h"

namespace gleaner::http {

class Transfer {
 public:
  Transfer(const service::Load::Account& account, std::int64_t bytes) : account_(account), bytes_(bytes) {
    account_.take(bytes_);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() { account_.give_back(bytes_ - moved_); }
  // How much of it went: Response::FilePart::moved.
  [[nodiscard]] static std::shared_ptr<std::int64_t> begin(const service::Load::Account& account,
                                                           std::int64_t bytes) {
    const auto transfer = std::make_shared<Transfer>(account, bytes);
    return {transfer, &transfer->moved_};
  }

 private:
  const service::Load::Account account_;
  const std::int64_t bytes_;
  std::int64_t moved_ = 0;
};

}  // namespace gleaner::http
