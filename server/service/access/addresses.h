// Addresses in the object store, given to hosts under the work key's signature, so that their bytes do not
// pass the server (storage::BlobStore::address). Thread-safe.
#pragma once

#include <string>

#include "server/service/core/kernel.h"
#include "server/service/work/uploads.h"

namespace gleaner::service {

class Addresses {
 public:
  Addresses(Kernel& kernel, Uploads& uploads, const ProjectSecrets& secrets)
      : kernel_(kernel), uploads_(uploads), secrets_(secrets) {}

  // Of a blob: a BlobAddress. Whether it is there is the store's to say. not_found: there are no addresses.
  void of_blob(HostId host, const std::string& digest, const Done<protocol::SignedStatement>& done);
  // Of what an upload of that host still lacks: PutAddresses. What it may upload and not commit is bounded as
  // for uploads.
  void of_upload(HostId host, const std::string& digest, std::int64_t bytes,
                 const Done<protocol::SignedStatement>& done);

 private:
  Kernel& kernel_;
  Uploads& uploads_;
  const ProjectSecrets& secrets_;
};

}  // namespace gleaner::service
