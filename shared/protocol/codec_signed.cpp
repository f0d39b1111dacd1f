#include "shared/protocol/codec_parts.h"
#include "shared/protocol/fields_signed.h"

namespace gleaner::protocol {

GLEANER_INSTANTIATE_CODEC(SignedStatement);
GLEANER_INSTANTIATE_CODEC(KeyCertificate);
GLEANER_INSTANTIATE_CODEC(RevokedKey);
GLEANER_INSTANTIATE_CODEC(RevokedTlsKey);
GLEANER_INSTANTIATE_CODEC(RevokedArchive);
GLEANER_INSTANTIATE_CODEC(MinimumVersion);
GLEANER_INSTANTIATE_CODEC(RevocationList);
GLEANER_INSTANTIATE_CODEC(ProjectDocument);
GLEANER_INSTANTIATE_CODEC(ApplicationStatement);
GLEANER_INSTANTIATE_CODEC(Input);
GLEANER_INSTANTIATE_CODEC(BegunItem);
GLEANER_INSTANTIATE_CODEC(GrantContext);
GLEANER_INSTANTIATE_CODEC(Grant);
GLEANER_INSTANTIATE_CODEC(BlobAddress);
GLEANER_INSTANTIATE_CODEC(PartAddress);
GLEANER_INSTANTIATE_CODEC(PutAddresses);
GLEANER_INSTANTIATE_CODEC(Acknowledgement);

}  // namespace gleaner::protocol
