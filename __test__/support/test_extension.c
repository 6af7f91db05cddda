/*
** A loadable extension for the tests, without SQLite's headers: the table of functions that SQLite
** hands to an extension only ever grows at its end, so the few slots used here are fixed numbers.
**
**   arg_count(...)    the number of its arguments
**   fail_with(code)   fails with this extended result code
**   api_version()     sqlite3_libversion_number() as the extension sees it
**
** Two entry points: the default one, which registers all three, and only_arg_count.
*/
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_value sqlite3_value;
typedef void (*slot)(void);
typedef void (*scalar)(sqlite3_context *, int, sqlite3_value **);

enum {
  CREATE_FUNCTION = 45,
  LIBVERSION_NUMBER = 67,
  RESULT_INT = 82,
  VALUE_INT = 106,
  RESULT_ERROR_CODE = 146
};
enum { SQLITE_UTF8 = 1 };

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT
#endif

static const slot *api;

static void result_int(sqlite3_context *context, int value) {
  ((void (*)(sqlite3_context *, int))api[RESULT_INT])(context, value);
}

static void arg_count(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argv;
  result_int(context, argc);
}

static void fail_with(sqlite3_context *context, int argc, sqlite3_value **argv) {
  int code = ((int (*)(sqlite3_value *))api[VALUE_INT])(argv[0]);
  (void)argc;
  ((void (*)(sqlite3_context *, int))api[RESULT_ERROR_CODE])(context, code);
}

static void api_version(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  result_int(context, ((int (*)(void))api[LIBVERSION_NUMBER])());
}

static int define(sqlite3 *db, const char *name, int argc, scalar fn) {
  typedef int (*create_function)(sqlite3 *, const char *, int, int, void *, scalar, scalar, slot);
  return ((create_function)api[CREATE_FUNCTION])(db, name, argc, SQLITE_UTF8, 0, fn, 0, 0);
}

EXPORT int only_arg_count(sqlite3 *db, char **message, const slot *functions) {
  (void)message;
  api = functions;
  return define(db, "arg_count", -1, arg_count);
}

EXPORT int sqlite3_extension_init(sqlite3 *db, char **message, const slot *functions) {
  int rc = only_arg_count(db, message, functions);
  if (rc == 0) rc = define(db, "fail_with", 1, fail_with);
  if (rc == 0) rc = define(db, "api_version", 0, api_version);
  return rc;
}
