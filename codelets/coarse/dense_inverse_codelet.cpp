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

/// Of an odd site of a block among all of the lattice: two neighbours along x, of which one is odd, share a number.
std::size_t number_of(const Coord& lattice, const runtime::Block& block, int outer) {
  Coord site = shape_of_coarse(block).local_site({odd, outer, 0});
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
std::vector<Complex> columns_of(CoarseOperator& m, std::size_t rows, const runtime::Team& team) {
  const LatticePointer& lattice = m.lattice();
  const runtime::Decomposition& cut = lattice->decomposition();
  const int components = m.components(), n = m.vectors();
  const Field in = m.field(), out = m.field();
  std::vector<Complex> matrix(rows * rows);
  const auto of_block = [&](int b, const Field& field, runtime::HostAccess access, auto&& body) {
    with_reals(lattice->precision(), [&](auto real) {
      using F = decltype(real);
      const runtime::HostView<F> view(field.block(b), access);
      team.for_range(lattice->block(b).outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
        for (auto outer = static_cast<int>(begin); outer < static_cast<int>(end); ++outer) {
          const std::size_t site = number_of(cut.lattice(), cut.block(b), outer);
          for (int c = 0; c < components; ++c)
            for (int v = 0; v < n; ++v)
              body(site * static_cast<std::size_t>(components) + static_cast<std::size_t>(c), v,
                   view.get() + coarse_word(static_cast<std::size_t>(outer), c, v, components, n));
        }
      });
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
  Elimination(const std::vector<Complex>& matrix, std::size_t n, const runtime::Team& team)
      : n_(n),
        tiles_((n + tile - 1) / tile),
        team_(team),
        kernel_(table.current()()),
        matrix_(n * row_words()),
        pivots_(n),
        panel_(n * panel_words),
        factors_(n * panel_words),
        pivot_rows_(tiles_ * panel_width * tile_words) {
    for_rows([&](std::size_t row) {
      for (std::size_t column = 0; column < n_; ++column) set(at(row, column), tile, matrix[row * n_ + column]);
    });
  }

  void run() {
    for (std::size_t first = 0; first < n_; first += panel_width) {
      const std::size_t width = std::min(panel_width, n_ - first);
      eliminate_panel(first, width);
      eliminate_rest(first, width);
      copy_panel(first, false);
    }
  }
  void store(std::vector<Complex>& inverse) const {
    for_rows([&](std::size_t row) {
      Complex* of_row = &inverse[row * n_];
      for (std::size_t column = 0; column < n_; ++column) of_row[column] = number(at(row, column), tile);
      for (std::size_t k = n_; k-- > 0;)
        if (pivots_[k] != k) std::swap(of_row[k], of_row[pivots_[k]]);
    });
  }

 private:
  static constexpr std::size_t panel_width = 32, panel_words = 2 * panel_width;
  static constexpr std::size_t tile = 64,
                               tile_words = 2 * tile;  ///< columns of the pivot rows that stay in a cache while all rows take theirs
  static_assert(tile % panel_width == 0 && panel_width % subtracted_columns == 0);
  static constexpr arch::KernelTable<SubtractKernel (*)()> table = QUARKSTAR_KERNEL_TABLE(coarse_subtract_kernel);

  static Complex number(const double* re, std::size_t to_im) { return {re[0], re[to_im]}; }
  static void set(double* re, std::size_t to_im, Complex z) {
    re[0] = z.real();
    re[to_im] = z.imag();
  }
  std::size_t row_words() const { return tiles_ * tile_words; }
  double* at(std::size_t row, std::size_t column) {
    return matrix_.data() + row * row_words() + column / tile * tile_words + column % tile;
  }
  const double* at(std::size_t row, std::size_t column) const { return const_cast<Elimination*>(this)->at(row, column); }
  double* in_panel(std::size_t row, std::size_t c) { return panel_.data() + row * panel_words + c; }
  double* factor(std::size_t row, std::size_t c) { return factors_.data() + row * panel_words + 2 * c; }
  double* pivot_row(std::size_t number, std::size_t c) { return pivot_rows_.data() + (number * panel_width + c) * tile_words; }

  template <class Body>
  void for_rows(Body&& body) const {
    team_.for_range(static_cast<std::int64_t>(n_), [&](std::int64_t begin, std::int64_t end, int) {
      for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) body(row);
    });
  }
  static Complex product(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  static Complex inverse_of(Complex z) {
    const double norm2 = z.real() * z.real() + z.imag() * z.imag();
    return {z.real() / norm2, -(z.imag() / norm2)};
  }
  /// to = z to.
  static void multiply(double* to, std::size_t columns, Complex z) {
    for (std::size_t j = 0; j < columns; ++j) set(to + j, columns, product(number(to + j, columns), z));
  }

  /// The panel's columns lie in a place of their own meanwhile: rows of the matrix are often a power of two apart.
  void copy_panel(std::size_t first, bool from_matrix) {
    for_rows([&](std::size_t row) {
      for (std::size_t part = 0; part < 2; ++part) {
        double *mine = in_panel(row, part * panel_width), *its = at(row, first) + part * tile;
        if (from_matrix) std::copy_n(its, panel_width, mine);
        else std::copy_n(mine, panel_width, its);
      }
    });
  }

  void eliminate_panel(std::size_t first, std::size_t width) {
    copy_panel(first, true);
    std::vector<double> of_pivot(panel_words);
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t k = first + c;
      const auto size = [&](std::size_t row) {
        const Complex z = number(in_panel(row, c), panel_width);
        return std::abs(z.real()) + std::abs(z.imag());
      };
      std::size_t pivot = k;
      double largest = size(k);
      for (std::size_t row = k + 1; row < n_; ++row)
        if (const double its = size(row); its > largest) {
          pivot = row;
          largest = its;
        }
      pivots_[k] = pivot;
      if (pivot != k) {
        std::swap_ranges(at(k, 0), at(k, 0) + row_words(), at(pivot, 0));
        std::swap_ranges(in_panel(k, 0), in_panel(k, 0) + panel_words, in_panel(pivot, 0));
        std::swap_ranges(factor(k, 0), factor(k, 0) + panel_words, factor(pivot, 0));
      }
      const Complex inverse = inverse_of(number(in_panel(k, c), panel_width));
      set(factor(k, c), 1, inverse);
      set(in_panel(k, c), panel_width, 1);
      multiply(in_panel(k, 0), panel_width, inverse);
      std::copy_n(in_panel(k, 0), panel_words, of_pivot.begin());
      const auto own = static_cast<std::int64_t>(k);
      const RowsArguments rows{panel_.data(), panel_words, factor(0, c), panel_words, of_pivot.data(), panel_width, 1, own, own + 1};
      team_.for_range(static_cast<std::int64_t>(n_), [&](std::int64_t begin, std::int64_t end, int) {
        for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
          if (row == k) continue;
          set(factor(row, c), 1, number(in_panel(row, c), panel_width));
          set(in_panel(row, c), panel_width, 0);
        }
        kernel_(rows, begin, end);
      });
    }
  }

  /// The panel's place in the matrix is passed over too; copy_panel() puts right what becomes of it.
  void eliminate_rest(std::size_t first, std::size_t width) {
    const auto rows_of = [&](std::size_t tile_number, std::size_t factors_from, std::size_t count) {
      return RowsArguments{at(0, tile_number * tile),
                           row_words(),
                           factor(0, factors_from),
                           panel_words,
                           pivot_row(tile_number, factors_from),
                           tile,
                           static_cast<int>(count),
                           static_cast<std::int64_t>(n_),
                           static_cast<std::int64_t>(n_)};
    };
    team_.for_range(static_cast<std::int64_t>(tiles_), [&](std::int64_t begin, std::int64_t end, int) {
      for (auto number = static_cast<std::size_t>(begin); number < static_cast<std::size_t>(end); ++number) {
        for (std::size_t c = 0; c < width; ++c) {
          const auto row = static_cast<std::int64_t>(first + c);
          kernel_(rows_of(number, 0, c), row, row + 1);
          double* x = at(first + c, number * tile);
          multiply(x, tile, Elimination::number(factor(first + c, c), 1));
          std::copy_n(x, tile_words, pivot_row(number, c));
        }
        for (std::size_t c = 0; c < width; ++c) {
          const auto row = static_cast<std::int64_t>(first + c);
          kernel_(rows_of(number, c + 1, width - c - 1), row, row + 1);
        }
      }
    });
    team_.for_range(static_cast<std::int64_t>(n_), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::size_t number = 0; number < tiles_; ++number) {
        RowsArguments rows = rows_of(number, 0, width);
        rows.left_out = static_cast<std::int64_t>(first);
        rows.left_out_end = static_cast<std::int64_t>(first + width);
        kernel_(rows, begin, end);
      }
    });
  }

  std::size_t n_, tiles_;
  const runtime::Team& team_;
  SubtractKernel kernel_;
  std::vector<double> matrix_;  ///< [row][tile][re, im][column of the tile]
  std::vector<std::size_t> pivots_;
  std::vector<double> panel_;  ///< [row][re, im][column of the panel]
  std::vector<double>
      factors_;  ///< [row][column][re, im], what a row takes of each pivot row; of a pivot row itself the inverse of its pivot
  std::vector<double> pivot_rows_;  ///< [tile][pivot][re, im][column of the tile]
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

void invert(std::vector<Complex>& matrix, std::size_t n, const runtime::Team& team) {
  Elimination elimination(matrix, n, team);
  elimination.run();
  elimination.store(matrix);
}

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
  const runtime::Team alone({0});  // of a simulated machine, which may have no CPU workers
  const runtime::Team& team = runtime::backend::computes ? runtime::Session::current().cpu_team() : alone;
  CoarseOperator m(matrices, std::min(most_vectors, components_));
  std::vector<Complex> matrix = columns_of(m, rows, team);
  if constexpr (runtime::backend::computes) {
    if (cut.is_distributed())
      runtime::mpi::Job::current().combine({reinterpret_cast<double*>(matrix.data()), 2 * rows * rows}, runtime::mpi::Combine::sum);
    invert(matrix, rows, team);
    with_reals(lattice_->precision(), [&](auto real) {
      using F = decltype(real);
      is_finite_ = std::all_of(matrix.begin(), matrix.end(), [](const Complex& z) {
        return std::isfinite(static_cast<F>(z.real())) && std::isfinite(static_cast<F>(z.imag()));
      });
    });
  }
  // Every rank does the same work: it counts once.
  if (runtime::mpi::Job::current().is_root()) runtime::count_own_work({flops(), 0});
  for (const int b : lattice_->local_blocks())
    with_reals(lattice_->precision(), [&](auto real) {
      using F = decltype(real);
      const std::size_t outer_sites = static_cast<std::size_t>(lattice_->block(b).outer_sites());
      runtime::Handle& handle = rows_[static_cast<std::size_t>(b)] =
          runtime::Handle(2 * outer_sites * static_cast<std::size_t>(components_) * rows * sizeof(F));
      {
        const runtime::HostView<F> view(handle, runtime::HostAccess::overwrite);
        const auto groups = static_cast<std::size_t>(components_ / lanes_of_components);
        team.for_range(static_cast<std::int64_t>(outer_sites * groups), [&](std::int64_t begin, std::int64_t end, int) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            F* word = view.get() + i * rows * (2 * lanes_of_components);
            const std::size_t site = number_of(cut.lattice(), cut.block(b), static_cast<int>(i / groups)),
                              row = site * static_cast<std::size_t>(components_) + i % groups * lanes_of_components;
            for (std::size_t column = 0; column < rows; ++column, word += 2 * lanes_of_components)
              for (std::size_t lane = 0; lane < lanes_of_components; ++lane) {
                const Complex z = matrix[column * rows + row + lane];
                word[lane] = static_cast<F>(z.real());
                word[lanes_of_components + lane] = static_cast<F>(z.imag());
              }
          }
        });
      }
      handle.freeze();
    });
  columns_ = runtime::Handle(static_cast<std::size_t>(sites) * sizeof(std::uint32_t));
  {
    const runtime::HostView<std::uint32_t> view(columns_, runtime::HostAccess::overwrite);
    for (const runtime::Block& block : cut.blocks())
      for (int outer = 0; outer < shape_of_coarse(block).outer_sites(); ++outer)
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
