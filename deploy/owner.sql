-- Run once by the PostgreSQL image, when it creates the volume. The owner of the database and its tables may create roles
-- (for prisma/roles.sql) and is no superuser. The superuser has no password, so it can log in inside the container only.
\getenv password POSTGRES_PASSWORD
CREATE ROLE quvera LOGIN CREATEROLE PASSWORD :'password';
ALTER DATABASE quvera OWNER TO quvera;
ALTER ROLE postgres PASSWORD NULL;
-- Otherwise every role may create large objects.
REVOKE EXECUTE ON FUNCTION lo_creat(INT), lo_create(OID), lo_from_bytea(OID, BYTEA) FROM PUBLIC;
