#include "runtime/mpi/agreement.hpp"

#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/native.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar::runtime::mpi {
namespace {

/// Bits of a NaN depend on the processor: all of them count as one.
std::uint64_t fingerprint_of_numbers(std::vector<double> numbers) {
  for (double& number : numbers)
    if (number != number) number = 0;
  return fingerprint(std::as_bytes(std::span(numbers)));
}

/// All ranks come here at the same place. Nothing is unwound: tasks that are on the graph may wait for messages that a rank with another
/// stop flag never sends. when: "after 12 iterations".
[[noreturn]] void end_unlike_ranks(Job& job, std::uint64_t mine, const std::string& when) {
  const std::string difference = describe_difference(job.gather(mine), [&job](int rank) { return job.name_of(rank); });
  const Error error(ErrorKind::environment, "states of ranks", fmt::format("{} {}", difference, when),
                    "memory, a processor or the network has changed them: test those hosts (`quarkstar machine --self-test`), then start "
                    "again, from restart files where there are some");
  const auto code = static_cast<int>(ErrorKind::environment);
  if (const Host* const program = host(); program == nullptr) job.fail(error.what(), code, true);
  else if (program->error) program->error(error.what());
  job.barrier();  // printed
  job.abort(code);
}

}  // namespace

std::uint64_t fingerprint(std::span<const std::byte> bytes, std::uint64_t before) {
  // Each step is a bijection of the fingerprint for one word, and of the word for one fingerprint.
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ull, other_odd = 0xbf58476d1ce4e5b9ull;
  std::uint64_t print = before ^ bytes.size();
  for (std::size_t done = 0; done < bytes.size(); done += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + done, std::min(sizeof word, bytes.size() - done));
    print = (print ^ word) * odd;
    print = (print ^ print >> 32) * other_odd;
    print ^= print >> 29;
  }
  return print;
}

void require_alike(Job& job, std::span<const double> numbers, const char* what) {
  if (!job.is_distributed() || job.is_fake()) return;
  const std::uint64_t print = fingerprint_of_numbers({numbers.begin(), numbers.end()});
  std::uint64_t words[] = {print, ~print};
  job.combine(std::span<std::uint64_t>(words), Combine::maximum);
  if (words[0] != ~words[1]) end_unlike_ranks(job, print, fmt::format("in a {} outside of iterations", what));
}

Look look_together(Job& job, std::span<const std::byte> state, int iterations, const Look& mine) {
  if (!job.is_distributed() || job.is_fake()) return mine;
  std::vector<double> numbers(state.size() / sizeof(double));
  std::memcpy(numbers.data(), state.data(), numbers.size() * sizeof(double));
  const std::uint64_t print = fingerprint_of_numbers(std::move(numbers));
  // Bits of doubles that are not negative are in their order. All fingerprints are equal if the largest is the smallest.
  std::uint64_t words[] = {print, ~print, mine.ends ? std::uint64_t{1} : 0, std::bit_cast<std::uint64_t>(mine.seconds)};
  job.combine(std::span<std::uint64_t>(words), Combine::maximum);
  if (words[0] != ~words[1]) end_unlike_ranks(job, print, fmt::format("after {} iterations", iterations));
  return {words[2] != 0, std::bit_cast<double>(words[3])};
}

std::string describe_difference(std::span<const std::uint64_t> fingerprints, const std::function<std::string(int rank)>& name_of) {
  std::map<std::uint64_t, std::size_t> ranks_with;
  for (const std::uint64_t print : fingerprints) ++ranks_with[print];
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [most_have, most] = *std::max_element(ranks_with.begin(), ranks_with.end(), fewer);
  const bool majority = 2 * most > fingerprints.size();
  std::vector<std::string> named;
  for (std::size_t rank = 0; rank < fingerprints.size(); ++rank)
    if (!majority || fingerprints[rank] != most_have) named.push_back(name_of(static_cast<int>(rank)));
  const std::string names = fmt::format("{}", fmt::join(named, ", "));
  if (!majority) return fmt::format("{} do not have the same numbers", names);
  return fmt::format("{} {} other numbers than {} other ranks", names, named.size() == 1 ? "has" : "have", most);
}

}  // namespace quarkstar::runtime::mpi
