-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "Quvera_BuyerType" AS ENUM ('Retailer', 'Self Use');

-- CreateEnum
CREATE TYPE "Quvera_Product" AS ENUM ('Quvera 300', 'Quvera XT');

-- CreateEnum
CREATE TYPE "Quvera_Status" AS ENUM ('New', 'Contacted', 'Closed');

-- CreateEnum
CREATE TYPE "Quvera_MailKind" AS ENUM ('Notice', 'Acknowledgement', 'Summary', 'Post', 'Confirmation');

-- CreateEnum
CREATE TYPE "Quvera_MailStatus" AS ENUM ('Pending', 'Sent', 'Failed', 'Unknown', 'Withheld', 'Delivered', 'Bounced', 'Complained');

-- CreateTable
CREATE TABLE "Quvera_Form" (
    "Id" UUID NOT NULL,
    "Reference" TEXT NOT NULL,
    "ReceivedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "Name" TEXT NOT NULL,
    "Email" TEXT NOT NULL,
    "Mobile" TEXT NOT NULL,
    "Quantity" BIGINT NOT NULL,
    "RetailerSelfUse" "Quvera_BuyerType" NOT NULL,
    "Products" "Quvera_Product" NOT NULL,
    "Status" "Quvera_Status" NOT NULL DEFAULT 'New',
    "SuspectedSpam" BOOLEAN NOT NULL DEFAULT false,
    "NoticeVersion" TEXT NOT NULL,
    "SubmissionKey" UUID NOT NULL,
    "Note" TEXT,

    CONSTRAINT "Quvera_Form_pkey" PRIMARY KEY ("Id")
);

-- CreateTable
CREATE TABLE "Quvera_History" (
    "Id" BIGSERIAL NOT NULL,
    "EnquiryId" UUID NOT NULL,
    "At" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "Role" TEXT NOT NULL DEFAULT SESSION_USER,
    "Who" TEXT,
    "Column" TEXT NOT NULL,
    "Before" TEXT,
    "After" TEXT,

    CONSTRAINT "Quvera_History_pkey" PRIMARY KEY ("Id")
);

-- CreateTable
CREATE TABLE "Quvera_Mail" (
    "Id" BIGSERIAL NOT NULL,
    "EnquiryId" UUID,
    "SubscriberId" UUID,
    "Kind" "Quvera_MailKind" NOT NULL,
    "Status" "Quvera_MailStatus" NOT NULL DEFAULT 'Pending',
    "Attempts" INTEGER NOT NULL DEFAULT 0,
    "DueAt" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "TriedAt" TIMESTAMPTZ(3),
    "LastError" TEXT,
    "ResendId" TEXT,
    "Text" TEXT,
    "Key" TEXT,
    "Mailbox" TEXT,
    "Tag" UUID NOT NULL DEFAULT gen_random_uuid(),

    CONSTRAINT "Quvera_Mail_pkey" PRIMARY KEY ("Id")
);

-- CreateTable
CREATE TABLE "Quvera_Subscriber" (
    "Email" TEXT NOT NULL,
    "SubscribedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ConsentVersion" TEXT NOT NULL,
    "ConfirmedAt" TIMESTAMPTZ(3),
    "EndsAt" TIMESTAMPTZ(3),
    "Id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "Secret" TEXT NOT NULL DEFAULT replace(((gen_random_uuid())::text || (gen_random_uuid())::text), '-'::text, ''::text),

    CONSTRAINT "Quvera_Subscriber_pkey" PRIMARY KEY ("Email")
);

-- CreateTable
CREATE TABLE "Quvera_Lease" (
    "Name" TEXT NOT NULL,
    "Holder" TEXT NOT NULL,
    "Until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Quvera_Lease_pkey" PRIMARY KEY ("Name")
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
CREATE UNIQUE INDEX "Quvera_Form_Reference_key" ON "Quvera_Form"("Reference");

-- CreateIndex
CREATE UNIQUE INDEX "Quvera_Form_SubmissionKey_key" ON "Quvera_Form"("SubmissionKey");

-- CreateIndex
CREATE INDEX "Quvera_Form_ReceivedAt_idx" ON "Quvera_Form"("ReceivedAt");

-- CreateIndex
CREATE INDEX "Quvera_History_EnquiryId_idx" ON "Quvera_History"("EnquiryId");

-- CreateIndex
CREATE INDEX "Quvera_History_At_idx" ON "Quvera_History"("At");

-- CreateIndex
CREATE INDEX "Quvera_Mail_Status_Kind_DueAt_idx" ON "Quvera_Mail"("Status", "Kind", "DueAt");

-- CreateIndex
CREATE UNIQUE INDEX "Quvera_Mail_EnquiryId_Kind_key" ON "Quvera_Mail"("EnquiryId", "Kind");

-- CreateIndex
CREATE UNIQUE INDEX "Quvera_Subscriber_Id_key" ON "Quvera_Subscriber"("Id");

-- CreateIndex
CREATE INDEX "Quvera_Access_At_idx" ON "Quvera_Access"("At");

-- AddForeignKey
ALTER TABLE "Quvera_History" ADD CONSTRAINT "Quvera_History_EnquiryId_fkey" FOREIGN KEY ("EnquiryId") REFERENCES "Quvera_Form"("Id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Quvera_Mail" ADD CONSTRAINT "Quvera_Mail_EnquiryId_fkey" FOREIGN KEY ("EnquiryId") REFERENCES "Quvera_Form"("Id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Quvera_Mail" ADD CONSTRAINT "Quvera_Mail_SubscriberId_fkey" FOREIGN KEY ("SubscriberId") REFERENCES "Quvera_Subscriber"("Id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand from here on: Prisma's schema language cannot express the rest.

-- Constraints of an enquiry, which also apply to changes in Studio or psql.
ALTER TABLE "Quvera_Form"
    ADD CONSTRAINT "Quvera_Form_Name_check" CHECK ("Name" <> ''),
    ADD CONSTRAINT "Quvera_Form_Mobile_check" CHECK ("Mobile" ~ '^[0-9]{10}$'),
    ADD CONSTRAINT "Quvera_Form_Quantity_check" CHECK ("Quantity" BETWEEN 1 AND 9007199254740991),
    ADD CONSTRAINT "Quvera_Form_Note_check" CHECK (char_length("Note") <= 2000);

-- Partial: the mails of a new order (not spam) are in none of these indexes, so storing them stays cheap. Prisma's schema cannot
-- express the conditions; the index names are the ones it expects.
CREATE INDEX "Quvera_Mail_Tag_idx" ON "Quvera_Mail" ("Tag") WHERE "TriedAt" IS NOT NULL;
CREATE INDEX "Quvera_Mail_Kind_TriedAt_idx" ON "Quvera_Mail" ("Kind", "TriedAt") WHERE "TriedAt" IS NOT NULL;
CREATE INDEX "Quvera_Mail_tried_idx" ON "Quvera_Mail" ("DueAt") WHERE "Status" = 'Pending' AND "TriedAt" IS NOT NULL;
CREATE INDEX "Quvera_Mail_untold_idx" ON "Quvera_Mail" ("DueAt") 
    WHERE "Kind" = 'Notice' AND "DueAt" IS NOT NULL AND "Status" IN ('Bounced', 'Failed', 'Unknown', 'Withheld');
CREATE INDEX "Quvera_Mail_undelivered_idx" ON "Quvera_Mail" ("Kind", "Id") WHERE "Status" IN ('Bounced', 'Failed', 'Complained', 'Unknown');
CREATE INDEX "Quvera_Mail_SubscriberId_idx" ON "Quvera_Mail" ("SubscriberId") WHERE "SubscriberId" IS NOT NULL;
CREATE INDEX "Quvera_Mail_Mailbox_TriedAt_idx" ON "Quvera_Mail" ("Mailbox", "TriedAt") WHERE "Mailbox" IS NOT NULL AND "TriedAt" IS NOT NULL;

-- The mailbox of an address: without its tag, and at Gmail without dots. Use it only for counting mails, because other
-- providers distinguish more spellings.
CREATE FUNCTION "Quvera_mailbox"("Address" TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN split_part(lower("Address"), '@', 2) IN ('gmail.com', 'googlemail.com')
        THEN replace(split_part(split_part(lower("Address"), '@', 1), '+', 1), '.', '') || '@gmail.com'
        ELSE split_part(split_part(lower("Address"), '@', 1), '+', 1) || '@' || split_part(lower("Address"), '@', 2)
    END
$$;

-- For the oldest enquiry that is still New.
CREATE INDEX "Quvera_Form_new_idx" ON "Quvera_Form" ("ReceivedAt") WHERE "Status" = 'New';

-- For staff: one row for each enquiry, with Indian time and the states of its mails.
CREATE VIEW "Quvera_Enquiries" AS
SELECT
    form."Reference",
    to_char(form."ReceivedAt" AT TIME ZONE 'Asia/Kolkata', 'DD Mon YYYY HH24:MI "IST"') AS "Received",
    form."Status",
    form."Name",
    form."Mobile",
    form."Email",
    form."Products",
    form."Quantity",
    form."RetailerSelfUse",
    form."SuspectedSpam",
    coalesce(notice."Status"::text, '-') AS "StaffMail",
    coalesce(acknowledgement."Status"::text, '-') AS "AcknowledgementMail",
    coalesce(notice."LastError", acknowledgement."LastError", '') AS "LastError",
    form."ReceivedAt",
    form."Id",
    form."Note"
FROM "Quvera_Form" form
LEFT JOIN "Quvera_Mail" notice ON notice."EnquiryId" = form."Id" AND notice."Kind" = 'Notice'
LEFT JOIN "Quvera_Mail" acknowledgement ON acknowledgement."EnquiryId" = form."Id" AND acknowledgement."Kind" = 'Acknowledgement'
ORDER BY form."ReceivedAt" DESC;

-- Records changes by the staff command, Studio and psql. Their roles need no privilege on the history.
CREATE FUNCTION "Quvera_keep_history"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- $1 is OLD, $2 is NEW, %I the schema. Writes a row for each of the three columns that changed.
    EXECUTE format($sql$INSERT INTO %I."Quvera_History" ("EnquiryId", "Who", "Column", "Before", "After")
        SELECT $2."Id", nullif(current_setting('quvera.who', true), ''), * FROM (VALUES
            ('Status', $1."Status"::text, $2."Status"::text),
            ('SuspectedSpam', $1."SuspectedSpam"::text, $2."SuspectedSpam"::text),
            ('Note', $1."Note", $2."Note")
        ) AS changed ("Column", "Before", "After") WHERE "Before" IS DISTINCT FROM "After"$sql$, TG_TABLE_SCHEMA)
    USING OLD, NEW;
    -- A removed note may hold data of another person: its text goes, who wrote and removed it stays.
    IF coalesce(NEW."Note", '') = '' THEN
        EXECUTE format($sql$UPDATE %I."Quvera_History" SET "Before" = NULL, "After" = NULL
            WHERE "EnquiryId" = $1 AND "Column" = 'Note'$sql$, TG_TABLE_SCHEMA) USING NEW."Id";
    END IF;
    RETURN NULL;
END $$;
-- Otherwise anybody could use it as a trigger of another table and write with the owner's privileges.
REVOKE EXECUTE ON FUNCTION "Quvera_keep_history"() FROM PUBLIC;
CREATE TRIGGER "keep_history" AFTER UPDATE OF "Status", "SuspectedSpam", "Note" ON "Quvera_Form"
    FOR EACH ROW EXECUTE FUNCTION "Quvera_keep_history"();

-- Makes the access log append-only, also for the tables' owner, the role of staff in the embedded database.
CREATE FUNCTION "Quvera_only_add"() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD."At" < now() - interval '1 year' THEN RETURN OLD; END IF;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'The lines of Quvera_Access are only added, and are kept for a year';
END $$;
CREATE TRIGGER "only_add" BEFORE UPDATE OR DELETE ON "Quvera_Access" FOR EACH ROW EXECUTE FUNCTION "Quvera_only_add"();
CREATE TRIGGER "only_add_all" BEFORE TRUNCATE ON "Quvera_Access" FOR EACH STATEMENT EXECUTE FUNCTION "Quvera_only_add"();

-- Erases enquiries received before a given time, never ones younger than a month, and access log lines after a year. The
-- site's role may call it but not delete rows itself, so that an intruder cannot replace an enquiry unnoticed.
CREATE FUNCTION "Quvera_erase_old"("Before" TIMESTAMPTZ, "Most" INT) RETURNS INT LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    erased INT;
BEGIN
    DELETE FROM public."Quvera_Access" WHERE "At" < now() - interval '1 year';
    DELETE FROM public."Quvera_Form" WHERE "Id" IN (
        SELECT "Id" FROM public."Quvera_Form"
        WHERE "ReceivedAt" < "Before" AND "ReceivedAt" < now() - interval '1 month' LIMIT "Most");
    GET DIAGNOSTICS erased = ROW_COUNT;
    RETURN erased;
END $$;
REVOKE EXECUTE ON FUNCTION "Quvera_erase_old"(TIMESTAMPTZ, INT) FROM PUBLIC;
