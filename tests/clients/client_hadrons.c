/* Links, eigenvectors, correlators and three-point functions of the C client. */
#define _POSIX_C_SOURCE 200809L
#include "client_parts.h"

#include <limits.h>

/* Smeared links given back are the operator that makes them itself; shifts that go as far as the first; scaled solutions. */
void on_links(qs_gauge *gauge, qs_operator *hisq) {
  const qs_smearing smearing = {.struct_size = sizeof smearing, .action = "hisq", .boundary = {0, 0, 0, 1}};
  qs_gauge *fat = NULL, *far = NULL;
  OK(qs_gauge_smear(gauge, &smearing, &fat, &far));
  const qs_setting wrong = {"links", "14"}, shifted = {"solver", "multishift"}, mass = {"mass", "0.4"};
  qs_operator *op = NULL, *shifts = NULL;
  FAILS(QS_ERROR_INPUT, "there already", "links", qs_operator_create_on_links(fat, far, &wrong, 1, &op));
  OK(qs_operator_create_on_links(fat, far, &mass, 1, &op));
  OK(qs_operator_create_on_links(fat, far, &shifted, 1, &shifts));
  qs_gauge_free(fat);
  qs_gauge_free(far);
  fields *b = new_fields(1, sites * 6), *x = new_fields(2, sites * 6), *y = new_fields(2, sites * 6);
  fill(b, 5);
  x->vectors.count = y->vectors.count = 1;
  const double twice = 2;
  qs_solve_options options = {.struct_size = sizeof options, .parity = QS_ODD};
  OK(qs_operator_solve(hisq, &options, &b->vectors, &x->vectors, NULL));
  options.solution_scales = &twice;
  OK(qs_operator_solve(op, &options, &b->vectors, &y->vectors, NULL));
  for (size_t i = 0; i < sites * 6; ++i) CHECK(of(y, 0)[i] == 2 * of(x, 0)[i]);
  FAILS(QS_ERROR_INPUT, "no links to smear", "source", qs_operator_propagate(op, "gaussian:0,0,0,0,1,2", NULL, NULL, &x->vectors, NULL));
  options.use_guess = 1; /* which is the solution, scaled */
  qs_result results[2] = {{.struct_size = sizeof(qs_result)}, {.struct_size = sizeof(qs_result)}};
  OK(qs_operator_solve(op, &options, &b->vectors, &y->vectors, results));
  CHECK(results[0].iterations == 0);

  x->vectors.count = 2;
  const double masses[2] = {0.2, 0.8}, tolerances[2] = {1e-6, 0}, none[2] = {0, 0};
  options = (qs_solve_options){.struct_size = sizeof options, .parity = QS_EVEN, .masses = masses, .tolerances = tolerances};
  OK(qs_operator_solve(shifts, &options, &b->vectors, &x->vectors, results));
  CHECK(results[0].residual <= 1e-6 && results[1].residual < 0.1 * results[0].residual);
  options.use_guess = 1;
  FAILS(QS_ERROR_INPUT, "0", "tolerances", qs_operator_solve(shifts, &options, &b->vectors, &x->vectors, results));
  options.use_guess = 0;
  options.tolerances = none;
  FAILS(QS_ERROR_INPUT, "0", "tolerances", qs_operator_solve(shifts, &options, &b->vectors, &x->vectors, results));
  options.tolerances = NULL;
  options.solution_scales = none;
  FAILS(QS_ERROR_INPUT, "0", "solution_scales", qs_operator_solve(shifts, &options, &b->vectors, &x->vectors, results));
  qs_operator_free(op);
  qs_operator_free(shifts);
  free_fields(b);
  free_fields(x);
  free_fields(y);
}

/* What qs_operator_low_mode_averages() refuses; averages of two masses and sources from one call and from several are the same. */
static void low_mode_averages(qs_gauge *gauge, qs_operator *deflated) {
  const size_t reals = (size_t)sites * 6;
  const char *const points[] = {"point:0,0,0,0", "point:1,2,3,5"}, *const wall = "wall:0";
  const double masses[] = {0.02, 0.3}, *const own = masses;
  qs_operator *plain = NULL;
  const qs_setting light = {"mass", "0.02"}, momentum = {"momenta", "1,0,0"}, fold = {"fold", "true"};
  OK(qs_operator_create(gauge, "naive", &light, 1, &plain));
  fields *b = new_fields(3, reals), *x = new_fields(3, reals);
  qs_correlators *all[2] = {NULL, NULL}, *one = NULL, *moving = NULL, *folded = NULL;
  for (int i = 0; i < 2; ++i) {
    const double of_columns[] = {masses[i], masses[i], masses[i]};
    const qs_solve_options options = {.struct_size = sizeof options, .masses = of_columns};
    OK(qs_operator_source(deflated, points[i], NULL, &b->vectors));
    OK(qs_operator_solve(deflated, &options, &b->vectors, &x->vectors, NULL));
    OK(qs_contract(gauge, "naive", points[i], NULL, 0, &x->vectors, &all[i]));
    if (i > 0) continue;
    OK(qs_contract(gauge, "naive", points[0], NULL, 0, &x->vectors, &one));
    OK(qs_contract(gauge, "naive", points[0], &momentum, 1, &x->vectors, &moving));
    OK(qs_contract(gauge, "naive", points[0], &fold, 1, &x->vectors, &folded));
  }
  const int plain_count = qs_correlators_count(one);
  FAILS(QS_ERROR_INPUT, "NULL", "handle", qs_operator_low_mode_averages(NULL, points, masses, all, 2));
  FAILS(QS_ERROR_INPUT, "deflated by no eigenvectors", "op", qs_operator_low_mode_averages(plain, points, NULL, &one, 1));
  FAILS(QS_ERROR_INPUT, "0 sources", "count", qs_operator_low_mode_averages(deflated, points, masses, all, 0));
  FAILS(QS_ERROR_INPUT, "NULL", "sources", qs_operator_low_mode_averages(deflated, NULL, masses, all, 2));
  FAILS(QS_ERROR_INPUT, "NULL", "correlators", qs_operator_low_mode_averages(deflated, points, masses, NULL, 2));
  FAILS(QS_ERROR_INPUT, "a source is wall:0", "sources", qs_operator_low_mode_averages(deflated, &wall, NULL, &one, 1));
  FAILS(QS_ERROR_INPUT, "no meson", "correlators", qs_operator_low_mode_averages(deflated, points, NULL, &moving, 1));
  FAILS(QS_ERROR_INPUT, "number 0 is point:1,2,3,5", "sources", qs_operator_low_mode_averages(deflated, points + 1, NULL, &one, 1));
  qs_correlators *const twice[] = {one, one};
  FAILS(QS_ERROR_INPUT, "one of those before", "correlators", qs_operator_low_mode_averages(deflated, points, NULL, twice, 2));
  CHECK(qs_correlators_count(one) == plain_count);
  OK(qs_operator_low_mode_averages(deflated, points, masses, all, 2));
  OK(qs_operator_low_mode_averages(deflated, points, own, &one, 1));
  OK(qs_operator_low_mode_averages(deflated, points, NULL, &folded, 1));
  FAILS(QS_ERROR_INPUT, "already", "correlators", qs_operator_low_mode_averages(deflated, points, own, &one, 1));
  const int count = qs_correlators_count(one);
  CHECK(count > plain_count && strcmp(qs_correlators_name(one, plain_count), "pion5_low-mode-average") == 0);
  for (int i = 0; i < count; ++i) {
    size_t times = 0, same_times = 0, folded_times = 0;
    const double *const values = qs_correlators_values(one, i, &times), *const same = qs_correlators_values(all[0], i, &same_times),
                       *const half = qs_correlators_values(folded, i, &folded_times);
    CHECK(times == same_times && memcmp(values, same, times * sizeof(double)) == 0);
    CHECK(folded_times == times);
    const double even = (values[1] + values[times - 1]) / 2, odd = (values[1] - values[times - 1]) / 2, rounding = 1e-12 * (fabs(even) + fabs(odd));
    CHECK(fabs(half[1] - even) < rounding || fabs(half[1] - odd) < rounding);
  }
  for (int i = 0; i < 2; ++i) qs_correlators_free(all[i]);
  qs_correlators_free(one);
  qs_correlators_free(moving);
  qs_correlators_free(folded);
  qs_operator_free(plain);
  free_fields(b);
  free_fields(x);
}

/* Deflated solves find the same solution in fewer iterations; files bring the vectors back; what is refused. */
void eigenvectors(qs_gauge *gauge) {
  const qs_setting light[] = {{"mass", "0.02"}, {"tol", "1e-9"}}, other_sign[] = {{"mass", "0.02"}, {"boundary", "t=periodic"}}, slices = {"ls", "4"};
  qs_operator *op = NULL, *other = NULL, *wall = NULL;
  OK(qs_operator_create(gauge, "naive", light, 2, &op));
  OK(qs_operator_create(gauge, "naive", other_sign, 2, &other));
  OK(qs_operator_create(gauge, "domain-wall", &slices, 1, &wall));
  qs_eigenvectors *modes = NULL, *again = NULL;
  qs_eigen_options options = {.struct_size = sizeof options, .modes = 8, .block = 2};
  FAILS(QS_ERROR_INPUT, "eigenvectors of five dimensions", "op", qs_eigenvectors_compute(wall, &options, &modes));
  options.window_high = NAN;
  FAILS(QS_ERROR_INPUT, "nan", "window-low", qs_eigenvectors_compute(op, &options, &modes));
  options.window_high = INFINITY;
  FAILS(QS_ERROR_INPUT, "inf", "window-low", qs_eigenvectors_compute(op, &options, &modes));
  options.window_high = 0;
  options.modes = INT_MAX;
  FAILS(QS_ERROR_INPUT, "modes", "modes", qs_eigenvectors_compute(op, &options, &modes));
  options.modes = 8;
  options.basis = INT_MAX - 15;
  FAILS(QS_ERROR_INPUT, "vectors", "basis", qs_eigenvectors_compute(op, &options, &modes));
  options.basis = 0;
  options.degree = INT_MAX;
  FAILS(QS_ERROR_INPUT, "degree", "degree", qs_eigenvectors_compute(op, &options, &modes));
  options.degree = 0;
  CHECK(modes == NULL);
  OK(qs_eigenvectors_compute(op, &options, &modes));
  CHECK(qs_eigenvectors_count(modes) == 8);
  const double *const values = qs_eigenvectors_values(modes), *const residuals = qs_eigenvectors_residuals(modes);
  for (int i = 0; i < 8; ++i) CHECK(residuals[i] < 1e-10 && values[i] > 0 && (i == 0 || values[i] >= values[i - 1]));

  const size_t reals = (size_t)sites * 6;
  fields *b = new_fields(1, reals), *x = new_fields(1, reals), *y = new_fields(1, reals);
  fill(b, 30);
  qs_result plain = {.struct_size = sizeof plain}, deflated = plain;
  OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, &plain));
  FAILS(QS_ERROR_INPUT, "another operator", "vectors", qs_operator_deflate(other, modes));
  OK(qs_eigenvectors_write(modes, "modes.h5"));
  OK(qs_eigenvectors_read(op, "modes.h5", &again));
  CHECK(qs_eigenvectors_count(again) == 8 && memcmp(qs_eigenvectors_values(again), values, 8 * sizeof(double)) == 0);
  qs_eigenvectors_free(again);
  OK(qs_eigenvectors_write(modes, "modes.lime"));
  OK(qs_eigenvectors_read(op, "modes.lime", &again));
  CHECK(qs_eigenvectors_count(again) == 8 && memcmp(qs_eigenvectors_values(again), values, 8 * sizeof(double)) == 0);
  qs_eigenvectors_free(again);
  options.store = "quarter";
  FAILS(QS_ERROR_INPUT, "'quarter' is unknown", "store", qs_eigenvectors_compute(op, &options, &again));
  options.store = "half";
  OK(qs_eigenvectors_compute(op, &options, &again));
  CHECK(memcmp(qs_eigenvectors_values(again), values, 8 * sizeof(double)) == 0);
  for (int i = 0; i < 8; ++i) CHECK(qs_eigenvectors_residuals(again)[i] > 1e-7 && qs_eigenvectors_residuals(again)[i] < 1e-3);
  FAILS(QS_ERROR_INPUT, "half precision", "", qs_eigenvectors_write(again, "half.lime"));
  qs_eigenvectors_free(again);
  FAILS(QS_ERROR_INPUT, "another operator", "", qs_eigenvectors_read(other, "modes.h5", &again));
  CHECK(again == NULL);
  OK(qs_operator_deflate(op, modes));
  qs_eigenvectors_free(modes); /* the operator keeps them */
  OK(qs_operator_solve(op, NULL, &b->vectors, &y->vectors, &deflated));
  CHECK(deflated.iterations < plain.iterations);
  low_mode_averages(gauge, op);
  double difference = 0;
  for (size_t i = 0; i < reals; ++i) difference += (of(x, 0)[i] - of(y, 0)[i]) * (of(x, 0)[i] - of(y, 0)[i]);
  CHECK(sqrt(difference / norm2(of(x, 0), reals)) < 1e-6);
  OK(qs_operator_deflate(op, NULL));
  OK(qs_operator_solve(op, NULL, &b->vectors, &y->vectors, &deflated));
  CHECK(deflated.iterations == plain.iterations && memcmp(of(x, 0), of(y, 0), reals * sizeof(double)) == 0);
  qs_operator *const operators[] = {op, other, wall};
  for (size_t i = 0; i < sizeof operators / sizeof operators[0]; ++i) qs_operator_free(operators[i]);
  fields *const all[] = {b, x, y};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free_fields(all[i]);
}

/* What qs_contract() refuses, and |S(x)|^2 by a loop. */
void contractions(qs_gauge *gauge, qs_operator *wilson) {
  const size_t reals = (size_t)sites * 24;
  fields *b = new_fields(12, reals), *x = new_fields(12, reals);
  qs_correlators *all = NULL;
  OK(qs_operator_source(wilson, "point:0,0,0,5", NULL, &b->vectors));
  OK(qs_operator_solve(wilson, NULL, &b->vectors, &x->vectors, NULL));
  OK(qs_contract(gauge, "wilson", "point:0,0,0,5", NULL, 0, &x->vectors, &all));
  size_t times = 0;
  const double *const pion = qs_correlators_values(all, 0, &times);
  CHECK(times == 8 && strcmp(qs_correlators_name(all, 0), "pion") == 0 && qs_correlators_imaginary(all, 0, NULL) == NULL);
  for (int t = 0; t < 8; ++t) {
    double sum = 0;
    for (int v = 0; v < 12; ++v) sum += norm2(of(x, v) + (size_t)((t + 5) % 8) * 64 * 24, 64 * 24);
    CHECK(fabs(pion[t] / sum - 1) < 1e-13);
  }
  CHECK(qs_correlators_values(all, qs_correlators_count(all), &times) == NULL && times == 0);
  qs_correlators_free(all);
  const qs_setting wrong = {"correlators", "sigma"}, kappa = {"kappa", "0.1"};
  FAILS(QS_ERROR_INPUT, "'sigma' is no correlator", "correlators",
        qs_contract(gauge, "wilson", "point:0,0,0,5", &wrong, 1, &x->vectors, &all));
  FAILS(QS_ERROR_INPUT, "setting of operators", "kappa", qs_contract(gauge, "wilson", "point:0,0,0,5", &kappa, 1, &x->vectors, &all));
  FAILS(QS_ERROR_INPUT, "outside", "source", qs_contract(gauge, "wilson", "point:9,0,0,5", NULL, 0, &x->vectors, &all));
  x->vectors.count = 11;
  FAILS(QS_ERROR_INPUT, "give all 12 columns", "propagator", qs_contract(gauge, "wilson", "point:0,0,0,5", NULL, 0, &x->vectors, &all));
  free_fields(b);
  free_fields(x);
}

/* Three-point functions: the conserved charge of a pion is 1, and what qs_operator_three_points() refuses leaves nothing. */
void three_points(qs_gauge *gauge, qs_operator *wilson, qs_operator *hisq) {
  const char *const source = "point:0,0,0,5";
  const size_t reals = (size_t)sites * 24;
  fields *b = new_fields(12, reals), *x = new_fields(12, reals);
  OK(qs_operator_source(wilson, source, NULL, &b->vectors));
  OK(qs_operator_solve(wilson, NULL, &b->vectors, &x->vectors, NULL));
  qs_correlators *two = NULL, *three = NULL;
  OK(qs_contract(gauge, "wilson", source, NULL, 0, &x->vectors, &two));
  const qs_setting charge[] = {{"three-points", "pion:3"}, {"currents", "conserved_t"}};
  OK(qs_operator_three_points(wilson, source, charge, 2, &x->vectors, &three));
  CHECK(qs_correlators_count(three) == 1 && strcmp(qs_correlators_name(three, 0), "pion_3pt_dt3_conserved_t") == 0);
  size_t times = 0, length = 0;
  const double *const pion = qs_correlators_values(two, 0, NULL), *const c = qs_correlators_values(three, 0, &times);
  const double *const imaginary = qs_correlators_imaginary(three, 0, NULL), *history = NULL;
  CHECK(times == 8 && imaginary != NULL);
  for (int t = 0; t < 3; ++t) {
    CHECK(fabs(c[t] - c[3 + t] - pion[3]) < 1e-8 * pion[3]);
    CHECK(fabs(imaginary[t] - imaginary[3 + t]) < 1e-8 * pion[3]);
  }
  qs_correlators_free(two);
  qs_correlators_free(three);
  OK(qs_operator_history(wilson, 11, &history, &length)); /* of the last sequential solve */
  CHECK(length > 3 && history[length - 1] <= 1e-10);
  FAILS(QS_ERROR_INPUT, "12 solutions", "number", qs_operator_history(wilson, 12, &history, &length));

  const struct {
    const char *key, *value, *text;
  } wrong[] = {{"three-points", "kaon:3", "'kaon' is none of the hadrons"},
               {"three-points", "pion:3,1", "'pion:3,1' is no sink"},
               {"three-points", "pion:8", "pion:8 does not end within the lattice; use 1 to 7"},
               {"three-points", "proton:3", "'proton' is none of the hadrons"},
               {"currents", "charge", "'charge' is no current"},
               {"current-momenta", "0,1", "0,1"},
               {"sinks", "round:1,2", "round"},
               {"kappa", "0.1", "setting of operators"},
               {"correlators", "pion", "setting of contractions"},
               {"workers", "1", "setting of the session"},
               {"out", "folder", "of the command only"},
               {"curents", "vector", "unknown key"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    const qs_setting settings[] = {charge[0], {wrong[i].key, wrong[i].value}};
    three = (qs_correlators *)gauge;
    FAILS(QS_ERROR_INPUT, wrong[i].text, wrong[i].key, qs_operator_three_points(wilson, source, settings, 2, &x->vectors, &three));
    CHECK(three == NULL);
  }
  FAILS(QS_ERROR_INPUT, "none is given", "three-points", qs_operator_three_points(wilson, source, NULL, 0, &x->vectors, &three));
  FAILS(QS_ERROR_INPUT, "three-point functions", "currents", qs_contract(gauge, "wilson", source, charge + 1, 1, &x->vectors, &three));
  FAILS(QS_ERROR_INPUT, "the action hisq has none", "three-points", qs_operator_three_points(hisq, source, charge, 1, &x->vectors, &three));
  FAILS(QS_ERROR_INPUT, "outside", "source", qs_operator_three_points(wilson, "point:0,0,0,8", charge, 1, &x->vectors, &three));
  FAILS(QS_ERROR_INPUT, "NULL", "handle", qs_operator_three_points(NULL, source, charge, 1, &x->vectors, &three));
  FAILS(QS_ERROR_INPUT, "NULL", "source", qs_operator_three_points(wilson, NULL, charge, 1, &x->vectors, &three));
  FAILS(QS_ERROR_INPUT, "NULL", "propagator", qs_operator_three_points(wilson, source, charge, 1, NULL, &three));
  FAILS(QS_ERROR_INPUT, "NULL", "correlators", qs_operator_three_points(wilson, source, charge, 1, &x->vectors, NULL));
  x->vectors.layout = (qs_layout)6;
  FAILS(QS_ERROR_INPUT, "layout 6", "propagator", qs_operator_three_points(wilson, source, charge, 1, &x->vectors, &three));
  x->vectors.layout = QS_MILC_SITE;
  FAILS(QS_ERROR_INPUT, "site_stride", "propagator", qs_operator_three_points(wilson, source, charge, 1, &x->vectors, &three));
  x->vectors.layout = QS_LEXICOGRAPHIC;
  x->vectors.count = 11;
  FAILS(QS_ERROR_INPUT, "give all 12 columns", "propagator", qs_operator_three_points(wilson, source, charge, 1, &x->vectors, &three));
  x->vectors.count = 12;
  qs_operator *op = NULL;
  const qs_setting slow = {"max-iterations", "3"}, two_masses = {"mu", "0.1,0.2"}, twisted[] = {{"mu", "0.4"}, {"kappa", "0.08"}};
  OK(qs_operator_create(gauge, "wilson", &slow, 1, &op));
  FAILS(QS_NOT_CONVERGED, "sequential source pion:3, sink point, column 0 (spin 0, colour 0): bicgstab ended after 3 iterations", "",
        qs_operator_three_points(op, source, charge, 2, &x->vectors, &three));
  qs_operator_free(op);
  /* Where some columns have not converged, solve number c is still that of column c. */
  size_t least = INT_MAX, largest = 0;
  for (int column = 0; column < 12; ++column) {
    OK(qs_operator_history(wilson, column, &history, &length));
    if (length < least) least = length;
    if (length > largest) largest = length;
  }
  CHECK(least < largest);
  char iterations[20];
  sprintf(iterations, "%d", (int)least);
  const qs_setting some[] = {{"kappa", "0.11"}, {"max-iterations", iterations}};
  OK(qs_operator_create(gauge, "wilson", some, 2, &op));
  CHECK(qs_operator_three_points(op, source, charge, 2, &x->vectors, &three) == QS_NOT_CONVERGED);
  for (int column = 0; column < 12; ++column) {
    const double *whole = NULL;
    OK(qs_operator_history(op, column, &history, &length));
    CHECK(length == least);
    OK(qs_operator_history(wilson, column, &whole, &length));
    CHECK(memcmp(history, whole, least * sizeof(double)) == 0);
  }
  qs_operator_free(op);
  OK(qs_operator_create(gauge, "twisted-mass", &two_masses, 1, &op));
  FAILS(QS_ERROR_INPUT, "the operator has 2 of them", "mu", qs_operator_three_points(op, source, charge, 2, &x->vectors, &three));
  qs_operator_free(op);
  qs_eigenvectors *modes = NULL;
  const qs_eigen_options options = {.struct_size = sizeof options, .modes = 1, .tolerance = 1e-2};
  OK(qs_operator_create(gauge, "twisted-mass", twisted, 2, &op));
  OK(qs_eigenvectors_compute(op, &options, &modes));
  OK(qs_operator_deflate(op, modes));
  FAILS(QS_ERROR_INPUT, "of the opposite mu", "op", qs_operator_three_points(op, source, charge, 2, &x->vectors, &three));
  const qs_setting proton = {"three-points", "proton_u:3"};
  FAILS(QS_ERROR_INPUT, "use pion", "three-points", qs_operator_three_points(op, source, &proton, 1, &x->vectors, &three));
  CHECK(three == NULL);
  qs_eigenvectors_free(modes);
  qs_operator_free(op);
  free_fields(b);
  free_fields(x);
}
