-- Run by psql after prisma/roles.sql. Passwords come from the environment, because every process can read arguments.
\getenv app_password APP_PASSWORD
\getenv readonly_password READONLY_PASSWORD
ALTER ROLE quvera_app PASSWORD :'app_password';
ALTER ROLE quvera_readonly PASSWORD :'readonly_password';
