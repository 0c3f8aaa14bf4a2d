/* Solves of the C client. */
#define _POSIX_C_SOURCE 200809L
#include "client_parts.h"

/* As many right-hand sides go together as the setting nrhs says: block CG is another solver for each number. */
void together(qs_gauge *gauge) {
  enum { n = 4 };
  const size_t reals = (size_t)sites * 6;
  fields *b = new_fields(n, reals), *x = new_fields(n, reals), *pairs = new_fields(n, reals);
  fill(b, 31);
  qs_setting settings[] = {{"mass", "0.1"}, {"solver", "blockcg"}, {"nrhs", "2"}};
  qs_operator *op = NULL;
  OK(qs_operator_create(gauge, "naive", settings, 3, &op));
  OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
  for (int pair = 0; pair < n; pair += 2) {
    const qs_vectors from = {.struct_size = sizeof from, .data = b->data + pair, .count = 2};
    const qs_vectors to = {.struct_size = sizeof to, .data = pairs->data + pair, .count = 2};
    OK(qs_operator_solve(op, NULL, &from, &to, NULL));
  }
  CHECK(memcmp(x->memory, pairs->memory, n * reals * sizeof(double)) == 0);
  qs_operator_free(op);
  settings[2].value = "4";
  OK(qs_operator_create(gauge, "naive", settings, 3, &op));
  OK(qs_operator_solve(op, NULL, &b->vectors, &pairs->vectors, NULL));
  CHECK(memcmp(x->memory, pairs->memory, n * reals * sizeof(double)) != 0);
  qs_operator_free(op);
  fields *all[] = {b, x, pairs};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free_fields(all[i]);
}

/* An operator keeps solvers for several numbers of vectors, but not beside a limit of memory: each call has a fresh operator's bits. */
void kept_solvers(const char *cpu_memory) {
  enum { n = 8 };
  const qs_setting settings[] = {{"devices", "cpu"}, {"workers", "1"}, {"threads", "1"}, {"cpu-memory", cpu_memory}};
  const qs_setting heavy[] = {{"mass", "0.4"}, {"nrhs", "8"}};
  const qs_session_options options = {
      .struct_size = sizeof options, .settings = settings, .settings_count = cpu_memory != NULL ? 4 : 3};
  qs_session *session = NULL;
  qs_operator *op = NULL, *fresh = NULL;
  OK(qs_session_open(&options, &session));
  qs_gauge *const gauge = generate(session);
  const size_t reals = (size_t)sites * 6;
  fields *b = new_fields(n, reals), *x = new_fields(n, reals), *again = new_fields(n, reals);
  fill(b, 33);
  OK(qs_operator_create(gauge, "hisq", heavy, 2, &op));
  for (int call = 0; call < 4; ++call) {
    const int solves = call % 2, count = solves ? n : 1;
    b->vectors.count = x->vectors.count = again->vectors.count = count;
    OK(qs_operator_create(gauge, "hisq", heavy, 2, &fresh));
    OK(solves ? qs_operator_solve(fresh, NULL, &b->vectors, &x->vectors, NULL) : qs_operator_apply(fresh, NULL, &b->vectors, &x->vectors));
    qs_operator_free(fresh);
    memset(again->memory, 0, n * reals * sizeof(double));
    OK(solves ? qs_operator_solve(op, NULL, &b->vectors, &again->vectors, NULL) : qs_operator_apply(op, NULL, &b->vectors, &again->vectors));
    CHECK(memcmp(x->memory, again->memory, (size_t)count * reals * sizeof(double)) == 0);
  }
  qs_operator_free(op);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
  fields *all[] = {b, x, again};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free_fields(all[i]);
}

/* On the sites of one parity: |b - S x|^2, |b|^2 and the mean of |b - S x|^2 / |x|^2 of a site; S = diagonal - hops there and back / diagonal. */
typedef struct {
  double r2, b2, mean;
} left_over;
static left_over left_by(qs_operator *op, int components, qs_parity parity, double diagonal, const fields *b, const fields *x) {
  const size_t site_reals = (size_t)components * 2;
  fields *once = new_fields(1, (size_t)sites * site_reals), *twice = new_fields(1, (size_t)sites * site_reals);
  qs_apply_options there = {.struct_size = sizeof there, .parity = parity == QS_EVEN ? QS_ODD : QS_EVEN}, back = there;
  back.parity = parity;
  OK(qs_operator_apply(op, &there, &x->vectors, &once->vectors));
  OK(qs_operator_apply(op, &back, &once->vectors, &twice->vectors));
  left_over left = {0, 0, 0};
  for (int site = 0; site < sites; ++site) {
    if (parity_of(site) != (parity == QS_ODD)) continue;
    double of_site = 0;
    const size_t first = (size_t)site * site_reals;
    for (size_t i = first; i < first + site_reals; ++i) {
      const double r = of(b, 0)[i] - (diagonal * of(x, 0)[i] - of(twice, 0)[i] / diagonal);
      of_site += r * r;
    }
    left.r2 += of_site;
    left.b2 += norm2(of(b, 0) + first, site_reals);
    left.mean += of_site / norm2(of(x, 0) + first, site_reals) / (sites / 2);
  }
  free_fields(once);
  free_fields(twice);
  return left;
}

/* S x = b on the sites of one parity, S made of hops; what is on the other sites is neither read nor written. */
void parity_solves(qs_operator *op, int components, qs_parity parity, double diagonal) {
  const size_t reals = (size_t)sites * (size_t)components * 2, site_reals = (size_t)components * 2;
  fields *b = new_fields(1, reals), *x = new_fields(1, reals);
  fill(b, 5);
  fill(x, 6);
  const double unread = of(x, 0)[site_reals * 1]; /* site 1 is odd, site 0 even */
  const double unread_even = of(x, 0)[0];
  qs_solve_options options = {.struct_size = sizeof options, .parity = parity};
  qs_result result = {.struct_size = sizeof result};
  OK(qs_operator_solve(op, &options, &b->vectors, &x->vectors, &result));
  CHECK(of(x, 0)[parity == QS_EVEN ? site_reals : 0] == (parity == QS_EVEN ? unread : unread_even));
  const left_over first = left_by(op, components, parity, diagonal, b, x);
  const double residual = sqrt(first.r2 / first.b2);
  CHECK(residual < 1.01e-10 && fabs(residual - result.residual) < 1e-13);
  /* A relative residual that is smaller than what came out: asked for, it is reached. */
  const double loose = 1e-4, target = 1e-7;
  options.tolerances = &loose;
  options.relative_tolerances = &target;
  OK(qs_operator_solve(op, &options, &b->vectors, &x->vectors, &result));
  CHECK(result.relative_residual <= target && result.relative_residual > 0.0 && result.residual > residual);
  CHECK(fabs(sqrt(left_by(op, components, parity, diagonal, b, x).mean) - result.relative_residual) < 1e-6 * target);
  free_fields(b);
  free_fields(x);
}

/* One source, several masses, a tolerance each; and more right-hand sides than go together. */
void many(qs_gauge *gauge) {
  const qs_setting shifted[] = {{"masses", "0.1,0.2,0.4"}, {"solver", "multishift"}}, naive[] = {{"mass", "0.3"}, {"tol", "1e-8"}};
  const size_t reals = (size_t)sites * 6;
  qs_operator *op = NULL;
  OK(qs_operator_create(gauge, "naive", shifted, 2, &op));
  fields *b = new_fields(most, reals), *x = new_fields(most, reals), *image = new_fields(most, reals);
  fill(b, 8);
  const double tolerances[3] = {1e-6, 1e-8, 1e-10}, masses[3] = {0.1, 0.2, 0.4};
  qs_solve_options options = {.struct_size = sizeof options, .tolerances = tolerances};
  qs_result results[most];
  memset(results, 0, sizeof results);
  results[0].struct_size = sizeof results[0];
  b->vectors.count = 1;
  x->vectors.count = image->vectors.count = 3;
  OK(qs_operator_solve(op, &options, &b->vectors, &x->vectors, results));
  const qs_apply_options of_masses = {.struct_size = sizeof of_masses, .masses = masses};
  OK(qs_operator_apply(op, &of_masses, &x->vectors, &image->vectors));
  for (int m = 0; m < 3; ++m) {
    double r2 = 0;
    for (size_t i = 0; i < reals; ++i) r2 += (of(b, 0)[i] - of(image, m)[i]) * (of(b, 0)[i] - of(image, m)[i]);
    CHECK(sqrt(r2 / norm2(of(b, 0), reals)) <= 1.001 * tolerances[m]);
  }
  CHECK(results[0].residual > 1e-8); /* it was not solved to the others' tolerance */
  x->vectors.count = 2;
  FAILS(QS_ERROR_INPUT, "3 masses", "masses", qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
  /* More masses than go together, with a solution in the place of the source. */
  double series[most];
  for (int m = 0; m < most; ++m) series[m] = 0.2 + 0.05 * m;
  options = (qs_solve_options){.struct_size = sizeof options, .masses = series};
  x->vectors.count = image->vectors.count = most;
  OK(qs_operator_solve(op, &options, &b->vectors, &x->vectors, NULL));
  memcpy(of(image, 0), of(b, 0), reals * sizeof(double));
  b->data[0] = of(image, 0);
  OK(qs_operator_solve(op, &options, &b->vectors, &image->vectors, NULL));
  CHECK(memcmp(x->memory, image->memory, most * reals * sizeof(double)) == 0);
  b->data[0] = b->memory;
  /* What is not finite is told, and not taken for a solve that needs more iterations. */
  x->vectors.count = 3;
  const double number = of(b, 0)[7];
  of(b, 0)[7] = NAN;
  FAILS(QS_NOT_CONVERGED, "the source, the guess or the links are not finite", "", qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
  of(b, 0)[7] = number;
  qs_operator_free(op);

  OK(qs_operator_create(gauge, "naive", naive, 2, &op));
  b->vectors.count = x->vectors.count = image->vectors.count = most;
  OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, results));
  OK(qs_operator_apply(op, NULL, &x->vectors, &image->vectors));
  for (int v = 0; v < most; ++v) {
    double r2 = 0;
    for (size_t i = 0; i < reals; ++i) r2 += (of(b, v)[i] - of(image, v)[i]) * (of(b, v)[i] - of(image, v)[i]);
    CHECK(results[v].residual <= 1e-8 && sqrt(r2 / norm2(of(b, v), reals)) < 1.001e-8);
  }
  const qs_setting few = {"max-iterations", "3"};
  qs_operator_free(op);
  OK(qs_operator_create(gauge, "naive", &few, 1, &op));
  b->vectors.count = x->vectors.count = 1;
  FAILS(QS_NOT_CONVERGED, "after 3 iterations", "", qs_operator_solve(op, NULL, &b->vectors, &x->vectors, results));
  CHECK(results[0].reason == QS_REASON_ITERATION_LIMIT && strlen(qs_reason_text(results[0].reason)) > 0);
  qs_operator_free(op);
  free_fields(b);
  free_fields(x);
  free_fields(image);
}

/* Columns of sources that the library makes: the bits of a solve for arrays of them, of which kind they are, and of a part of them. */
void propagates(qs_gauge *gauge, const char *action, int components) {
  const size_t reals = (size_t)sites * (size_t)components * 2;
  const qs_setting settings[] = {{components == 12 ? "kappa" : "mass", components == 12 ? "0.11" : "0.4"}, {"nrhs", "2"}};
  qs_operator *op = NULL, *shifts = NULL;
  OK(qs_operator_create(gauge, action, settings, 2, &op));
  fields *b = new_fields(components, reals), *x = new_fields(components, reals), *y = new_fields(components, reals);
  const char *const sources[] = {"point:1,0,2,3", "wall:2,0,1,0", "random:5,9"};
  for (int i = 0; i < 3; ++i) {
    OK(qs_operator_source(op, sources[i], NULL, &b->vectors));
    OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
    qs_result results[12] = {{.struct_size = sizeof(qs_result)}};
    OK(qs_operator_propagate(op, sources[i], NULL, NULL, &y->vectors, results));
    CHECK(memcmp(x->memory, y->memory, (size_t)components * reals * sizeof(double)) == 0);
    CHECK(results[components - 1].iterations > 1 && results[components - 1].residual <= 1e-10);
  }
  const int some[] = {2, 0};
  qs_solve_options options = {.struct_size = sizeof options, .parity = QS_ODD};
  y->vectors.count = 2;
  x->vectors.count = b->vectors.count = 3;
  memset(y->memory, 0, reals * sizeof(double));
  memset(x->memory, 0, reals * sizeof(double));
  OK(qs_operator_solve(op, &options, &b->vectors, &x->vectors, NULL));
  OK(qs_operator_propagate(op, sources[2], some, &options, &y->vectors, NULL));
  for (size_t i = 0; i < reals; ++i)
    if (parity_of((int)(i / (size_t)(2 * components)))) CHECK(of(y, 0)[i] == of(x, 2)[i] && of(y, 1)[i] == of(x, 0)[i]);
  const int wrong[] = {0, components};
  FAILS(QS_ERROR_INPUT, components == 12 ? "column 12" : "column 3", "columns", qs_operator_propagate(op, sources[0], wrong, NULL, &y->vectors, NULL));
  FAILS(QS_ERROR_INPUT, "NULL", "source", qs_operator_propagate(op, NULL, NULL, NULL, &y->vectors, NULL));
  FAILS(QS_ERROR_INPUT, "NULL", "solutions", qs_operator_propagate(op, sources[0], NULL, NULL, NULL, NULL));
  FAILS(QS_ERROR_INPUT, "NULL", "handle", qs_operator_propagate(NULL, sources[0], NULL, NULL, &y->vectors, NULL));
  const double relative[] = {1e-3, 1e-3};
  options.relative_tolerances = relative;
  FAILS(QS_ERROR_INPUT, "for sources in memory", "relative_tolerances", qs_operator_propagate(op, sources[0], NULL, &options, &y->vectors, NULL));

  /* A smeared point, which is M x, is in its time slice, and there at many sites. */
  y->vectors.count = 1;
  OK(qs_operator_propagate(op, "gaussian:1,0,2,3,1.5,4", some, NULL, &y->vectors, NULL));
  x->vectors.count = 1;
  OK(qs_operator_apply(op, NULL, &y->vectors, &x->vectors));
  double in_slice = norm2(of(x, 0) + reals / 8 * 3, reals / 8), all = norm2(of(x, 0), reals);
  CHECK(in_slice > (1 - 1e-9) * all && all > 0.01 && all < 0.9);
  FAILS(QS_ERROR_INPUT, "links", "source", qs_operator_source(op, "gaussian:1,0,2,3,1.5,4", NULL, &y->vectors));

  /* Shifted systems, more than go together: beside a shift that is large enough S^+ S is nothing. */
  const double shift[] = {1e12, 0.5, 2e12}, negative[] = {-1, 1, 1};
  qs_result results[3] = {{.struct_size = sizeof(qs_result)}};
  b->vectors.count = 1;
  x->vectors.count = 3;
  if (components == 12) {
    OK(qs_operator_solve_normal(op, shift, 3, NULL, &b->vectors, &x->vectors, results));
    for (int v = 0; v < 3; v += 2)
      for (size_t i = 0; i < reals; ++i)
        if (parity_of((int)(i / (size_t)(2 * components)))) CHECK(fabs(shift[v] * of(x, v)[i] - of(b, 0)[i]) < 1e-9);
    const double *history = NULL;
    size_t count = 0;
    OK(qs_operator_history(op, 1, &history, &count));
    CHECK(results[1].iterations > 1 && (size_t)results[1].iterations == count && results[1].residual <= 1e-10);
    FAILS(QS_ERROR_INPUT, "from 0", "shifts", qs_operator_solve_normal(op, negative, 3, NULL, &b->vectors, &x->vectors, NULL));
    FAILS(QS_ERROR_INPUT, "NULL", "shifts", qs_operator_solve_normal(op, NULL, 3, NULL, &b->vectors, &x->vectors, NULL));
    FAILS(QS_ERROR_INPUT, "count 3 for 2 shifts and 1 slices", "solutions", qs_operator_solve_normal(op, shift, 2, NULL, &b->vectors, &x->vectors, NULL));
    FAILS(QS_ERROR_INPUT, "NULL", "handle", qs_operator_solve_normal(NULL, shift, 3, NULL, &b->vectors, &x->vectors, NULL));
  } else {
    FAILS(QS_ERROR_INPUT, "masses are shifts", "op", qs_operator_solve_normal(op, shift, 3, NULL, &b->vectors, &x->vectors, NULL));
  }
  CHECK(qs_operator_slices(op) == 1);

  if (components == 3) {
    const qs_setting two[] = {{"masses", "0.2,0.6"}, {"solver", "multishift"}};
    OK(qs_operator_create(gauge, action, two, 2, &shifts));
    x->vectors.count = y->vectors.count = 2;
    b->vectors.count = 1;
    OK(qs_operator_source(shifts, "point:1,0,2,3", some, &b->vectors));
    OK(qs_operator_solve(shifts, NULL, &b->vectors, &x->vectors, NULL));
    OK(qs_operator_propagate(shifts, "point:1,0,2,3", some, NULL, &y->vectors, NULL));
    CHECK(memcmp(x->memory, y->memory, 2 * reals * sizeof(double)) == 0);
    FAILS(QS_ERROR_INPUT, "for one of them", "columns", qs_operator_propagate(shifts, "point:1,0,2,3", NULL, NULL, &y->vectors, NULL));
  }
  qs_operator_free(op);
  qs_operator_free(shifts);
  free_fields(b);
  free_fields(x);
  free_fields(y);
}

/* An action with a fifth dimension: a solve for vectors of four dimensions, which its operator does not work on. */
static void fifth_dimension(qs_gauge *gauge, const char *name) {
  const qs_setting settings[] = {{"mass", "0.3"}, {"ls", "4"}};
  qs_operator *op = NULL;
  OK(qs_operator_create(gauge, name, settings, 2, &op));
  const size_t reals = (size_t)sites * 24;
  fields *b = new_fields(12, reals), *x = new_fields(1, reals);
  qs_result result = {.struct_size = sizeof result};
  fill(b, 20);
  const qs_setting midpoint = {"correlators", "pion_midpoint"};
  qs_correlators *none = NULL;
  FAILS(QS_ERROR_INPUT, "qs_operator_residual_mass", "correlators", qs_contract(gauge, name, "point:0,0,0,0", &midpoint, 1, &b->vectors, &none));
  b->vectors.count = 1;
  OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, &result));
  CHECK(result.reason == QS_REASON_CONVERGED);
  FAILS(QS_ERROR_INPUT, "five dimensions", "op", qs_operator_apply(op, NULL, &b->vectors, &x->vectors));
  FAILS(QS_ERROR_INPUT, "was not for the propagator of point:0,0,0,0", "source", qs_operator_residual_mass(op, "point:0,0,0,0", NULL, &none));
  free_fields(x);

  /* The ratio of two sums of squares, both of all columns. */
  x = new_fields(12, reals);
  b->vectors.count = 12;
  OK(qs_operator_propagate(op, "point:0,0,0,1", NULL, NULL, &x->vectors, NULL));
  double mass = 0, above = 0, below = 0;
  qs_correlators *midpoints = NULL;
  OK(qs_operator_residual_mass(op, "point:0,0,0,1", &mass, &midpoints));
  CHECK(qs_correlators_count(midpoints) == 2 && strcmp(qs_correlators_name(midpoints, 1), "pion_residual_mass") == 0);
  size_t times = 0;
  const double *middle = qs_correlators_values(midpoints, 0, &times), *ratio = qs_correlators_values(midpoints, 1, NULL);
  for (size_t t = 0; t < times; ++t) {
    const double wall = middle[t] / ratio[t];
    double sum = 0;
    for (int column = 0; column < 12; ++column)
      for (int site = 0; site < sites; ++site)
        if ((size_t)(site / (sites / (int)times)) == (t + 1) % times) sum += norm2(of(x, column) + (size_t)site * 24, 24);
    CHECK(fabs(wall / sum - 1) < 1e-11);
    if (t > 0) above += middle[t], below += wall;
  }
  CHECK(fabs(mass * below / above - 1) < 1e-12);
  qs_correlators_free(midpoints);
  FAILS(QS_ERROR_INPUT, "outside", "source", qs_operator_residual_mass(op, "point:0,0,0,99", &mass, NULL));

  /* Of no other source, and of no other solves. */
  FAILS(QS_ERROR_INPUT, "propagator of point:0,0,1,1", "source", qs_operator_residual_mass(op, "point:0,0,1,1", &mass, NULL));
  const qs_setting pion = {"three-points", "pion:2"};
  OK(qs_operator_three_points(op, "point:0,0,0,1", &pion, 1, &x->vectors, &midpoints)); /* twelve sequential columns */
  qs_correlators_free(midpoints);
  FAILS(QS_ERROR_INPUT, "propagator of", "source", qs_operator_residual_mass(op, "point:0,0,0,1", &mass, NULL));
  OK(qs_operator_source(op, "point:0,0,0,1", NULL, &b->vectors));
  OK(qs_operator_solve(op, NULL, &b->vectors, &b->vectors, NULL)); /* with the same solutions */
  CHECK(memcmp(b->memory, x->memory, 12 * reals * sizeof(double)) == 0);
  FAILS(QS_ERROR_INPUT, "propagator of", "source", qs_operator_residual_mass(op, "point:0,0,0,1", &mass, NULL));
  double masses[12];
  int columns[12];
  for (int column = 0; column < 12; ++column) masses[column] = column == 7 ? 0.4 : 0.3, columns[column] = 11 - column;
  const qs_solve_options two_masses = {.struct_size = sizeof two_masses, .masses = masses};
  OK(qs_operator_propagate(op, "point:0,0,0,1", NULL, &two_masses, &x->vectors, NULL));
  FAILS(QS_ERROR_INPUT, "propagator of", "source", qs_operator_residual_mass(op, "point:0,0,0,1", &mass, NULL));
  OK(qs_operator_propagate(op, "point:0,0,0,1", columns, NULL, &x->vectors, NULL));
  FAILS(QS_ERROR_INPUT, "propagator of", "source", qs_operator_residual_mass(op, "point:0,0,0,1", &mass, NULL));
  CHECK(memcmp(of(x, 0), of(b, 11), reals * sizeof(double)) == 0);
  const qs_setting hopeless[] = {{"mass", "0.3"}, {"ls", "4"}, {"max-iterations", "2"}};
  qs_operator_free(op);
  OK(qs_operator_create(gauge, name, hopeless, 3, &op));
  FAILS(QS_NOT_CONVERGED, "after 2 iterations", "", qs_operator_propagate(op, "point:0,0,0,1", NULL, NULL, &x->vectors, NULL));
  FAILS(QS_ERROR_INPUT, "have converged", "op", qs_operator_residual_mass(op, "point:0,0,0,1", &mass, NULL));
  qs_operator_free(op);
  free_fields(b);
  free_fields(x);
}

/* Every action that there is: a solve of one parity is that part of a solve of both, and <b, M c> = <M^+ b, c>. */
void all_actions(qs_gauge *gauge) {
  CHECK(qs_action_setting("none", 0, NULL) == NULL && qs_action_setting(NULL, 0, NULL) == NULL && qs_action_setting("wilson", -1, NULL) == NULL);
  for (int number = 0; qs_action_name(number) != NULL; ++number) {
    const char *const name = qs_action_name(number);
    int has_tol = 0, count = 0;
    for (const char *key, *help; (key = qs_action_setting(name, count, &help)) != NULL; ++count) {
      has_tol += strcmp(key, "tol") == 0;
      CHECK(strlen(key) > 0 && strlen(help) > 0 && key == qs_action_setting(name, count, NULL));
    }
    CHECK(has_tol == 1);
    if (strcmp(name, "domain-wall") == 0 || strcmp(name, "moebius") == 0) {
      fifth_dimension(gauge, name);
      continue;
    }
    const int components = qs_action_components(name), is_spinor = components == 12;
    const qs_setting settings[] = {{is_spinor ? "kappa" : "mass", is_spinor ? "0.11" : "0.4"}, {"u0", "0.9"}};
    qs_operator *op = NULL;
    OK(qs_operator_create(gauge, name, settings, strcmp(name, "asqtad") == 0 ? 2 : 1, &op));
    CHECK(qs_operator_components(op) == components);
    const size_t reals = (size_t)sites * (size_t)components * 2, site_reals = (size_t)components * 2;
    fields *b = new_fields(1, reals), *c = new_fields(1, reals), *x = new_fields(1, reals), *y = new_fields(1, reals);
    fill(b, 20);
    fill(c, 21);
    OK(qs_operator_apply(op, NULL, &c->vectors, &x->vectors));
    const qs_apply_options dagger = {.struct_size = sizeof dagger, .adjoint = 1};
    OK(qs_operator_apply(op, &dagger, &b->vectors, &y->vectors));
    const double left = dot(of(b, 0), of(x, 0), reals), right = dot(of(y, 0), of(c, 0), reals);
    CHECK(fabs(left - right) < 1e-12 * norm2(of(b, 0), reals));
    for (int site = 0; site < sites; ++site)
      if (parity_of(site) == 0) memset(of(b, 0) + (size_t)site * site_reals, 0, site_reals * sizeof(double));
    memset(of(x, 0), 0, reals * sizeof(double));
    const qs_solve_options odd = {.struct_size = sizeof odd, .parity = QS_ODD};
    OK(qs_operator_solve(op, &odd, &b->vectors, &x->vectors, NULL));
    OK(qs_operator_solve(op, NULL, &b->vectors, &y->vectors, NULL));
    double difference = 0;
    for (int site = 0; site < sites; ++site)
      for (size_t i = (size_t)site * site_reals; i < ((size_t)site + 1) * site_reals; ++i) {
        if (parity_of(site) == 0) CHECK(of(x, 0)[i] == 0);
        else difference += (of(x, 0)[i] - of(y, 0)[i]) * (of(x, 0)[i] - of(y, 0)[i]);
      }
    CHECK(sqrt(difference / norm2(of(y, 0), reals)) < 1e-8);
    qs_operator_free(op);
    fields *all[] = {b, c, x, y};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free_fields(all[i]);
  }
}
