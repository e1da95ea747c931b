-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "Quvera_BuyerType" AS ENUM ('Retailer', 'Self Use');

-- CreateEnum
CREATE TYPE "Quvera_Product" AS ENUM ('Quvera 300', 'Quvera XT');

-- CreateEnum
CREATE TYPE "Quvera_Status" AS ENUM ('New', 'Contacted', 'Closed');

-- CreateEnum
CREATE TYPE "Quvera_MailKind" AS ENUM ('Notice', 'Acknowledgement', 'Summary', 'Post', 'Confirmation', 'SignIn');

-- CreateEnum
CREATE TYPE "Quvera_MailStatus" AS ENUM ('Pending', 'Sent', 'Failed', 'Unknown', 'Withheld', 'Delivered', 'Bounced', 'Complained');

-- CreateEnum
CREATE TYPE "Quvera_WithheldBecause" AS ENUM ('TooMany', 'TooOld', 'ThreeADay', 'Ended', 'Restored', 'NotStaff', 'ByStaff');

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
    "UntoldSince" TIMESTAMPTZ(3),
    "Calls" INTEGER NOT NULL DEFAULT 0,

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
    "Kind" "Quvera_MailKind" NOT NULL,
    "EnquiryId" UUID,
    "SubscriberId" UUID,
    "SummaryId" BIGINT,
    "To" TEXT,
    "Mailbox" TEXT,
    "Tag" UUID NOT NULL DEFAULT gen_random_uuid(),
    "Status" "Quvera_MailStatus" NOT NULL DEFAULT 'Pending',
    "QueuedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "DueAt" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "Attempts" INTEGER NOT NULL DEFAULT 0,
    "FirstTriedAt" TIMESTAMPTZ(3),
    "SentAt" TIMESTAMPTZ(3),
    "WithheldBecause" "Quvera_WithheldBecause",
    "ResendId" TEXT,
    "LastError" TEXT,

    CONSTRAINT "Quvera_Mail_pkey" PRIMARY KEY ("Id")
);

-- CreateTable
CREATE TABLE "Quvera_Summary" (
    "Id" BIGSERIAL NOT NULL,
    "At" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "Text" TEXT NOT NULL,

    CONSTRAINT "Quvera_Summary_pkey" PRIMARY KEY ("Id")
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
CREATE TABLE "Quvera_Session" (
    "Hash" TEXT NOT NULL,
    "IsLink" BOOLEAN NOT NULL,
    "Email" TEXT NOT NULL,
    "At" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "LeadsTo" TEXT,
    "ByTerminal" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "Quvera_Session_pkey" PRIMARY KEY ("Hash")
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
CREATE INDEX "Quvera_Form_Mobile_idx" ON "Quvera_Form"("Mobile");

-- CreateIndex
CREATE INDEX "Quvera_History_EnquiryId_idx" ON "Quvera_History"("EnquiryId");

-- CreateIndex
CREATE INDEX "Quvera_History_At_idx" ON "Quvera_History"("At");

-- CreateIndex
CREATE UNIQUE INDEX "Quvera_Mail_SummaryId_To_key" ON "Quvera_Mail"("SummaryId", "To");

-- CreateIndex
CREATE INDEX "Quvera_Summary_At_idx" ON "Quvera_Summary"("At");

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

-- AddForeignKey
ALTER TABLE "Quvera_Mail" ADD CONSTRAINT "Quvera_Mail_SummaryId_fkey" FOREIGN KEY ("SummaryId") REFERENCES "Quvera_Summary"("Id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand from here on: Prisma's schema language cannot express the rest.

-- Constraints of an enquiry, which also apply to changes in Studio or psql.
ALTER TABLE "Quvera_Form"
    ADD CONSTRAINT "Quvera_Form_Name_check" CHECK ("Name" <> ''),
    ADD CONSTRAINT "Quvera_Form_Mobile_check" CHECK ("Mobile" ~ '^[0-9]{10}$'),
    ADD CONSTRAINT "Quvera_Form_Quantity_check" CHECK ("Quantity" BETWEEN 1 AND 9007199254740991),
    ADD CONSTRAINT "Quvera_Form_Note_check" CHECK (char_length("Note") <= 2000),
    ADD CONSTRAINT "Quvera_Form_Calls_check" CHECK ("Calls" >= 0),
    ADD CONSTRAINT "Quvera_Form_UntoldSince_check" CHECK ("UntoldSince" IS NULL OR "Status" = 'New');

-- Never a link's token or a session's cookie itself.
ALTER TABLE "Quvera_Session" ADD CONSTRAINT "Quvera_Session_Hash_check" CHECK ("Hash" ~ '^[0-9a-f]{64}$');

-- The states of a mail.
ALTER TABLE "Quvera_Mail"
    ADD CONSTRAINT "Quvera_Mail_subject_check" CHECK (num_nonnulls("EnquiryId", "SubscriberId", "SummaryId") <= 1 AND CASE "Kind"
        WHEN 'Notice' THEN "EnquiryId" IS NOT NULL WHEN 'Acknowledgement' THEN "EnquiryId" IS NOT NULL
        WHEN 'Post' THEN "EnquiryId" IS NOT NULL WHEN 'Confirmation' THEN "SubscriberId" IS NOT NULL
        WHEN 'Summary' THEN "SummaryId" IS NOT NULL WHEN 'SignIn' THEN num_nonnulls("EnquiryId", "SubscriberId", "SummaryId") = 0
        ELSE TRUE END),
    ADD CONSTRAINT "Quvera_Mail_To_check" CHECK (("To" IS NOT NULL) = ("Kind" IN ('Notice', 'Summary', 'SignIn'))),
    ADD CONSTRAINT "Quvera_Mail_DueAt_check" CHECK (("DueAt" IS NOT NULL) = ("Status" = 'Pending')),
    ADD CONSTRAINT "Quvera_Mail_WithheldBecause_check" CHECK (("WithheldBecause" IS NOT NULL) = ("Status" = 'Withheld')),
    ADD CONSTRAINT "Quvera_Mail_SentAt_check" CHECK (CASE WHEN "Status" IN ('Sent', 'Delivered', 'Bounced', 'Complained')
        THEN "SentAt" IS NOT NULL ELSE "Status" <> 'Pending' OR "SentAt" IS NULL END);

-- An enquiry has one mail of a kind for each receiver; an acknowledgement and a post have no "To".
CREATE UNIQUE INDEX "Quvera_Mail_EnquiryId_Kind_To_key" ON "Quvera_Mail" ("EnquiryId", "Kind", "To") NULLS NOT DISTINCT
    WHERE "EnquiryId" IS NOT NULL;
-- Partial: the mails of a new order are in one of these indexes, so storing them stays cheap. Prisma's schema cannot express
-- the conditions; the index names are the ones it expects.
CREATE INDEX "Quvera_Mail_pending_idx" ON "Quvera_Mail" ("Kind", "DueAt") WHERE "Status" = 'Pending';
CREATE INDEX "Quvera_Mail_tried_idx" ON "Quvera_Mail" ("Kind", "DueAt") WHERE "Status" = 'Pending' AND "FirstTriedAt" IS NOT NULL;
CREATE UNIQUE INDEX "Quvera_Mail_Tag_key" ON "Quvera_Mail" ("Tag") WHERE "FirstTriedAt" IS NOT NULL;
CREATE INDEX "Quvera_Mail_FirstTriedAt_idx" ON "Quvera_Mail" ("FirstTriedAt") WHERE "FirstTriedAt" IS NOT NULL;
CREATE INDEX "Quvera_Mail_To_SentAt_idx" ON "Quvera_Mail" ("To", "SentAt") WHERE "To" IS NOT NULL AND "SentAt" IS NOT NULL;
CREATE INDEX "Quvera_Mail_undelivered_idx" ON "Quvera_Mail" ("Kind", "Id") WHERE "Status" IN ('Bounced', 'Failed', 'Complained', 'Unknown');
CREATE INDEX "Quvera_Mail_SignIn_idx" ON "Quvera_Mail" ("QueuedAt") WHERE "Kind" = 'SignIn';
CREATE INDEX "Quvera_Mail_SubscriberId_idx" ON "Quvera_Mail" ("SubscriberId") WHERE "SubscriberId" IS NOT NULL;
CREATE INDEX "Quvera_Mail_Mailbox_FirstTriedAt_idx" ON "Quvera_Mail" ("Mailbox", "FirstTriedAt") WHERE "Mailbox" IS NOT NULL AND "FirstTriedAt" IS NOT NULL;

-- Whether staff were told of an enquiry. A notice is good while it is on its way or has arrived. An enquiry that is New is
-- untold once none of its notices is good, and told again once one is. A summary that names it tells staff too (summary.ts).
CREATE FUNCTION "Quvera_is_good"("Status" "Quvera_MailStatus") RETURNS BOOLEAN LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT "Status" IN ('Pending', 'Sent', 'Delivered', 'Complained')
$$;
CREATE FUNCTION "Quvera_mark_untold"() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    is_told BOOLEAN;
BEGIN
    -- A statement of its own: the next one then sees a notice that another session has changed meanwhile.
    PERFORM FROM "Quvera_Form" WHERE "Id" = NEW."EnquiryId" FOR NO KEY UPDATE;
    is_told := EXISTS (SELECT FROM "Quvera_Mail"
        WHERE "EnquiryId" = NEW."EnquiryId" AND "Kind" = 'Notice' AND "Quvera_is_good"("Status"));
    UPDATE "Quvera_Form" SET "UntoldSince" = CASE WHEN is_told THEN NULL ELSE now() END
    WHERE "Id" = NEW."EnquiryId" AND "Status" = 'New' AND ("UntoldSince" IS NULL) <> is_told;
    RETURN NULL;
END $$;
CREATE TRIGGER "mark_untold" AFTER UPDATE OF "Status" ON "Quvera_Mail" FOR EACH ROW
    WHEN (NEW."Kind" = 'Notice' AND "Quvera_is_good"(OLD."Status") <> "Quvera_is_good"(NEW."Status"))
    EXECUTE FUNCTION "Quvera_mark_untold"();
-- Whoever has dealt with an enquiry knows of it.
CREATE FUNCTION "Quvera_answered"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW."UntoldSince" := NULL; RETURN NEW; END $$;
CREATE TRIGGER "answered" BEFORE UPDATE OF "Status" ON "Quvera_Form" FOR EACH ROW
    WHEN (NEW."Status" <> 'New' AND NEW."UntoldSince" IS NOT NULL) EXECUTE FUNCTION "Quvera_answered"();
-- What a summary has to tell of.
CREATE INDEX "Quvera_Form_SuspectedSpam_UntoldSince_idx" ON "Quvera_Form" ("SuspectedSpam", "UntoldSince") WHERE "UntoldSince" IS NOT NULL;

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
-- For the desk's tabs and their counts. Partial, so that storing an order writes none of them.
CREATE INDEX "Quvera_Form_contacted_idx" ON "Quvera_Form" ("ReceivedAt") WHERE "Status" = 'Contacted' AND NOT "SuspectedSpam";
CREATE INDEX "Quvera_Form_closed_idx" ON "Quvera_Form" ("ReceivedAt") WHERE "Status" = 'Closed' AND NOT "SuspectedSpam";
CREATE INDEX "Quvera_Form_spam_idx" ON "Quvera_Form" ("ReceivedAt") WHERE "SuspectedSpam";

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
    coalesce(mails."Staff", '-') AS "StaffMail",
    coalesce(mails."Acknowledgement", '-') AS "AcknowledgementMail",
    coalesce(mails."LastError", '') AS "LastError",
    form."ReceivedAt",
    form."Id",
    form."Note"
FROM "Quvera_Form" form
CROSS JOIN LATERAL (
    SELECT string_agg("Status"::text, ', ' ORDER BY "Id") FILTER (WHERE "Kind" = 'Notice') AS "Staff",
        min("Status"::text) FILTER (WHERE "Kind" = 'Acknowledgement') AS "Acknowledgement",
        min("LastError") FILTER (WHERE "Kind" IN ('Notice', 'Acknowledgement')) AS "LastError"
    FROM "Quvera_Mail" WHERE "EnquiryId" = form."Id"
) mails
ORDER BY form."ReceivedAt" DESC;

-- Records changes at the desk and by psql. Their roles need no privilege on the history.
CREATE FUNCTION "Quvera_keep_history"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- $1 is OLD, $2 is NEW, %I the schema. Writes a row for each of these columns that changed.
    EXECUTE format($sql$INSERT INTO %I."Quvera_History" ("EnquiryId", "Who", "Column", "Before", "After")
        SELECT $2."Id", nullif(current_setting('quvera.who', true), ''), * FROM (VALUES
            ('Status', $1."Status"::text, $2."Status"::text),
            ('SuspectedSpam', $1."SuspectedSpam"::text, $2."SuspectedSpam"::text),
            ('Note', $1."Note", $2."Note"),
            ('Calls', $1."Calls"::text, $2."Calls"::text)
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
CREATE TRIGGER "keep_history" AFTER UPDATE OF "Status", "SuspectedSpam", "Note", "Calls" ON "Quvera_Form"
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

-- Erases at most so many rows of one kind that are older than a given time: access log lines after a year, whatever is given;
-- summaries, sign-in mails and enquiries never younger than a month. The site's role may call it but not delete rows itself,
-- so that an intruder cannot replace an enquiry unnoticed.
CREATE FUNCTION "Quvera_erase_old"("What" TEXT, "Before" TIMESTAMPTZ, "Most" INT) RETURNS INT LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    earlier CONSTANT TIMESTAMPTZ := CASE WHEN "Before" > now() - interval '1 month' THEN now() - interval '1 month' ELSE "Before" END; -- NULL: none
    erased INT;
BEGIN
    CASE "What"
        WHEN 'access lines' THEN
            DELETE FROM public."Quvera_Access" WHERE "Id" IN (
                SELECT "Id" FROM public."Quvera_Access" WHERE "At" < now() - interval '1 year' LIMIT "Most");
        WHEN 'summaries' THEN
            DELETE FROM public."Quvera_Summary" WHERE "Id" IN (
                SELECT "Id" FROM public."Quvera_Summary" WHERE "At" < earlier LIMIT "Most");
        WHEN 'sign-in mails' THEN
            DELETE FROM public."Quvera_Mail" WHERE "Id" IN (
                SELECT "Id" FROM public."Quvera_Mail" WHERE "Kind" = 'SignIn' AND "QueuedAt" < earlier LIMIT "Most");
        WHEN 'enquiries' THEN
            DELETE FROM public."Quvera_Form" WHERE "Id" IN (
                SELECT "Id" FROM public."Quvera_Form" WHERE "ReceivedAt" < earlier LIMIT "Most");
    END CASE;
    GET DIAGNOSTICS erased = ROW_COUNT;
    RETURN erased;
END $$;
REVOKE EXECUTE ON FUNCTION "Quvera_erase_old"(TEXT, TIMESTAMPTZ, INT) FROM PUBLIC;
