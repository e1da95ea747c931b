-- Sessions of the desk: a session ends 14 days after its last use, and a browser that has entered before is known again. What
-- was there is over: everybody signs in anew.
DELETE FROM "Quvera_Session";
CREATE TYPE "Quvera_SessionKind" AS ENUM ('Link', 'Session', 'Browser');
ALTER TABLE "Quvera_Session"
    DROP COLUMN "IsLink",
    ADD COLUMN "Kind" "Quvera_SessionKind" NOT NULL,
    ADD COLUMN "UsedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ADD COLUMN "Link" TEXT;
CREATE INDEX "Quvera_Session_Link_idx" ON "Quvera_Session" ("Link");

-- The site's role sets no time of a session, so that an intruder cannot make one last. It calls this once a day.
CREATE FUNCTION "Quvera_use_session"("Of" TEXT) RETURNS VOID LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE public."Quvera_Session" SET "UsedAt" = now()
    WHERE "Hash" = "Of" AND "Kind" = 'Session' AND "UsedAt" < now() - interval '1 day'
$$;
REVOKE EXECUTE ON FUNCTION "Quvera_use_session"(TEXT) FROM PUBLIC;

-- Whether staff know of an enquiry is a query over the mails (server/mail/told.ts), and no column that triggers keep. A summary
-- is a mail with a text.
DROP TRIGGER "mark_untold" ON "Quvera_Mail";
DROP FUNCTION "Quvera_mark_untold"();
DROP FUNCTION "Quvera_is_good"("Quvera_MailStatus");
DROP TRIGGER "answered" ON "Quvera_Form";
DROP FUNCTION "Quvera_answered"();
ALTER TABLE "Quvera_Form" DROP COLUMN "UntoldSince";

ALTER TABLE "Quvera_Mail" ADD COLUMN "Text" TEXT;
UPDATE "Quvera_Mail" SET "Text" = summary."Text", "QueuedAt" = summary."At" FROM "Quvera_Summary" summary WHERE "SummaryId" = summary."Id";
ALTER TABLE "Quvera_Mail" DROP CONSTRAINT "Quvera_Mail_subject_check", DROP CONSTRAINT "Quvera_Mail_To_check", DROP COLUMN "SummaryId";
DROP TABLE "Quvera_Summary";
-- A kind that is not named here is one of an enquiry, to staff or not: so a new kind is no change of these.
ALTER TABLE "Quvera_Mail"
    ADD CONSTRAINT "Quvera_Mail_subject_check" CHECK (CASE "Kind"
        WHEN 'Confirmation' THEN "SubscriberId" IS NOT NULL AND "EnquiryId" IS NULL
        WHEN 'Summary' THEN num_nonnulls("EnquiryId", "SubscriberId") = 0
        WHEN 'SignIn' THEN num_nonnulls("EnquiryId", "SubscriberId") = 0
        ELSE "EnquiryId" IS NOT NULL AND "SubscriberId" IS NULL END),
    ADD CONSTRAINT "Quvera_Mail_To_check" CHECK (CASE
        WHEN "Kind" IN ('Notice', 'Summary', 'SignIn') THEN "To" IS NOT NULL
        WHEN "Kind" IN ('Acknowledgement', 'Post', 'Confirmation') THEN "To" IS NULL
        ELSE TRUE END),
    ADD CONSTRAINT "Quvera_Mail_Text_check" CHECK (("Text" IS NOT NULL) = ("Kind" = 'Summary'));
ALTER TYPE "Quvera_WithheldBecause" ADD VALUE 'NoUrl';
-- A notice and a post are unique for an enquiry and receiver. Other kinds may repeat; the newest counts. One index serves both.
DROP INDEX "Quvera_Mail_EnquiryId_Kind_To_key";
CREATE UNIQUE INDEX "Quvera_Mail_EnquiryId_Kind_To_key" ON "Quvera_Mail"
    ("EnquiryId", "Kind", "To", (CASE WHEN "Kind" IN ('Notice', 'Post') THEN 0 ELSE "Id" END)) NULLS NOT DISTINCT WHERE "EnquiryId" IS NOT NULL;
CREATE INDEX "Quvera_Mail_Summary_idx" ON "Quvera_Mail" ("QueuedAt") WHERE "Kind" = 'Summary';
DROP INDEX "Quvera_Form_new_idx";
CREATE INDEX "Quvera_Form_new_idx" ON "Quvera_Form" ("ReceivedAt") WHERE "Status" = 'New' AND NOT "SuspectedSpam";

-- A mailbox in one spelling, at every provider: without tag, capitals, dots, dashes and underscores of the local part. It only
-- counts mails.
CREATE OR REPLACE FUNCTION "Quvera_mailbox"("Address" TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT regexp_replace(split_part(split_part(lower("Address"), '@', 1), '+', 1), '[._-]', '', 'g')
        || '@' || regexp_replace(split_part(lower("Address"), '@', 2), '^googlemail\.com$', 'gmail.com')
$$;

-- What the desk and the visitor's page need. The hash of what was sent: server/database/enquiry.ts makes it by the same rule.
CREATE TYPE "Quvera_ClosedAs" AS ENUM ('Ordered', 'No interest', 'Not reached', 'Wrong number');
ALTER TABLE "Quvera_Form"
    ADD COLUMN "ContentHash" TEXT NOT NULL DEFAULT '',
    ADD COLUMN "RemindOn" DATE,
    ADD COLUMN "EraseAt" TIMESTAMPTZ(3),
    ADD COLUMN "ClosedAs" "Quvera_ClosedAs";
UPDATE "Quvera_Form" SET "ContentHash" = encode(sha256(convert_to(concat_ws(E'\n', 'Name:' || "Name", 'Mobile:' || "Mobile",
    'Email:' || "Email", 'Products:' || "Products", 'Quantity:' || "Quantity", 'RetailerSelfUse:' || "RetailerSelfUse"), 'UTF8')), 'hex');
CREATE INDEX "Quvera_Form_RemindOn_idx" ON "Quvera_Form" ("RemindOn") WHERE "RemindOn" IS NOT NULL;
CREATE INDEX "Quvera_Form_EraseAt_idx" ON "Quvera_Form" ("EraseAt") WHERE "EraseAt" IS NOT NULL;

-- Erases at most so many rows of one kind that are older than a given time: access log lines after a year, whatever is given;
-- mails to staff that are about no enquiry, and enquiries, never younger than a month. The site's role may call it but not delete rows itself,
-- so that an intruder cannot replace an enquiry unnoticed.
DROP FUNCTION "Quvera_erase_old"(TIMESTAMPTZ, INT);
CREATE FUNCTION "Quvera_erase_old"("What" TEXT, "Before" TIMESTAMPTZ, "Most" INT) RETURNS INT LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    earlier CONSTANT TIMESTAMPTZ := CASE WHEN "Before" > now() - interval '1 month' THEN now() - interval '1 month' ELSE "Before" END; -- NULL: none
    erased INT;
BEGIN
    CASE "What"
        WHEN 'access lines' THEN
            DELETE FROM public."Quvera_Access" WHERE "Id" IN (
                SELECT "Id" FROM public."Quvera_Access" WHERE "At" < now() - interval '1 year' LIMIT "Most");
        WHEN 'mails to staff' THEN -- those of no enquiry
            DELETE FROM public."Quvera_Mail" WHERE "Id" IN (
                SELECT "Id" FROM public."Quvera_Mail" WHERE "Kind" IN ('Summary', 'SignIn') AND "QueuedAt" < earlier LIMIT "Most");
        WHEN 'enquiries' THEN
            DELETE FROM public."Quvera_Form" WHERE "Id" IN (
                SELECT "Id" FROM public."Quvera_Form" WHERE "ReceivedAt" < earlier LIMIT "Most");
    END CASE;
    GET DIAGNOSTICS erased = ROW_COUNT;
    RETURN erased;
END $$;
REVOKE EXECUTE ON FUNCTION "Quvera_erase_old"(TEXT, TIMESTAMPTZ, INT) FROM PUBLIC;
