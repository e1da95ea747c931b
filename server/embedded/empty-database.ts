// What the first start runs to make the database, in the shell that becomes PostgreSQL (launch.ts).

/** With these locale options PostgreSQL needs nothing of the system, and ILIKE knows all letters. */
const OPTIONS =
  '-U postgres -A trust -E UTF8 --no-locale --locale-provider=builtin --builtin-locale=C.UTF-8 --wal-segsize=1'

/** The database that initdb makes gets the site's name: one more would take 8 MB more. */
const NAME_IT = `CREATE ROLE quvera LOGIN CREATEROLE
ALTER DATABASE postgres RENAME TO quvera
ALTER DATABASE quvera OWNER TO quvera`
/** As deploy/owner.sql does. roles.sql is run by the owner, who may not. */
const REVOKE = 'REVOKE EXECUTE ON FUNCTION lo_creat(INT), lo_create(OID), lo_from_bytea(OID, BYTEA) FROM PUBLIC'

/** Makes $DATABASE.new with the role and the database `quvera`. $NAMED runs what asks for the name of the user. */
export const MAKE_DATABASE = `rm -rf "$DATABASE.new"
$NAMED "$INITDB" ${OPTIONS} --no-sync --no-instructions -D "$DATABASE.new" > /dev/null
echo '${NAME_IT}' | $NAMED "$POSTGRES" --single -D "$DATABASE.new" template1 > /dev/null
echo '${REVOKE}' | $NAMED "$POSTGRES" --single -D "$DATABASE.new" quvera > /dev/null
"$INITDB" --sync-only -D "$DATABASE.new" > /dev/null`
