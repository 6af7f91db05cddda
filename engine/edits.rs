//! The edits that the pager needs, and the one function that makes them. Each says why it is there
//! and asserts that its anchor stands in the amalgamation exactly once: a silent miss would be a
//! database that looks right and is not. docs/upgrading-engine.md tells how to carry them over.

struct Edit {
    /// What breaks without it.
    why: &'static str,
    anchor: &'static str,
    replacement: &'static str,
}

/// Where `anchor` stands; panics unless that is one place.
pub(crate) fn only_place(text: &str, anchor: &str, why: &str) -> usize {
    let mut places = text.match_indices(anchor);
    let (place, _) = places
        .next()
        .unwrap_or_else(|| panic!("anchor not found, needed for: {why}\n{anchor}"));
    assert!(
        places.next().is_none(),
        "anchor stands more than once, needed for: {why}\n{anchor}"
    );
    place
}

pub(crate) fn apply(text: &str) -> String {
    let mut text = text.to_owned();
    for edit in EDITS {
        let place = only_place(&text, edit.anchor, edit.why);
        text.replace_range(place..place + edit.anchor.len(), edit.replacement);
    }
    text
}

const EDITS: &[Edit] = &[
    Edit {
        why: "declares what opens a file without a name",
        anchor: "/*\n** The next group of routines are convenience wrappers around the\n** VFS methods.\n*/\nSQLITE_PRIVATE int sqlite3OsOpen(\n",
        replacement: r"
static int sealiteOpenNameless(sqlite3_vfs*, sqlite3_file*, int, int*);
SQLITE_PRIVATE int sqlite3OsOpen(
",
    },
    Edit {
        why: "a file without a name (temporary tables, sorts, statement journals) is unreadable: src/vfs",
        anchor: "  rc = pVfs->xOpen(pVfs, zPath, pFile, flags & 0x1087f7f, pFlagsOut);\n",
        replacement: r"
  if( zPath==0 ){
    rc = sealiteOpenNameless(pVfs, pFile, flags & 0x1087f7f, pFlagsOut);
  }else{
    rc = pVfs->xOpen(pVfs, zPath, pFile, flags & 0x1087f7f, pFlagsOut);
  }
",
    },
    Edit {
        why: "the bridge's functions are used by the pager, which stands before them",
        anchor: "/*\n** A macro used for invoking the codec if there is one\n*/\n",
        replacement: r"
static int sealiteCodecError(Pager*, Pgno);
static int sealiteProveKey(Pager*);
static char *sealiteJournalPlain(Pager*, char*, Pgno);
static u32 sealiteChangeCounter(Pager*);
static void sealitePage1WasRead(Pager*);
static int sealitePageIsNew(Pager*, Pgno);
static void sealiteNotADatabase(sqlite3*, Pager*);
static int sealiteIsDoubtful(Pager*);
static int sealiteWriteRecord(sqlite3_file*, i64, Pgno, const void*, int, const u32*);
static void sealiteBeforeToken(Parse*, void*, int, const char*, u32);
static ExprList *sealiteWithoutClause(Parse*, ExprList*);
static void sealiteTakeClause(Parse*, ExprList**, Expr**);
",
    },
    Edit {
        why: "a page that cannot be decrypted is NOTADB or CORRUPT, not NOMEM",
        anchor: "    if( P->xCodec && P->xCodec(P->pCodec,D,N,X)==0 ){ E; }\n",
        replacement: "    if( P->xCodec && P->xCodec(P->pCodec,D,N,X)==0 ){ E; rc = sealiteCodecError(P,N); }\n",
    },
    Edit {
        why: "the codec must know a short read, and must not hide a failed one",
        anchor: r"    rc = sqlite3OsRead(pPager->fd, pPg->pData, pPager->pageSize, iOffset);
    if( rc==SQLITE_IOERR_SHORT_READ ){
      rc = SQLITE_OK;
    }
  }

  if( pPg->pgno==1 ){
    if( rc ){
",
        replacement: r"    rc = sqlite3OsRead(pPager->fd, pPg->pData, pPager->pageSize, iOffset);
    if( rc==SQLITE_IOERR_SHORT_READ ){
      rc = SQLITE_OK;
      bShort = 1;
    }
  }

  if( pPg->pgno==1 ){
    if( rc ){
",
    },
    Edit {
        why: "declares the mark for a short read",
        anchor: r"static int readDbPage(PgHdr *pPg){
  Pager *pPager = pPg->pPager; /* Pager object associated with page pPg */
  int rc = SQLITE_OK;          /* Return code */
",
        replacement: r"static int readDbPage(PgHdr *pPg){
  Pager *pPager = pPg->pPager; /* Pager object associated with page pPg */
  int rc = SQLITE_OK;          /* Return code */
  int bShort = 0;              /* True if the file ends within the page */
",
    },
    Edit {
        why: "as two above: mode 3 for a whole page, 4 for one that ends with the file, 5 for one that may be a hole",
        anchor: r"  CODEC1(pPager, pPg->pData, pPg->pgno, 3, rc = SQLITE_NOMEM_BKPT);

  PAGER_INCR(sqlite3_pager_readdb_count);
",
        replacement: r"  if( rc==SQLITE_OK ){
    CODEC1(pPager, pPg->pData, pPg->pgno, (bShort ? 4 : sealitePageIsNew(pPager, pPg->pgno) ? 5 : 3), rc = SQLITE_NOMEM_BKPT);
  }

  PAGER_INCR(sqlite3_pager_readdb_count);
",
    },
    Edit {
        why: "the record checksum is over the plain page, as in the files of the replaced package",
        anchor: "  cksum = pager_cksum(pPager, (u8*)pData2);\n\n  /* Even if an IO or diskfull error occurs",
        replacement: "  cksum = pager_cksum(pPager, (u8*)pPg->pData);\n\n  /* Even if an IO or diskfull error occurs",
    },
    Edit {
        why: "playback keeps the stored image and a decrypted one",
        anchor: "  char *aData;                  /* Temporary storage for the page */\n  sqlite3_file *jfd;",
        replacement: r"  char *aData;                  /* The page as stored in the journal */
  char *aPlain;                 /* The page in clear */
  sqlite3_file *jfd;",
    },
    Edit {
        why: "checks the checksum over the plain page, accepts one over the stored page (SQLCipher's own journals), and takes a record that cannot be decrypted for the torn end",
        anchor: r"  if( isMainJrnl ){
    rc = read32bits(jfd, (*pOffset)-4, &cksum);
    if( rc ) return rc;
    if( !isSavepnt && pager_cksum(pPager, (u8*)aData)!=cksum ){
      return SQLITE_DONE;
    }
  }
",
        replacement: r"  aPlain = jrnlEnc ? sealiteJournalPlain(pPager, aData, pgno) : aData;
  if( aPlain==0 ){
    return isSavepnt ? SQLITE_CORRUPT_BKPT : SQLITE_DONE;
  }
  if( isMainJrnl ){
    rc = read32bits(jfd, (*pOffset)-4, &cksum);
    if( rc ) return rc;
    if( !isSavepnt && pager_cksum(pPager, (u8*)aPlain)!=cksum
     && pager_cksum(pPager, (u8*)aData)!=cksum
    ){
      return SQLITE_DONE;
    }
  }
",
    },
    Edit {
        why: "the reserve byte is cipher text in the stored image of some schemes",
        anchor: r"  if( pgno==1 && pPager->nReserve!=((u8*)aData)[20] ){
    pPager->nReserve = ((u8*)aData)[20];
",
        replacement: r"  if( pgno==1 && pPager->nReserve!=((u8*)aPlain)[20] ){
    pPager->nReserve = ((u8*)aPlain)[20];
",
    },
    Edit {
        why: "an image from a statement journal is plain: it goes to the file encrypted, and stays plain here",
        anchor: r"      CODEC2(pPager, aData, pgno, 7, rc=SQLITE_NOMEM_BKPT, aData);
      if(rc!=SQLITE_OK){
        if(pPg) sqlite3PcacheRelease(pPg);
        return rc;
      }
      rc = sqlite3OsWrite(pPager->fd, (u8 *)aData, pPager->pageSize, ofst);
      CODEC1(pPager, aData, pgno, 3, rc=SQLITE_NOMEM_BKPT);
    }else
",
        replacement: r"      char *aStored;
      CODEC2(pPager, aData, pgno, 6, rc=SQLITE_NOMEM_BKPT, aStored);
      if(rc!=SQLITE_OK){
        if(pPg) sqlite3PcacheRelease(pPg);
        return rc;
      }
      rc = sqlite3OsWrite(pPager->fd, (u8 *)aStored, pPager->pageSize, ofst);
    }else
",
    },
    Edit {
        why: "a running backup is given the plain page",
        anchor: r"      if( jrnlEnc ){
        CODEC1(pPager, aData, pgno, 3, rc=SQLITE_NOMEM_BKPT);
        sqlite3BackupUpdate(pPager->pBackup, pgno, (u8*)aData);
        CODEC2(pPager, aData, pgno, 7, rc=SQLITE_NOMEM_BKPT,aData);
        if(rc!=SQLITE_OK){
          if(pPg) sqlite3PcacheRelease(pPg);
          return rc;
        }
      }else
#endif
/* END SQLCIPHER */
      sqlite3BackupUpdate(pPager->pBackup, pgno, (u8*)aData);
",
        replacement: r"#endif
      sqlite3BackupUpdate(pPager->pBackup, pgno, (u8*)aPlain);
",
    },
    Edit {
        why: "the cache is given the plain page; the file version is that of the stored one",
        anchor: r"    pData = pPg->pData;
    memcpy(pData, (u8*)aData, pPager->pageSize);
    pPager->xReiniter(pPg);
",
        replacement: r"    pData = pPg->pData;
    memcpy(pData, (u8*)aPlain, pPager->pageSize);
    pPager->xReiniter(pPg);
",
    },
    Edit {
        why: "as above; the page has been decrypted before",
        anchor: r"      memcpy(&pPager->dbFileVers, &((u8*)pData)[24],sizeof(pPager->dbFileVers));
    }

    /* Decode the page just read from disk */
/* BEGIN SQLCIPHER */
#if SQLITE_HAS_CODEC
    if( jrnlEnc ){ CODEC1(pPager, pData, pPg->pgno, 3, rc=SQLITE_NOMEM_BKPT); }
#endif
/* END SQLCIPHER */
",
        replacement: r"      memcpy(&pPager->dbFileVers, &((u8*)aData)[24],sizeof(pPager->dbFileVers));
    }

",
    },
    Edit {
        why: "the guard: no journal is synced, played back or deleted before page 1 proved the key",
        anchor: r"        assert( rc==SQLITE_OK );
        rc = pagerSyncHotJournal(pPager);
        if( rc==SQLITE_OK ){
          rc = pager_playback(pPager, !pPager->tempFile);
",
        replacement: r"        assert( rc==SQLITE_OK );
        rc = sealiteProveKey(pPager);
        if( rc==SQLITE_OK ){
          rc = pagerSyncHotJournal(pPager);
        }
        if( rc==SQLITE_OK ){
          rc = pager_playback(pPager, !pPager->tempFile);
",
    },
    Edit {
        why: "a record of the journal is written with one call: gather.c",
        anchor: r"  rc = write32bits(pPager->jfd, iOff, pPg->pgno);
  if( rc!=SQLITE_OK ) return rc;
  rc = sqlite3OsWrite(pPager->jfd, pData2, pPager->pageSize, iOff+4);
  if( rc!=SQLITE_OK ) return rc;
  rc = write32bits(pPager->jfd, iOff+pPager->pageSize+4, cksum);
  if( rc!=SQLITE_OK ) return rc;
",
        replacement: r"  rc = sealiteWriteRecord(pPager->jfd, iOff, pPg->pgno, pData2, (int)pPager->pageSize, &cksum);
  if( rc!=SQLITE_OK ) return rc;
",
    },
    Edit {
        why: "as above; a statement journal needs no codec, as it has no name (src/vfs) or no file",
        anchor: r"      char *pData2;

/* BEGIN SQLCIPHER */
#if SQLITE_HAS_CODEC
      if( !pPager->subjInMemory ){
        CODEC2(pPager, pData, pPg->pgno, 7, return SQLITE_NOMEM_BKPT, pData2);
      }else
#endif
/* END SQLCIPHER */
      pData2 = pData;
",
        replacement: "",
    },
    Edit {
        why: "as above",
        anchor: r"      rc = write32bits(pPager->sjfd, offset, pPg->pgno);
      if( rc==SQLITE_OK ){
        rc = sqlite3OsWrite(pPager->sjfd, pData2, pPager->pageSize, offset+4);
      }
",
        replacement: r"      rc = sealiteWriteRecord(pPager->sjfd, offset, pPg->pgno, pData, (int)pPager->pageSize, 0);
",
    },
    Edit {
        why: "as above: its records are plain",
        anchor: "  const int jrnlEnc = (isMainJrnl || pPager->subjInMemory==0);\n",
        replacement: "  const int jrnlEnc = isMainJrnl;\n",
    },
    Edit {
        why: "the frames of a transaction are written with one call: gather.c",
        anchor: "  u32 iReCksum;              /* On commit, recalculate checksums from here */\n",
        replacement: r"  u32 iReCksum;              /* On commit, recalculate checksums from here */
  u8 *aGather;               /* Frames that are not written yet, or NULL */
  int szGather;              /* Size of aGather in bytes */
",
    },
    Edit {
        why: "as above",
        anchor: "  int szPage;                  /* Size of one page */\n} WalWriter;\n",
        replacement: r"  int szPage;                  /* Size of one page */
  int nGather;                 /* Bytes in Wal.aGather */
  sqlite3_int64 iGather;       /* Where they belong in the file */
} WalWriter;
static void sealiteGatherBegin(WalWriter*, PgHdr*);
static int sealiteGatherWrite(WalWriter*, const void*, int, i64);
static int sealiteGatherEnd(WalWriter*);
static void sealiteGatherDrop(Wal*);
",
    },
    Edit {
        why: "as above: a frame",
        anchor: "  rc = sqlite3OsWrite(p->pFd, pContent, iAmt, iOffset);\n  return rc;\n}\n\n/*\n** Write out a single frame of the WAL\n",
        replacement: "  rc = sealiteGatherWrite(p, pContent, iAmt, iOffset);\n  return rc;\n}\n\n/*\n** Write out a single frame of the WAL\n",
    },
    Edit {
        why: "as above: before the first",
        anchor: "  szFrame = szPage + WAL_FRAME_HDRSIZE;\n\n  /* Write all frames into the log file exactly once */\n",
        replacement: "  szFrame = szPage + WAL_FRAME_HDRSIZE;\n  sealiteGatherBegin(&w, pList);\n\n",
    },
    Edit {
        why: "as above: after the last, before anything reads them, syncs or publishes",
        anchor: "  /* Recalculate checksums within the wal file if required. */\n  if( isCommit && pWal->iReCksum ){\n",
        replacement: r"  rc = sealiteGatherEnd(&w);
  if( rc ) return rc;
  if( isCommit && pWal->iReCksum ){
",
    },
    Edit {
        why: "as above: an error on the way leaves the memory",
        anchor: "    rc = walFrames(pWal, szPage, pList, nTruncate, isCommit, sync_flags);\n",
        replacement: "    rc = walFrames(pWal, szPage, pList, nTruncate, isCommit, sync_flags);\n    sealiteGatherDrop(pWal);\n",
    },
    Edit {
        why: "before the file gets shorter its journal is gone for good: were it back after a power cut, it would not have the pages that are cut off",
        anchor: "        rc = sqlite3OsDelete(pPager->pVfs, pPager->zJournal, pPager->extraSync);\n",
        replacement: r"        int bCut = bCommit && !pPager->noSync && pPager->dbFileSize>pPager->dbSize;
        rc = sqlite3OsDelete(pPager->pVfs, pPager->zJournal, pPager->extraSync || bCut);
",
    },
    Edit {
        why: "the old change counter is in the plain page, not in the stored bytes",
        anchor: "  change_counter = sqlite3Get4byte((u8*)pPg->pPager->dbFileVers)+1;\n",
        replacement: "  change_counter = sealiteChangeCounter(pPg->pPager)+1;\n",
    },
    Edit {
        why: "the checkpoint at close is left out until page 1 has been read: this remembers that it was",
        anchor: "  void *pCodec;               /* First argument to xCodec... methods */\n",
        replacement: r"  void *pCodec;               /* First argument to xCodec... methods */
  u8 bPage1WasRead;           /* Page 1 was read as that of a database */
",
    },
    Edit {
        why: "as above: where SQLite has accepted page 1",
        anchor: "  pBt->pPage1 = pPage1;\n  pBt->nPage = nPage;\n  return SQLITE_OK;\n",
        replacement: r"  pBt->pPage1 = pPage1;
  pBt->nPage = nPage;
  sealitePage1WasRead(pBt->pPager);
  return SQLITE_OK;
",
    },
    Edit {
        why: "as above: where the checkpoint at close is made",
        anchor: "    if( db && 0==(db->flags & SQLITE_NoCkptOnClose)\n",
        replacement: r"    if( db && 0==(db->flags & SQLITE_NoCkptOnClose)
     && pPager->bPage1WasRead && !sealiteIsDoubtful(pPager)
",
    },
    Edit {
        why: "nothing is written under a key that nothing proves and page 1 speaks against; a file that is no database is looked at",
        anchor: "    while( pBt->pPage1==0 && SQLITE_OK==(rc = lockBtree(pBt)) );\n",
        replacement: r"    while( pBt->pPage1==0 && SQLITE_OK==(rc = lockBtree(pBt)) );
    if( rc==SQLITE_OK && wrflag && sealiteIsDoubtful(pPager) ) rc = SQLITE_NOTADB;
    if( rc==SQLITE_NOTADB ) sealiteNotADatabase(p->db, pPager);
",
    },
    Edit {
        why: "a disk that cannot be read (EIO) keeps its name, which is not that of a damaged database",
        anchor: r"  }else if( rc==SQLITE_IOERR_CORRUPTFS ){
    rc = SQLITE_CORRUPT_BKPT;
  }
",
        replacement: "  }\n",
    },
    Edit {
        why: "VACUUM attaches its copy under the codec of the database that is vacuumed",
        anchor: "  rc = execSqlF(db, pzErrMsg, \"ATTACH %Q AS %s\", zOut, zDbVacuum);\n",
        replacement: r#"  sealiteVacuumBegins(db, iDb);
  rc = execSqlF(db, pzErrMsg, "ATTACH %Q AS %s", zOut, zDbVacuum);
  sealiteVacuumBegins(db, -1);
"#,
    },
    Edit {
        why: "a rekey to a scheme with fewer reserved bytes must be able to shrink the reserve",
        anchor: "  nRes = sqlite3BtreeGetRequestedReserve(pMain);\n  if( pOut ){\n",
        replacement: "  nRes = sealiteVacuumReserve(db, iDb, sqlite3BtreeGetRequestedReserve(pMain));\n  if( pOut ){\n",
    },
    Edit {
        why: "once its content is in the database VACUUM's copy has no say: a full disk there would report a rekey as failed that has taken place",
        anchor: "    rc = sqlite3BtreeCommit(pTemp);\n    if( rc!=SQLITE_OK ) goto end_of_vacuum;\n#ifndef SQLITE_OMIT_AUTOVACUUM\n    if( pOut==0 ){\n",
        replacement: r"    rc = sqlite3BtreeCommit(pTemp);
    if( pOut==0 ) rc = SQLITE_OK;
    if( rc!=SQLITE_OK ) goto end_of_vacuum;
#ifndef SQLITE_OMIT_AUTOVACUUM
    if( pOut==0 ){
",
    },
    Edit {
        why: "declares what VACUUM uses",
        anchor: "/*\n** This routine implements the OP_Vacuum opcode of the VDBE.\n*/\n",
        replacement: r"
static void sealiteVacuumBegins(sqlite3*, int);
static int sealiteVacuumReserve(sqlite3*, int, int);
",
    },
    Edit {
        why: "a backup may encrypt and decrypt: the addon compares the reserved bytes instead (src/pager/copy.rs)",
        anchor: "    if((srcNKey == 0 && destNKey > 0) || (srcNKey > 0 && destNKey == 0)) {\n",
        replacement: "    if( 0 ){\n",
    },
    Edit {
        why: "keys in URI names know no scheme here and are cut at 40 bytes; the bridge answers instead",
        anchor: "int sqlite3CodecQueryParameters (\n",
        replacement: "static int sqlcipherUnusedQueryParameters (\n",
    },
    Edit {
        why: "ORDER BY and LIMIT of UPDATE and DELETE (limit_clause.c): what the parser remembers of the statement",
        anchor: "  With *pWith;              /* Current WITH clause, or NULL */\n#ifndef SQLITE_OMIT_ALTERTABLE\n",
        replacement: r"  With *pWith;              /* Current WITH clause, or NULL */
  Expr *pLimitClause;       /* (SELECT NULL ORDER BY o LIMIT l) */
  int nLimitDepth;          /* Open parentheses */
  u8 eLimitClause;          /* How far the statement has been read */
  u8 bLimitReturning;       /* It has a RETURNING clause */
#ifndef SQLITE_OMIT_ALTERTABLE
",
    },
    Edit {
        why: "as above: the tokens around the clause",
        anchor: r"    pParse->sLastToken.z = zSql;
    pParse->sLastToken.n = (u32)n;
    sqlite3Parser(pEngine, tokenType, pParse->sLastToken);
",
        replacement: r"    sealiteBeforeToken(pParse, pEngine, tokenType, zSql, (u32)n);
    if( pParse->rc!=SQLITE_OK ) break;
    pParse->sLastToken.z = zSql;
    pParse->sLastToken.n = (u32)n;
    sqlite3Parser(pEngine, tokenType, pParse->sLastToken);
",
    },
    Edit {
        why: "as above: the clause is no column",
        anchor: r"  Returning *pRet;
  Hash *pHash;
  sqlite3 *db = pParse->db;
  if( pParse->pNewTrigger ){
",
        replacement: r"  Returning *pRet;
  Hash *pHash;
  sqlite3 *db = pParse->db;
  pList = sealiteWithoutClause(pParse, pList);
  if( pList==0 ) return;
  if( pParse->pNewTrigger ){
",
    },
    Edit {
        why: "as above: DELETE gets it",
        anchor: "  sqlite3DeleteFrom(pParse,yymsp[-2].minor.yy203,yymsp[0].minor.yy454,0,0);\n",
        replacement: r"  ExprList *pOrderBy;
  Expr *pLimit;
  sealiteTakeClause(pParse, &pOrderBy, &pLimit);
  sqlite3DeleteFrom(pParse,yymsp[-2].minor.yy203,yymsp[0].minor.yy454,pOrderBy,pLimit);
",
    },
    Edit {
        why: "as above: UPDATE gets it",
        anchor: "  sqlite3Update(pParse,yymsp[-5].minor.yy203,yymsp[-2].minor.yy14,yymsp[0].minor.yy454,yymsp[-6].minor.yy144,0,0,0);\n",
        replacement: r"  ExprList *pOrderBy;
  Expr *pLimit;
  sealiteTakeClause(pParse, &pOrderBy, &pLimit);
  sqlite3Update(pParse,yymsp[-5].minor.yy203,yymsp[-2].minor.yy14,yymsp[0].minor.yy454,yymsp[-6].minor.yy144,pOrderBy,pLimit,0);
",
    },
    Edit {
        why: "as above: what is left of it goes with the parser",
        anchor: "  if( pParse->pVList ) sqlite3DbNNFreeNN(db, pParse->pVList);\n  db->pParse = pParentParse;\n",
        replacement: r"  if( pParse->pVList ) sqlite3DbNNFreeNN(db, pParse->pVList);
  sqlite3ExprDelete(db, pParse->pLimitClause);
  db->pParse = pParentParse;
",
    },
];
