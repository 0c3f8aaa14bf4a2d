#include "solvers/solve_state.hpp"

#include "codelets/field/transfer.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <cstring>

namespace quarkstar {
namespace {

/// to's sites beside those of the parity = from's sites of that parity, or (back) the other way round. The extent in x and the origin are
/// even, so neighbours in x follow each other.
void move_beside(HostField& to, const HostField& from, int parity, bool back) {
  const auto components = static_cast<std::size_t>(from.components);
  for (std::int64_t site = 0; site < volume(from.extents); ++site) {
    if (parity_of(site_of(from.box(), site)) != parity) continue;
    const auto here = static_cast<std::size_t>(site) * components, beside = static_cast<std::size_t>(site ^ 1) * components;
    std::copy_n(&from.data[back ? beside : here], components, &to.data[back ? here : beside]);
  }
}

}  // namespace

CorrectionNumbers correction_numbers(const SolveState& state) {
  if (state.numbers.size() < sizeof(CorrectionNumbers)) throw ShapeError("SolveState", "numbers are missing");
  CorrectionNumbers numbers;
  std::memcpy(&numbers, state.numbers.data(), sizeof numbers);
  return numbers;
}

std::span<const std::byte> krylov_numbers(const SolveState& state) {
  return std::span(state.numbers).subspan(std::min(state.numbers.size(), sizeof(CorrectionNumbers)));
}

void store_halves(std::vector<HostField>& host, std::span<const Field* const> fields, const Box& part) {
  for (std::size_t i = 0; i < fields.size(); i += 2) {
    const Field& first = *fields[i];
    const auto n = static_cast<std::size_t>(first.site_vectors());
    std::vector<HostField> own(n, HostField(first.components(), part)), second;
    if (i + 1 < fields.size()) second = own;
    transfer::store(own, first);
    if (!second.empty()) transfer::store(second, *fields[i + 1]);
    runtime::Session::current().wait_all();
    for (std::size_t v = 0; v < second.size(); ++v) move_beside(own[v], second[v], first.parity(), false);
    std::move(own.begin(), own.end(), std::back_inserter(host));
  }
}

void load_halves(std::span<const Field* const> fields, std::span<const HostField> host) {
  if (fields.empty() || host.size() != (fields.size() + 1) / 2 * static_cast<std::size_t>(fields[0]->site_vectors()))
    throw ShapeError("SolveState", "another number of fields");
  for (std::size_t i = 0; i < fields.size(); i += 2) {
    const auto n = static_cast<std::size_t>(fields[i]->site_vectors());
    const std::span<const HostField> own = host.subspan(i / 2 * n, n);
    std::vector<HostField> second;
    transfer::load(*fields[i], own);
    if (i + 1 < fields.size()) {
      for (const HostField& both : own) move_beside(second.emplace_back(both.components, both.box()), both, fields[i]->parity(), true);
      transfer::load(*fields[i + 1], second);
    }
    runtime::Session::current().wait_all();
  }
}

}  // namespace quarkstar
