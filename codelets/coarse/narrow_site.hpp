#pragma once
#include "codelets/arch/items.hpp"
#include "codelets/coarse/binary16.hpp"

namespace quarkstar::coarse {

struct NarrowTask {
  std::int64_t numbers;
};

/// The same numbers in 16 bits.
struct Narrow {
  static constexpr const char* name = "coarse.narrow";
  static constexpr auto kind = runtime::CodeletKind::copy;
  static std::int64_t items(const NarrowTask& task) { return task.numbers; }
  QUARKSTAR_HD static void run(const NarrowTask&, std::int64_t item, Binary16* narrow, const float* wide) {
    narrow[item] = narrowed(wide[item]);
  }
};

}  // namespace quarkstar::coarse
