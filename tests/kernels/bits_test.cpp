// Checksums of what every kernel makes of made-up blocks. All architectures of all machines must give those of tests/kernels/bits.txt,
// which was written on x86 with AVX-512; QUARKSTAR_WRITE_BITS=FILE writes a new one.
#include "codelets/actions/staggered/dslash_kernels.hpp"
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "codelets/actions/wilson/schwarz_kernels.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/field/blas_kernels.hpp"
#include "codelets/field/convert_site.hpp"
#include "codelets/field/gram_kernels.hpp"
#include "codelets/gauge/smear/smear_kernels.hpp"
#include "tests/kernels/architectures.hpp"
#include "tests/kernels/staggered_case.hpp"
#include "tests/kernels/wilson_case.hpp"
#include "tests/reference/data.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

using namespace quarkstar;
using namespace quarkstar::kernels;
using runtime::BinnedSum;

namespace {

using Results = std::map<std::string, std::uint64_t>;

constexpr int sites = 6;

template <class F>
std::span<const F> all(const std::vector<F>& field) {
  return field;
}

std::vector<BinnedSum> zeros(int count) { return std::vector<BinnedSum>(static_cast<std::size_t>(count), BinnedSum::zero()); }

std::uint64_t checksum_of(const auto& field, const std::vector<BinnedSum>& sums = {}) {
  Checksum checksum;
  checksum.add(all(field));
  for (const BinnedSum& sum : sums) checksum.add(sum);
  return checksum.value();
}

template <class F>
void wilson_kernels(Results& results, int lanes) {
  const std::string where = " " + describe(NumberFormat<F>::precision, lanes);
  for (const int reals : {18, 12, 8})
    for (const int sign : {1, -1})
      for (const int vectors : {1, 3}) {
        WilsonCase<F> c(lanes, reals, sites, true, vectors);
        std::vector<BinnedSum> sums = zeros(3 * vectors);
        wilson::hopping_kernel<F>({lanes, reals, sign, wilson::default_launch})(c.arguments, 0, sites, nullptr, sums.data());
        const std::string what = where + " links " + std::to_string(reals);
        const std::string several = vectors > 1 ? " n " + std::to_string(vectors) : "";
        results["wilson hopping" + what + (sign > 0 ? "" : " adjoint") + several] = checksum_of(c.out, sums);
        if (vectors == 1) results["wilson links" + what] = checksum_of(c.links);
      }
  const WilsonCase<F> c(lanes, 18, sites, true);
  for (int d = 0; d < 8; ++d)
    for (const int sign : {1, -1}) {
      const int stride = c.stride[static_cast<std::size_t>(d / 2)], width = stride == 0 ? lanes : lanes / 2;
      std::vector<Real<F>> face(static_cast<std::size_t>(sites * wilson::face_words<F> * width));
      wilson::pack_kernel<F>(lanes, d, sign)({c.list.data(), c.in.stored.data(), face.data(), stride, 1}, 0, sites);
      results["wilson pack" + where + " direction " + std::to_string(d) + (sign > 0 ? "" : " adjoint")] =
          checksum_of(numbers_of_face<F>(face, width));
    }
}

/// Two domains with neighbours of any kind.
template <class F>
void schwarz_kernels(Results& results, int lanes) {
  constexpr int domains = 2, steps = 2;
  std::vector<std::uint32_t> even, odd, entries[2];
  for (std::uint32_t site = 0; site < domains * sites; ++site) even.push_back(site);
  odd.assign(even.rbegin(), even.rend());
  Numbers numbers(8);
  for (auto& of_parity : entries)
    for (int i = 0; i < sites * 8; ++i) {
      const bool leaves = numbers.below(4) == 0;
      const int neighbour = numbers.below(sites);
      of_parity.push_back(leaves ? wilson::outside_domain : static_cast<std::uint32_t>(neighbour));
    }
  const arch::KernelTable<wilson::SchwarzKernel<F> (*)(int, int)> table = QUARKSTAR_KERNEL_TABLE(schwarz_kernel<F>);
  for (const int reals : {18, 12, 8}) {
    WilsonCase<F> c(lanes, reals, domains * sites, false);
    const wilson::SchwarzKernel<F> kernel = table.current()(lanes, reals);
    std::vector<Real<F>> memory(static_cast<std::size_t>(wilson::schwarz_memory(sites, lanes / kernel.groups)));
    const F* links = c.links.data();
    kernel.run({{even.data(), odd.data()},
                {entries[0].data(), entries[1].data()},
                {links, links},
                c.in.stored.data(),
                c.out.data(),
                static_cast<Real<F>>(1.25),
                static_cast<Real<F>>(-0.0625),
                1,
                sites,
                steps},
               0, domains * kernel.groups, memory.data());
    results["wilson schwarz " + describe(NumberFormat<F>::precision, lanes) + " links " + std::to_string(reals)] = checksum_of(c.out);
  }
}

template <class F>
void staggered_kernels(Results& results, int lanes) {
  const std::string where = " " + describe(NumberFormat<F>::precision, lanes);
  for (const int reals : {0, 18, 14, 13, 9})
    for (const int vectors : {1, 2, 3, 4, 7}) {
      StaggeredCase<F> c(lanes, vectors, reals, sites, true);
      std::vector<BinnedSum> sums = zeros(2 * vectors);
      staggered::dslash_kernel<F>({lanes, reals})(c.arguments, 0, sites, nullptr, sums.data());
      results["staggered dslash" + where + " long " + std::to_string(reals) + " n " + std::to_string(vectors)] = checksum_of(c.out, sums);
    }
  const StaggeredCase<F> c(lanes, 3, 0, sites, true);
  for (int d = 0; d < 8; ++d) {
    const int stride = c.stride[static_cast<std::size_t>(d / 2)];
    std::vector<Real<F>> face(static_cast<std::size_t>(sites * 3 * staggered::vector_words<F> * (stride == 0 ? lanes : lanes / 2)));
    staggered::pack_kernel<F>(lanes, d % 2 == 0)({c.list.data(), c.in.stored.data(), face.data(), stride, 3}, 0, sites);
    results["staggered pack" + where + " direction " + std::to_string(d)] = checksum_of(face);
  }
}

/// Kernels that mix three vectors of a kind.
template <int Components, class F>
void block_kernels(Results& results, const char* kind, const MadeUpField<F, Components>& a, const MadeUpField<F, Components>& b,
                   int lanes) {
  const std::string where = " " + describe(NumberFormat<F>::precision, lanes);
  runtime::ComplexScalar matrix[9];
  Numbers numbers(5);
  for (auto& entry : matrix) entry = {numbers.real(), numbers.real()};
  const arch::KernelTable<blas::MultiplyKernel<F> (*)(int)> multiply = QUARKSTAR_KERNEL_TABLE(multiply_kernel<F, Components>);
  std::vector<F> out(a.stored.size());
  multiply.current()(lanes)({out.data(), b.stored.data(), a.stored.data(), matrix, 3, 3, lanes}, 0, sites);
  results[kind + (" block multiply" + where)] = checksum_of(out);
  const arch::KernelTable<blas::GramKernel<F> (*)(int)> gram = QUARKSTAR_KERNEL_TABLE(gram_kernel<F, Components>);
  std::vector<BinnedSum> sums = zeros(9);
  gram.current()(lanes)({a.stored.data(), b.stored.data(), 3, lanes}, 0, sites, sums.data());
  results[kind + (" block gram" + where)] = checksum_of(std::vector<int>{}, sums);
}

template <class F>
void block_kernels(Results& results, int lanes) {
  const StaggeredCase<F> colours(lanes, 3, 0, sites, true);
  block_kernels<colour_components>(results, "staggered", colours.in, colours.y, lanes);
  const WilsonCase<F> spinors(lanes, 18, sites, true, 3);
  block_kernels<spinor_components>(results, "wilson", spinors.in, spinors.y, lanes);
}

/// On one spinor; on three spinors, and on three colour vectors with real coefficients, of which one is left out.
template <class F, int Components, class Operation>
void blas_operation(Results& results, int lanes, int vectors) {
  constexpr bool is_colour = Components == colour_components;
  const std::int32_t left_out[] = {0, 1, 0};
  Numbers numbers(is_colour ? 4 : 3);
  std::vector<MadeUpField<F, Components>> fields;
  blas::Arguments<F> a{};
  a.vectors = vectors;
  a.lanes = lanes;
  a.left_out = vectors > 1 ? left_out : nullptr;
  for (int i = 0; i < blas::field_count<Operation>; ++i) fields.emplace_back(numbers, sites * vectors, lanes);
  for (int i = 0; i < blas::field_count<Operation>; ++i) {
    a.fields[i] = fields[static_cast<std::size_t>(i)].stored.data();
    a.vectors_of[i] = vectors;
  }
  blas::Numbers<F> coefficients{};
  for (int k = 0; k < Operation::coefficients; ++k)
    for (int v = 0; v < vectors; ++v) {
      coefficients.re[k][v] = static_cast<Real<F>>(numbers.real());
      if (!is_colour) coefficients.im[k][v] = static_cast<Real<F>>(numbers.real());
    }
  const arch::KernelTable<blas::Kernel<F> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(blas_kernel<F, Components, Operation>);
  std::vector<BinnedSum> sums = zeros(Operation::sums * vectors);
  table.current()(lanes)(a, coefficients, 0, sites, sums.data());
  std::vector<F> together;
  for (const auto& field : fields) together.insert(together.end(), field.stored.begin(), field.stored.end());
  const std::string several = vectors > 1 && !is_colour ? " n " + std::to_string(vectors) : "";
  results[(is_colour ? "vectors " : "") + (Operation::name + (" " + describe(NumberFormat<F>::precision, lanes) + several))] =
      checksum_of(together, sums);
}

template <class F>
void kernels_of(Results& results) {
  for (const int lanes : lane_counts(NumberFormat<F>::precision)) {
    wilson_kernels<F>(results, lanes);
    schwarz_kernels<F>(results, lanes);
    staggered_kernels<F>(results, lanes);
    block_kernels<F>(results, lanes);
#define QUARKSTAR_OPERATION(operation)                                                                             \
  for (const int vectors : {1, 3}) blas_operation<F, spinor_components, blas::operation>(results, lanes, vectors); \
  blas_operation<F, colour_components, blas::operation>(results, lanes, 3);
    QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_OPERATION)
#undef QUARKSTAR_OPERATION
  }
}

void smearing(Results& results) {
  for (const bool naik : {false, true}) {
    const gauge::LinkShape in_shape{{6, 2, 2, 2}, {2, 2, 2, 2}}, out_shape{{6, 2, 2, 2}, {}};
    std::vector<double> in(in_shape.reals()), out(out_shape.reals());
    Numbers numbers(6);
    for (double& real : in) real = numbers.real();
    const arch::KernelTable<smear::SmearKernel (*)()> table = QUARKSTAR_KERNEL_TABLE(smear_kernel);
    table.current()()({out.data(), in.data(), out_shape, in_shape, smear::asqtad_weights(0.9), smear::asqtad_naik_weight(0.9), naik}, 0,
                      out_shape.rows());
    results[naik ? "smear naik" : "smear fat"] = checksum_of(out);
  }
}

/// Compiled once for a machine, not for each architecture.
template <class To, class From>
void conversion(Results& results) {
  constexpr int to_lanes = 4, from_lanes = 8;
  const std::string names =
      std::string(name_of(NumberFormat<From>::precision)) + " to " + std::string(name_of(NumberFormat<To>::precision));
  Numbers numbers(7);
  const MadeUpField<From, 12> spinors(numbers, sites, from_lanes);
  const MadeUpField<From, 3> vectors(numbers, sites, from_lanes);
  std::vector<To> spinors_out(static_cast<std::size_t>(2 * sites * spinor_words<To> * to_lanes));
  std::vector<To> vectors_out(static_cast<std::size_t>(2 * sites * staggered::vector_words<To> * to_lanes));
  for (int site = 0; site < sites; ++site)
    for (int lane = 0; lane < from_lanes; ++lane) {
      const int to_site = 2 * site + lane / to_lanes, to_lane = lane % to_lanes;
      const auto convert = [&]<int Components>(std::vector<To>& to, const MadeUpField<From, Components>& from) {
        constexpr int to_words = NumberFormat<To>::site_words(2 * Components), from_words = NumberFormat<From>::site_words(2 * Components);
        convert_vector<Components>(to.data() + VectorPlaces{1, to_lanes, 1}.offset(to_words, to_site, 0, to_lane), to_lanes,
                                   from.stored.data() + VectorPlaces{1, from_lanes, 1}.offset(from_words, site, 0, lane), from_lanes);
      };
      convert(spinors_out, spinors);
      convert(vectors_out, vectors);
    }
  results["convert spinor " + names] = checksum_of(spinors_out);
  results["convert vector " + names] = checksum_of(vectors_out);
}

Results results_of_this_architecture() {
  Results results;
  kernels_of<double>(results);
  kernels_of<float>(results);
  kernels_of<Half>(results);
  smearing(results);
  const auto from = [&]<class From>(std::type_identity<From>) {
    conversion<double, From>(results);
    conversion<float, From>(results);
    conversion<Half, From>(results);
  };
  from(std::type_identity<double>{});
  from(std::type_identity<float>{});
  from(std::type_identity<Half>{});
  return results;
}

/// Lines of a checksum and a name.
Results read(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path << " cannot be read");
  Results results;
  std::uint64_t bits = 0;
  for (std::string name; file >> std::hex >> bits && std::getline(file >> std::ws, name);) results[name] = bits;
  return results;
}

void write(const Results& results, const std::string& path) {
  std::ofstream file(path);
  for (const auto& [name, bits] : results) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(bits));
    file << digits << ' ' << name << '\n';
  }
}

}  // namespace

TEST_CASE("kernels of every architecture give the recorded bits") {
  if (const char* path = std::getenv("QUARKSTAR_WRITE_BITS")) write(results_of_this_architecture(), path);
  const Results recorded = read(reference::source_folder() / "tests/kernels/bits.txt");
  for_architectures([&] {
    const Results results = results_of_this_architecture();
    CHECK(results.size() == recorded.size());
    for (const auto& [name, bits] : results) {
      INFO(name);
      const auto known = recorded.find(name);
      REQUIRE(known != recorded.end());
      CHECK(bits == known->second);
    }
  });
}
