#include "runtime/decomposition.hpp"

#include <fmt/format.h>

#include <numeric>

#include "runtime/error.hpp"

namespace quarkstar::runtime {
namespace {

constexpr char direction_name[] = {'x', 'y', 'z', 't'};

std::vector<int> equal_parts(int mu, int extent, int parts) {
  // Lane splitting wants extents in multiples of 4, parity wants even x: hand out whole units of the coarsest granularity
  // that still gives every part something.
  for (const int unit : {4, 2, 1}) {
    if (mu == 0 && unit == 1) break;
    if (extent % unit != 0 || extent / unit < parts) continue;
    std::vector<int> cuts(static_cast<std::size_t>(parts), 0);
    for (int u = 0; u < extent / unit; ++u) cuts[static_cast<std::size_t>(u % parts)] += unit;
    return cuts;
  }
  throw Error(ErrorKind::input, "--blocks",
              fmt::format("cannot cut {} = {} into {} parts", direction_name[mu], extent, parts),
              fmt::format("use at most {} parts in {}", mu == 0 ? extent / 2 : extent, direction_name[mu]));
}

void require_even(const Coord& lattice) {
  for (int mu = 0; mu < 4; ++mu)
    if (lattice[mu] < 2 || lattice[mu] % 2 != 0)
      throw Error(ErrorKind::input, "lattice",
                  fmt::format("extent {} = {} is not a positive even number", direction_name[mu], lattice[mu]),
                  "even-odd preconditioning needs even extents in every direction");
}

}  // namespace

Decomposition::Decomposition(const Coord& lattice, const Coord& grid, int workers) : lattice_(lattice) {
  require_even(lattice);
  std::array<std::vector<int>, 4> cuts;
  int count = 1;
  for (int mu = 0; mu < 4; ++mu) {
    if (grid[mu] < 1)
      throw Error(ErrorKind::input, "--blocks", fmt::format("{} blocks in {}", grid[mu], direction_name[mu]),
                  "give four positive numbers, e.g. 1,1,1,2");
    cuts[mu] = equal_parts(mu, lattice[mu], grid[mu]);
    count *= grid[mu];
  }
  std::vector<int> owners(static_cast<std::size_t>(count));
  for (int b = 0; b < count; ++b) owners[static_cast<std::size_t>(b)] = static_cast<int>(std::int64_t{b} * workers / count);
  build(cuts, owners);
}

Decomposition::Decomposition(const Coord& lattice, const std::array<std::vector<int>, 4>& cuts, std::vector<int> owners)
    : lattice_(lattice) {
  require_even(lattice);
  build(cuts, owners);
}

Decomposition Decomposition::uncut(const Coord& lattice, int owner) {
  const std::array<std::vector<int>, 4> cuts{std::vector{lattice[0]}, std::vector{lattice[1]}, std::vector{lattice[2]}, std::vector{lattice[3]}};
  return Decomposition(lattice, cuts, {owner});
}

void Decomposition::build(const std::array<std::vector<int>, 4>& cuts, const std::vector<int>& owners) {
  for (int mu = 0; mu < 4; ++mu) {
    if (std::accumulate(cuts[mu].begin(), cuts[mu].end(), 0) != lattice_[mu])
      throw Error(ErrorKind::input, "blocks",
                  fmt::format("extents {} along {} do not sum to {}", fmt::join(cuts[mu], "+"), direction_name[mu], lattice_[mu]),
                  "give parts that cover the lattice");
    for (const int part : cuts[mu])
      if (part < 1 || (mu == 0 && part % 2 != 0))
        throw Error(ErrorKind::input, "blocks", fmt::format("a block of extent {} along {}", part, direction_name[mu]),
                    "blocks need positive extents, even ones along x");
    grid_[mu] = static_cast<int>(cuts[mu].size());
  }
  const auto count = static_cast<std::size_t>(volume(grid_));
  if (owners.size() != count)
    throw ShapeError("Decomposition", fmt::format("{} owners for {} blocks", owners.size(), count));
  for (std::size_t b = 0; b < count; ++b) {
    Block block;
    block.index = static_cast<int>(b);
    block.position = coordinates(static_cast<std::int64_t>(b), grid_);
    for (int mu = 0; mu < 4; ++mu) {
      const auto part = static_cast<std::size_t>(block.position[mu]);
      block.extents[mu] = cuts[mu][part];
      block.origin[mu] = std::accumulate(cuts[mu].begin(), cuts[mu].begin() + block.position[mu], 0);
    }
    block.owner = owners[b];
    blocks_.push_back(block);
  }
}

int Decomposition::neighbour(int block, int direction) const {
  Coord position = blocks_[static_cast<std::size_t>(block)].position;
  const int mu = direction / 2;
  position[mu] = (position[mu] + (direction % 2 == 0 ? 1 : grid_[mu] - 1)) % grid_[mu];
  return static_cast<int>(lexicographic(position, grid_));
}

std::string Decomposition::describe() const {
  return fmt::format("{} in {} blocks", fmt::join(lattice_, "x"), fmt::join(grid_, "x"));
}

}  // namespace quarkstar::runtime
