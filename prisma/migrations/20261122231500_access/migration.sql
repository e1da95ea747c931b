-- CreateTable
CREATE TABLE "Quvera_History" (
    "Id" BIGSERIAL NOT NULL,
    "EnquiryId" UUID NOT NULL,
    "At" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "Role" TEXT NOT NULL DEFAULT SESSION_USER,
    "Column" TEXT NOT NULL,
    "Before" TEXT,
    "After" TEXT,

    CONSTRAINT "Quvera_History_pkey" PRIMARY KEY ("Id")
);

-- CreateTable
CREATE TABLE "Quvera_Access" (
    "Id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "At" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "Who" TEXT NOT NULL,
    "Role" TEXT NOT NULL DEFAULT SESSION_USER,
    "Command" TEXT NOT NULL,
    "What" TEXT NOT NULL,

    CONSTRAINT "Quvera_Access_pkey" PRIMARY KEY ("Id")
);

-- CreateIndex
CREATE INDEX "Quvera_History_EnquiryId_idx" ON "Quvera_History"("EnquiryId");

-- AddForeignKey
ALTER TABLE "Quvera_History" ADD CONSTRAINT "Quvera_History_EnquiryId_fkey" FOREIGN KEY ("EnquiryId") REFERENCES "Quvera_Form"("Id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What follows is written by hand: Prisma's schema language has no words for it.

-- Whoever changes an enquiry, from the terminal, Studio or psql: none of them has to have a right to the history.
CREATE FUNCTION "Quvera_keep_history"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('INSERT INTO %I."Quvera_History" ("EnquiryId", "Column", "Before", "After")
        SELECT $2."Id", * FROM (VALUES
            (''Status'', $1."Status"::text, $2."Status"::text),
            (''SuspectedSpam'', $1."SuspectedSpam"::text, $2."SuspectedSpam"::text),
            (''Note'', $1."Note", $2."Note")
        ) AS changed ("Column", "Before", "After") WHERE "Before" IS DISTINCT FROM "After"', TG_TABLE_SCHEMA)
    USING OLD, NEW;
    -- A note that is removed was perhaps about somebody else: nothing of it stays, but who wrote and who removed it.
    IF coalesce(NEW."Note", '') = '' THEN
        EXECUTE format('UPDATE %I."Quvera_History" SET "Before" = NULL, "After" = NULL
            WHERE "EnquiryId" = $1 AND "Column" = ''Note''', TG_TABLE_SCHEMA) USING NEW."Id";
    END IF;
    RETURN NULL;
END $$;
-- Else anybody could fire it on a table of their own, and write with the owner's rights into another one.
REVOKE EXECUTE ON FUNCTION "Quvera_keep_history"() FROM PUBLIC;
CREATE TRIGGER "keep_history" AFTER UPDATE OF "Status", "SuspectedSpam", "Note" ON "Quvera_Form"
    FOR EACH ROW EXECUTE FUNCTION "Quvera_keep_history"();

-- Also for the tables' owner, as whom staff work in the embedded database.
CREATE FUNCTION "Quvera_only_add"() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD."At" < now() - interval '1 year' THEN RETURN OLD; END IF;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'The lines of Quvera_Access are only added, and are kept for a year';
END $$;
CREATE TRIGGER "only_add" BEFORE UPDATE OR DELETE ON "Quvera_Access" FOR EACH ROW EXECUTE FUNCTION "Quvera_only_add"();
CREATE TRIGGER "only_add_all" BEFORE TRUNCATE ON "Quvera_Access" FOR EACH STATEMENT EXECUTE FUNCTION "Quvera_only_add"();
