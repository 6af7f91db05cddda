/*
** ORDER BY and LIMIT of UPDATE and DELETE. SQLite has the code for them (SQLITE_ENABLE_UPDATE_DELETE_LIMIT),
** but the parser of the published amalgamation was generated without the clause. Here the parser is
** handed the clause in a form that its grammar has, token by token, and SQLite's own code gets it:
**
**     DELETE FROM t WHERE w [RETURNING r]            ORDER BY o LIMIT l
**     DELETE FROM t WHERE w  RETURNING [r,] (SELECT NULL ORDER BY o LIMIT l)
**
** The text is not changed, so parameters keep their numbers, and errors, expanded SQL and compiling
** again after a change of the schema are as if the grammar had the clause. ORDER and LIMIT outside
** parentheses are a syntax error in every UPDATE and DELETE of the grammar, so no statement that
** parses without this is touched.
**
** Included like bridge.c; engine/edits.rs makes the parser call it.
*/

/* Parse.eLimitClause: how far a statement has been read. */
#define SEALITE_START   0   /* Nothing that tells what it is */
#define SEALITE_WITH    1   /* Within the WITH clause of something */
#define SEALITE_CHANGE  2   /* Within UPDATE or DELETE, outside triggers */
#define SEALITE_CLAUSE  3   /* Behind the first token of the clause */
#define SEALITE_ENDED   4   /* Behind the clause */
#define SEALITE_OTHER   5   /* Another statement */

static u8 sealiteStatementStarts(u8 eState, int eToken){
  switch( eToken ){
    case TK_DELETE: case TK_UPDATE:
      return SEALITE_CHANGE;
    case TK_SEMI: case TK_EXPLAIN: case TK_QUERY: case TK_PLAN:
      return eState;
    case TK_SELECT: case TK_VALUES: case TK_INSERT:
      return SEALITE_OTHER;
    case TK_WITH:
      return SEALITE_WITH;
    default:
      return eState==SEALITE_WITH ? SEALITE_WITH : SEALITE_OTHER;
  }
}

/* Gives the parser a token that is not in the text; `t` is what an error would point to. */
static void sealiteFeed(Parse *pParse, void *pEngine, int eToken, Token t){
  if( pParse->rc==SQLITE_OK ) sqlite3Parser(pEngine, eToken, t);
}

/* Called before the parser gets the token at z; pParse->sLastToken is still the one before. */
static void sealiteBeforeToken(Parse *pParse, void *pEngine, int eToken, const char *z, u32 n){
  Token t;
  t.z = z;
  t.n = n;
  if( eToken==TK_RP && pParse->nLimitDepth>0 ) pParse->nLimitDepth--;
  else if( pParse->nLimitDepth==0 ){
    switch( pParse->eLimitClause ){
      case SEALITE_START:
      case SEALITE_WITH:
        pParse->eLimitClause = sealiteStatementStarts(pParse->eLimitClause, eToken);
        break;
      case SEALITE_CHANGE:
        if( eToken==TK_RETURNING ) pParse->bLimitReturning = 1;
        if( eToken!=TK_ORDER && eToken!=TK_LIMIT ) break;
        pParse->eLimitClause = SEALITE_CLAUSE;
        sealiteFeed(pParse, pEngine, pParse->bLimitReturning ? TK_COMMA : TK_RETURNING, t);
        sealiteFeed(pParse, pEngine, TK_LP, t);
        sealiteFeed(pParse, pEngine, TK_SELECT, t);
        /* The text of a column is cut out from its first token to the next: it must not be empty. */
        sealiteFeed(pParse, pEngine, TK_NULL, pParse->sLastToken);
        break;
      case SEALITE_CLAUSE:
        /* What ends the clause, or would go on with the SELECT that the user did not write. */
        if( eToken!=TK_SEMI && eToken!=TK_RP && eToken!=TK_UNION && eToken!=TK_EXCEPT
         && eToken!=TK_INTERSECT ) break;
        pParse->eLimitClause = SEALITE_ENDED;
        sealiteFeed(pParse, pEngine, TK_RP, t);
        break;
    }
  }
  if( eToken==TK_LP ) pParse->nLimitDepth++;
}

/* Takes the clause out of the list of RETURNING; NULL when nothing else is in it. */
static ExprList *sealiteWithoutClause(Parse *pParse, ExprList *pList){
  struct ExprList_item *pItem;
  if( pList==0 || pParse->eLimitClause!=SEALITE_ENDED ) return pList;
  pItem = &pList->a[--pList->nExpr];
  pParse->pLimitClause = pItem->pExpr;
  sqlite3DbFree(pParse->db, pItem->zEName);
  if( pList->nExpr>0 ) return pList;
  sqlite3DbFree(pParse->db, pList);
  return 0;
}

/* Hands the clause over to who will free it. */
static void sealiteTakeClause(Parse *pParse, ExprList **ppOrderBy, Expr **ppLimit){
  Expr *pClause = pParse->pLimitClause;
  *ppOrderBy = 0;
  *ppLimit = 0;
  if( pClause==0 || !ExprUseXSelect(pClause) || pClause->x.pSelect==0 ) return;
  *ppOrderBy = pClause->x.pSelect->pOrderBy;
  *ppLimit = pClause->x.pSelect->pLimit;
  pClause->x.pSelect->pOrderBy = 0;
  pClause->x.pSelect->pLimit = 0;
}
