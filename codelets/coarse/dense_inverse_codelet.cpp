#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/coarse/dense_inverse.hpp"
#include "codelets/coarse/operator_cuda.hpp"
#include "codelets/coarse/operator_kernels.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/observe/own_work.hpp"

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

/// Rows of a matrix, of which the elimination makes its inverse: a panel of pivots at a time, so that the matrix is read once for all of
/// them. First the panel's own columns for all rows, which gives the pivots and what each row takes of each pivot row; then all other
/// columns. Every element gets the products of the pivots in their order, as if these went one by one over the whole matrix.
class Elimination {
 public:
  Elimination(std::vector<Complex>& matrix, std::size_t n, const runtime::Team& team)
      : matrix_(matrix), n_(n), team_(team), pivots_(n), panel_(n * panel_width), factors_(n * panel_width) {}

  void run() {
    for (std::size_t first = 0; first < n_; first += panel_width) {
      const std::size_t width = std::min(panel_width, n_ - first);
      eliminate_panel(first, width);
      eliminate_rest(first, width);
      copy_panel(first, width, false);
    }
    for_rows([&](std::size_t row) {
      for (std::size_t k = n_; k-- > 0;)
        if (pivots_[k] != k) std::swap(matrix_[row * n_ + k], matrix_[row * n_ + pivots_[k]]);
    });
  }

 private:
  static constexpr std::size_t panel_width = 32;
  static constexpr std::size_t tile = 64;  ///< columns of the pivot rows that stay in a cache while all rows take theirs

  template <class Body>
  void for_rows(Body&& body) const {
    team_.for_range(static_cast<std::int64_t>(n_), [&](std::int64_t begin, std::int64_t end, int) {
      for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) body(row);
    });
  }
  /// x -= factor p.
  static void subtract(Complex* to, Complex factor, const Complex* from, std::size_t count) {
    auto* x = reinterpret_cast<double*>(to);
    const auto* p = reinterpret_cast<const double*>(from);
    const double re = factor.real(), im = factor.imag();
    for (std::size_t j = 0; j < count; ++j) {
      x[2 * j] -= re * p[2 * j] - im * p[2 * j + 1];
      x[2 * j + 1] -= re * p[2 * j + 1] + im * p[2 * j];
    }
  }
  static Complex product(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  static Complex inverse_of(Complex z) {
    const double norm2 = z.real() * z.real() + z.imag() * z.imag();
    return {z.real() / norm2, -(z.imag() / norm2)};
  }

  /// The panel's columns lie in a place of their own meanwhile: rows of the matrix are often a power of two apart.
  void copy_panel(std::size_t first, std::size_t width, bool from_matrix) {
    for_rows([&](std::size_t row) {
      Complex* mine = &panel_[row * panel_width];
      Complex* its = &matrix_[row * n_ + first];
      if (from_matrix) std::copy_n(its, width, mine);
      else std::copy_n(mine, width, its);
    });
  }

  void eliminate_panel(std::size_t first, std::size_t width) {
    copy_panel(first, width, true);
    std::vector<Complex> pivot_row(width);
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t k = first + c;
      const auto size = [&](std::size_t row) {
        const Complex z = panel_[row * panel_width + c];
        return std::abs(z.real()) + std::abs(z.imag());
      };
      std::size_t pivot = k;
      for (std::size_t row = k + 1; row < n_; ++row)
        if (size(row) > size(pivot)) pivot = row;
      pivots_[k] = pivot;
      if (pivot != k) {
        std::swap_ranges(&matrix_[k * n_], &matrix_[k * n_] + n_, &matrix_[pivot * n_]);
        for (std::vector<Complex>* of : {&panel_, &factors_})
          std::swap_ranges(&(*of)[k * panel_width], &(*of)[k * panel_width] + panel_width, &(*of)[pivot * panel_width]);
      }
      Complex* own = &panel_[k * panel_width];
      const Complex inverse = factors_[k * panel_width + c] = inverse_of(own[c]);
      own[c] = 1;
      for (std::size_t j = 0; j < width; ++j) own[j] = product(own[j], inverse);
      std::copy_n(own, width, pivot_row.begin());
      for_rows([&](std::size_t row) {
        if (row == k) return;
        Complex* x = &panel_[row * panel_width];
        const Complex factor = factors_[row * panel_width + c] = x[c];
        x[c] = 0;
        subtract(x, factor, pivot_row.data(), width);
      });
    }
  }

  /// The panel's place in the matrix is passed over too; copy_panel() puts right what becomes of it.
  void eliminate_rest(std::size_t first, std::size_t width) {
    const std::size_t tiles = (n_ + tile - 1) / tile;
    const auto columns_of = [&](std::size_t number) { return std::min(tile, n_ - number * tile); };
    const auto factor = [&](std::size_t row, std::size_t c) { return factors_[row * panel_width + c]; };
    const auto pivot_row = [&](std::size_t c, std::size_t number) { return &pivot_rows_[(number * panel_width + c) * tile]; };
    pivot_rows_.resize(tiles * panel_width * tile);
    team_.for_range(static_cast<std::int64_t>(tiles), [&](std::int64_t begin, std::int64_t end, int) {
      for (auto number = static_cast<std::size_t>(begin); number < static_cast<std::size_t>(end); ++number) {
        const std::size_t columns = columns_of(number);
        for (std::size_t c = 0; c < width; ++c) {
          Complex* x = &matrix_[(first + c) * n_ + number * tile];
          for (std::size_t before = 0; before < c; ++before) subtract(x, factor(first + c, before), pivot_row(before, number), columns);
          for (std::size_t j = 0; j < columns; ++j) x[j] = product(x[j], factor(first + c, c));
          std::copy_n(x, columns, pivot_row(c, number));
        }
        for (std::size_t c = 0; c < width; ++c) {
          Complex* x = &matrix_[(first + c) * n_ + number * tile];
          for (std::size_t after = c + 1; after < width; ++after) subtract(x, factor(first + c, after), pivot_row(after, number), columns);
        }
      }
    });
    team_.for_range(static_cast<std::int64_t>(n_), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::size_t number = 0; number < tiles; ++number)
        for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
          if (row >= first && row < first + width) continue;
          Complex* x = &matrix_[row * n_ + number * tile];
          for (std::size_t c = 0; c < width; ++c) subtract(x, factor(row, c), pivot_row(c, number), columns_of(number));
        }
    });
  }

  std::vector<Complex>& matrix_;
  std::size_t n_;
  const runtime::Team& team_;
  std::vector<std::size_t> pivots_;
  std::vector<Complex> panel_;       ///< [row][column of the panel]
  std::vector<Complex> factors_;     ///< what a row takes of each pivot row; of a pivot row itself the inverse of its pivot
  std::vector<Complex> pivot_rows_;  ///< [tile][pivot][column of the tile]
};

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

void invert(std::vector<Complex>& matrix, std::size_t n, const runtime::Team& team) { Elimination(matrix, n, team).run(); }

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
    invert(matrix, rows, runtime::Session::current().cpu_team());
    with_reals(lattice_->precision(), [&](auto real) {
      using F = decltype(real);
      is_finite_ = std::all_of(matrix.begin(), matrix.end(), [](const Complex& z) {
        return std::isfinite(static_cast<F>(z.real())) && std::isfinite(static_cast<F>(z.imag()));
      });
    });
  }
  // Every rank does the same work: it counts once.
  if (!cut.is_distributed() || runtime::mpi::Job::current().is_root()) runtime::count_own_work({flops(), 0});
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
