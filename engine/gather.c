/*
** Included at the end of the amalgamation. Writes that follow each other in a file become one call:
** the frames that a transaction adds to the WAL, and the parts of a record in a journal.
**
** Nothing is held back beyond the function of SQLite that makes the writes, so all that SQLite does
** between two of its calls (locks, syncs, publishing frames in the shared memory) finds in the file
** what it expects there. An error is that of the call that writes.
*/

/* The most that is gathered: the VFS for Unix takes no more with one call (see seekAndWriteFd). */
#define SEALITE_GATHER_MAX 0x1ffff

/* Begins to gather the frames for the pages of pList. Without memory they are written one by one. */
static void sealiteGatherBegin(WalWriter *p, PgHdr *pList){
  i64 szFrame = p->szPage + WAL_FRAME_HDRSIZE;
  i64 n = 0;
  for(; pList && n+szFrame<=SEALITE_GATHER_MAX; pList=pList->pDirty) n += szFrame;
  p->nGather = 0;
  p->iGather = 0;
  p->pWal->aGather = n>0 ? sqlite3_malloc64(n) : 0;
  p->pWal->szGather = (int)n;
}

static int sealiteGatherFlush(WalWriter *p){
  int n = p->nGather;
  p->nGather = 0;
  return n>0 ? sqlite3OsWrite(p->pFd, p->pWal->aGather, n, p->iGather) : SQLITE_OK;
}

/* Writes or gathers. */
static int sealiteGatherWrite(WalWriter *p, const void *pContent, int nByte, i64 iOff){
  Wal *pWal = p->pWal;
  if( pWal->aGather==0 ) return sqlite3OsWrite(p->pFd, pContent, nByte, iOff);
  if( p->nGather+nByte>pWal->szGather || iOff!=p->iGather+p->nGather ){
    int rc = sealiteGatherFlush(p);
    if( rc ) return rc;
    p->iGather = iOff;
    if( nByte>pWal->szGather ) return sqlite3OsWrite(p->pFd, pContent, nByte, iOff);
  }
  memcpy(&pWal->aGather[p->nGather], pContent, nByte);
  p->nGather += nByte;
  return SQLITE_OK;
}

/* Writes what is left; later writes are made at once. */
static int sealiteGatherEnd(WalWriter *p){
  int rc = sealiteGatherFlush(p);
  sealiteGatherDrop(p->pWal);
  return rc;
}

/* Also after an error: what was gathered is then not written. */
static void sealiteGatherDrop(Wal *pWal){
  sqlite3_free(pWal->aGather);
  pWal->aGather = 0;
}

/* Writes a record of a journal: page number, page, and the checksum if there is one. */
static int sealiteWriteRecord(
  sqlite3_file *pFile, i64 iOff, Pgno pgno, const void *pData, int nData, const u32 *pCksum
){
  int nRecord = 4 + nData + (pCksum ? 4 : 0);
  u8 *aRecord = sqlite3_malloc(nRecord);
  int rc;
  if( aRecord==0 ) return SQLITE_NOMEM_BKPT;
  sqlite3Put4byte(aRecord, pgno);
  memcpy(&aRecord[4], pData, nData);
  if( pCksum ) sqlite3Put4byte(&aRecord[4+nData], *pCksum);
  rc = sqlite3OsWrite(pFile, aRecord, nRecord, iOff);
  sqlite3_free(aRecord);
  return rc;
}
