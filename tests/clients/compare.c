/* A client of the C library whose numbers are compared with those in a file.
 * compare history GAUGE ACTION FILE K=V...  the residual history of the first column has the bits in FILE, numbers of the command
 * compare contract GAUGE ACTION FILE K=V... so have the correlators of its lines: name, t, real part and, of complex ones, imaginary part
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

static int history(int count, char **arguments) {
  qs_setting settings[20];
  const int given = settings_of(count - 3, arguments + 3, settings);
  qs_session *session = open_session();
  qs_gauge *gauge = NULL;
  qs_operator *op = NULL;
  int extents[4];
  OK(qs_gauge_read(session, arguments[0], NULL, &gauge));
  OK(qs_gauge_lattice(gauge, extents));
  OK(qs_operator_create(gauge, arguments[1], settings, (size_t)given, &op));
  const size_t reals = (size_t)(extents[0] * extents[1] * extents[2] * extents[3] * 2 * qs_operator_components(op));
  fields *b = new_fields(1, reals), *x = new_fields(1, reals);
  OK(qs_operator_source(op, "point:0,0,0,0", NULL, &b->vectors));
  OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
  const double *mine = NULL;
  size_t length = 0, i = 0;
  OK(qs_operator_history(op, 0, &mine, &length));
  FILE *file = fopen(arguments[2], "r");
  CHECK(file != NULL && length > 3);
  for (char line[100]; fgets(line, sizeof line, file) != NULL; ++i) CHECK(i < length && strtod(line, NULL) == mine[i]);
  CHECK(i == length);
  fclose(file);
  qs_operator_free(op);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
  free_fields(b);
  free_fields(x);
  return 0;
}

/* Whether a setting is one of qs_contract(). */
static int is_of_contractions(const char *key) {
  return strcmp(key, "correlators") == 0 || strcmp(key, "momenta") == 0 || strcmp(key, "fold") == 0;
}

static int contract(int count, char **arguments) {
  qs_setting settings[20], of_operator[20], of_contraction[20];
  const int given = settings_of(count - 3, arguments + 3, settings);
  size_t solving = 0, contracting = 0;
  for (int i = 0; i < given; ++i)
    if (is_of_contractions(settings[i].key)) of_contraction[contracting++] = settings[i];
    else of_operator[solving++] = settings[i];
  qs_session *session = open_session();
  qs_gauge *gauge = NULL;
  qs_operator *op = NULL;
  int extents[4];
  OK(qs_gauge_read(session, arguments[0], NULL, &gauge));
  OK(qs_gauge_lattice(gauge, extents));
  OK(qs_operator_create(gauge, arguments[1], of_operator, solving, &op));
  const int components = qs_operator_components(op);
  const size_t reals = (size_t)(extents[0] * extents[1] * extents[2] * extents[3] * 2 * components);
  fields *b = new_fields(components, reals), *x = new_fields(components, reals);
  OK(qs_operator_source(op, "point:1,0,2,3", NULL, &b->vectors));
  OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
  qs_correlators *all = NULL;
  OK(qs_contract(gauge, arguments[1], "point:1,0,2,3", of_contraction, contracting, &x->vectors, &all));
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
  qs_operator_free(op);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
  free_fields(b);
  free_fields(x);
  return 0;
}

static int golden(int count, char **arguments) {
  qs_setting settings[20];
  const int given = settings_of(count - 2, arguments + 2, settings);
  qs_session *session = open_session();
  qs_gauge *gauge = NULL;
  qs_operator *op = NULL;
  int extents[4];
  OK(qs_gauge_read(session, arguments[0], NULL, &gauge));
  OK(qs_gauge_lattice(gauge, extents));
  OK(qs_operator_create(gauge, "wilson", settings, (size_t)given, &op));
  const size_t reals = (size_t)(extents[0] * extents[1] * extents[2] * extents[3] * 24);
  fields *b = new_fields(12, reals), *x = new_fields(12, reals);
  OK(qs_operator_source(op, "point:0,0,0,0", NULL, &b->vectors));
  OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
  qs_correlators *mesons = NULL;
  OK(qs_contract(gauge, "wilson", "point:0,0,0,0", NULL, 0, &x->vectors, &mesons));
  CHECK(strcmp(qs_correlators_name(mesons, 0), "pion") == 0 && qs_correlators_name(mesons, qs_correlators_count(mesons)) == NULL);
  size_t times = 0, t = 0;
  const double *pion = qs_correlators_values(mesons, 0, &times);
  CHECK(times == (size_t)extents[3]);
  FILE *file = fopen(arguments[1], "r");
  CHECK(file != NULL);
  for (char line[100]; fgets(line, sizeof line, file) != NULL; ++t) CHECK(t < times && fabs(strtod(line, NULL) / pion[t] - 1) < 1e-9);
  CHECK(t == times);
  fclose(file);
  qs_correlators_free(mesons);
  qs_operator_free(op);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
  free_fields(b);
  free_fields(x);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 4 && strcmp(argv[1], "history") == 0) return history(argc - 2, argv + 2);
  if (argc > 4 && strcmp(argv[1], "contract") == 0) return contract(argc - 2, argv + 2);
  CHECK(argc > 3 && strcmp(argv[1], "golden") == 0);
  return golden(argc - 2, argv + 2);
}
