/* What the parts of client.c share: its lattice, and what main() calls of the others. */
#include "client.h"

static const int lattice[4] = {4, 4, 4, 8};
enum { sites = 4 * 4 * 4 * 8 };

static inline int parity_of(int lex) {
  const int x = lex % 4, y = lex / 4 % 4, z = lex / 16 % 4, t = lex / 64;
  return (x + y + z + t) & 1;
}
static inline int even_odd(int lex) { return lex / 2 + parity_of(lex) * sites / 2; }

static inline qs_gauge *generate(qs_session *session) {
  const qs_heatbath heatbath = {.struct_size = sizeof heatbath, .beta = 6.0, .sweeps = 10, .seed = 7};
  qs_gauge *gauge = NULL;
  OK(qs_gauge_generate(session, lattice, &heatbath, &gauge));
  return gauge;
}

/* client_solves.c */
void together(qs_gauge *gauge);
void kept_solvers(const char *cpu_memory);
void parity_solves(qs_operator *op, int components, qs_parity parity, double diagonal);
void many(qs_gauge *gauge);
void propagates(qs_gauge *gauge, const char *action, int components);
void all_actions(qs_gauge *gauge);
/* client_hadrons.c */
void on_links(qs_gauge *gauge, qs_operator *hisq);
void eigenvectors(qs_gauge *gauge);
void contractions(qs_gauge *gauge, qs_operator *wilson);
void three_points(qs_gauge *gauge, qs_operator *wilson, qs_operator *hisq);
