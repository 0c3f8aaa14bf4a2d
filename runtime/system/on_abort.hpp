#pragma once
// What is tried before an abort ends the process.

namespace quarkstar::runtime {

/// While it is there, abort() calls a function first, on the thread that aborts, which may never return: libraries abort where they meet an
/// error that they do not expect, and then only a new program can go on. Where the function returns, or aborts itself, the process ends as
/// it would have without. It must not need what that thread may hold. Signals of other processes (kill -ABRT) are left alone, since they
/// meet a thread in the middle of anything. One at a time.
class OnAbort {
 public:
  explicit OnAbort(void (*what)());
  ~OnAbort();
  OnAbort(const OnAbort&) = delete;
  OnAbort& operator=(const OnAbort&) = delete;
};

}  // namespace quarkstar::runtime
