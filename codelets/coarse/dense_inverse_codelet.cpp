#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/coarse/dense_inverse.hpp"
#include "codelets/coarse/operator_cuda.hpp"
#include "codelets/coarse/operator_kernels.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/observe/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>

namespace quarkstar::coarse {
namespace {

using runtime::Call;
using runtime::Codelet;
using Complex = std::complex<double>;
constexpr int odd = 1;

/// As every rank knows it of every block: the coarse lattice has one lane and no tiles.
BlockShape shape_of(const runtime::Block& block) {
  return {.outer = block.extents, .tile = block.extents, .stride = {}, .lanes = 1, .origin_parity = parity_of(block.origin)};
}
/// Of an odd site of a block among all of the lattice: two neighbours along x, of which one is odd, share a number.
std::size_t number_of(const Coord& lattice, const runtime::Block& block, int outer) {
  Coord site = shape_of(block).local_site({odd, outer, 0});
  for (std::size_t mu = 0; mu < 4; ++mu) site[mu] += block.origin[mu];
  return static_cast<std::size_t>(lexicographic(site, lattice) / 2);
}

/// Body(F{}) for the numbers that fields of a precision are of.
template <class Body>
void with_reals(Precision precision, Body&& body) {
  if (precision == Precision::double_) body(double{});
  else body(float{});
}

/// The columns of 1 - H H, this rank's rows of them; zero elsewhere. Column by column.
std::vector<Complex> columns_of(CoarseOperator& m, std::size_t rows) {
  const LatticePointer& lattice = m.lattice();
  const runtime::Decomposition& cut = lattice->decomposition();
  const int components = m.components(), n = m.vectors();
  const Field in = m.field(), out = m.field();
  std::vector<Complex> matrix(rows * rows);
  const auto of_block = [&](int b, const Field& field, runtime::HostAccess access, auto&& body) {
    with_reals(lattice->precision(), [&](auto real) {
      using F = decltype(real);
      const runtime::HostView<F> view(field.block(b), access);
      for (int outer = 0; outer < lattice->block(b).outer_sites(); ++outer)
        for (int c = 0; c < components; ++c)
          for (int v = 0; v < n; ++v) {
            F* word = view.get() + coarse_word(static_cast<std::size_t>(outer), c, v, components, n);
            const std::size_t row =
                number_of(cut.lattice(), cut.block(b), outer) * static_cast<std::size_t>(components) + static_cast<std::size_t>(c);
            body(row, v, word);
          }
    });
  };
  for (std::size_t first = 0; first < rows; first += static_cast<std::size_t>(n)) {
    for (const int b : lattice->local_blocks())
      of_block(b, in, runtime::HostAccess::overwrite, [&](std::size_t row, int v, auto* word) {
        word[0] = row == first + static_cast<std::size_t>(v) ? 1.0F : 0.0F;
        word[lanes_of_components] = 0.0F;
      });
    m.apply(out, in, {}, false, {});
    for (const int b : lattice->local_blocks())
      of_block(b, out, runtime::HostAccess::read, [&](std::size_t row, int v, const auto* word) {
        if (const std::size_t column = first + static_cast<std::size_t>(v); column < rows)
          matrix[column * rows + row] = {word[0], word[lanes_of_components]};
      });
  }
  return matrix;
}

/// In place, columns as they lie; in place of the rows' exchanges the columns'.
void invert(std::vector<Complex>& matrix, std::size_t n) {
  const runtime::Team& team = runtime::Session::current().cpu_team();
  std::vector<std::size_t> pivots(n);
  std::vector<Complex> pivot_row(n);
  for (std::size_t k = 0; k < n; ++k) {
    // The elimination is of the transpose, whose rows lie together.
    const auto size = [&](std::size_t row) {
      const Complex z = matrix[row * n + k];
      return std::abs(z.real()) + std::abs(z.imag());
    };
    std::size_t pivot = k;
    for (std::size_t row = k + 1; row < n; ++row)
      if (size(row) > size(pivot)) pivot = row;
    pivots[k] = pivot;
    const auto row_at = [&](std::size_t row) { return matrix.begin() + static_cast<std::ptrdiff_t>(row * n); };
    if (pivot != k) std::swap_ranges(row_at(k), row_at(k + 1), row_at(pivot));
    const Complex z = matrix[k * n + k];
    const double norm2 = z.real() * z.real() + z.imag() * z.imag();
    const double inverse_re = z.real() / norm2, inverse_im = -(z.imag() / norm2);
    for (std::size_t j = 0; j < n; ++j) {
      Complex& x = matrix[k * n + j];
      const double re = j == k ? 1 : x.real(), im = j == k ? 0 : x.imag();
      x = {re * inverse_re - im * inverse_im, re * inverse_im + im * inverse_re};
    }
    std::copy(row_at(k), row_at(k + 1), pivot_row.begin());
    team.for_range(static_cast<std::int64_t>(n), [&](std::int64_t begin, std::int64_t end, int) {
      for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
        if (row == k) continue;
        double* x = reinterpret_cast<double*>(&matrix[row * n]);
        const double* p = reinterpret_cast<const double*>(pivot_row.data());
        const double re = x[2 * k], im = x[2 * k + 1];
        x[2 * k] = x[2 * k + 1] = 0;
        for (std::size_t j = 0; j < n; ++j) {
          x[2 * j] -= re * p[2 * j] - im * p[2 * j + 1];
          x[2 * j + 1] -= re * p[2 * j + 1] + im * p[2 * j];
        }
      }
    });
  }
  for (std::size_t k = n; k-- > 0;)
    if (pivots[k] != k)
      for (std::size_t row = 0; row < n; ++row) std::swap(matrix[row * n + k], matrix[row * n + pivots[k]]);
}

/// Buffers: rows, columns, out; vectors of all blocks; the state where there is one.
struct DenseTask {
  std::int32_t sites, column_sites, groups, vectors, pieces, has_state;
  Obedience obedience;

  const VectorStatus* status(Call& call) const { return has_state == 0 ? nullptr : call.buffer<const VectorStatus>(3 + pieces); }
  std::int64_t rows() const { return std::int64_t{sites} * groups; }

  template <class F>
  DenseArguments<F> unpack(Call& call) const {
    DenseArguments<F> a{};
    a.out = call.buffer<F>(2);
    a.matrix = call.buffer<const F>(0);
    for (int piece = 0; piece < pieces; ++piece) a.pieces[piece] = call.buffer<const F>(3 + piece);
    a.columns = call.buffer<const std::uint32_t>(1);
    a.left_out = obedience.left_out(status(call));
    a.sites = sites;
    a.column_sites = column_sites;
    a.groups = groups;
    a.vectors = vectors;
    return a;
  }
};

template <class F>
void run_dense(Call& call) {
  const auto& task = call.arguments<DenseTask>();
  if (const std::int32_t* idle = task.obedience.idle(task.status(call)); idle != nullptr && *idle != 0) return call.skip();
  static constexpr arch::KernelTable<DenseKernel<F> (*)()> table = QUARKSTAR_KERNEL_TABLE(coarse_dense_kernel<F>);
  const DenseKernel<F> kernel = table.current()();
  const DenseArguments<F> a = task.unpack<F>(call);
  call.team().for_range(task.rows(), [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
}
#ifdef QUARKSTAR_CUDA
template <class F>
void run_dense_on_cuda(Call& call) {
  const auto& task = call.arguments<DenseTask>();
  cuda::launch_coarse_dense(task.unpack<F>(call), task.obedience.idle(task.status(call)), static_cast<runtime::CudaStream>(call.stream()));
}
#endif

template <class F>
const Codelet& dense_codelet() {
  static const Codelet codelet(fmt::format("coarse.dense.{}", name_of(NumberFormat<F>::precision)), runtime::CodeletKind::vector,
                               QUARKSTAR_BOTH(run_dense, F));
  return codelet;
}

}  // namespace

bool DenseInverse::fits(const Coord& lattice, int components) {
  const std::int64_t sites = volume(lattice) / 2;
  return sites <= most_dense_pieces && sites * components <= most_rows;
}

DenseInverse::DenseInverse(const CoarseMatrices& matrices)
    : lattice_(matrices.lattice()), components_(matrices.components()), rows_(static_cast<std::size_t>(lattice_->block_count())) {
  const runtime::Decomposition& cut = lattice_->decomposition();
  if (!fits(cut.lattice(), components_)) throw ShapeError("DenseInverse", "a lattice with too many rows");
  const std::int64_t sites = volume(cut.lattice()) / 2;
  const auto rows = static_cast<std::size_t>(sites * components_);
  CoarseOperator m(matrices, std::min(most_vectors, components_));
  std::vector<Complex> matrix = columns_of(m, rows);
  if constexpr (runtime::backend::computes) {
    if (cut.is_distributed())
      runtime::mpi::Job::current().combine({reinterpret_cast<double*>(matrix.data()), 2 * rows * rows}, runtime::mpi::Combine::sum);
    invert(matrix, rows);
    with_reals(lattice_->precision(), [&](auto real) {
      using F = decltype(real);
      is_finite_ = std::all_of(matrix.begin(), matrix.end(), [](const Complex& z) {
        return std::isfinite(static_cast<F>(z.real())) && std::isfinite(static_cast<F>(z.imag()));
      });
    });
  }
  // Every rank does the same work: it counts once.
  if (!cut.is_distributed() || runtime::mpi::Job::current().is_root()) runtime::Events::count_own_work({flops(), 0});
  for (const int b : lattice_->local_blocks())
    with_reals(lattice_->precision(), [&](auto real) {
      using F = decltype(real);
      const std::size_t outer_sites = static_cast<std::size_t>(lattice_->block(b).outer_sites());
      runtime::Handle& handle = rows_[static_cast<std::size_t>(b)] =
          runtime::Handle(2 * outer_sites * static_cast<std::size_t>(components_) * rows * sizeof(F));
      {
        const runtime::HostView<F> view(handle, runtime::HostAccess::overwrite);
        F* word = view.get();
        for (std::size_t outer = 0; outer < outer_sites; ++outer) {
          const std::size_t site = number_of(cut.lattice(), cut.block(b), static_cast<int>(outer));
          for (int group = 0; group < components_ / lanes_of_components; ++group)
            for (std::size_t column = 0; column < rows; ++column, word += 2 * lanes_of_components)
              for (int lane = 0; lane < lanes_of_components; ++lane) {
                const std::size_t row =
                    site * static_cast<std::size_t>(components_) + static_cast<std::size_t>(group * lanes_of_components + lane);
                const Complex z = matrix[column * rows + row];
                word[lane] = static_cast<F>(z.real());
                word[lanes_of_components + lane] = static_cast<F>(z.imag());
              }
        }
      }
      handle.freeze();
    });
  columns_ = runtime::Handle(static_cast<std::size_t>(sites) * sizeof(std::uint32_t));
  {
    const runtime::HostView<std::uint32_t> view(columns_, runtime::HostAccess::overwrite);
    for (const runtime::Block& block : cut.blocks())
      for (int outer = 0; outer < shape_of(block).outer_sites(); ++outer)
        view[number_of(cut.lattice(), block, outer)] = static_cast<std::uint32_t>(block.index) << 16 | static_cast<std::uint32_t>(outer);
  }
  columns_.freeze();
}

double DenseInverse::flops() const {
  const double rows = static_cast<double>(lattice_->sites_of_parity()) * components_;
  return 8 * rows * rows * rows;
}

DenseSolver::DenseSolver(const DenseInverse& inverse, int vectors)
    : inverse_(inverse),
      vectors_(vectors),
      vectors_of_all_(
          inverse.lattice()->decomposition(),
          [&](int b) {
            return static_cast<std::size_t>(volume(inverse.lattice()->decomposition().block(b).extents) * inverse.components() * vectors) *
                   computed_bytes(inverse.lattice()->precision());
          },
          "coarsest vectors") {}

void DenseSolver::apply(const Field& out, const Field& in, const runtime::Guard& guard) {
  const LatticePointer& lattice = inverse_.lattice();
  for (const Field* field : {&out, &in})
    if (field->lattice() != lattice || field->parity() != odd || field->components() != inverse_.components() ||
        field->vectors() != vectors_)
      throw ShapeError("DenseSolver", "vectors of another lattice, parity or kind, or another number of them");
  const runtime::AllGather::Piece own = [&](int b) -> const runtime::Handle& { return in.block(b); };
  vectors_of_all_.exchange(own);
  for (const int b : lattice->local_blocks()) {
    auto task = runtime::blank<DenseTask>();
    task.sites = lattice->block(b).outer_sites();
    task.column_sites = static_cast<std::int32_t>(lattice->sites_of_parity());
    task.groups = inverse_.components() / lanes_of_components;
    task.vectors = vectors_;
    task.pieces = lattice->block_count();
    task.has_state = guard.state != nullptr ? 1 : 0;
    task.obedience = Obedience(guard);
    runtime::AccessList accesses{runtime::in(inverse_.rows(b)), runtime::in(inverse_.columns()),
                                 guard.keeps ? runtime::inout(out.block(b)) : runtime::out(out.block(b))};
    for (int piece = 0; piece < task.pieces; ++piece) accesses.push_back(runtime::in(vectors_of_all_.piece(piece, own)));
    if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
    const double numbers = static_cast<double>(task.sites) * task.column_sites * inverse_.components() * inverse_.components();
    const auto reals = static_cast<double>(computed_bytes(lattice->precision()));
    runtime::submit(lattice->precision() == Precision::double_ ? dense_codelet<double>() : dense_codelet<float>(), task, accesses,
                    {8 * numbers * vectors_,
                     2 * reals * (numbers + static_cast<double>(task.sites + task.column_sites) * inverse_.components() * vectors_)},
                    placement_of(lattice->block(b), runtime::role_of(guard.when)));
  }
}

}  // namespace quarkstar::coarse
