// Preloaded into the server: lets one write to a directory fail, as a dying or full disk does. What is to fail is told through a file that
// is mapped into memory: see failing-writes.ts.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

struct control {
  volatile int32_t countdown; // the call that fails, from 1; 0: none
  volatile int32_t error;     // its errno; -1: half of it is written
  volatile int32_t failed;    // how many have failed
  volatile int32_t calls;     // how many there were
};

static struct control *control;
static const char *directory;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("FAILING_WRITES_CONTROL");
  directory = getenv("FAILING_WRITES_DIRECTORY");
  if (path == NULL || directory == NULL) return;
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) control = memory;
  close(file);
}

static int ours(const char *path) { return path != NULL && strncmp(path, directory, strlen(directory)) == 0; }

static int ours_open(int file) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return ours(path);
}

// The errno with which this call fails, -1 for half a write, 0 for none.
static int fate(int is_ours) {
  if (control == NULL || !is_ours) return 0;
  __atomic_add_fetch(&control->calls, 1, __ATOMIC_SEQ_CST);
  if (control->countdown == 0 || __atomic_sub_fetch(&control->countdown, 1, __ATOMIC_SEQ_CST) != 0) return 0;
  __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
  return control->error;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL_IF(fated) \
  do { \
    if ((fated) > 0) { \
      errno = (fated); \
      return -1; \
    } \
  } while (0)

ssize_t write(int file, const void *bytes, size_t count) {
  int fated = control && file > 2 ? fate(ours_open(file)) : 0;
  FAIL_IF(fated);
  return REAL(write)(file, bytes, fated < 0 && count > 1 ? count / 2 : count);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
  int fated = fate(control && ours_open(file));
  FAIL_IF(fated);
  return REAL(pwrite64)(file, bytes, fated < 0 && count > 1 ? count / 2 : count, at);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) { return pwrite64(file, bytes, count, at); }

ssize_t writev(int file, const struct iovec *parts, int count) {
  int fated = fate(control && ours_open(file));
  FAIL_IF(fated);
  return REAL(writev)(file, parts, fated < 0 && count > 1 ? count / 2 : count);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t at) {
  int fated = fate(control && ours_open(file));
  FAIL_IF(fated);
  return REAL(pwritev64)(file, parts, fated < 0 && count > 1 ? count / 2 : count, at);
}

int fsync(int file) {
  int fated = fate(control && ours_open(file));
  if (fated != 0) {
    errno = EIO;
    return -1;
  }
  return REAL(fsync)(file);
}

int fdatasync(int file) {
  int fated = fate(control && ours_open(file));
  if (fated != 0) {
    errno = EIO;
    return -1;
  }
  return REAL(fdatasync)(file);
}

int ftruncate64(int file, off64_t length) {
  int fated = fate(control && ours_open(file));
  FAIL_IF(fated < 0 ? EIO : fated);
  return REAL(ftruncate64)(file, length);
}

int rename(const char *from, const char *to) {
  int fated = fate(control && (ours(from) || ours(to)));
  FAIL_IF(fated < 0 ? EIO : fated);
  return REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode) {
  int fated = fate(control && ours(path));
  FAIL_IF(fated < 0 ? EIO : fated);
  return REAL(mkdir)(path, mode);
}
