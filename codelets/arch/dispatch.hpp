#pragma once
// Which CPU architecture's kernels run. Chosen once: the widest that both the build and the processor have, or as forced.
#include "quarkstar_architectures.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::arch {

/// Those that kernels can be compiled for, narrowest first.
#define QUARKSTAR_ENUMERATOR(architecture) architecture,
enum class Architecture { QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_ENUMERATOR) };
#undef QUARKSTAR_ENUMERATOR

#define QUARKSTAR_ONE_MORE(architecture) +1
inline constexpr int architecture_count = QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_ONE_MORE);
#undef QUARKSTAR_ONE_MORE

std::string_view name_of(Architecture architecture);

/// Built, and usable on this processor, narrowest first.
const std::vector<Architecture>& available();

/// The one whose kernels run: force() wins, then $QUARKSTAR_ARCH, then the last of available().
/// Throws Error(input) when the environment names one that this machine or build lacks.
Architecture current();

/// For tests and experiments. Throws Error(input) when it is not available.
void force(Architecture architecture);
/// Throws Error(input) for a name that this build does not know.
Architecture parse(std::string_view name);

/// Kernels of one kind, one entry an architecture (QUARKSTAR_KERNEL_TABLE in table.hpp).
template <class Function>
struct KernelTable {
  Function entries[architecture_count] = {};
  Function of(Architecture a) const { return entries[static_cast<int>(a)]; }
  Function current() const { return of(arch::current()); }
};

}  // namespace quarkstar::arch
