#pragma once
// What the machine's parts draw, for policies that weigh joules.
#include <string>
#include <string_view>

namespace quarkstar::runtime {

/// Watts of one device while it does nothing and while its kernels run.
struct PowerDraw {
  double idle = 0, busy = 0;
};

/// cpu: all CPU workers of a session together; cuda: one GPU; host: what is drawn whatever runs.
struct MachinePower {
  PowerDraw cpu{60, 250}, cuda{75, 500};
  double host = 100;
  std::string origin = "assumed";  ///< "assumed", "given" or "measured"
};

/// Reads "cpu=IDLE:BUSY,cuda=IDLE:BUSY,host=WATTS", any of the three, in any order; what is left out keeps its assumed value.
/// Throws Error(input) naming `where` and the part for unknown names, for what is no number and where busy is below idle.
MachinePower parse_power(std::string_view text, const std::string& where);

}  // namespace quarkstar::runtime
