// Runs the hot kernels of one architecture so that their instructions can be counted (instructions.sh).
//   count_instructions list            architectures of this machine
//   count_instructions ARCH sites      kernels in order, and sites between the two runs of each
//   count_instructions ARCH run        runs each kernel on few and on more outer sites, in measured(): for callgrind
//   count_instructions ARCH step       the same one instruction at a time (Linux, x86): for instructions that callgrind does not know.
//                                      Prints for each kernel every address (as in the file) that the additional sites executed, and how
//                                      often.
// What a kernel does once, before its loop, is in both runs and so not in the difference.
#include "codelets/actions/staggered/dslash_kernels.hpp"
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "codelets/arch/lane_bytes.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/field/blas_kernels.hpp"
#include "tests/kernels/staggered_case.hpp"
#include "tests/kernels/wilson_case.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>

#if defined(__linux__) && defined(__x86_64__)
#include <link.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#endif

using namespace quarkstar;
using namespace quarkstar::kernels;

namespace {

constexpr int few = 2, more = 4;  ///< outer sites

struct HotKernel {
  std::string name;
  int lanes;  ///< sites of an outer site
  std::function<void(int)> run;
};

/// Lanes of a layout for the architecture in use.
template <class F>
int usual_lanes() {
  return arch::lane_bytes() / static_cast<int>(sizeof(Real<F>));
}

template <class F>
HotKernel wilson_kernel(int reals, int vectors = 1) {
  const auto c = std::make_shared<WilsonCase<F>>(usual_lanes<F>(), reals, more, false, vectors);
  const auto kernel = wilson::hopping_kernel<F>({usual_lanes<F>(), reals, 1, wilson::default_launch});
  const std::string several = vectors > 1 ? " n " + std::to_string(vectors) : "";
  return {"wilson " + std::string(name_of(NumberFormat<F>::precision)) + " " + std::to_string(reals) + several, usual_lanes<F>(),
          [c, kernel](int outer) { kernel(c->arguments, 0, outer, nullptr, nullptr); }};
}

template <class F>
HotKernel staggered_kernel(int vectors) {
  const auto c = std::make_shared<StaggeredCase<F>>(usual_lanes<F>(), vectors, 18, more, false);
  const auto kernel = staggered::dslash_kernel<F>({usual_lanes<F>(), 18});
  return {"staggered " + std::string(name_of(NumberFormat<F>::precision)) + " n " + std::to_string(vectors), usual_lanes<F>(),
          [c, kernel](int outer) { kernel(c->arguments, 0, outer, nullptr, nullptr); }};
}

/// Fields of one lane are as good as those with vectors in lanes: what their numbers are does not matter.
template <class F>
HotKernel staggered_kernel_in_lanes(int vectors) {
  const auto c = std::make_shared<StaggeredCase<F>>(1, vectors, 18, more, false);
  const auto kernel = staggered::dslash_kernel<F>({.lanes = 1, .link_reals = 18, .vectors_in_lanes = 64 / sizeof(Real<F>)});
  return {"staggered " + std::string(name_of(NumberFormat<F>::precision)) + " in lanes n " + std::to_string(vectors), 1,
          [c, kernel](int outer) { kernel(c->arguments, 0, outer, nullptr, nullptr); }};
}

template <class F, class Operation>
HotKernel blas_operation() {
  Numbers numbers(3);
  const auto fields = std::make_shared<std::vector<MadeUpField<F, 12>>>();
  blas::Arguments<F> a{};
  a.vectors = 1;
  a.lanes = usual_lanes<F>();
  for (int i = 0; i < blas::field_count<Operation>; ++i) fields->emplace_back(numbers, more, a.lanes);
  for (int i = 0; i < blas::field_count<Operation>; ++i) a.fields[i] = (*fields)[static_cast<std::size_t>(i)].stored.data();
  for (int& vectors : a.vectors_of) vectors = 1;
  blas::Numbers<F> coefficients{};
  for (auto& of_one : coefficients.re) of_one[0] = static_cast<Real<F>>(0.25);
  const arch::KernelTable<blas::Kernel<F> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(blas_kernel<F, spinor_components, Operation>);
  const auto kernel = table.current()(a.lanes);
  return {std::string(Operation::name) + " " + std::string(name_of(NumberFormat<F>::precision)), a.lanes,
          [fields, a, coefficients, kernel](int outer) {
            runtime::BinnedSum sums[3] = {runtime::BinnedSum::zero(), runtime::BinnedSum::zero(), runtime::BinnedSum::zero()};
            kernel(a, coefficients, 0, outer, sums);
          }};
}

template <class F>
void add_kernels(std::vector<HotKernel>& kernels) {
  for (const int reals : {18, 12, 8}) kernels.push_back(wilson_kernel<F>(reals));
  kernels.push_back(wilson_kernel<F>(12, 8));
  for (const int vectors : {1, 4}) kernels.push_back(staggered_kernel<F>(vectors));
  kernels.push_back(staggered_kernel_in_lanes<F>(16));
  kernels.push_back(blas_operation<F, blas::AddScaled>());
  kernels.push_back(blas_operation<F, blas::AddScaledNorm>());
  kernels.push_back(blas_operation<F, blas::CgSolutionDirection>());
  kernels.push_back(blas_operation<F, blas::BicgstabSolutionResidual>());
}

}  // namespace

/// callgrind finds it by name. The barrier keeps the call from becoming a jump.
__attribute__((noinline)) void measured(const HotKernel& kernel, int outer) {
  kernel.run(outer);
  asm volatile("" ::: "memory");
}

namespace {

#if defined(__linux__) && defined(__x86_64__)
/// Where the program has been loaded.
std::uint64_t base_address() {
  std::uint64_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<std::uint64_t*>(result) = info->dlpi_addr;
        return 1;  // the program comes first
      },
      &base);
  return base;
}

bool stopped(int child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
}

/// Steps until the child stops by itself; adds `weight` for each instruction at its address.
bool step(int child, std::map<std::uint64_t, int>& executed, int weight) {
  for (;;) {
    user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, child, nullptr, &registers) != 0) return false;
    executed[registers.rip] += weight;
    int status = 0;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return false;
    if (WSTOPSIG(status) == SIGSTOP) return true;
  }
}

/// 0; 77 where processes may not trace their children.
int step_through(const std::vector<HotKernel>& kernels) {
  const int child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
    for (const HotKernel& kernel : kernels) {
      measured(kernel, few);
      for (const int outer : {few, more}) {
        raise(SIGSTOP);
        measured(kernel, outer);
        raise(SIGSTOP);
      }
    }
    _exit(0);
  }
  const std::uint64_t base = base_address();
  for (const HotKernel& kernel : kernels) {
    std::map<std::uint64_t, int> executed;
    for (const int weight : {-1, 1}) {
      if (!stopped(child) || !step(child, executed, weight)) return 77;
      ptrace(PTRACE_CONT, child, nullptr, nullptr);
    }
    std::printf("kernel %s\n", kernel.name.c_str());
    for (const auto& [address, times] : executed)
      if (times != 0) std::printf("%llx %d\n", static_cast<unsigned long long>(address - base), times);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return 0;
}
#else
int step_through(const std::vector<HotKernel>&) { return 77; }
#endif

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::strcmp(words[1], "list") == 0) {
    for (const arch::Architecture a : arch::available()) std::printf("%s\n", std::string(arch::name_of(a)).c_str());
    return 0;
  }
  if (count != 3) {
    std::fprintf(stderr, "usage: count_instructions list | ARCHITECTURE sites|run|step\n");
    return 2;
  }
  arch::force(arch::parse(words[1]));
  std::vector<HotKernel> kernels;
  add_kernels<double>(kernels);
  add_kernels<float>(kernels);
  add_kernels<Half>(kernels);
  const std::string what = words[2];
  if (what == "step") return step_through(kernels);
  if (what == "sites") {
    for (const HotKernel& kernel : kernels) std::printf("%d %s\n", (more - few) * kernel.lanes, kernel.name.c_str());
    return 0;
  }
  for (const HotKernel& kernel : kernels) kernel.run(few);  // binds the functions of shared libraries
  // callgrind gives what happens from one call to the next: the last one only ends the one before.
  for (std::size_t call = 0; call <= 2 * kernels.size(); ++call) measured(kernels[call / 2 % kernels.size()], call % 2 == 0 ? few : more);
  return 0;
}
