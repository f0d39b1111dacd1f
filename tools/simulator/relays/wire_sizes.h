// Bytes of the bodies that hosts and servers exchange, taken from the real encoder once, so that messages
// that are never written can be weighed. Results and inputs come on top; HTTP and TLS do not.
#pragma once

namespace gleaner::simulator {

struct WireSizes {
  double request = 0, reply = 0;           // without anything in them
  double commit = 0, acknowledgement = 0;  // one segment, its signed answer
  double report = 0, order = 0;            // one unit
  double slot = 0, grant = 0;              // one slot that asks, its signed grant
};

[[nodiscard]] const WireSizes& wire_sizes();

}  // namespace gleaner::simulator
