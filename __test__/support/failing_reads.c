/*
** Preloaded into a process, makes its reads of one file fail with EIO: the disk that breaks. The
** file is named by FAILING_FILE (the end of its path), and reads fail while FAILING_SWITCH exists
** as a file and at offsets of at least FAILING_FROM.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int fails(int fd, off_t offset){
  const char *wanted = getenv("FAILING_FILE");
  const char *from = getenv("FAILING_FROM");
  const char *flag = getenv("FAILING_SWITCH");
  char link[64], path[4096];
  ssize_t n;
  size_t len;
  if( !wanted || !from || !flag || offset<atoll(from) || access(flag, F_OK)!=0 ) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  n = readlink(link, path, sizeof path - 1);
  len = strlen(wanted);
  if( n<(ssize_t)len ) return 0;
  return memcmp(path + n - len, wanted, len)==0;
}

ssize_t read(int fd, void *into, size_t count){
  static ssize_t (*next)(int, void*, size_t);
  if( !next ) next = dlsym(RTLD_NEXT, "read");
  if( fails(fd, lseek(fd, 0, SEEK_CUR)) ){ errno = EIO; return -1; }
  return next(fd, into, count);
}

ssize_t pread(int fd, void *into, size_t count, off_t offset){
  static ssize_t (*next)(int, void*, size_t, off_t);
  if( !next ) next = dlsym(RTLD_NEXT, "pread");
  if( fails(fd, offset) ){ errno = EIO; return -1; }
  return next(fd, into, count, offset);
}

ssize_t pread64(int fd, void *into, size_t count, off_t offset){
  static ssize_t (*next)(int, void*, size_t, off_t);
  if( !next ) next = dlsym(RTLD_NEXT, "pread64");
  if( fails(fd, offset) ){ errno = EIO; return -1; }
  return next(fd, into, count, offset);
}
