/* A client of the C library in C99, which knows nothing but quarkstar.h: its arguments, layouts, solves and errors against loops of its own,
 * on a configuration of its own. */
#define _POSIX_C_SOURCE 200809L
#include "client_parts.h"

#include <sys/wait.h>
#include <unistd.h>

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
  const char *const taken[] = {"kappa", "tol", "nrhs", "multigrid-setup"}, *const refused[] = {" out", "json", "workers", "gauge", "csw", "momenta"};
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; ++i) CHECK(strstr(qs_error_message(), taken[i]) != NULL);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) CHECK(strstr(qs_error_message(), refused[i]) == NULL);
  CHECK(qs_action_components("wilson") == 12 && qs_action_components("hisq") == 3 && qs_action_components("none") == 0);
  CHECK(qs_solver_has_shifts("multishift") == 1 && qs_solver_has_shifts("cg") == 0 && qs_solver_has_shifts("none") == 0);
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
  const double left = dot(of(c, 0), of(d, 1), reals), right = dot(of(image, 0), of(c, 1), reals);
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
