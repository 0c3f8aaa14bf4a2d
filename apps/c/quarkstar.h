/* Quarkstar as a C library: lattice-QCD Dirac solvers for programs in C99, C++ and whatever can call C. How to: docs/howto/c.md.
 *
 * Rules of all functions
 *   Result:   a qs_status. When it is not QS_OK, qs_error_message() tells this thread what happened, in one line with a remedy. Nothing is
 *             printed, no signal handler is installed, and the process is never ended.
 *   Structs:  set struct_size = sizeof(the struct) and zero the rest first; 0 and NULL are the defaults of every member. Of an array of
 *             results the first one's struct_size counts for all.
 *   Handles:  opaque. Whoever gets one frees it; freeing NULL is allowed. A gauge may be freed while operators made of it are in use. When
 *             a session is closed its gauges and operators can only be freed. What a function gives back is NULL until it has succeeded.
 *   Threads:  one session at a time in a process, and one call at a time: a second thread waits for the first one's call to return.
 *             Callbacks may come from any thread, while a call is in progress; in one, functions are refused, but an operator may be freed.
 *   Fork:     a child of a process with an open session has none of its threads. There calls are errors (parameter "session"), and to free
 *             handles or to close the session does nothing.
 *   Ranks:    with a communicator all ranks make the same calls in the same order, and each passes its part of every field. An argument
 *             that is wrong on one rank, or differs where it must not, is an error on all.
 *   Numbers:  lattice units; coordinates in the order x, y, z, t; DeGrand-Rossi's gamma matrices; docs/conventions.md of the package.
 *             Results have the same bits for any number of workers, devices and ranks, and those of the command `quarkstar`. */
#ifndef QUARKSTAR_H
#define QUARKSTAR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QS_API_VERSION 1

typedef enum qs_status {
  QS_OK = 0,
  QS_ERROR_INPUT = 2,       /* an argument, a setting or a file is wrong */
  QS_ERROR_ENVIRONMENT = 3, /* the machine lacks something: memory, a device, a permission, MPI */
  QS_NOT_CONVERGED = 4,     /* a solve ended without an answer; its results tell why */
  QS_ERROR_LOST = 5,        /* another rank or a device has failed, or nothing moved for too long: no call of the process works any more */
  QS_ERROR_INTERNAL = 70    /* a defect of the library: please report it */
} qs_status;

typedef enum qs_precision { QS_DOUBLE = 0, QS_SINGLE = 1 } qs_precision;

/* Order of sites and numbers in memory. re, im are always last. Sites: lex counts x fastest, then y, z, t, of this rank's part. Parity is
 * (x + y + z + t) mod 2 of global coordinates. Vectors are [spin][colour] of a spinor, [colour] of a colour vector.
 *   QS_LEXICOGRAPHIC  [lex], links [lex][mu][row][column]
 *   QS_EVEN_ODD       even sites first: site number lex/2 + parity * sites/2; else as above
 *   QS_MILC_SITE      QS_EVEN_ODD in an array of structs: `site_stride` bytes from site to site; data points into the first one
 *   QS_QDP            QS_EVEN_ODD; links as four arrays, one a direction: data[mu]
 *   QS_PYQUDA         links [mu][parity][t][z][y][x/2][row][column], vectors as QS_EVEN_ODD; a propagator, which is one array for all its
 *                     columns (QS_PYQUDA_PROPAGATOR): [site][sink spin][source spin][sink colour][source colour], [site][sink][source
 *                     colour] of colour vectors, column = 3 source spin + source colour */
typedef enum qs_layout {
  QS_LEXICOGRAPHIC = 0,
  QS_EVEN_ODD = 1,
  QS_MILC_SITE = 2,
  QS_QDP = 3,
  QS_PYQUDA = 4,
  QS_PYQUDA_PROPAGATOR = 5
} qs_layout;

/* QS_CUDA: memory of a CUDA device, of any context and any device, which need not be one of the session. What is enqueued on the field's
 * cuda_stream comes first, and when the call returns nothing uses the field any more. Where it comes by host memory: docs/howto/c.md. */
typedef enum qs_location { QS_HOST = 0, QS_CUDA = 1 } qs_location;

typedef enum qs_parity { QS_BOTH = 0, QS_EVEN = 1, QS_ODD = 2 } qs_parity;

typedef struct qs_session qs_session;
typedef struct qs_gauge qs_gauge;
typedef struct qs_operator qs_operator;
typedef struct qs_eigenvectors qs_eigenvectors;
typedef struct qs_correlators qs_correlators;

/* A setting as the command takes it: --key value, without the dashes; "true" and "false" for switches. */
typedef struct qs_setting {
  const char *key;
  const char *value;
} qs_setting;

/* Links U_mu of a lattice, or of this rank's part. */
typedef struct qs_links {
  size_t struct_size;
  void *data[4]; /* data[0] alone, but for QS_QDP */
  qs_precision precision;
  qs_layout layout;
  qs_location location;
  size_t site_stride; /* bytes; QS_MILC_SITE only */
  void *cuda_stream;  /* QS_CUDA: the cudaStream_t on which the field is made and used; NULL: the default stream */
} qs_links;

/* Several vectors, each with both parities. */
typedef struct qs_vectors {
  size_t struct_size;
  void *const *data; /* one pointer a vector; QS_PYQUDA_PROPAGATOR: one in all */
  int count;
  qs_precision precision;
  qs_layout layout;
  qs_location location;
  size_t site_stride; /* bytes; QS_MILC_SITE only */
  void *cuda_stream;  /* as above */
} qs_vectors;

/* ---- about the library and errors */

const char *qs_version(void); /* "quarkstar 0.1.0 (abc1234), ..." */

/* Of the last call of this thread that failed; "" before. Valid until its next call. */
const char *qs_error_message(void);
/* The key of the setting or the name of the argument that it is about, or "". */
const char *qs_error_parameter(void);

/* Names of the actions, by number; NULL behind the last. */
const char *qs_action_name(int number);
/* Complex numbers of a vector per site: 12 for spinors, 3 for colour vectors; also how many columns a propagator has. 0: no such action. */
int qs_action_components(const char *action);
/* Whether a solver of that name has one right-hand side and a solution for each of several masses. 0 too where there is none. */
int qs_solver_has_shifts(const char *solver);
/* Keys of the settings that its operators take, by number; NULL behind the last. help: a line about it; may be NULL. */
const char *qs_action_setting(const char *action, int number, const char **help);

/* ---- session */

enum { QS_LOG_INFO = 1, QS_LOG_WARNING = 2, QS_LOG_ERROR = 3 };
typedef void (*qs_log)(void *user, int level, const char *message);

typedef struct qs_session_options {
  size_t struct_size;
  const void *mpi_communicator; /* MPI_Comm*, of one group; NULL: this process alone. It is duplicated; MPI is initialised and finalised by the caller */
  const qs_setting *settings;   /* devices, workers, threads, ranks, policy, watchdog, ...: docs/howto/c.md */
  size_t settings_count;
  qs_log log; /* NULL: messages are dropped */
  void *log_user;
} qs_session_options;

/* Starts the workers. They sleep between calls. options may be NULL. */
qs_status qs_session_open(const qs_session_options *options, qs_session **session);
/* Ends them. The environment is as before. Collective. */
qs_status qs_session_close(qs_session *session);

/* ---- gauge fields */

/* From memory, which is copied. lattice: the whole one's extents. */
qs_status qs_gauge_create(qs_session *session, const int lattice[4], const qs_links *links, qs_gauge **gauge);
/* NERSC, SciDAC/ILDG, MILC, openQCD or DDalphaAMG, recognised by content; checksums are verified. lattice: of a bare LIME file, else NULL. */
qs_status qs_gauge_read(qs_session *session, const char *path, const int *lattice, qs_gauge **gauge);

typedef struct qs_heatbath {
  size_t struct_size;
  double beta;     /* 6/g^2 of Wilson's plaquette action */
  int sweeps;      /* of a heatbath and overrelaxations each */
  uint64_t seed;   /* 0: 1 */
  int cold;        /* start from unit links instead of random ones */
  int overrelaxation; /* a heatbath; 0: 4, -1: none */
} qs_heatbath;
/* As `quarkstar gauge generate`. */
qs_status qs_gauge_generate(qs_session *session, const int lattice[4], const qs_heatbath *heatbath, qs_gauge **gauge);

/* format: "nersc", "ildg" or "milc"; precision of the file. */
qs_status qs_gauge_write(qs_gauge *gauge, const char *path, const char *format, qs_precision precision);
/* Copies the links out. */
qs_status qs_gauge_export(qs_gauge *gauge, const qs_links *links);
/* Projects every link onto SU(3), as MILC does: row 0 normalised, row 1 made orthogonal to it, row 2 their cross product. */
qs_status qs_gauge_reunitarize(qs_gauge *gauge);
qs_status qs_gauge_lattice(const qs_gauge *gauge, int lattice[4]);
/* This rank's part. */
qs_status qs_gauge_part(const qs_gauge *gauge, int origin[4], int extents[4]);

/* Means of Re tr / 3. */
typedef struct qs_plaquettes {
  size_t struct_size;
  double mean, spatial, temporal, link_trace;
} qs_plaquettes;
qs_status qs_gauge_plaquette(qs_gauge *gauge, qs_plaquettes *plaquettes);

typedef struct qs_smearing {
  size_t struct_size;
  const char *action;  /* "hisq" or "asqtad" */
  double naik_epsilon; /* HISQ */
  double u0;           /* asqtad: tadpole factor */
  double boundary[4];  /* angles / pi; antiperiodic in time is {0, 0, 0, 1} */
} qs_smearing;
/* Fat and long links with staggered phases and boundary in them. Either pointer may be NULL: not wanted. */
qs_status qs_gauge_smear(qs_gauge *gauge, const qs_smearing *smearing, qs_gauge **fat, qs_gauge **long_links);

void qs_gauge_free(qs_gauge *gauge);

/* ---- operators */

/* M of an action on a gauge field, and what solves M x = b. settings: those of `quarkstar solve` that are of the action or of the solver
 * (kappa, mass, masses, boundary, tol, solver, precision, links, nrhs, ...). */
qs_status qs_operator_create(qs_gauge *gauge, const char *action, const qs_setting *settings, size_t settings_count, qs_operator **op);
/* The same of staggered links that are there already, with coefficients, phases and boundary in them, as qs_gauge_smear gives them:
 * M = 2 m + D, D chi(x) = sum over mu of X_mu(x) chi(x+mu) - X_mu^+(x-mu) chi(x-mu) + N_mu(x) chi(x+3mu) - N_mu^+(x-3mu) chi(x-3mu), X = fat,
 * N = long_links, which may be NULL: then without these hops. settings: those of the action "hisq", or "naive", but for links and what makes
 * them. */
qs_status qs_operator_create_on_links(qs_gauge *fat, qs_gauge *long_links, const qs_setting *settings, size_t settings_count,
                                      qs_operator **op);
void qs_operator_free(qs_operator *op);
int qs_operator_components(const qs_operator *op);
/* Of the fifth dimension; 1 without one. */
int qs_operator_slices(const qs_operator *op);

typedef enum qs_reason {
  QS_REASON_CONVERGED = 1,
  QS_REASON_ZERO_DENOMINATOR = 2,
  QS_REASON_NOT_FINITE = 3,
  QS_REASON_STAGNATION = 4,
  QS_REASON_ITERATION_LIMIT = 5,
  QS_REASON_INTERRUPTED = 6
} qs_reason;
const char *qs_reason_text(qs_reason reason);

typedef struct qs_result {
  size_t struct_size;
  qs_reason reason;
  int iterations;           /* of all restarts */
  int restarts;             /* after the first solve */
  double residual;          /* |b - M x| / |b|, taken anew in double precision; of a parity see qs_solve_options */
  double relative_residual; /* Fermilab's: sqrt(mean over sites of |r(x)|^2 / |x(x)|^2), 1 where x(x) = 0; 0 where it was not asked for or the source is 0 */
  double seconds, flops;    /* of right-hand sides that were solved together an equal share */
} qs_result;

typedef struct qs_solve_options {
  size_t struct_size;
  /* QS_BOTH: M x = b. QS_EVEN, QS_ODD: S x = b on the sites of that parity, S = M_pp - M_pq M_qq^-1 M_qp; the other sites of sources and
   * solutions are neither read nor written (but those of a QS_LEXICOGRAPHIC field in QS_CUDA that comes by host memory, which are written back). Staggered: S = (4 m^2 - D D) / (2 m). residual is then |b - S x| / |b|. Wilson, clover and twisted mass: QS_ODD or
   * QS_BOTH. With a fifth dimension QS_BOTH alone, and neither relative_tolerances nor use_guess. */
  qs_parity parity;
  const double *masses; /* one a solution (Wilson, clover: kappa; twisted mass: mu); NULL: the operator's. Where each mass has links of its own (HISQ's naik-epsilon
                         * auto) the operator's alone */
  /* Of `residual`, one a solution; NULL: the setting tol. 0: not asked. With multishift in double precision, without guesses, 0 also asks
   * for nothing but iterations as long as another solution needs them. */
  const double *tolerances;
  const double *relative_tolerances; /* of `relative_residual`, one a solution, 0: not asked; NULL: none. What is asked must all hold */
  int use_guess; /* solutions hold initial guesses */
  /* What solutions are multiplied by when they are given back, and guesses divided by, one a solution; NULL: 1. Staggered parities: 1/(2 m)
   * makes them solutions of (4 m^2 - D D) x = b. */
  const double *solution_scales;
} qs_solve_options;

/* Solves for sources->count right-hand sides, as many together as the operator's setting nrhs says, or for one source and several masses
 * where its setting solver is multishift. results: one a solution, struct_size set in the first, or NULL. options may be NULL.
 * A solution may take the place of its own source, with multishift any one that of the source; else no two arrays may overlap.
 * QS_NOT_CONVERGED where one has not. */
qs_status qs_operator_solve(qs_operator *op, const qs_solve_options *options, const qs_vectors *sources, const qs_vectors *solutions,
                            qs_result *results);
/* The same where the right-hand sides are columns of a source, columns[i] of solution i (NULL: 0, 1, ...), with multishift one for all. Tasks
 * make them where the operator's fields are, so they take no memory of the caller's. source: as qs_operator_source has it, and smeared
 * points, "gaussian:X,Y,Z,T,SIGMA,STEPS" and "wuppertal:X,Y,Z,T,ALPHA,STEPS", with APE-smeared links and ",ALPHA,STEPS" of these
 * (qs_operator_create_on_links: none of them). No relative_tolerances. */
qs_status qs_operator_propagate(qs_operator *op, const char *source, const int *columns, const qs_solve_options *options,
                                const qs_vectors *solutions, qs_result *results);
/* |r| / |b| after every iteration of the last solve, of its solution `number`; after qs_operator_three_points of its sequential solves, in
 * the order of sinks, hadrons and columns. Where one has not converged, the columns that were solved together with it (setting nrhs) are the
 * last: no further group was solved. The pointer is valid until the next solve. */
qs_status qs_operator_history(const qs_operator *op, int number, const double **values, size_t *count);

/* Solves (S^+ S + shifts[i]) x_i = b on the odd sites for one b and `count` shifts, numbers from 0, S of qs_solve_options at the operator's
 * own mass (with the setting schur = symmetric M_oo^-1 S): the terms of rational functions of S^+ S. As many as the setting nrhs says come
 * from one Krylov space, and each is then refined. sources->count is 1, with a fifth dimension qs_operator_slices(), one vector a slice;
 * solutions->count is count times that, the slices of a solution behind each other. No two arrays may overlap; even sites are neither read
 * nor written (but as for a parity in qs_solve_options). tolerances: one a shift, of |b - (S^+ S + shift) x| / |b|, which is `residual` of
 * results; NULL: the setting tol. results: one a shift, or NULL. QS_ERROR_INPUT for staggered actions, whose masses are shifts, for
 * negative shifts and with the setting recycle; QS_NOT_CONVERGED where one has not. */
qs_status qs_operator_solve_normal(qs_operator *op, const double *shifts, int count, const double *tolerances, const qs_vectors *sources,
                                   const qs_vectors *solutions, qs_result *results);

typedef struct qs_apply_options {
  size_t struct_size;
  const double *masses; /* as above */
  int adjoint;          /* M^+ */
  /* QS_BOTH: image = M vector. QS_EVEN, QS_ODD: the hopping part alone, image(parity) = M vector(other parity); the rest is neither read
   * nor written. Staggered: D. */
  qs_parity parity;
} qs_apply_options;
/* An image may take the place of its own vector; else no two arrays may overlap. Not of an action with a fifth dimension. */
qs_status qs_operator_apply(qs_operator *op, const qs_apply_options *options, const qs_vectors *vectors, const qs_vectors *images);

/* ---- eigenvectors and deflation */

typedef struct qs_eigen_options {
  size_t struct_size;
  int modes;          /* how many */
  double tolerance;   /* largest |A v - lambda v| of a mode with |v| = 1; 0: 1e-10 */
  int block;          /* vectors that A is applied to together, 1 to 16; 0: 4. The bits depend on it */
  int basis, degree;  /* vectors of the largest basis, degree of the filter; 0: chosen */
  double window_low, window_high; /* of the filter; 0: estimated */
  const char *store; /* "double", "single" or "half": how they are kept, in memory, in a file, and by solves that they deflate; NULL: double */
  const char *basis_precision; /* "double" or "single": in which the basis is held while they are computed; NULL: double */
  const char *basis_memory; /* where it is while GPUs compute: "device", or "host", from where it is copied; NULL: device */
  const char *operator_name; /* "even-odd", A of the even-odd system, or "gamma5", gamma_5 M on all sites; NULL: even-odd */
  const char *end;           /* those with the "lowest" or the "highest" |lambda|; NULL: lowest */
} qs_eigen_options;

/* Eigenvectors of A of the operator's even-odd system, -D_eo D_oe of staggered actions, else Mh^+ Mh of the operator's own (first) mass, or of
 * gamma_5 M of Wilson and clover fermions, with signs: what `quarkstar eigen` computes, with the same bits. They are kept in host memory, a
 * component and site (of one parity, but for gamma_5 M) in 16 bytes, or where `store` says so in 8 (single) or 4 (half, and 4 a site). Not of an operator on links that are given as they are
 * (qs_operator_create_on_links), nor of one with a fifth dimension. QS_ERROR_INPUT for settings that make no sense or a window that leaves out modes; QS_NOT_CONVERGED where they
 * do not converge. */
qs_status qs_eigenvectors_compute(qs_operator *op, const qs_eigen_options *options, qs_eigenvectors **vectors);
/* A file of `quarkstar eigen`, or of qs_eigenvectors_write. One of another operator or configuration, or a damaged one, is refused by name.
 * Written is a SciDAC file where the name ends in .lime or .scidac (not of half precision), else HDF5; either is read. */
qs_status qs_eigenvectors_read(qs_operator *op, const char *path, qs_eigenvectors **vectors);
qs_status qs_eigenvectors_write(const qs_eigenvectors *vectors, const char *path);
int qs_eigenvectors_count(const qs_eigenvectors *vectors);
/* lambda, |lambda| ascending to rounding (of the highest: descending), and |A v - lambda v| of the vectors as they are kept: so many of each.
 * Valid until the vectors are freed. */
const double *qs_eigenvectors_values(const qs_eigenvectors *vectors);
const double *qs_eigenvectors_residuals(const qs_eigenvectors *vectors);
void qs_eigenvectors_free(qs_eigenvectors *vectors);

/* From now on each correction of a solve begins with what these vectors know of the solution, as with the command's --deflate, where it is on
 * the sites of their parity: the lowest of A. NULL: no longer. The vectors may be freed while the operator uses them. A copy of them is where the operator's
 * fields are. */
qs_status qs_operator_deflate(qs_operator *op, const qs_eigenvectors *vectors);

/* ---- sources and correlators */

/* Fills vector i with column columns[i] (NULL: 0, 1, ...) of a source as the command writes it: "point:0,0,0,0", "wall:3",
 * "corner-wall:0", "z2:0,7", "random:0,7". */
qs_status qs_operator_source(qs_operator *op, const char *source, const int *columns, const qs_vectors *vectors);

/* Correlators of a propagator of an action on the lattice of `gauge`: all its columns, which were solved from that source. The source
 * cannot be checked. settings: the command's `correlators`, `momenta` and `fold`; without them what the
 * command computes. Those that have no meaning for the source are left out, with a warning. Of domain wall pion_midpoint and
 * pion_residual_mass, which are of the middle of the fifth dimension, come of qs_operator_residual_mass. */
qs_status qs_contract(qs_gauge *gauge, const char *action, const char *source, const qs_setting *settings, size_t settings_count,
                      const qs_vectors *propagator, qs_correlators **correlators);
/* Of domain wall and Moebius, right after qs_operator_propagate for all 12 columns of that source in their order at one mass: the correlators
 * pion_midpoint, sum over columns and space of |q|^2 in the middle of the fifth dimension, and pion_residual_mass, its ratio to that on the
 * walls; mass: the ratio of both summed over all times but the source's. Either pointer may be NULL: not wanted. QS_ERROR_INPUT where the
 * last solve was for something else, also by qs_operator_solve or for three-point functions, or a column has not converged. */
qs_status qs_operator_residual_mass(qs_operator *op, const char *source, double *mass, qs_correlators **correlators);
/* Three-point functions C3(t) = sum_x sum_y exp(-i p.(x - x0)) exp(i q.(y - x0)) <J(x) O(y, t) Jbar> of a propagator of the operator: all 12
 * columns, which were solved from that source with the operator's own mass. A hadron J ends a fixed number of time slices behind the source
 * with momentum p; currents O with momenta q act on one of its quarks. settings: the command's `three-points`, which must be given
 * ("pion:8+proton_u:8,1,0,0"), `currents`, `current-momenta` and `sinks`, the smearings of J. docs/usage.md says which there are.
 * Cost: 12 sequential solves, by the operator's solver to its tolerance, for each hadron, p and sink. Memory: two copies of the propagator
 * where the operator's fields are, with smeared sinks three, and one in host memory; 3264 bytes a site where conserved currents are wanted
 * (they are by default), else 384. Names as the command has them, "pion_3pt_dt8_vector_t"; values are complex. QS_ERROR_INPUT where the
 * action has no such functions, or the operator several masses; QS_NOT_CONVERGED where a sequential solve has not: then there are no
 * correlators. */
qs_status qs_operator_three_points(qs_operator *op, const char *source, const qs_setting *settings, size_t settings_count,
                                   const qs_vectors *propagator, qs_correlators **correlators);
/* Adds to correlators[i], which qs_contract has made of a propagator of the operator from the point sources[i], for each of its mesons at
 * momentum zero the low-mode average: NAME_low-mode-average, what the command's `low-mode-average` writes, with the same bits. It is
 * C - C_LL(source) + C_LL, with the part C_LL that the operator's eigenvectors (qs_operator_deflate) make of the meson from this source, and
 * its mean over all sites as sources. masses: of each propagator; NULL: the operator's own; where the eigenvectors are those of one mass,
 * that. Cost: that of C_LL, once for all sources and masses of a call, so give all in one: docs/howto/eigen.md. Memory: 2.8 kB per site
 * (spinors: 13 kB). Names that qs_correlators_name gave before are gone. QS_ERROR_INPUT for an operator that is not deflated, sources
 * that are no points or differ from the one given to qs_contract, and correlators without such mesons. */
qs_status qs_operator_low_mode_averages(qs_operator *op, const char *const *sources, const double *masses, qs_correlators *const *correlators,
                                        int count);
int qs_correlators_count(const qs_correlators *correlators);
const char *qs_correlators_name(const qs_correlators *correlators, int number);
/* C(t), t from the source's time slice; of a complex one the real parts. */
const double *qs_correlators_values(const qs_correlators *correlators, int number, size_t *times);
/* NULL, and 0 times, where every summand is real. */
const double *qs_correlators_imaginary(const qs_correlators *correlators, int number, size_t *times);
void qs_correlators_free(qs_correlators *correlators);

#ifdef __cplusplus
}
#endif

#endif
