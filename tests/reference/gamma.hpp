#pragma once
// Euclidean gamma matrices of the two bases of docs/conventions.md, section 1: hermitian, {g_mu, g_nu} = 2 delta_munu.
#include "tests/reference/linalg.hpp"

namespace quarkstar::reference {

enum class Basis {
  degrand_rossi,  ///< chiral; Chroma, MILC, QDP; the package's basis in memory and in files
  dirac_pauli     ///< seed 1's: g_4 = diag(1,1,-1,-1); QUDA_DIRAC_PAULI_GAMMA_BASIS
};

/// g_mu, mu = 0..3 = x, y, z, t.
Matrix<4> gamma(Basis basis, int mu);

/// g_5 = g_1 g_2 g_3 g_4.
Matrix<4> gamma5(Basis basis);

/// sigma_munu = (i/2) [g_mu, g_nu].
Matrix<4> sigma(Basis basis, int mu, int nu);

/// T with T g(dirac_pauli) T^+ = g(degrand_rossi).
Matrix<4> dirac_pauli_to_degrand_rossi();

}  // namespace quarkstar::reference
