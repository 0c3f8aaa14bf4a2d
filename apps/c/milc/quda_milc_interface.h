/* What the MILC code calls of a solver library, answered by Quarkstar: names, types and order of arguments are those that MILC expects, so
 * that it builds against this header and libquda.so without a change. How to: docs/howto/milc.md.
 *
 * Rules of all functions
 *   Fields:   in host memory, precision 1 (float) or 2 (double), this rank's part. Even sites first, then odd ones, each lexicographic with
 *             x fastest. Links [site][x,y,z,t][row][column], with staggered phases and the boundary's sign in them where MILC has them in;
 *             vectors [site][colour], spinors [site][spin][colour], both parities in one array.
 *   Ranks:    coordinates in the grid of ranks run x fastest. All ranks make the same calls.
 *   Links:    *iterations = -1 on entry says that links may be new; else those at the same addresses are taken as they were.
 *   Structs:  members that a function does not need are not looked at.
 *   Errors:   one line on stderr with the function's name, and the job ends. A solve that does not converge is no error: MILC asks for the
 *             residual. */
#ifndef QUARKSTAR_QUDA_MILC_INTERFACE_H
#define QUARKSTAR_QUDA_MILC_INTERFACE_H

#include "enum_quda.h"
#include "quda.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where links and momenta are: in MILC's array of site structs, or (site NULL) in arrays of their own. */
typedef struct {
  void *site;
  void *link;
  size_t link_offset; /* bytes from the start of a site */
  void *mom;
  size_t mom_offset;
  size_t size; /* of a site, bytes */
} QudaMILCSiteArg_t;

typedef struct {
  int max_iter;
  QudaParity evenodd;       /* the sites of the system; of Dslash the image's */
  int mixed_precision;      /* of the solver's iterations: 0 as `quda_precision`, 1 single, 2 half; results are always double */
  double boundary_phase[4]; /* from here on only solver_type is looked at, by qudaCloverInvert: links hold the rest */
  int make_resident_solution;
  int use_resident_solution;
  QudaInverterType solver_type;
  double tadpole;
  double naik_epsilon;
} QudaInvertArgs_t;

typedef struct {
  const int *latsize;  /* the whole lattice: x, y, z, t */
  const int *machsize; /* ranks in each direction */
  int device;          /* not looked at: the session finds its devices */
} QudaLayout_t;

typedef struct {
  QudaVerbosity verbosity;
  QudaLayout_t layout;
} QudaInitArgs_t;

typedef struct {
  int reunit_allow_svd;
  int reunit_svd_only;
  double reunit_svd_abs_error;
  double reunit_svd_rel_error;
  double force_filter;
} QudaHisqParams_t;

typedef struct {
  int su3_source;
  int use_pinned_memory;
} QudaFatLinkArgs_t;

typedef struct {
  int n_mom;
  int *mom_modes;            /* 4 n_mom */
  QudaFFTSymmType *fft_type; /* 4 n_mom */
  int *source_position;      /* 4 */
  double flops;              /* out */
  double dtime;              /* out, seconds */
} QudaContractArgs_t;

typedef struct {
  int n_steps;
  double width;
  int compute_2link; /* 0: links as of the call before */
  int delete_2link;
  int t0; /* the time slice that is smeared; negative: all */
  int laplaceDim;
} QudaTwoLinkQuarkSmearArgs_t;

/* Of deflated solves, 1192 bytes, as MILC says. n_ev_deflate alone is looked at. */
typedef struct {
  size_t struct_size;
  int block_size, n_conv, n_ev_deflate, n_ev, n_kr;
  double tol;
  int max_restarts, poly_deg;
  double a_min, a_max;
  char vec_infile[512], vec_outfile[512];
  QudaParity vec_in_parity;
  QudaBoolean preserve_evals;
  int batched_rotate;
  QudaPrecision save_prec;
  QudaBoolean partfile, io_parity_inflate, use_norm_op, use_pc;
  double tol_restart;
  QudaEigType eig_type;
  QudaEigSpectrumType spectrum;
  double qr_tol;
  QudaBoolean require_convergence;
  int check_interval;
  QudaBoolean use_dagger, compute_gamma5, compute_svd, use_eigen_qr, use_poly_acc, arpack_check;
  int compute_evals_batch_size;
  QudaBoolean preserve_deflation;
  QudaPrecision prec_eigensolver;
} QudaEigensolverArgs_t;

/* ---- the session */

/* communicator: MPI_Comm*, which must stay until qudaInit, or NULL in a program without MPI. Before qudaInit. */
void qudaSetMPICommHandle(void *communicator);
void qudaInit(QudaInitArgs_t input);
void qudaFinalize(void);
void *qudaAllocatePinned(size_t bytes);
void qudaFreePinned(void *pointer);
void *qudaAllocateManaged(size_t bytes);
void qudaFreeManaged(void *pointer);
/* Accepted and without effect: links are unitarized by the analytic inverse root, with a singular value decomposition where that fails. */
void qudaHisqParamsInit(QudaHisqParams_t parameters);
/* There is no such space, so nothing to do. */
void qudaCleanUpDeflationSpace(void);

/* ---- links */

/* coefficients: of the link, its product along a line (Naik), detours of 3, 5 and 7 links, Lepage's; for links as they are, phases
 * included. Either result may be NULL. */
void qudaLoadKSLink(int precision, QudaFatLinkArgs_t arguments, const double coefficients[6], void *links, void *fat, void *long_links);
/* V = smeared links, W = V (V^+ V)^(-1/2) in U(3). V may be NULL. */
void qudaLoadUnitarizedLink(int precision, QudaFatLinkArgs_t arguments, const double coefficients[6], void *links, void *fat,
                            void *unitarized);
/* Means of Re tr U_p / 3 over all, spatial and temporal planes; phases_in: whether phases are in the links, which are taken out. */
void qudaPlaquettePhased(int precision, double plaquette[3], QudaMILCSiteArg_t *site, int phases_in);
/* Mean of tr of the product of links around the lattice in direction 3; phases_in: whether phases, antiperiodic in time, are in the links,
 * which are taken out. */
void qudaPolyakovLoopPhased(int precision, double loop[2], int direction, QudaMILCSiteArg_t *site, int phases_in);
/* Sum over all links of |off-diagonal|^2 + |diagonal|^2 / 2 - 4 of the momentum. */
double qudaMomAction(int precision, QudaMILCSiteArg_t *site);
/* U <- exp(step P) U, with phases or without. keep: whether MILC leaves the momentum here between calls, which it does with forces alone.
 */
void qudaUpdateU(int precision, double step, QudaMILCSiteArg_t *site);
void qudaUpdateUPhased(int precision, double step, QudaMILCSiteArg_t *site, int phases_in);
void qudaUpdateUPhasedPipeline(int precision, double step, QudaMILCSiteArg_t *site, int phases_in, int keep);

/* Transforms links without phases to Coulomb's (direction 3) or Landau's gauge: overrelaxation until F changes by less than the tolerance
 * in a step, or (stop_by_theta) theta is below it, at most so many steps. Links are projected onto SU(3) now and then, and at the end. */
void qudaGaugeFixingOVR(int precision, unsigned int direction, int most_steps, int report_every, double relaxation, double tolerance,
                        unsigned int reunitarize_every, unsigned int stop_by_theta, QudaMILCSiteArg_t *site);

/* ---- staggered fermions: D chi(x) = sum of fat and long hops, see docs/conventions.md of the package, section 4; M = 2 m + D.
 * long_links NULL: one hop alone. Residuals: |r| / |source| on the parity; relative ones Fermilab's, sqrt(mean |r(x)|^2 / |x(x)|^2), 0: not
 * asked for. What is asked must all hold, with "less than". */

/* image(parity) = D vector(other parity). */
void qudaDslash(int external_precision, int quda_precision, QudaInvertArgs_t arguments, const void *fat, const void *long_links,
                void *vector, void *image, int *iterations);
/* (4 m^2 - D D) solution = source on a parity; the solution holds the first guess. */
void qudaInvert(int external_precision, int quda_precision, double mass, QudaInvertArgs_t arguments, double residual,
                double relative_residual, const void *fat, const void *long_links, void *source, void *solution, double *final_residual,
                double *final_relative_residual, int *iterations);
/* Several sources together; the residuals are those of the last. */
void qudaInvertMsrc(int external_precision, int quda_precision, double mass, QudaInvertArgs_t arguments, double residual,
                    double relative_residual, const void *fat, const void *long_links, void **sources, void **solutions,
                    double *final_residual, double *final_relative_residual, int *iterations, int count);
/* The same two with n_ev_deflate = 0; the job ends where vectors should deflate. */
void qudaInvertDeflatable(int external_precision, int quda_precision, double mass, QudaInvertArgs_t arguments,
                          QudaEigensolverArgs_t deflation, double residual, double relative_residual, const void *fat,
                          const void *long_links, void *source, void *solution, double *final_residual, double *final_relative_residual,
                          int *iterations);
void qudaInvertMsrcDeflatable(int external_precision, int quda_precision, double mass, QudaInvertArgs_t arguments,
                              QudaEigensolverArgs_t deflation, double residual, double relative_residual, const void *fat,
                              const void *long_links, void **sources, void **solutions, double *final_residual,
                              double *final_relative_residual, int *iterations, int count);
/* (offset_i - D D) solution_i = source for several offsets. A residual of 0 for i > 0: as far as the others' iterations bring it. */
void qudaMultishiftInvert(int external_precision, int quda_precision, int count, double *offsets, QudaInvertArgs_t arguments,
                          const double *residuals, const double *relative_residuals, const void *fat, const void *long_links, void *source,
                          void **solutions, double *final_residuals, double *final_relative_residuals, int *iterations);

/* ---- clover fermions: M = 1 - kappa H - (clover_coefficient) sigma F with 1 - gamma in the forward hop, in DeGrand-Rossi's basis. The
 * clover term is made of the links; milc_clover and milc_clover_inverse are not looked at. */
void qudaCloverInvert(int external_precision, int quda_precision, double kappa, double clover_coefficient, QudaInvertArgs_t arguments,
                      double residual, double relative_residual, const void *links, void *milc_clover, void *milc_clover_inverse,
                      void *source, void *solution, double *final_residual, double *final_relative_residual, int *iterations);

/* ---- operations on colour vectors */

/* correlator[mode][t][re, im] += sum over x of antiquark(x)^* quark(x) times the factors of the mode. */
void qudaContractFT(int precision, QudaContractArgs_t *arguments, void *antiquark, void *quark, double *correlator);
/* direction 0 to 3; symmetry 1: U(x) v(x+mu), 2: U^+(x-mu) v(x-mu), 3: half of both. reload: links are new. */
void qudaShift(int external_precision, int quda_precision, const void *links, const void *source, void *image, int direction, int symmetry,
               int reload);
/* The meson operator of spin and taste gamma matrices, bits x = 1, y = 2, z = 4, t = 8, as MILC's general_spin_taste_op() from the origin.
 */
void qudaSpinTaste(int external_precision, int quda_precision, const void *links, const void *source, void *image, int spin, int taste,
                   int reload);
/* (1 + width^2 / (16 n) Laplacian)^n, the Laplacian of hops over two links in space. */
void qudaTwoLinkGaussianSmear(int external_precision, int quda_precision, void *links, void *vector, QudaTwoLinkQuarkSmearArgs_t arguments);
void qudaFreeTwoLink(void);

/* ---- functions that end the job with a message: MILC compiles with calls of them. So do all others of the interface, which are symbols of
 * libquda.so too; see docs/howto/milc.md. */

void qudaHisqForce(int precision, int terms, int naik_terms, double step, double **coefficients, void **vectors,
                   const double second_level[6], const double fat7[6], const void *w_links, const void *v_links, const void *u_links,
                   void *momentum);
void qudaGaugeForcePhased(int precision, int loop_types, double loop_coefficients[3], double step, QudaMILCSiteArg_t *site, int phases_in);
void qudaGaugeLoopTracePhased(int precision, double *traces, int **paths, int *lengths, double *coefficients, int count, int longest,
                              double factor, QudaMILCSiteArg_t *site, int phases_in);
void qudaGaugeMeasurementsPhased(int precision, double plaquette[3], double loop[2], int direction, double *traces, int **paths,
                                 int *lengths, double *coefficients, int count, int longest, double factor, QudaMILCSiteArg_t *site,
                                 int phases_in);
void qudaMomLoad(int precision, QudaMILCSiteArg_t *site);
void qudaMomSave(int precision, QudaMILCSiteArg_t *site);
void qudaUnitarizeSU3Phased(int precision, double tolerance, QudaMILCSiteArg_t *site, int phases_in);
void *qudaMultigridCreate(int external_precision, int quda_precision, double mass, QudaInvertArgs_t arguments, const void *fat,
                          const void *long_links, const char *file);
void qudaInvertMG(int external_precision, int quda_precision, double mass, QudaInvertArgs_t arguments, double residual,
                  double relative_residual, const void *fat, const void *long_links, void *multigrid, int rebuild, void *source,
                  void *solution, double *final_residual, double *final_relative_residual, int *iterations);
void qudaMultigridDestroy(void *multigrid);

#ifdef __cplusplus
}
#endif

#endif
