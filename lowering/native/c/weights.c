/*
 * The constants of a program: bytes of its object, a section a pool, or of the file XRELAY_FILE
 * beside the library or program. The file begins with XRELAY_HEAD bytes that depend on all others:
 * they alone are read here. The text before this file defines the names in capitals;
 * XRELAY_POOLS(pool) is a list of `pool(number, section, alignment, start, size)`.
 */

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>

#ifndef XRELAY_FILE

#define INCLUDED(number, section, alignment, start, size)                                          \
  __asm__(".section " section ",\"a\"\n.balign " #alignment "\nxrelay_weights_" #number ":\n"         \
          ".incbin \"weights.bin\", " #start ", " #size "\n.previous\n");                            \
  extern const char xrelay_weights_##number[] __attribute__((visibility("hidden")));
XRELAY_POOLS(INCLUDED)

#define ADDRESS(number, section, alignment, start, size) xrelay_weights_##number,
static const char *const pools[] = {XRELAY_POOLS(ADDRESS)};

__attribute__((visibility("hidden"))) const void *XRELAY_CONSTANTS(int32_t pool, char *error,
                                                                   size_t room) {
  (void)error;
  (void)room;
  return pools[pool];
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const void *map_file(const char *path, char *error, size_t room) {
  struct stat status;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 || fstat(file, &status) != 0) {
    snprintf(error, room, "cannot read the weights '%s': %s", path, strerror(errno));
    if (file >= 0)
      close(file);
    return NULL;
  }
  if (!S_ISREG(status.st_mode) || status.st_size != (off_t)XRELAY_SIZE) {
    snprintf(error, room, "the weights '%s' have %lld bytes, but those of this program have %llu",
             path, (long long)status.st_size, (unsigned long long)XRELAY_SIZE);
    close(file);
    return NULL;
  }
  void *memory = mmap(NULL, XRELAY_SIZE, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED)
    snprintf(error, room, "cannot map the weights '%s': %s", path, strerror(errno));
  close(file);
  if (memory == MAP_FAILED)
    return NULL;
  if (memcmp(memory, head, XRELAY_HEAD) != 0) {
    snprintf(error, room, "the weights '%s' are not those of this program", path);
    munmap(memory, XRELAY_SIZE);
    return NULL;
  }
  return (const char *)memory + XRELAY_HEAD;
}

static const void *load(char *error, size_t room) {
  Dl_info info;
  char path[4096];
  if (dladdr((void *)head, &info) == 0 || info.dli_fname == NULL) {
    snprintf(error, room, "cannot find the file of this program, beside which its weights are");
    return NULL;
  }
  const char *slash = strrchr(info.dli_fname, '/');
  int folder = slash == NULL ? 0 : (int)(slash - info.dli_fname + 1);
  int length = snprintf(path, sizeof path, "%.*s%s", folder, info.dli_fname, XRELAY_FILE);
  if (length < 0 || (size_t)length >= sizeof path) {
    snprintf(error, room, "the path of the weights '%s' is too long", XRELAY_FILE);
    return NULL;
  }
  return map_file(path, error, room);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const void *loaded;

#define START(number, section, alignment, start, size) start,
static const size_t starts[] = {XRELAY_POOLS(START)};

__attribute__((visibility("hidden"))) const void *XRELAY_CONSTANTS(int32_t pool, char *error,
                                                                   size_t room) {
  const void *found = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);
  if (found == NULL) {
    pthread_mutex_lock(&mutex);
    found = loaded != NULL ? loaded : load(error, room);
    __atomic_store_n(&loaded, found, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutex);
  }
  return found == NULL ? NULL : (const char *)found + starts[pool];
}

#endif
