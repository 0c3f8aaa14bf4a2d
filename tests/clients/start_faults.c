/* Session starts in which one call fails, the first, the second, and so on until there is none left (tests/fake/faults.cpp): each such start is
 * an error, or goes on without what it did not get, and leaves nothing behind: no variable, no thread, no open file, no memory. */
#define _GNU_SOURCE
#include "client.h"

#include <dirent.h>
#include <malloc.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
extern void faults_begin(long) __attribute__((weak));
extern long faults_end(void) __attribute__((weak));

static int entries(const char *folder) {
  int n = 0;
  DIR *const list = opendir(folder);
  CHECK(list != NULL);
  while (readdir(list) != NULL) ++n;
  closedir(list);
  return n;
}

typedef struct surroundings {
  unsigned long long environment;
  int threads, files;
} surroundings;

static surroundings look(void) {
  surroundings s = {0, 0, entries("/proc/self/fd")};
  for (char **variable = environ; *variable != NULL; ++variable) {
    unsigned long long sum = 14695981039346656037ULL;
    for (const char *c = *variable; *c != '\0'; ++c) sum = (sum ^ (unsigned char)*c) * 1099511628211ULL;
    s.environment += sum; /* in any order */
  }
  /* A thread that has been joined may be seen a moment longer. */
  for (int i = 0; i < 1000 && (i == 0 || s.threads > 3); ++i) {
    s.threads = entries("/proc/self/task");
    const struct timespec pause = {0, 1000000};
    if (s.threads > 3) nanosleep(&pause, NULL);
  }
  return s;
}

static long resident_kb(void) {
  long pages = 0, resident = 0;
  malloc_trim(0);
  FILE *const file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld %ld", &pages, &resident) == 2);
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(void) {
  CHECK(faults_begin != NULL && faults_end != NULL);
  const qs_setting settings[] = {{"devices", "cpu"}, {"workers", "2"}, {"threads", "1"}, {"watchdog", "60"}};
  const qs_session_options options = {.struct_size = sizeof options, .settings = settings, .settings_count = 4};
  for (int i = 0; i < 3; ++i) { /* what a first session makes for good */
    qs_session *session = NULL;
    OK(qs_session_open(&options, &session));
    OK(qs_session_close(session));
  }
  const surroundings before = look();
  long failed = 0, went_on = 0, calls = 0, half_kb = 0;
  const long first_kb = resident_kb();
  for (long n = 1;; ++n) {
    qs_session *session = NULL;
    faults_begin(n);
    const qs_status status = qs_session_open(&options, &session);
    calls = faults_end();
    if (getenv("START_FAULTS_TELL") != NULL) fprintf(stderr, "%ld of %ld: %d %s\n", n, calls, (int)status, status == QS_OK ? "" : qs_error_message());
    if (status == QS_OK) {
      CHECK(session != NULL);
      OK(qs_session_close(session));
      ++went_on;
    } else {
      CHECK(status == QS_ERROR_ENVIRONMENT && session == NULL && strlen(qs_error_message()) > 0);
      ++failed;
    }
    const surroundings after = look();
    CHECK(after.environment == before.environment);
    CHECK(after.threads == before.threads);
    CHECK(after.files == before.files);
    if (n > calls) break;
    if (half_kb == 0 && n > calls / 2) half_kb = resident_kb();
  }
  const long last_kb = resident_kb();
  fprintf(stderr, "%ld calls; %ld starts failed, %ld went on; %ld, %ld, %ld kB\n", calls, failed, went_on, first_kb, half_kb, last_kb);
  CHECK(failed > 50);
  CHECK(last_kb < half_kb + half_kb / 50); /* StarPU keeps a little of each session */
  puts("all well");
  return 0;
}
