/* Session starts in which one call fails, the first, the second, and so on until there is none left (tests/fake/faults.cpp): each such start is
 * an error, or goes on without what it did not get, and leaves nothing behind: no variable, no thread, no open file, no memory. */
#include "resident.h"

#include <dirent.h>
#include <time.h>

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

int main(void) {
  CHECK(faults_begin != NULL && faults_end != NULL);
  const qs_setting settings[] = {{"devices", "cpu"}, {"workers", "2"}, {"threads", "1"}, {"watchdog", "60"}};
  const qs_session_options options = {.struct_size = sizeof options, .settings = settings, .settings_count = 4};
  /* The first session reads the cache of tunings, and what holds that (nlohmann's json) allocates where it is destroyed: nothing can be done
   * there when it fails. So it is not among those that fail. */
  qs_session *first = NULL;
  OK(qs_session_open(&options, &first));
  OK(qs_session_close(first));
  const surroundings before = look();
  long failed = 0, went_on = 0, kb[3];
  for (int pass = 0; pass < 3; ++pass) {
    for (long n = 1, calls = n; n <= calls; ++n) {
      qs_session *session = NULL;
      faults_begin(n);
      const qs_status status = qs_session_open(&options, &session);
      calls = faults_end();
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
    }
    kb[pass] = resident_kb();
  }
  fprintf(stderr, "%ld starts failed, %ld went on; %ld, %ld, %ld kB\n", failed, went_on, kb[0], kb[1], kb[2]);
  CHECK(failed > 150 && kb[2] < kb[1] + kb[1] / 100);
  puts("all well");
  return 0;
}
