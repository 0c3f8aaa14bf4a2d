#pragma once
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::runtime {

/// While it lives, kernels of this worker start when the one before them has ended.
class OneByOne {
 public:
  OneByOne() { launch_one_by_one(true); }
  ~OneByOne() { launch_one_by_one(before_); }
  OneByOne(const OneByOne&) = delete;
  OneByOne& operator=(const OneByOne&) = delete;

 private:
  bool before_ = launches_one_by_one();
};

}  // namespace quarkstar::runtime
