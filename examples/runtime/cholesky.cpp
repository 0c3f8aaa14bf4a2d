// A tiled Cholesky factorisation A = L L^T of a symmetric, positive definite matrix, on quarkstar::runtime alone.
//
//   cholesky [POLICY] [TILES] [TILE]
//
// The lower triangle is cut into square tiles, each an array that the graph tracks. For each column k of tiles
//   potrf: L_kk = the factor of A_kk;   trsm: L_ik = A_ik L_kk^-T for i > k;
//   update: A_ij -= L_ik L_jk^T for i >= j > k.
// Every loop below only submits: which tasks wait for which follows from the tiles that they use. Source: Golub and Van Loan, Matrix
// Computations, section 4.2. The result is compared with Eigen's factor.
#include "runtime/graph/array.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/typed_codelet.hpp"
#include "runtime/system/error.hpp"

#include <Eigen/Cholesky>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace quarkstar::runtime;

namespace {

/// Factor of a tile in place; what is above its diagonal becomes 0. Throws where the matrix is not positive definite, which ends the graph.
const TypedCodelet potrf("cholesky.potrf", CodeletKind::other, [](Call&, InOut<double, 2> a) {
  const std::int64_t n = a.extents[0];
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t k = 0; k < j; ++k)
      for (std::int64_t i = j; i < n; ++i) a(i, j) -= a(i, k) * a(j, k);
    if (!(a(j, j) > 0)) throw quarkstar::Error(quarkstar::ErrorKind::numerical, "matrix", "it is not positive definite", "give another");
    const double root = std::sqrt(a(j, j));
    for (std::int64_t i = j; i < n; ++i) a(i, j) /= root;
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = 0;
  }
});

/// a <- a l^-T, l lower triangular.
const TypedCodelet trsm("cholesky.trsm", CodeletKind::other, [](Call& call, In<double, 2> l, InOut<double, 2> a) {
  call.team().for_range(a.extents[0], [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t j = 0; j < a.extents[1]; ++j) {
      for (std::int64_t k = 0; k < j; ++k)
        for (std::int64_t i = begin; i < end; ++i) a(i, j) -= a(i, k) * l(j, k);
      for (std::int64_t i = begin; i < end; ++i) a(i, j) /= l(j, j);
    }
  });
});

void subtract_product(Call& call, const View<const double, 2>& x, const View<const double, 2>& y, const View<double, 2>& a) {
  call.team().for_range(a.extents[1], [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t j = begin; j < end; ++j)
      for (std::int64_t k = 0; k < x.extents[1]; ++k)
        for (std::int64_t i = 0; i < a.extents[0]; ++i) a(i, j) -= x(i, k) * y(j, k);
  });
}
/// a <- a - x y^T; a tile on the diagonal has one factor: x = y.
const TypedCodelet gemm("cholesky.gemm", CodeletKind::other,
                        [](Call& call, In<double, 2> x, In<double, 2> y, InOut<double, 2> a) { subtract_product(call, x, y, a); });
const TypedCodelet syrk("cholesky.syrk", CodeletKind::other,
                        [](Call& call, In<double, 2> x, InOut<double, 2> a) { subtract_product(call, x, x, a); });

/// The lower triangle of a matrix, tile by tile.
class Tiles {
 public:
  Tiles(int tiles, int size) : tiles_(tiles), size_(size) {
    for (int i = 0; i < tiles * tiles; ++i) arrays_.push_back(i / tiles >= i % tiles ? Array<double, 2>(size, size) : Array<double, 2>());
  }
  const Array<double, 2>& operator()(int i, int j) const { return arrays_[static_cast<std::size_t>(i * tiles_ + j)]; }

  /// copy(element of a tile, row, column) for each element on the host.
  template <class Copy>
  void on_host(HostAccess access, Copy&& copy) const {
    for (int i = 0; i < tiles_; ++i)
      for (int j = 0; j <= i; ++j) {
        const HostArray<double, 2> tile((*this)(i, j), access);
        for (int column = 0; column < size_; ++column)
          for (int row = 0; row < size_; ++row) copy(tile(row, column), i * size_ + row, j * size_ + column);
      }
  }

 private:
  int tiles_, size_;
  std::vector<Array<double, 2>> arrays_;
};

void factorise(const Tiles& a, int tiles, int size) {
  const auto workers = static_cast<int>(Session::current().workers().size());
  const double n = size, tile_bytes = 8 * n * n;
  const auto place = [&](int i, int j, bool urgent) {
    return Placement{.owner = (i + j) % workers, .block = i * tiles + j, .urgent = urgent};
  };
  for (int k = 0; k < tiles; ++k) {
    submit(potrf.on(a(k, k)), {n * n * n / 3, 2 * tile_bytes}, place(k, k, true));
    for (int i = k + 1; i < tiles; ++i) submit(trsm.on(a(k, k), a(i, k)), {n * n * n, 3 * tile_bytes}, place(i, k, true));
    for (int j = k + 1; j < tiles; ++j) {
      submit(syrk.on(a(j, k), a(j, j)), {2 * n * n * n, 3 * tile_bytes}, place(j, j, j == k + 1));
      for (int i = j + 1; i < tiles; ++i)
        submit(gemm.on(a(i, k), a(j, k), a(i, j)), {2 * n * n * n, 4 * tile_bytes}, place(i, j, j == k + 1));
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string policy = argc > 1 ? argv[1] : "static";
  const int tiles = argc > 2 ? std::stoi(argv[2]) : 6, size = argc > 3 ? std::stoi(argv[3]) : 48, n = tiles * size;

  Eigen::MatrixXd matrix(n, n);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (double& element : matrix.reshaped()) element = normal(random);
  matrix = (matrix * matrix.transpose() + n * Eigen::MatrixXd::Identity(n, n)).eval();

  Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(n, n);
  {
    const Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .policy = policy});
    const Tiles tiled(tiles, size);
    tiled.on_host(HostAccess::overwrite, [&](double& element, int row, int column) { element = matrix(row, column); });
    factorise(tiled, tiles, size);
    tiled.on_host(HostAccess::read, [&](double& element, int row, int column) { factor(row, column) = element; });
  }
  const Eigen::MatrixXd expected = matrix.llt().matrixL();
  const double deviation = (factor - expected).norm() / expected.norm();
  std::printf("cholesky of %d x %d in tiles of %d: differs from Eigen's by %.1e, L(n, n) = %.17g\n", n, n, size, deviation,
              factor(n - 1, n - 1));
  return deviation < 1e-14 * n ? 0 : 1;
} catch (const quarkstar::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
