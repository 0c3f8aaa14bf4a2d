/* A client of the C library in C99, which knows nothing but quarkstar.h: its arguments, layouts, solves and errors against loops of its own,
 * on a configuration of its own. */
#define _POSIX_C_SOURCE 200809L
#include "client.h"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

static const int lattice[4] = {4, 4, 4, 8};
enum { sites = 4 * 4 * 4 * 8 };

static int parity_of(int lex) {
  const int x = lex % 4, y = lex / 4 % 4, z = lex / 16 % 4, t = lex / 64;
  return (x + y + z + t) & 1;
}
static int even_odd(int lex) { return lex / 2 + parity_of(lex) * sites / 2; }

static qs_gauge *generate(qs_session *session) {
  const qs_heatbath heatbath = {.struct_size = sizeof heatbath, .beta = 6.0, .sweeps = 10, .seed = 7};
  qs_gauge *gauge = NULL;
  OK(qs_gauge_generate(session, lattice, &heatbath, &gauge));
  return gauge;
}

static void errors(qs_session *session, qs_gauge *gauge) {
  qs_session *second = NULL;
  FAILS(QS_ERROR_INPUT, "another one is open", "session", qs_session_open(NULL, &second));
  CHECK(second == NULL);
  qs_gauge *none = NULL;
  FAILS(QS_ERROR_INPUT, "NULL", "handle", qs_gauge_read(NULL, "lattice", NULL, &none));
  CHECK(qs_gauge_read(session, "no such file", NULL, &none) != QS_OK);
  CHECK(strstr(qs_error_message(), "no such file") != NULL && none == NULL);
  const int odd[4] = {3, 4, 4, 8};
  qs_links links = {.struct_size = sizeof links, .data = {gauge}};
  CHECK(qs_gauge_create(session, odd, &links, &none) == QS_ERROR_INPUT);
  links.data[0] = NULL;
  FAILS(QS_ERROR_INPUT, "NULL", "links", qs_gauge_create(session, lattice, &links, &none));
  links.data[0] = gauge;
  links.location = QS_CUDA;
  FAILS(QS_ERROR_INPUT, "GPU memory", "links", qs_gauge_create(session, lattice, &links, &none));
  links.location = QS_HOST;
  links.layout = QS_MILC_SITE;
  FAILS(QS_ERROR_INPUT, "site_stride", "links", qs_gauge_create(session, lattice, &links, &none));
  links.struct_size = 0;
  FAILS(QS_ERROR_INPUT, "struct_size", "links", qs_gauge_create(session, lattice, &links, &none));

  qs_operator *op = NULL;
  FAILS(QS_ERROR_INPUT, "no action 'willson'", "action", qs_operator_create(gauge, "willson", NULL, 0, &op));
  const struct {
    const char *key, *value, *text;
  } wrong[] = {{"kapa", "0.12", "unknown key"},         {"kappa", "-1", "-1"},          {"workers", "2", "setting of the session"},
               {"out", "folder", "of the command only"}, {"mass", NULL, "NULL"}, {"solver", "cg", "cg"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    const qs_setting setting = {wrong[i].key, wrong[i].value};
    FAILS(QS_ERROR_INPUT, wrong[i].text, wrong[i].key, qs_operator_create(gauge, "wilson", &setting, 1, &op));
    CHECK(op == NULL);
  }
  /* Of keys those are named that are taken. */
  const qs_setting unknown = {"kapa", "0.12"};
  CHECK(qs_operator_create(gauge, "wilson", &unknown, 1, &op) == QS_ERROR_INPUT);
  const char *const taken[] = {"kappa", "tol", "nrhs"}, *const refused[] = {" out", "json", "workers", "gauge", "csw", "momenta"};
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; ++i) CHECK(strstr(qs_error_message(), taken[i]) != NULL);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) CHECK(strstr(qs_error_message(), refused[i]) == NULL);
  CHECK(qs_action_components("wilson") == 12 && qs_action_components("hisq") == 3 && qs_action_components("none") == 0);
  CHECK(strcmp(qs_action_name(0), "wilson") == 0 && qs_action_name(1000) == NULL && qs_action_name(-1) == NULL);
  CHECK(strncmp(qs_version(), "quarkstar ", 10) == 0);
}

/* Links in every layout and precision are the same links. */
static void links_in_layouts(qs_session *session, qs_gauge *gauge) {
  enum { reals = 72 };
  static double mine[sites * reals], theirs[sites * (reals + 4)], back[sites * reals];
  qs_links lex = {.struct_size = sizeof lex, .data = {mine}};
  OK(qs_gauge_export(gauge, &lex));
  for (int layout = QS_LEXICOGRAPHIC; layout <= QS_PYQUDA; ++layout) {
    qs_links links = {.struct_size = sizeof links, .data = {theirs}, .layout = (qs_layout)layout};
    const int padding = layout == QS_MILC_SITE ? 4 : 0;
    if (padding) links.site_stride = (reals + padding) * sizeof(double);
    if (layout == QS_QDP)
      for (int mu = 1; mu < 4; ++mu) links.data[mu] = theirs + mu * sites * 18;
    memset(theirs, 0, sizeof theirs);
    for (int lexic = 0; lexic < sites; ++lexic)
      for (int mu = 0; mu < 4; ++mu)
        for (int i = 0; i < 18; ++i) {
          const int site = layout == QS_LEXICOGRAPHIC ? lexic : even_odd(lexic);
          const int at = layout == QS_QDP || layout == QS_PYQUDA ? (mu * sites + site) * 18 + i : site * (reals + padding) + mu * 18 + i;
          theirs[at] = mine[(lexic * 4 + mu) * 18 + i];
        }
    qs_gauge *copy = NULL;
    OK(qs_gauge_create(session, lattice, &links, &copy));
    lex.data[0] = back;
    OK(qs_gauge_export(copy, &lex));
    CHECK(memcmp(mine, back, sizeof mine) == 0);
    static double again[sizeof theirs / sizeof theirs[0]];
    memset(again, 0, sizeof again);
    links.data[0] = again;
    for (int mu = 1; mu < 4; ++mu) links.data[mu] = again + mu * sites * 18;
    OK(qs_gauge_export(copy, &links));
    CHECK(memcmp(theirs, again, sizeof theirs) == 0);
    qs_gauge_free(copy);
  }
  static float single[sites * reals];
  for (int i = 0; i < sites * reals; ++i) single[i] = (float)mine[i];
  const qs_links floats = {.struct_size = sizeof floats, .data = {single}, .precision = QS_SINGLE};
  qs_gauge *copy = NULL;
  OK(qs_gauge_create(session, lattice, &floats, &copy));
  OK(qs_gauge_export(copy, &lex));
  for (int i = 0; i < sites * reals; ++i) CHECK(back[i] == (double)single[i]);
  /* Rows that were rounded are projected: normalised to double precision. */
  OK(qs_gauge_reunitarize(copy));
  OK(qs_gauge_export(copy, &lex));
  for (int link = 0; link < sites * 4; ++link) CHECK(fabs(norm2(back + link * 18, 6) - 1) < 1e-14);
  qs_gauge_free(copy);
}

/* Re tr / 3 of all plaquettes, by loops. */
static void plaquettes(qs_gauge *gauge) {
  static double u[sites * 72];
  const qs_links links = {.struct_size = sizeof links, .data = {u}};
  OK(qs_gauge_export(gauge, &links));
  const int step[4] = {1, 4, 16, 64};
  double sum = 0;
  for (int site = 0; site < sites; ++site)
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = 0; nu < mu; ++nu) {
        const int x_mu = site / step[mu] % lattice[mu] == lattice[mu] - 1 ? site - (lattice[mu] - 1) * step[mu] : site + step[mu];
        const int x_nu = site / step[nu] % lattice[nu] == lattice[nu] - 1 ? site - (lattice[nu] - 1) * step[nu] : site + step[nu];
        const double *const m[4] = {u + (site * 4 + mu) * 18, u + (x_mu * 4 + nu) * 18, u + (x_nu * 4 + mu) * 18, u + (site * 4 + nu) * 18};
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            double re[2] = {0, 0}, im[2] = {0, 0}; /* U_mu U_nu and U_nu U_mu at (i, j) */
            for (int k = 0; k < 3; ++k)
              for (int side = 0; side < 2; ++side) {
                const double *a = m[side ? 3 : 0] + 2 * (3 * i + k), *b = m[side ? 2 : 1] + 2 * (3 * k + j);
                re[side] += a[0] * b[0] - a[1] * b[1];
                im[side] += a[0] * b[1] + a[1] * b[0];
              }
            sum += re[0] * re[1] + im[0] * im[1];
          }
      }
  qs_plaquettes measured = {.struct_size = sizeof measured};
  OK(qs_gauge_plaquette(gauge, &measured));
  CHECK(fabs(measured.mean - sum / (3.0 * 6 * sites)) < 1e-13);
  CHECK(fabs(measured.mean - 0.5 * (measured.spatial + measured.temporal)) < 1e-15);
}

/* M x = b with vectors in every layout has the bits of the lexicographic one; the residual is that of M as qs_operator_apply() knows it. */
static void vectors_in_layouts(qs_operator *op, int components) {
  const size_t reals = (size_t)sites * (size_t)components * 2;
  const int spins = components == 12 ? 4 : 1;
  fields *b = new_fields(components, reals), *x = new_fields(components, reals), *image = new_fields(components, reals);
  fill(b, 3);
  qs_result results[12];
  memset(results, 0, sizeof results);
  results[0].struct_size = sizeof results[0];
  OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, results));
  OK(qs_operator_apply(op, NULL, &x->vectors, &image->vectors));
  for (int v = 0; v < components; ++v) {
    double r2 = 0;
    for (size_t i = 0; i < reals; ++i) r2 += (of(b, v)[i] - of(image, v)[i]) * (of(b, v)[i] - of(image, v)[i]);
    CHECK(results[v].reason == QS_REASON_CONVERGED && results[v].iterations > 0 && results[v].flops > 0 && results[v].seconds > 0);
    CHECK(fabs(sqrt(r2 / norm2(of(b, v), reals)) - results[v].residual) < 1e-13);
    CHECK(results[v].residual <= 1e-10 && results[v].relative_residual == 0);
    CHECK(results[v].struct_size == sizeof results[0]);
  }
  for (int layout = QS_EVEN_ODD; layout <= QS_PYQUDA_PROPAGATOR; ++layout) {
    const int propagator = layout == QS_PYQUDA_PROPAGATOR, padding = layout == QS_MILC_SITE ? 2 : 0;
    fields *theirs = new_fields(components, reals + (size_t)(sites * padding)), *answer = new_fields(components, theirs->reals);
    for (int half = 0; half < 2; ++half) { /* 0: sources to their layout; 1: solutions from it */
      qs_vectors *const vectors = half ? &answer->vectors : &theirs->vectors;
      vectors->layout = (qs_layout)layout;
      vectors->site_stride = padding ? (size_t)(2 * components + padding) * sizeof(double) : 0;
      if (half) OK(qs_operator_solve(op, NULL, &theirs->vectors, &answer->vectors, NULL));
      for (int v = 0; v < components; ++v)
        for (int lex = 0; lex < sites; ++lex)
          for (int c = 0; c < components; ++c) {
            const int site = even_odd(lex);
            const double *mine = of(half ? x : b, v) + 2 * (lex * components + c);
            double *there = propagator ? theirs->memory : of(theirs, v);
            if (half) there = propagator ? answer->memory : of(answer, v);
            there += propagator ? 2 * (((site * spins + c / 3) * spins + v / 3) * 9 + (c % 3) * 3 + v % 3)
                                : site * (2 * components + padding) + 2 * c;
            if (half) CHECK(there[0] == mine[0] && there[1] == mine[1]);
            else there[0] = mine[0], there[1] = mine[1];
          }
    }
    free_fields(theirs);
    free_fields(answer);
  }
  /* What comes out may be where it came from. */
  const size_t bytes = (size_t)components * reals * sizeof(double);
  fields *place = new_fields(components, reals);
  memcpy(place->memory, b->memory, bytes);
  OK(qs_operator_solve(op, NULL, &place->vectors, &place->vectors, NULL));
  CHECK(memcmp(place->memory, x->memory, bytes) == 0);
  OK(qs_operator_apply(op, NULL, &place->vectors, &place->vectors));
  CHECK(memcmp(place->memory, image->memory, bytes) == 0);
  free_fields(place);
  /* Single precision rounds what comes in and goes out, and nothing else. */
  fields *from = new_fields(1, reals), *to = new_fields(1, reals), *rounded = new_fields(1, reals);
  for (size_t i = 0; i < reals; ++i) of(rounded, 0)[i] = ((float *)from->data[0])[i] = (float)of(b, 0)[i];
  from->vectors.precision = to->vectors.precision = QS_SINGLE;
  OK(qs_operator_solve(op, NULL, &from->vectors, &to->vectors, NULL));
  x->vectors.count = 1;
  OK(qs_operator_solve(op, NULL, &rounded->vectors, &x->vectors, NULL));
  for (size_t i = 0; i < reals; ++i) CHECK(((float *)to->data[0])[i] == (float)of(x, 0)[i]);

  /* A solution as a guess is found to be one. */
  qs_solve_options again = {.struct_size = sizeof again, .use_guess = 1};
  qs_result result = {.struct_size = sizeof result};
  OK(qs_operator_solve(op, &again, &rounded->vectors, &x->vectors, &result));
  CHECK(result.iterations == 0 && result.reason == QS_REASON_CONVERGED);
  /* <b', M b> = <M^+ b', b>. */
  qs_apply_options dagger = {.struct_size = sizeof dagger, .adjoint = 1};
  fields *c = new_fields(2, reals), *d = new_fields(2, reals);
  fill(c, 4);
  OK(qs_operator_apply(op, NULL, &c->vectors, &d->vectors));
  c->vectors.count = 1;
  image->vectors.count = 1;
  OK(qs_operator_apply(op, &dagger, &c->vectors, &image->vectors));
  double left = 0, right = 0;
  for (size_t i = 0; i < reals; ++i) {
    left += of(c, 0)[i] * of(d, 1)[i];
    right += of(image, 0)[i] * of(c, 1)[i];
  }
  CHECK(fabs(left - right) < 1e-12 * norm2(of(c, 0), reals));
  c->vectors.location = QS_CUDA;
  FAILS(QS_ERROR_INPUT, "GPU memory", "vectors", qs_operator_apply(op, NULL, &c->vectors, &image->vectors));
  c->vectors.location = QS_HOST;
  c->vectors.count = 2;
  FAILS(QS_ERROR_INPUT, "give as many", "sources", qs_operator_solve(op, NULL, &c->vectors, &image->vectors, NULL));
  fields *all[] = {b, x, image, from, to, rounded, c, d};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free_fields(all[i]);
}

/* What cannot be meant is refused, and what comes of a call that failed is NULL. */
static void refusals(qs_session *session, qs_gauge *gauge, qs_operator *wilson) {
  fields *b = new_fields(2, (size_t)sites * 26), *x = new_fields(2, (size_t)sites * 26);
  fill(b, 30);
  const double not_a_number[2] = {NAN, 0};
  qs_solve_options options = {.struct_size = sizeof options, .relative_tolerances = not_a_number};
  FAILS(QS_ERROR_INPUT, "nan", "relative_tolerances", qs_operator_solve(wilson, &options, &b->vectors, &x->vectors, NULL));
  qs_apply_options how = {.struct_size = sizeof how, .parity = (qs_parity)3};
  FAILS(QS_ERROR_INPUT, "QS_BOTH", "parity", qs_operator_apply(wilson, &how, &b->vectors, &x->vectors));
  b->vectors.layout = QS_MILC_SITE;
  b->vectors.site_stride = 23 * sizeof(double);
  FAILS(QS_ERROR_INPUT, "a site has 192 bytes", "vectors", qs_operator_apply(wilson, NULL, &b->vectors, &x->vectors));
  qs_links links = {.struct_size = sizeof links, .data = {b->memory}, .layout = QS_MILC_SITE, .site_stride = 71 * sizeof(double)};
  qs_gauge *none = gauge;
  FAILS(QS_ERROR_INPUT, "a site has 576 bytes", "links", qs_gauge_create(session, lattice, &links, &none));
  CHECK(none == NULL);
  b->vectors.layout = QS_LEXICOGRAPHIC;
  b->vectors.site_stride = 0;
  qs_operator *op = wilson;
  CHECK(qs_operator_create(gauge, "none", NULL, 0, &op) == QS_ERROR_INPUT && op == NULL);
  none = gauge;
  CHECK(qs_gauge_read(session, "no such file", NULL, &none) != QS_OK && none == NULL);
  none = gauge;
  const qs_smearing plain = {.struct_size = sizeof plain, .action = "plain"};
  CHECK(qs_gauge_smear(gauge, &plain, &none, NULL) == QS_ERROR_INPUT && none == NULL);

  /* A struct of a later header: what is not known of it must be 0. One of an earlier header gets what it has. */
  struct {
    qs_solve_options known;
    double later;
  } newer;
  memset(&newer, 0, sizeof newer);
  newer.known.struct_size = sizeof newer;
  OK(qs_operator_solve(wilson, &newer.known, &b->vectors, &x->vectors, NULL));
  newer.later = 1;
  FAILS(QS_ERROR_INPUT, "does not know", "options", qs_operator_solve(wilson, &newer.known, &b->vectors, &x->vectors, NULL));
  qs_plaquettes means = {.struct_size = sizeof(size_t) + sizeof(double), .spatial = -7};
  OK(qs_gauge_plaquette(gauge, &means));
  CHECK(means.mean != 0 && means.spatial == -7 && means.struct_size == sizeof(size_t) + sizeof(double));

  /* Links that depend on the mass are those of the operator's. */
  const qs_setting heavy[] = {{"mass", "0.4"}, {"naik-epsilon", "auto"}};
  const double masses[2] = {0.4, 0.5};
  OK(qs_operator_create(gauge, "hisq", heavy, 2, &op));
  options = (qs_solve_options){.struct_size = sizeof options, .masses = masses};
  how = (qs_apply_options){.struct_size = sizeof how, .masses = masses};
  FAILS(QS_ERROR_INPUT, "links of its own", "masses", qs_operator_solve(op, &options, &b->vectors, &x->vectors, NULL));
  FAILS(QS_ERROR_INPUT, "links of its own", "masses", qs_operator_apply(op, &how, &b->vectors, &x->vectors));
  b->vectors.count = x->vectors.count = 1;
  OK(qs_operator_solve(op, &options, &b->vectors, &x->vectors, NULL));
  qs_operator_free(op);

  /* A solution of a parity as a guess is found to be one. */
  qs_result result = {.struct_size = sizeof result};
  options = (qs_solve_options){.struct_size = sizeof options, .parity = QS_ODD};
  OK(qs_operator_solve(wilson, &options, &b->vectors, &x->vectors, &result));
  CHECK(result.iterations > 0);
  options.use_guess = 1;
  OK(qs_operator_solve(wilson, &options, &b->vectors, &x->vectors, &result));
  CHECK(result.iterations == 0 && result.reason == QS_REASON_CONVERGED);
  free_fields(b);
  free_fields(x);
}

/* As many right-hand sides go together as the setting nrhs says: block CG is another solver for each number. */
static void together(qs_gauge *gauge) {
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
static void kept_solvers(const char *cpu_memory) {
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

/* A child of a process with a session has nothing of it: it is told so, may free what it holds, and hangs nowhere. */
static int in_child(void (*work)(qs_session *, qs_gauge *, qs_operator *), qs_session *session, qs_gauge *gauge, qs_operator *op) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(20);
    work(session, gauge, op);
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}
static void calls(qs_session *session, qs_gauge *gauge, qs_operator *op) {
  (void)session;
  qs_plaquettes means = {.struct_size = sizeof means};
  int extents[4];
  fields *b = new_fields(1, (size_t)sites * 24);
  qs_session *own = NULL;
  FAILS(QS_ERROR_INPUT, "forked", "session", qs_gauge_plaquette(gauge, &means));
  FAILS(QS_ERROR_INPUT, "forked", "session", qs_gauge_lattice(gauge, extents));
  FAILS(QS_ERROR_INPUT, "forked", "session", qs_operator_solve(op, NULL, &b->vectors, &b->vectors, NULL));
  FAILS(QS_ERROR_INPUT, "forked", "session", qs_session_open(NULL, &own));
  CHECK(own == NULL);
}
static void frees(qs_session *session, qs_gauge *gauge, qs_operator *op) {
  qs_operator_free(op);
  qs_gauge_free(gauge);
  if (session != NULL) OK(qs_session_close(session));
}
static void opens(qs_session *session, qs_gauge *gauge, qs_operator *op) {
  frees(session, gauge, op);
  session = open_session();
  gauge = generate(session);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
}
static void forks(void) {
  qs_session *const session = open_session();
  qs_gauge *const gauge = generate(session);
  const qs_setting heavy = {"kappa", "0.1"};
  qs_operator *op = NULL;
  OK(qs_operator_create(gauge, "wilson", &heavy, 1, &op));
  fields *b = new_fields(1, (size_t)sites * 24);
  fill(b, 3);
  OK(qs_operator_solve(op, NULL, &b->vectors, &b->vectors, NULL));
  CHECK(in_child(calls, session, gauge, op) == 0);
  CHECK(in_child(frees, session, gauge, op) == 0);
  qs_operator_free(op);
  op = NULL;
  OK(qs_session_close(session));
  CHECK(in_child(opens, NULL, gauge, op) == 0); /* with a gauge that is left of the parent's */
  qs_gauge_free(gauge);
  free_fields(b);
}

/* A callback may free an operator, and is told that it can call nothing else. */
typedef struct caller {
  qs_gauge *gauge;
  qs_operator *op;
  int calls;
} caller;
static void call_back(void *user, int level, const char *message) {
  caller *const c = (caller *)user;
  CHECK(level >= QS_LOG_INFO && strlen(message) > 0);
  if (c->gauge == NULL) return;
  ++c->calls;
  int extents[4];
  FAILS(QS_ERROR_INPUT, "from a callback", "", qs_gauge_lattice(c->gauge, extents));
  qs_plaquettes means = {.struct_size = sizeof means};
  FAILS(QS_ERROR_INPUT, "from a callback", "", qs_gauge_plaquette(c->gauge, &means));
  qs_operator_free(c->op);
  c->op = NULL;
}
static void callbacks(void) {
  const qs_setting settings[] = {{"devices", "cpu"}, {"workers", "1"}, {"threads", "1"}}, heavy = {"mass", "0.5"};
  caller c = {NULL, NULL, 0};
  const qs_session_options options = {
      .struct_size = sizeof options, .settings = settings, .settings_count = 3, .log = call_back, .log_user = &c};
  qs_session *session = NULL;
  qs_operator *op = NULL;
  qs_correlators *all = NULL;
  OK(qs_session_open(&options, &session));
  qs_gauge *const gauge = generate(session);
  OK(qs_operator_create(gauge, "naive", &heavy, 1, &op));
  fields *b = new_fields(3, (size_t)sites * 6), *x = new_fields(3, (size_t)sites * 6);
  fill(b, 32);
  OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
  c.gauge = gauge;
  c.op = op;
  OK(qs_contract(gauge, "naive", "wall:0", NULL, 0, &x->vectors, &all)); /* warns of what it leaves out */
  CHECK(c.calls > 0 && c.op == NULL);
  qs_correlators_free(all);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
  free_fields(b);
  free_fields(x);
}

/* S x = b on the sites of one parity, S made of hops; what is on the other sites is neither read nor written. */
static void parity_solves(qs_operator *op, int components, qs_parity parity, double diagonal) {
  const size_t reals = (size_t)sites * (size_t)components * 2, site_reals = (size_t)components * 2;
  fields *b = new_fields(1, reals), *x = new_fields(1, reals), *once = new_fields(1, reals), *twice = new_fields(1, reals);
  fill(b, 5);
  fill(x, 6);
  const double unread = of(x, 0)[site_reals * 1]; /* site 1 is odd, site 0 even */
  const double unread_even = of(x, 0)[0];
  qs_solve_options options = {.struct_size = sizeof options, .parity = parity};
  qs_result result = {.struct_size = sizeof result};
  OK(qs_operator_solve(op, &options, &b->vectors, &x->vectors, &result));
  CHECK(of(x, 0)[parity == QS_EVEN ? site_reals : 0] == (parity == QS_EVEN ? unread : unread_even));
  const int p = parity == QS_ODD;
  qs_apply_options there = {.struct_size = sizeof there, .parity = parity == QS_EVEN ? QS_ODD : QS_EVEN}, back = there;
  back.parity = parity;
  OK(qs_operator_apply(op, &there, &x->vectors, &once->vectors));
  OK(qs_operator_apply(op, &back, &once->vectors, &twice->vectors));
  double r2 = 0, b2 = 0, mean = 0;
  for (int site = 0; site < sites; ++site) {
    if (parity_of(site) != p) continue;
    double of_site = 0, x2 = 0;
    for (size_t i = (size_t)site * site_reals; i < ((size_t)site + 1) * site_reals; ++i) {
      const double r = of(b, 0)[i] - (diagonal * of(x, 0)[i] - of(twice, 0)[i] / diagonal);
      of_site += r * r;
      b2 += of(b, 0)[i] * of(b, 0)[i];
      x2 += of(x, 0)[i] * of(x, 0)[i];
    }
    r2 += of_site;
    mean += of_site / x2 / (sites / 2);
  }
  CHECK(sqrt(r2 / b2) < 1.01e-10 && fabs(sqrt(r2 / b2) - result.residual) < 1e-13);
  /* A relative residual that is smaller than what came out: asked for, it is reached. */
  const double loose = 1e-4, target = 1e-7;
  options.tolerances = &loose;
  options.relative_tolerances = &target;
  OK(qs_operator_solve(op, &options, &b->vectors, &x->vectors, &result));
  CHECK(result.relative_residual <= target && result.relative_residual > 0.0 && result.residual > sqrt(r2 / b2));
  OK(qs_operator_apply(op, &there, &x->vectors, &once->vectors));
  OK(qs_operator_apply(op, &back, &once->vectors, &twice->vectors));
  mean = 0;
  for (int site = 0; site < sites; ++site) {
    if (parity_of(site) != p) continue;
    double of_site = 0, x2 = 0;
    for (size_t i = (size_t)site * site_reals; i < ((size_t)site + 1) * site_reals; ++i) {
      const double r = of(b, 0)[i] - (diagonal * of(x, 0)[i] - of(twice, 0)[i] / diagonal);
      of_site += r * r;
      x2 += of(x, 0)[i] * of(x, 0)[i];
    }
    mean += of_site / x2 / (sites / 2);
  }
  CHECK(fabs(sqrt(mean) - result.relative_residual) < 1e-6 * target);
  fields *all[] = {b, x, once, twice};
  for (size_t i = 0; i < 4; ++i) free_fields(all[i]);
}

/* One source, several masses, a tolerance each; and more right-hand sides than go together. */
static void many(qs_gauge *gauge) {
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
static void propagates(qs_gauge *gauge, const char *action, int components) {
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
static void all_actions(qs_gauge *gauge) {
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
    double left = 0, right = 0;
    for (size_t i = 0; i < reals; ++i) {
      left += of(b, 0)[i] * of(x, 0)[i];
      right += of(y, 0)[i] * of(c, 0)[i];
    }
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

/* Smeared links given back are the operator that makes them itself; shifts that go as far as the first; scaled solutions. */
static void on_links(qs_gauge *gauge, qs_operator *hisq) {
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
static void eigenvectors(qs_gauge *gauge) {
  const qs_setting light[] = {{"mass", "0.02"}, {"tol", "1e-9"}}, other_sign[] = {{"mass", "0.02"}, {"boundary", "t=periodic"}}, slices = {"ls", "4"};
  qs_operator *op = NULL, *other = NULL, *wall = NULL;
  OK(qs_operator_create(gauge, "naive", light, 2, &op));
  OK(qs_operator_create(gauge, "naive", other_sign, 2, &other));
  OK(qs_operator_create(gauge, "domain-wall", &slices, 1, &wall));
  qs_eigenvectors *modes = NULL, *again = NULL;
  qs_eigen_options options = {.struct_size = sizeof options, .modes = 8, .block = 2};
  FAILS(QS_ERROR_INPUT, "fifth dimension", "action", qs_eigenvectors_compute(wall, &options, &modes));
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
static void contractions(qs_gauge *gauge, qs_operator *wilson) {
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
static void three_points(qs_gauge *gauge, qs_operator *wilson, qs_operator *hisq) {
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

int main(void) {
  CHECK(qs_error_message()[0] == '\0');
  qs_session *session = open_session();
  qs_gauge *gauge = generate(session);
  errors(session, gauge);
  plaquettes(gauge);
  links_in_layouts(session, gauge);
  const qs_setting wilson[] = {{"kappa", "0.11"}}, staggered[] = {{"mass", "0.4"}};
  qs_operator *w = NULL, *s = NULL;
  OK(qs_operator_create(gauge, "wilson", wilson, 1, &w));
  OK(qs_operator_create(gauge, "hisq", staggered, 1, &s));
  vectors_in_layouts(w, 12);
  vectors_in_layouts(s, 3);
  parity_solves(w, 12, QS_ODD, 1);
  parity_solves(s, 3, QS_EVEN, 0.8);
  parity_solves(s, 3, QS_ODD, 0.8);
  qs_solve_options even = {.struct_size = sizeof even, .parity = QS_EVEN};
  fields *b = new_fields(1, (size_t)sites * 24);
  fill(b, 9);
  FAILS(QS_ERROR_INPUT, "odd sites", "parity", qs_operator_solve(w, &even, &b->vectors, &b->vectors, NULL));
  refusals(session, gauge, w);
  together(gauge);
  many(gauge);
  propagates(gauge, "wilson", 12);
  propagates(gauge, "hisq", 3);
  all_actions(gauge);
  contractions(gauge, w);
  three_points(gauge, w, s);
  eigenvectors(gauge);
  on_links(gauge, s);
  qs_gauge_free(gauge); /* operators live on */
  OK(qs_operator_solve(w, NULL, &b->vectors, &b->vectors, NULL));
  OK(qs_session_close(session));
  FAILS(QS_ERROR_INPUT, "has been closed", "session", qs_operator_solve(w, NULL, &b->vectors, &b->vectors, NULL));
  qs_operator_free(w);
  session = open_session(); /* another one, while an operator of the first is still there */
  qs_operator_free(s);
  OK(qs_session_close(session));
  callbacks();
  forks();
  kept_solvers(NULL);
  kept_solvers("2GiB");
  free_fields(b);
  qs_operator_free(NULL);
  qs_gauge_free(NULL);
  puts("all well");
  return 0;
}
