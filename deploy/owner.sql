-- Run once by the image of PostgreSQL, when the volume is made. The owner of the database and its tables may create roles
-- (prisma/roles.sql does) and is no superuser. The superuser has no password, so it logs in inside the container only.
\getenv password POSTGRES_PASSWORD
CREATE ROLE quvera LOGIN CREATEROLE PASSWORD :'password';
ALTER DATABASE quvera OWNER TO quvera;
ALTER ROLE postgres PASSWORD NULL;
