-- Roles with no more rights than they need. The tables' owner runs this after the migrations, in the site's database;
-- running it again changes nothing, and is due after a migration that adds a table or a column:
-- needs CREATEROLE the first time (else a superuser creates the two roles, empty, before):
--   psql "$OWNER_URL" -v ON_ERROR_STOP=1 -f prisma/roles.sql
-- then gives each role a password: \password quvera_app and \password quvera_readonly

DO $$
BEGIN
    IF (SELECT count(*) FROM pg_roles WHERE rolname IN ('quvera_app', 'quvera_readonly')) < 2
        AND NOT (SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user)
    THEN
        RAISE EXCEPTION 'The role % may not create roles', current_user
            USING HINT = 'A superuser runs: CREATE ROLE quvera_app LOGIN; CREATE ROLE quvera_readonly LOGIN; or: ALTER ROLE ' || quote_ident(current_user) || ' CREATEROLE';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'quvera_app') THEN CREATE ROLE quvera_app LOGIN; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'quvera_readonly') THEN CREATE ROLE quvera_readonly LOGIN; END IF;
END $$;

-- The server refuses another time zone; set here it holds also through a pooler that drops the connection's options.
ALTER ROLE quvera_app SET TimeZone TO 'UTC';
ALTER ROLE quvera_readonly SET TimeZone TO 'UTC';
ALTER ROLE quvera_readonly SET statement_timeout TO '30s';

REVOKE CREATE ON SCHEMA public FROM PUBLIC; -- granted by default before PostgreSQL 15
GRANT USAGE ON SCHEMA public TO quvera_app, quvera_readonly;
GRANT SELECT ON _prisma_migrations TO quvera_app, quvera_readonly;

-- The server stores, and writes down what became of the mails. It changes nothing that a visitor has written, nor when it
-- came, and deletes no enquiry: only the function erases, and only what is older than a month. A subscription it asks to
-- confirm, and deletes when it is ended or nobody confirms it. Staff set status, note and spam, in its container.
GRANT SELECT ON "Quvera_Form" TO quvera_app;
GRANT INSERT ("Id", "Reference", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "SuspectedSpam",
    "NoticeVersion", "SubmissionKey") ON "Quvera_Form" TO quvera_app;
GRANT UPDATE ("Status", "Note", "SuspectedSpam") ON "Quvera_Form" TO quvera_app;
GRANT SELECT, INSERT ON "Quvera_Mail" TO quvera_app;
GRANT UPDATE ("Status", "Attempts", "DueAt", "TriedAt", "LastError", "ResendId", "Key") ON "Quvera_Mail" TO quvera_app;
GRANT SELECT, INSERT, DELETE ON "Quvera_MailEvent" TO quvera_app;
GRANT SELECT, INSERT, UPDATE ON "Quvera_Lease" TO quvera_app;
GRANT USAGE ON SEQUENCE "Quvera_Mail_Id_seq" TO quvera_app;
GRANT SELECT, INSERT ("Email", "ConsentVersion", "EndsAt"), DELETE ON "Quvera_Subscriber" TO quvera_app;
GRANT UPDATE ("SubscribedAt", "ConsentVersion", "ConfirmedAt", "EndsAt") ON "Quvera_Subscriber" TO quvera_app;
GRANT SELECT ON "Quvera_History" TO quvera_app, quvera_readonly;
-- Who looked: each command of staff adds a line, whose time and role the database says. A trigger keeps it for a year.
GRANT INSERT ("Who", "Command", "What") ON "Quvera_Access" TO quvera_app, quvera_readonly;
GRANT SELECT ON "Quvera_Access" TO quvera_readonly;

-- As the migration says; a dump without its rights loses it.
REVOKE EXECUTE ON FUNCTION "Quvera_keep_history"(), "Quvera_erase_old"(TIMESTAMPTZ, INT) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION "Quvera_erase_old"(TIMESTAMPTZ, INT) TO quvera_app;

-- Staff look: Studio, psql, the export. Not at the secret of a subscriber's link, which confirms and ends a subscription.
GRANT SELECT ON "Quvera_Form", "Quvera_Mail", "Quvera_Enquiries", "Quvera_Lease" TO quvera_readonly;
GRANT SELECT ("Email", "SubscribedAt", "ConsentVersion", "ConfirmedAt", "EndsAt", "Id") ON "Quvera_Subscriber" TO quvera_readonly;
-- Take the dashes off where staff may set the status of an enquiry and note something beside it:
-- GRANT UPDATE ("Status", "Note") ON "Quvera_Form" TO quvera_readonly;
