-- Run by psql after prisma/roles.sql. From the environment, because arguments can be read by every process of the machine.
\getenv app_password APP_PASSWORD
\getenv readonly_password READONLY_PASSWORD
ALTER ROLE quvera_app PASSWORD :'app_password';
ALTER ROLE quvera_readonly PASSWORD :'readonly_password';
