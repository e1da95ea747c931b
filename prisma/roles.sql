-- Least-privilege roles. The tables' owner runs this in the site's database, after the migrations of each version:
--   psql service=quvera-owner -v ON_ERROR_STOP=1 -f prisma/roles.sql        (the service: docs/deploy.md)
-- It can be repeated. The first time it needs CREATEROLE, or a superuser creates the two roles before, as the hint below
-- says. Then set their passwords: \password quvera_app and \password quvera_readonly

DO $$
BEGIN
    IF (SELECT count(*) FROM pg_roles WHERE rolname IN ('quvera_app', 'quvera_readonly')) < 2
        AND NOT (SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user)
    THEN
        RAISE EXCEPTION 'The role % may not create roles', current_user
            USING HINT = 'A superuser runs: CREATE ROLE quvera_app LOGIN; ALTER ROLE quvera_app SET TimeZone TO ''UTC''; ALTER ROLE quvera_app SET statement_timeout TO ''5s''; ALTER ROLE quvera_app SET idle_in_transaction_session_timeout TO ''10s''; CREATE ROLE quvera_readonly LOGIN; ALTER ROLE quvera_readonly SET TimeZone TO ''UTC''; ALTER ROLE quvera_readonly SET statement_timeout TO ''30s''; or: ALTER ROLE ' || quote_ident(current_user) || ' CREATEROLE';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'quvera_app') THEN CREATE ROLE quvera_app LOGIN; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'quvera_readonly') THEN CREATE ROLE quvera_readonly LOGIN; END IF;
    -- For poolers, which pass no settings of a connection on. A direct connection has its own limits.
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'quvera_app'
        AND rolconfig @> '{TimeZone=UTC,statement_timeout=5s,idle_in_transaction_session_timeout=10s}')
    THEN
        BEGIN
            ALTER ROLE quvera_app SET TimeZone TO 'UTC';
            ALTER ROLE quvera_app SET statement_timeout TO '5s';
            ALTER ROLE quvera_app SET idle_in_transaction_session_timeout TO '10s';
        EXCEPTION WHEN insufficient_privilege THEN -- the roles were made by a superuser
            RAISE WARNING 'Behind a pooler a superuser has to run: ALTER ROLE quvera_app SET TimeZone TO ''UTC''; ALTER ROLE quvera_app SET statement_timeout TO ''5s''; ALTER ROLE quvera_app SET idle_in_transaction_session_timeout TO ''10s''';
        END;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'quvera_readonly' AND rolconfig @> '{TimeZone=UTC,statement_timeout=30s}') THEN
        ALTER ROLE quvera_readonly SET TimeZone TO 'UTC';
        ALTER ROLE quvera_readonly SET statement_timeout TO '30s';
    END IF;
END $$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC; -- granted by default before PostgreSQL 15
DO $$ BEGIN -- granted to all by default: temporary tables and large objects could fill the disk
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        REVOKE EXECUTE ON FUNCTION lo_creat(INT), lo_create(OID), lo_from_bytea(OID, BYTEA) FROM PUBLIC;
    ELSIF has_function_privilege('quvera_app', 'lo_create(oid)', 'EXECUTE') THEN
        RAISE NOTICE 'The roles may create large objects'
            USING HINT = 'A superuser runs in this database: REVOKE EXECUTE ON FUNCTION lo_creat(INT), lo_create(OID), lo_from_bytea(OID, BYTEA) FROM PUBLIC';
    END IF;
END $$;
GRANT USAGE ON SCHEMA public TO quvera_app, quvera_readonly;
GRANT SELECT ON _prisma_migrations TO quvera_app, quvera_readonly;

-- The site's role. It stores enquiries and records what became of mails. It cannot change when an enquiry arrived, and what a
-- visitor wrote only by Quvera_correct, which leaves history. It cannot delete an enquiry; only the functions below can, one
-- that is older than a month or of which it was asked a day before. It confirms and deletes subscriptions. The desk sets
-- status, spam mark and reminder, and adds history.
GRANT SELECT ON "Quvera_Form" TO quvera_app;
-- What an order may set. A new field of the form is added here; every other new column stays out.
GRANT INSERT ("Id", "Reference", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "SuspectedSpam",
    "NoticeVersion", "SubmissionKey", "ContentHash") ON "Quvera_Form" TO quvera_app;
GRANT UPDATE ("Status", "SuspectedSpam", "RemindOn", "ClosedAs") ON "Quvera_Form" TO quvera_app;
GRANT SELECT, INSERT ON "Quvera_Mail" TO quvera_app;
GRANT UPDATE ("Status", "QueuedAt", "DueAt", "Attempts", "FirstTriedAt", "SentAt", "WithheldBecause", "LastError", "ResendId", "Tag")
    ON "Quvera_Mail" TO quvera_app;
GRANT SELECT, INSERT, UPDATE ON "Quvera_Lease" TO quvera_app;
GRANT USAGE ON SEQUENCE "Quvera_Mail_Id_seq" TO quvera_app;
GRANT SELECT, INSERT ("Email", "ConsentVersion", "EndsAt"), DELETE ON "Quvera_Subscriber" TO quvera_app;
GRANT UPDATE ("SubscribedAt", "ConsentVersion", "ConfirmedAt", "EndsAt") ON "Quvera_Subscriber" TO quvera_app;
GRANT SELECT ON "Quvera_History" TO quvera_app, quvera_readonly;
-- The database sets time and role.
GRANT INSERT ("EnquiryId", "Who", "ByVisitor", "Key", "What", "Before", "After", "Text", "TakesBack") ON "Quvera_History" TO quvera_app;
GRANT USAGE ON SEQUENCE "Quvera_History_Id_seq" TO quvera_app;
-- Links and sessions of the desk. It cannot set when one was made, and nobody else reads them.
GRANT SELECT, INSERT ("Hash", "Kind", "Email", "LeadsTo", "ByTerminal", "Link"), UPDATE ("LeadsTo"), DELETE ON "Quvera_Session" TO quvera_app;
-- The access log: the desk and staff commands add lines; the database sets time and role. A trigger keeps each line for a year.
GRANT INSERT ("Who", "Command", "What") ON "Quvera_Access" TO quvera_app, quvera_readonly;
GRANT SELECT ON "Quvera_Access" TO quvera_app, quvera_readonly; -- the site reads it for the daily backup

-- Repeated from the migration, because pg_dump --no-acl drops it.
REVOKE EXECUTE ON FUNCTION "Quvera_erase_old"(TEXT, TIMESTAMPTZ, INT), "Quvera_use_session"(TEXT), "Quvera_erase_asked"(),
    "Quvera_correct"(UUID, JSONB, TEXT, UUID, TEXT, UUID), "Quvera_set_erasure"(UUID, BOOLEAN, TEXT, UUID, TEXT, UUID) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION "Quvera_mailbox"(TEXT) TO quvera_app;
GRANT EXECUTE ON FUNCTION "Quvera_erase_old"(TEXT, TIMESTAMPTZ, INT), "Quvera_use_session"(TEXT), "Quvera_erase_asked"(),
    "Quvera_correct"(UUID, JSONB, TEXT, UUID, TEXT, UUID), "Quvera_set_erasure"(UUID, BOOLEAN, TEXT, UUID, TEXT, UUID) TO quvera_app;

-- For reading with Studio, psql and export. It cannot read the secrets in the links of visitors and subscribers, and no key of a
-- form, by which one is told the link. A new column is added here.
REVOKE SELECT ON "Quvera_Form" FROM quvera_readonly;
GRANT SELECT ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "Status",
    "SuspectedSpam", "NoticeVersion", "ContentHash", "RemindOn", "EraseAt", "ClosedAs") ON "Quvera_Form" TO quvera_readonly;
GRANT SELECT ON "Quvera_Mail", "Quvera_Enquiries", "Quvera_Lease" TO quvera_readonly;
GRANT SELECT ("Email", "SubscribedAt", "ConsentVersion", "ConfirmedAt", "EndsAt", "Id") ON "Quvera_Subscriber" TO quvera_readonly;
