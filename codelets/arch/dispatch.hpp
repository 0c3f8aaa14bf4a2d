#pragma once
// Which CPU architecture's kernels run. Chosen once: the widest that both the build and the processor have, or as forced.
#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::arch {

enum class Architecture { scalar, avx2, avx512 };
inline constexpr int architecture_count = 3;

std::string_view name_of(Architecture architecture);

/// Compiled in and usable on this processor, narrowest first.
const std::vector<Architecture>& available();

/// The one whose kernels run: force() wins, then $QUARKSTAR_ARCH, then the last of available().
/// Throws Error(input) when the environment names one that this machine or build lacks.
Architecture current();

/// For tests and experiments. Throws Error(input) when it is not available.
void force(Architecture architecture);
Architecture parse(std::string_view name);

/// Kernels of one kind, one entry an architecture; missing ones are nullptr.
template <class Function>
struct KernelTable {
  Function entries[architecture_count] = {};
  Function of(Architecture a) const { return entries[static_cast<int>(a)]; }
  Function current() const { return of(arch::current()); }
};

}  // namespace quarkstar::arch
