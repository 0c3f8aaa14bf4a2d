/* A client of the C library whose numbers are compared with those in a file.
 * compare history GAUGE ACTION FILE K=V...  the residual history of the first column has the bits in FILE, numbers of the command
 * compare contract GAUGE ACTION FILE K=V... so have the correlators of its lines: name, t, real part and, of complex ones, imaginary part;
 *                                           with three-points=V they are three-point functions, with deflate=FILE mesons and their
 *                                           low-mode averages
 * compare golden GAUGE FILE K=V...          the pion's correlator is that of FILE, to 9 digits */
#include "client.h"

/* The settings K=V of the command line. */
static int settings_of(int count, char **arguments, qs_setting *settings) {
  for (int i = 0; i < count; ++i) {
    char *const equals = strchr(arguments[i], '=');
    CHECK(equals != NULL);
    *equals = '\0';
    settings[i].key = arguments[i];
    settings[i].value = equals + 1;
  }
  return count;
}

/* Solutions for a point source. */
typedef struct solved {
  qs_session *session;
  qs_gauge *gauge;
  qs_operator *op;
  int extents[4];
  fields *b, *x;
} solved;

/* modes: a file of eigenvectors, or NULL. columns: the first of them; 0: all. */
static solved solve(const char *path, const char *action, const qs_setting *settings, size_t count, const char *modes, const char *source,
                    int columns) {
  solved s;
  s.session = open_session();
  OK(qs_gauge_read(s.session, path, NULL, &s.gauge));
  OK(qs_gauge_lattice(s.gauge, s.extents));
  OK(qs_operator_create(s.gauge, action, settings, count, &s.op));
  if (modes != NULL) {
    qs_eigenvectors *vectors = NULL;
    OK(qs_eigenvectors_read(s.op, modes, &vectors));
    OK(qs_operator_deflate(s.op, vectors));
    qs_eigenvectors_free(vectors);
  }
  const int components = qs_operator_components(s.op), n = columns > 0 ? columns : components;
  const size_t reals = (size_t)(s.extents[0] * s.extents[1] * s.extents[2] * s.extents[3] * 2 * components);
  s.b = new_fields(n, reals);
  s.x = new_fields(n, reals);
  OK(qs_operator_source(s.op, source, NULL, &s.b->vectors));
  OK(qs_operator_solve(s.op, NULL, &s.b->vectors, &s.x->vectors, NULL));
  return s;
}
static void end(solved *s) {
  qs_operator_free(s->op);
  qs_gauge_free(s->gauge);
  OK(qs_session_close(s->session));
  free_fields(s->b);
  free_fields(s->x);
}

static int history(int count, char **arguments) {
  qs_setting settings[20];
  const int given = settings_of(count - 3, arguments + 3, settings);
  solved s = solve(arguments[0], arguments[1], settings, (size_t)given, NULL, "point:0,0,0,0", 1);
  const double *mine = NULL;
  size_t length = 0, i = 0;
  OK(qs_operator_history(s.op, 0, &mine, &length));
  FILE *file = fopen(arguments[2], "r");
  CHECK(file != NULL && length > 3);
  for (char line[100]; fgets(line, sizeof line, file) != NULL; ++i) CHECK(i < length && strtod(line, NULL) == mine[i]);
  CHECK(i == length);
  fclose(file);
  end(&s);
  return 0;
}

/* Whether a setting is one of qs_contract(). */
static int is_of_contractions(const char *key) {
  return strcmp(key, "correlators") == 0 || strcmp(key, "momenta") == 0 || strcmp(key, "fold") == 0;
}

/* Whether a setting is one of qs_operator_three_points(). */
static int is_of_three_points(const char *key) {
  return strcmp(key, "three-points") == 0 || strcmp(key, "currents") == 0 || strcmp(key, "current-momenta") == 0 ||
         strcmp(key, "sinks") == 0;
}

static int contract(int count, char **arguments) {
  qs_setting settings[20], of_operator[20], of_contraction[20];
  const int given = settings_of(count - 3, arguments + 3, settings);
  size_t solving = 0, contracting = 0;
  int three_points = 0;
  const char *modes = NULL;
  for (int i = 0; i < given; ++i)
    if (strcmp(settings[i].key, "deflate") == 0) modes = settings[i].value;
    else if (is_of_three_points(settings[i].key)) three_points = 1, of_contraction[contracting++] = settings[i];
    else if (is_of_contractions(settings[i].key)) of_contraction[contracting++] = settings[i];
    else of_operator[solving++] = settings[i];
  const char *const source = "point:1,0,2,3";
  solved s = solve(arguments[0], arguments[1], of_operator, solving, modes, source, 0);
  qs_correlators *all = NULL;
  if (three_points) OK(qs_operator_three_points(s.op, source, of_contraction, contracting, &s.x->vectors, &all));
  else OK(qs_contract(s.gauge, arguments[1], source, of_contraction, contracting, &s.x->vectors, &all));
  if (modes != NULL) OK(qs_operator_low_mode_averages(s.op, &source, NULL, &all, 1));
  FILE *file = fopen(arguments[2], "r");
  CHECK(file != NULL);
  size_t lines = 0, expected = 0, times = 0;
  char name[100], re[100], im[100];
  unsigned t = 0;
  for (char line[400]; fgets(line, sizeof line, file) != NULL; ++lines) {
    const int numbers = sscanf(line, "%99s %u %99s %99s", name, &t, re, im);
    int i = 0;
    while (qs_correlators_name(all, i) != NULL && strcmp(qs_correlators_name(all, i), name) != 0) ++i;
    CHECK(numbers >= 3 && qs_correlators_name(all, i) != NULL);
    const double *const real = qs_correlators_values(all, i, &times);
    CHECK(t < times && real[t] == strtod(re, NULL));
    const double *const imaginary = qs_correlators_imaginary(all, i, &times);
    CHECK(numbers == 4 ? t < times && imaginary[t] == strtod(im, NULL) : imaginary == NULL && times == 0);
  }
  for (int i = 0; qs_correlators_values(all, i, &times) != NULL; ++i) expected += times;
  CHECK(lines == expected && lines > 0);
  fclose(file);
  qs_correlators_free(all);
  end(&s);
  return 0;
}

static int golden(int count, char **arguments) {
  qs_setting settings[20];
  const int given = settings_of(count - 2, arguments + 2, settings);
  solved s = solve(arguments[0], "wilson", settings, (size_t)given, NULL, "point:0,0,0,0", 0);
  qs_correlators *mesons = NULL;
  OK(qs_contract(s.gauge, "wilson", "point:0,0,0,0", NULL, 0, &s.x->vectors, &mesons));
  CHECK(strcmp(qs_correlators_name(mesons, 0), "pion") == 0 && qs_correlators_name(mesons, qs_correlators_count(mesons)) == NULL);
  size_t times = 0, t = 0;
  const double *pion = qs_correlators_values(mesons, 0, &times);
  CHECK(times == (size_t)s.extents[3]);
  FILE *file = fopen(arguments[1], "r");
  CHECK(file != NULL);
  for (char line[100]; fgets(line, sizeof line, file) != NULL; ++t) CHECK(t < times && fabs(strtod(line, NULL) / pion[t] - 1) < 1e-9);
  CHECK(t == times);
  fclose(file);
  qs_correlators_free(mesons);
  end(&s);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 4 && strcmp(argv[1], "history") == 0) return history(argc - 2, argv + 2);
  if (argc > 4 && strcmp(argv[1], "contract") == 0) return contract(argc - 2, argv + 2);
  CHECK(argc > 3 && strcmp(argv[1], "golden") == 0);
  return golden(argc - 2, argv + 2);
}
