/*
** Preloaded into a process, stands between it and the files of one directory (DISK_DIR): the n-th
** call of the wanted kinds fails, or every change is recorded (DISK_LOG) so that a test can build
** what a power cut would have left. Syncs only pretend, as nothing here depends on the real disk.
**
** What fails is in the control file (DISK_CONTROL), which the process writes and this maps; its
** fields and the form of a record are those of __test__/faults/disk.js. A disk that fails by offset
** is failing_reads.c.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { READ = 1, WRITE = 2, SYNC = 4, TRUNCATE = 8, UNLINK = 16 };

struct control {
  int kinds;     /* Which calls are counted */
  int fail_at;   /* The number of the one that fails, from 1; 0 for none */
  int error;     /* What errno is then */
  int lasting;   /* All later ones fail, too */
  int count;     /* Calls so far */
  int failed;    /* Failures so far */
  int recording; /* Changes go to the log */
  int mark;      /* How far the process is, for the log */
};

struct record {
  unsigned char kind, mark;
  unsigned short path_len;
  unsigned int data_len;
  long long offset;
};

static volatile struct control *control;
static const char *dir;
static int log_fd = -1;

/* The shells and tools that the process may start inherit the library, and no control file. */
__attribute__((constructor)) static void begin(void){
  const char *path = getenv("DISK_CONTROL");
  const char *log = getenv("DISK_LOG");
  int fd;
  dir = getenv("DISK_DIR");
  if( !path || !log || !dir ) return;
  fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR, 0);
  log_fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY|O_CREAT|O_APPEND|O_CLOEXEC, 0644);
  if( fd<0 || log_fd<0 ) return;
  control = mmap(0, sizeof *control, PROT_READ|PROT_WRITE, MAP_SHARED, fd, 0);
  if( control==MAP_FAILED ) control = 0;
  syscall(SYS_close, fd);
}

#define NEXT(name) next = next ? next : dlsym(RTLD_NEXT, name)

static int is_inside(const char *path){
  size_t len = strlen(dir);
  return strncmp(path, dir, len)==0 && (path[len]=='/' || path[len]==0);
}

/* The path of an open file below the directory, or NULL. */
static const char *path_of(int fd, char path[4096]){
  char link[64];
  ssize_t n;
  if( !control ) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  n = readlink(link, path, 4095);
  if( n<=0 ) return 0;
  path[n] = 0;
  return is_inside(path) ? path : 0;
}

static int fails(int kind){
  int n;
  if( !(control->kinds & kind) ) return 0;
  n = ++control->count;
  if( control->fail_at==0 || n<control->fail_at ) return 0;
  if( n>control->fail_at && !control->lasting ) return 0;
  control->failed++;
  errno = control->error;
  return 1;
}

/* The WAL's index is made anew after a crash: it does not count. */
static void record(char kind, const char *path, long long offset, const void *data, size_t len){
  struct record head;
  size_t path_len = strlen(path);
  char *line;
  if( !control->recording || (path_len>4 && strcmp(path + path_len - 4, "-shm")==0) ) return;
  line = malloc(sizeof head + path_len + len);
  if( !line ) abort();
  head.kind = kind;
  head.mark = control->mark;
  head.path_len = path_len;
  head.data_len = len;
  head.offset = offset;
  memcpy(line, &head, sizeof head);
  memcpy(line + sizeof head, path, path_len);
  if( len ) memcpy(line + sizeof head + path_len, data, len);
  len += sizeof head + path_len;
  if( syscall(SYS_write, log_fd, line, len)!=(long)len ) abort();
  free(line);
}

#define READER(name, params, args, fd) \
  ssize_t name params { \
    static ssize_t (*next) params; \
    char path[4096]; \
    NEXT(#name); \
    if( path_of(fd, path) && fails(READ) ) return -1; \
    return next args; \
  }
READER(read, (int fd, void *into, size_t n), (fd, into, n), fd)
READER(pread, (int fd, void *into, size_t n, off_t at), (fd, into, n, at), fd)
READER(pread64, (int fd, void *into, size_t n, off64_t at), (fd, into, n, at), fd)

#define WRITER(name, params, args, at) \
  ssize_t name params { \
    static ssize_t (*next) params; \
    char path[4096]; \
    ssize_t written; \
    long long offset; \
    NEXT(#name); \
    if( !path_of(fd, path) ) return next args; \
    if( fails(WRITE) ) return -1; \
    offset = at; \
    written = next args; \
    if( written>0 ) record('W', path, offset, from, written); \
    return written; \
  }
WRITER(write, (int fd, const void *from, size_t n), (fd, from, n), lseek(fd, 0, SEEK_CUR))
WRITER(pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at), at)
WRITER(pwrite64, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at), at)

#define SYNCER(name) \
  int name(int fd){ \
    static int (*next)(int); \
    char path[4096]; \
    NEXT(#name); \
    if( !path_of(fd, path) ) return next(fd); \
    if( fails(SYNC) ) return -1; \
    record('S', path, 0, 0, 0); \
    return 0; \
  }
SYNCER(fsync)
SYNCER(fdatasync)

#define TRUNCATER(name, type) \
  int name(int fd, type len){ \
    static int (*next)(int, type); \
    char path[4096]; \
    int rc; \
    NEXT(#name); \
    if( !path_of(fd, path) ) return next(fd, len); \
    if( fails(TRUNCATE) ) return -1; \
    rc = next(fd, len); \
    if( rc==0 ) record('T', path, len, 0, 0); \
    return rc; \
  }
TRUNCATER(ftruncate, off_t)
TRUNCATER(ftruncate64, off64_t)

int unlink(const char *path){
  static int (*next)(const char*);
  int rc;
  NEXT("unlink");
  if( !control || !is_inside(path) || access(path, F_OK)!=0 ) return next(path);
  if( fails(UNLINK) ) return -1;
  rc = next(path);
  if( rc==0 ) record('U', path, 0, 0, 0);
  return rc;
}

#define OPENER(name) \
  int name(const char *path, int flags, ...){ \
    static int (*next)(const char*, int, ...); \
    va_list list; \
    int mode, fd, is_new; \
    NEXT(#name); \
    va_start(list, flags); \
    mode = va_arg(list, int); \
    va_end(list); \
    is_new = control && (flags & O_CREAT) && is_inside(path) && access(path, F_OK)!=0; \
    fd = next(path, flags, mode); \
    if( fd>=0 && is_new ) record('C', path, 0, 0, 0); \
    return fd; \
  }
OPENER(open)
OPENER(open64)
