#pragma once
// Between the reference's fields and the package's, and the cases that every battery runs over.
#include "codelets/actions/wilson/hopping.hpp"
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/field.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/graph/session.hpp"
#include "tests/reference/field.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/wilson.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace quarkstar::battery {

inline HostField to_host(const reference::Field& field) {
  HostField host(spinor_components, field.extents);
  host.data = field.data;
  return host;
}

inline reference::Field to_reference(const HostField& host) {
  reference::Field field(host.extents, host.components / 3);
  field.data = host.data;
  return field;
}

inline bool same_bits(const HostField& a, const HostField& b) {
  return a.data.size() == b.data.size() && std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof a.data[0]) == 0;
}

/// One layout and kernel choice of the hopping term.
struct HoppingCase {
  Coord lattice, blocks;
  Precision precision = Precision::double_;
  int link_reals = 18;
  int most_lanes = 16;
  Coord tile{};
  int block_threads = 0;
  arch::MemoryAccess memory = wilson::default_launch.memory;
  std::string text() const;
};

inline std::string HoppingCase::text() const {
  const auto numbers = [](const Coord& c) {
    return std::to_string(c[0]) + "," + std::to_string(c[1]) + "," + std::to_string(c[2]) + "," + std::to_string(c[3]);
  };
  return "lattice " + numbers(lattice) + " blocks " + numbers(blocks) + " " + std::string(name_of(precision)) + " links " +
         std::to_string(link_reals) + " lanes <= " + std::to_string(most_lanes) + " tile " + numbers(tile) + " block " +
         std::to_string(block_threads) + " " + std::string(arch::name_of(arch::current()));
}

/// The package's hopping term on both parities, from host fields and back. Needs a session.
class HoppingHarness {
 public:
  HoppingHarness(const HoppingCase& c, const HostGauge& gauge, const BoundaryAngles& boundary)
      : decomposition_(c.lattice, c.blocks, static_cast<int>(runtime::Session::current().workers().size())),
        lattice_(std::make_shared<Lattice>(decomposition_, c.precision, boundary, LayoutRequest{.most_lanes = c.most_lanes, .tile = c.tile})),
        even_(lattice_, 0, c.link_reals),
        odd_(lattice_, 1, c.link_reals) {
    transfer::load_links(even_, odd_, gauge);
    hopping_ = std::make_unique<wilson::Hopping>(even_, odd_);
    hopping_->set_launch({c.block_threads, 0, c.memory});
  }

  /// H psi (or its adjoint) on the whole lattice.
  HostField apply(const HostField& psi, bool adjoint = false) {
    HostField result(spinor_components, psi.extents);
    for (int parity = 0; parity < 2; ++parity) {
      const Field in(lattice_, 1 - parity, spinor_components), out(lattice_, parity, spinor_components);
      transfer::load(in, psi);
      hopping_->apply(out, in, {}, adjoint);
      transfer::store(result, out);
    }
    runtime::Session::current().wait_all();
    return result;
  }

  const LatticePointer& lattice() const { return lattice_; }
  wilson::Hopping& hopping() { return *hopping_; }

 private:
  runtime::Decomposition decomposition_;
  LatticePointer lattice_;
  LinkField even_, odd_;
  std::unique_ptr<wilson::Hopping> hopping_;
};

/// Runs body once for each architecture of this machine, then restores the choice.
template <class Body>
void for_architectures(Body&& body) {
  const arch::Architecture chosen = arch::current();
  for (const arch::Architecture architecture : arch::available()) {
    arch::force(architecture);
    body();
  }
  arch::force(chosen);
}

}  // namespace quarkstar::battery
