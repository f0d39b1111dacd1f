// Hosts that join, each with a key and a machine of its own. One thread.
#pragma once

#include <string>
#include <vector>

#include "shared/protocol/join_code.h"
#include "tools/loadgen/hosts_file.h"
#include "tools/loadgen/script.h"

namespace gleaner::loadgen {

class Enrolment final : public Script {
 public:
  Enrolment(const protocol::JoinCode& code, std::string authority, std::int64_t hosts);
  std::size_t hosts() const override { return machines_.size(); }
  Request request(std::size_t host) override;
  Next answered(std::size_t host, const Response& response) override;
  [[nodiscard]] std::vector<EnrolledHost> take() { return std::move(enrolled_); }

 private:
  const protocol::JoinCode code_;
  const std::string authority_;
  std::vector<Bytes> machines_;  // 32 random bytes each: its key, from which its machine is made
  std::vector<EnrolledHost> enrolled_;
};

}  // namespace gleaner::loadgen
