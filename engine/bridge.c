/*
** Included at the end of the amalgamation, so that it reaches what is private to SQLite. It hands
** Rust (src/pager of the addon) what the codec needs, and forwards SQLite's questions to the table
** of functions that Rust registers. There are no decisions here: those are in Rust.
**
** Each function that Rust calls is declared once more in src/pager/engine.rs, with its duties.
*/

/* The table: see `Hooks` in src/pager/exports.rs. Result codes are SQLite's. */
typedef struct SealiteHooks SealiteHooks;
struct SealiteHooks {
  int (*xKey)(sqlite3*, int iDb, const void *pKey, int nKey);
  int (*xRekey)(sqlite3*, int iDb, const void *pKey, int nKey);
  int (*xAttach)(sqlite3*, int iDb, const void *pKey, int nKey);
  void (*xCopyKey)(sqlite3*, int iDb, void **ppKey, int *pnKey);
  int (*xPragma)(sqlite3*, int iDb, Parse*, const char *zName, const char *zValue);
  int (*xProveKey)(Pager*, void *pCodec);
  int (*xPageError)(void *pCodec, Pgno);
  void *(*xJournalPlain)(void *pCodec, const void *pStored, Pgno);
  u32 (*xChangeCounter)(void *pCodec);
  void (*xVacuumBegins)(sqlite3*, int iDb);
  int (*xVacuumReserve)(sqlite3*, int iDb, int nReserve);
  int (*xKeyByName)(sqlite3*, int iDb, int *pSeen);
  void (*xNotADatabase)(sqlite3*, Pager*);
  int (*xIsDoubtful)(void *pCodec);
  int (*xOpenNameless)(sqlite3_vfs*, sqlite3_file*, int flags, int *pFlagsOut);
};

static SealiteHooks sealiteHooks;

void sealite_install(const SealiteHooks *pHooks){
  sealiteHooks = *pHooks;
}

/* ------------------------------------------------ what the pager and VACUUM ask (engine/edits.rs) */

static int sealiteCodecError(Pager *pPager, Pgno pgno){
  return sealiteHooks.xPageError(pPager->pCodec, pgno);
}

static int sealiteProveKey(Pager *pPager){
  if( pPager->tempFile || sealiteHooks.xProveKey==0 ) return SQLITE_OK;
  return sealiteHooks.xProveKey(pPager, pPager->xCodec ? pPager->pCodec : 0);
}

static char *sealiteJournalPlain(Pager *pPager, char *aStored, Pgno pgno){
  if( pPager->xCodec==0 ) return aStored;
  return (char*)sealiteHooks.xJournalPlain(pPager->pCodec, aStored, pgno);
}

static u32 sealiteChangeCounter(Pager *pPager){
  if( pPager->xCodec ) return sealiteHooks.xChangeCounter(pPager->pCodec);
  return sqlite3Get4byte((u8*)pPager->dbFileVers);
}

/* True for a page that nobody has relied on yet: it was added in the running transaction, or it is
** one of a temporary file. When a later page went to the file first, there are zeros in its place. */
static int sealitePageIsNew(Pager *pPager, Pgno pgno){
  return pPager->tempFile
      || (pPager->eState>=PAGER_WRITER_LOCKED && pgno>pPager->dbOrigSize);
}

static void sealitePage1WasRead(Pager *pPager){ pPager->bPage1WasRead = 1; }

static void sealiteNotADatabase(sqlite3 *db, Pager *pPager){
  if( sealiteHooks.xNotADatabase && isOpen(pPager->fd) ) sealiteHooks.xNotADatabase(db, pPager);
}

/* True when page 1 was read under a key that nothing proves, and does not look like one. */
static int sealiteIsDoubtful(Pager *pPager){
  return pPager->xCodec && sealiteHooks.xIsDoubtful(pPager->pCodec);
}

static void sealiteVacuumBegins(sqlite3 *db, int iDb){
  if( sealiteHooks.xVacuumBegins ) sealiteHooks.xVacuumBegins(db, iDb);
}

static int sealiteVacuumReserve(sqlite3 *db, int iDb, int nReserve){
  if( sealiteHooks.xVacuumReserve==0 ) return nReserve;
  return sealiteHooks.xVacuumReserve(db, iDb, nReserve);
}

/* A file that SQLite opens for its own use: it has no name. */
static int sealiteOpenNameless(
  sqlite3_vfs *pVfs, sqlite3_file *pFile, int flags, int *pFlagsOut
){
  if( sealiteHooks.xOpenNameless==0 ) return pVfs->xOpen(pVfs, 0, pFile, flags, pFlagsOut);
  return sealiteHooks.xOpenNameless(pVfs, pFile, flags, pFlagsOut);
}

/* ------------------------------- what the core of a SQLITE_HAS_CODEC build asks of its codec */

void sqlcipher_init_memmethods(void){
  /* SQLCipher would wipe all of SQLite's memory here. Our keys are not in it. */
}

int sqlcipher_find_db_index(sqlite3 *db, const char *zDb){
  return zDb ? sqlite3FindDbName(db, zDb) : 0;
}

void sqlcipher_free(void *p, sqlite_uint64 n){
  /* What xCopyKey gives out is not allocated. */
  UNUSED_PARAMETER2(p, n);
}

int sqlcipherCodecAttach(sqlite3 *db, int iDb, const void *pKey, int nKey){
  return sealiteHooks.xAttach ? sealiteHooks.xAttach(db, iDb, pKey, nKey) : SQLITE_OK;
}

void sqlcipherCodecGetKey(sqlite3 *db, int iDb, void **ppKey, int *pnKey){
  *ppKey = 0;
  *pnKey = 0;
  if( sealiteHooks.xCopyKey ) sealiteHooks.xCopyKey(db, iDb, ppKey, pnKey);
}

int sqlcipher_codec_pragma(
  sqlite3 *db, int iDb, Parse *pParse, const char *zName, const char *zValue
){
  return sealiteHooks.xPragma ? sealiteHooks.xPragma(db, iDb, pParse, zName, zValue) : 0;
}

SQLITE_PRIVATE int sqlite3CodecQueryParameters(
  sqlite3 *db, const char *zDb, const char *zUri, int *pSeen
){
  UNUSED_PARAMETER(zUri);
  if( pSeen ) *pSeen = 0;
  if( sealiteHooks.xKeyByName==0 ) return SQLITE_OK;
  return sealiteHooks.xKeyByName(db, sqlcipher_find_db_index(db, zDb), pSeen);
}

SQLITE_API int sqlite3_key_v2(sqlite3 *db, const char *zDb, const void *pKey, int nKey){
  return sealiteHooks.xKey(db, sqlcipher_find_db_index(db, zDb), pKey, nKey);
}

SQLITE_API int sqlite3_key(sqlite3 *db, const void *pKey, int nKey){
  return sqlite3_key_v2(db, 0, pKey, nKey);
}

SQLITE_API int sqlite3_rekey_v2(sqlite3 *db, const char *zDb, const void *pKey, int nKey){
  return sealiteHooks.xRekey(db, sqlcipher_find_db_index(db, zDb), pKey, nKey);
}

SQLITE_API int sqlite3_rekey(sqlite3 *db, const void *pKey, int nKey){
  return sqlite3_rekey_v2(db, 0, pKey, nKey);
}

/* -------------------------------------------------------------- what Rust asks of a database */

int sealite_database_index(sqlite3 *db, const char *zDb){ return sqlite3FindDbName(db, zDb); }

static Btree *sealiteBtree(sqlite3 *db, int iDb){
  return iDb>=0 && iDb<db->nDb ? db->aDb[iDb].pBt : 0;
}

Pager *sealite_pager(sqlite3 *db, int iDb){
  Btree *pBt = sealiteBtree(db, iDb);
  return pBt ? sqlite3BtreePager(pBt) : 0;
}

/* Page size in use, the one that PRAGMA page_size asked for (0: none), bytes reserved. */
u32 sealite_page_size(sqlite3 *db, int iDb){ return sealiteBtree(db, iDb)->pBt->pageSize; }
int sealite_wanted_page_size(sqlite3 *db){ return db->nextPagesize; }
int sealite_reserve(sqlite3 *db, int iDb){
  BtShared *pBt = sealiteBtree(db, iDb)->pBt;
  return (int)(pBt->pageSize - pBt->usableSize);
}

/* Sets page size and reserve, whatever was believed before; bFixed: they are those of the file. */
int sealite_set_page_size(sqlite3 *db, int iDb, int szPage, int nReserve, int bFixed){
  Btree *p = sealiteBtree(db, iDb);
  int rc;
  sqlite3BtreeEnter(p);
  p->pBt->btsFlags &= ~BTS_PAGESIZE_FIXED;
  p->pBt->usableSize = p->pBt->pageSize;
  rc = sqlite3BtreeSetPageSize(p, szPage, nReserve, bFixed);
  sqlite3BtreeLeave(p);
  return rc;
}

void sealite_secure_delete(sqlite3 *db, int iDb){
  Btree *p = sealiteBtree(db, iDb);
  sqlite3BtreeEnter(p);
  sqlite3BtreeSecureDelete(p, 1);
  sqlite3BtreeLeave(p);
}

/* True while a transaction, or a statement, holds pages of this database, or a backup reads it. */
int sealite_in_use(sqlite3 *db, int iDb){
  Btree *p = sealiteBtree(db, iDb);
  return sqlite3BtreeTxnState(p)!=SQLITE_TXN_NONE
      || p->nBackup>0
      || sqlite3PcacheRefCount(sqlite3BtreePager(p)->pPCache)>0;
}

/* The VFS of a connection. It goes over to those of its databases that had the same one. */
sqlite3_vfs *sealite_vfs(sqlite3 *db){ return db->pVfs; }
void sealite_set_vfs(sqlite3 *db, sqlite3_vfs *pVfs){
  int i;
  for(i=0; i<db->nDb; i++){
    Pager *pPager = sealite_pager(db, i);
    if( pPager && pPager->pVfs==db->pVfs ) pPager->pVfs = pVfs;
  }
  db->pVfs = pVfs;
}

int sealite_is_system_vfs(const sqlite3_vfs *pVfs){
#if SQLITE_OS_UNIX
  return pVfs->xOpen==unixOpen;
#elif SQLITE_OS_WIN
  return pVfs->xOpen==winOpen;
#else
  return 0;
#endif
}

int sealite_autocommit(sqlite3 *db){ return db->autoCommit; }

/* Statements of the connection that have been started and not finished. */
int sealite_active_statements(sqlite3 *db){ return db->nVdbeActive; }

/* ----------------------------------------------------------------- what Rust asks of a pager */

int sealite_is_file(Pager *pPager){
  return !pPager->memDb && !pPager->tempFile && isOpen(pPager->fd);
}

int sealite_is_memory(Pager *pPager){ return pPager->memDb; }

int sealite_wal_is_open(Pager *pPager){ return pPager->pWal!=0; }

void *sealite_codec(Pager *pPager){ return pPager->xCodec ? pPager->pCodec : 0; }

void sealite_set_codec(
  Pager *pPager,
  void *(*xCodec)(void*, void*, Pgno, int),
  void (*xSizeChange)(void*, int, int),
  void (*xFree)(void*),
  void *pCodec
){
  pPager->errCode = SQLITE_OK;
  pPager->bPage1WasRead = 0;
  sqlcipherPagerSetCodec(pPager, xCodec, xSizeChange, xFree, pCodec);
}

/* Reads, with SQLITE_IOERR_SHORT_READ and zeros where the file ends. */
int sealite_read_file(Pager *pPager, void *p, int n, i64 iOff){
  return sqlite3OsRead(pPager->fd, p, n, iOff);
}
int sealite_read_journal(Pager *pPager, void *p, int n, i64 iOff){
  return sqlite3OsRead(pPager->jfd, p, n, iOff);
}
/* *pReserved: some connection is about to write or is writing. Takes no lock. */
int sealite_check_reserved(Pager *pPager, int *pReserved){
  return sqlite3OsCheckReservedLock(pPager->fd, pReserved);
}
int sealite_journal_size(Pager *pPager, i64 *pSize){
  return sqlite3OsFileSize(pPager->jfd, pSize);
}

/* *pMissing: the journal names a super-journal that is not there (so it is not hot). */
int sealite_super_is_missing(Pager *pPager, int *pMissing){
  char *zSuper = 0;
  int bExists = 1;
  int rc = readSuperJournal(pPager->jfd, 1+(i64)pPager->pVfs->mxPathname, &zSuper);
  if( rc==SQLITE_OK && zSuper ){
    rc = sqlite3OsAccess(pPager->pVfs, zSuper, SQLITE_ACCESS_EXISTS, &bExists);
  }
  freeSuperJournal(zSuper);
  *pMissing = !bExists;
  return rc;
}

/* After a change of codec that leaves page 1 known: it counts as read. */
void sealite_page_1_was_read(Pager *pPager){ sealitePage1WasRead(pPager); }

int sealite_file_size(Pager *pPager, i64 *pSize){
  return sqlite3OsFileSize(pPager->fd, pSize);
}

/* The name of the file, behind which SQLite keeps the parameters of a URI; never NULL. */
const char *sealite_file_name(Pager *pPager){ return sqlite3PagerFilename(pPager, 0); }

u32 sealite_pager_page_size(Pager *pPager){ return (u32)pPager->pageSize; }

/* --------------------------------------------------------------- transactions made by Rust */

/* *pOpened: no transaction was open, and the one that is now has to be ended (sealite_commit). */
int sealite_begin_read(sqlite3 *db, int iDb, int *pOpened){
  Btree *p = sealiteBtree(db, iDb);
  int rc = SQLITE_OK;
  sqlite3BtreeEnter(p);
  *pOpened = sqlite3BtreeTxnState(p)==SQLITE_TXN_NONE;
  if( *pOpened ) rc = sqlite3BtreeBeginTrans(p, 0, 0);
  sqlite3BtreeLeave(p);
  return rc;
}

/* A page in clear, as the running transaction sees it; the lock page is all zero. */
int sealite_copy_page(sqlite3 *db, int iDb, Pgno pgno, void *pTo){
  Pager *pPager = sealite_pager(db, iDb);
  DbPage *pPage = 0;
  int rc;
  memset(pTo, 0, pPager->pageSize);
  if( pgno==PAGER_SJ_PGNO(pPager) ) return SQLITE_OK;
  rc = sqlite3PagerGet(pPager, pgno, &pPage, PAGER_GET_READONLY);
  if( rc==SQLITE_OK ) memcpy(pTo, sqlite3PagerGetData(pPage), pPager->pageSize);
  sqlite3PagerUnref(pPage);
  return rc;
}

int sealite_begin_write(sqlite3 *db, int iDb){
  Btree *p = sealiteBtree(db, iDb);
  int rc;
  sqlite3BtreeEnter(p);
  rc = sqlite3BtreeBeginTrans(p, 1, 0);
  sqlite3BtreeLeave(p);
  return rc;
}

/* Rereads a page and marks it as changed, so that the commit writes it (the lock page has none). */
int sealite_rewrite_page(sqlite3 *db, int iDb, Pgno pgno){
  Pager *pPager = sealite_pager(db, iDb);
  DbPage *pPage = 0;
  int rc;
  if( pgno==PAGER_SJ_PGNO(pPager) ) return SQLITE_OK;
  rc = sqlite3PagerGet(pPager, pgno, &pPage, 0);
  if( rc==SQLITE_OK ) rc = sqlite3PagerWrite(pPage);
  sqlite3PagerUnref(pPage);
  return rc;
}

u32 sealite_page_count(sqlite3 *db, int iDb){
  Btree *p = sealiteBtree(db, iDb);
  u32 n;
  sqlite3BtreeEnter(p);
  n = sqlite3BtreeLastPage(p);
  sqlite3BtreeLeave(p);
  return n;
}

int sealite_commit(sqlite3 *db, int iDb){
  Btree *p = sealiteBtree(db, iDb);
  int rc;
  sqlite3BtreeEnter(p);
  rc = sqlite3BtreeCommit(p);
  sqlite3BtreeLeave(p);
  return rc;
}

int sealite_rollback(sqlite3 *db, int iDb){
  Btree *p = sealiteBtree(db, iDb);
  int rc = SQLITE_OK;
  sqlite3BtreeEnter(p);
  if( sqlite3BtreeTxnState(p)!=SQLITE_TXN_NONE ) rc = sqlite3BtreeRollback(p, SQLITE_OK, 0);
  sqlite3BtreeLeave(p);
  return rc;
}

/* VACUUM of one database. *pzErr: SQLite's message or NULL, to be freed with sqlite3DbFree. */
int sealite_vacuum(sqlite3 *db, int iDb, char **pzErr){
  return sqlite3RunVacuum(pzErr, db, iDb, 0);
}

/* Copies the WAL into the database: all of it, so that no reader may need it (SQLITE_CHECKPOINT_TRUNCATE),
** or as much as goes without waiting (SQLITE_CHECKPOINT_PASSIVE). */
int sealite_checkpoint(sqlite3 *db, int iDb, int eMode){
  return sqlite3BtreeCheckpoint(sealiteBtree(db, iDb), eMode, 0, 0);
}

void sealite_free_message(sqlite3 *db, char *zErr){ sqlite3DbFree(db, zErr); }

/* ------------------------------------------------------------------------ answers to PRAGMAs */

/* One row with one text column. */
void sealite_pragma_row(Parse *pParse, const char *zName, const char *zText){
  Vdbe *v = sqlite3GetVdbe(pParse);
  if( v==0 ) return;
  sqlite3VdbeSetNumCols(v, 1);
  sqlite3VdbeSetColName(v, 0, COLNAME_NAME, zName, SQLITE_TRANSIENT);
  returnSingleText(v, zText);
}

void sealite_pragma_error(Parse *pParse, int rc, const char *zText){
  sqlite3ErrorMsg(pParse, "%s", zText);
  pParse->rc = rc;
}
