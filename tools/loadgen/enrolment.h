// Hosts that join, each with a key and a machine of its own, and a nonce that it asks for first.
// One thread.
#pragma once

#include <string>
#include <vector>

#include "shared/crypto/keys.h"
#include "shared/protocol/join_code.h"
#include "shared/transport/find_server.h"
#include "tools/loadgen/hosts_file.h"
#include "tools/loadgen/script.h"

namespace gleaner::loadgen {

class Enrolment final : public Script {
 public:
  // `found`: who answers at the code's address.
  Enrolment(const protocol::JoinCode& code, transport::Found found, std::string authority,
            std::int64_t hosts);
  std::size_t hosts() const override { return machines_.size(); }
  Request request(std::size_t host) override;
  Next answered(std::size_t host, const Response& response) override;
  [[nodiscard]] std::vector<EnrolledHost> take() { return std::move(enrolled_); }

 private:
  const protocol::JoinCode code_;
  const transport::Found found_;
  const std::string authority_;
  struct Machine {
    std::optional<crypto::PrivateKey> key;  // what its machine is made from, too
    Bytes nonce;  // that its next request proves the key with; empty: it asks for one
  };
  std::vector<Machine> machines_;
  std::vector<EnrolledHost> enrolled_;
};

}  // namespace gleaner::loadgen
