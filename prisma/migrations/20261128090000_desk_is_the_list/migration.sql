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
CREATE FUNCTION "Quvera_use_session"("Of" TEXT) RETURNS VOID LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET TimeZone = 'UTC' AS $$
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
ALTER TYPE "Quvera_WithheldBecause" ADD VALUE 'NotTheirs';
ALTER TYPE "Quvera_WithheldBecause" ADD VALUE 'Replaced';
ALTER TYPE "Quvera_WithheldBecause" ADD VALUE 'Kept';
ALTER TYPE "Quvera_MailKind" ADD VALUE 'Change';
ALTER TYPE "Quvera_MailKind" ADD VALUE 'ErasureAsked';
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
    ADD COLUMN "ClosedAs" "Quvera_ClosedAs",
    -- 244 random bits, by which a visitor enters the page of the enquiry. Another one for each row.
    ADD COLUMN "Secret" TEXT NOT NULL DEFAULT replace(((gen_random_uuid())::text || (gen_random_uuid())::text), '-'::text, ''::text);
UPDATE "Quvera_Form" SET "ContentHash" = encode(sha256(convert_to(concat_ws(E'\n', 'Name:' || "Name", 'Mobile:' || "Mobile",
    'Email:' || "Email", 'Products:' || "Products", 'Quantity:' || "Quantity", 'RetailerSelfUse:' || "RetailerSelfUse"), 'UTF8')), 'hex');
-- What the desk searches, in small letters without accents (server/desk/search.ts): made once, as a name may take milliseconds.
ALTER TABLE "Quvera_Form" ADD COLUMN "SearchText" TEXT GENERATED ALWAYS AS (
    CASE WHEN octet_length("Name") = char_length("Name") THEN lower("Name" COLLATE "C")
        ELSE lower(regexp_replace(normalize("Name", NFKD), U&'[\0300-\036F]', '', 'g')) END
    || lower((E'\n' || "Email" || E'\n' || "Reference" || E'\n' || "Mobile") COLLATE "C")) STORED;
CREATE INDEX "Quvera_Form_RemindOn_idx" ON "Quvera_Form" ("RemindOn") WHERE "RemindOn" IS NOT NULL;
CREATE INDEX "Quvera_Form_EraseAt_idx" ON "Quvera_Form" ("EraseAt") WHERE "EraseAt" IS NOT NULL;

-- What people do with an enquiry is a row of its history, which is only added: who, when, what changed from what to what, or a
-- text. A row that takes another one back names its key. Notes and calls are such rows and no columns.
DROP TRIGGER "keep_history" ON "Quvera_Form";
DROP FUNCTION "Quvera_keep_history"();
DROP VIEW "Quvera_Enquiries";
ALTER TABLE "Quvera_History"
    ADD COLUMN "Key" UUID NOT NULL DEFAULT gen_random_uuid(),
    ADD COLUMN "ByVisitor" BOOLEAN NOT NULL DEFAULT FALSE,
    ADD COLUMN "Text" TEXT,
    ADD COLUMN "TakesBack" UUID;
ALTER TABLE "Quvera_History" RENAME COLUMN "Column" TO "What";
-- A call had added its line to the note by the same statement.
DELETE FROM "Quvera_History" note USING "Quvera_History" call
WHERE note."What" = 'Note' AND call."What" = 'Calls' AND note."EnquiryId" = call."EnquiryId" AND note."At" = call."At";
-- Of a note its own line, without the day before it.
UPDATE "Quvera_History" SET "Text" = regexp_replace(
    CASE WHEN starts_with("After", coalesce("Before", '')) THEN substr("After", char_length(coalesce("Before", '')) + 1) ELSE "After" END,
    '^\s*(\d\d \w{3} \d{4}: )?', '')
WHERE "What" = 'Note' AND "After" <> '';
-- What no row of the history tells, but for the lines of calls.
INSERT INTO "Quvera_History" ("EnquiryId", "At", "What", "Text")
SELECT "Id", "ReceivedAt", 'Note', note FROM "Quvera_Form" form
CROSS JOIN LATERAL trim(E'\n' FROM regexp_replace("Note", '(^|\n)\d\d \w{3} \d{4}: rang, no answer', '', 'g')) note
WHERE note <> '' AND NOT EXISTS (SELECT FROM "Quvera_History" WHERE "EnquiryId" = form."Id" AND "Text" IS NOT NULL);
INSERT INTO "Quvera_History" ("EnquiryId", "At", "What")
SELECT "Id", "ReceivedAt", 'Calls' FROM "Quvera_Form" form
CROSS JOIN LATERAL generate_series(1, "Calls" - (SELECT count(*) FROM "Quvera_History" WHERE "EnquiryId" = form."Id" AND "What" = 'Calls'));
ALTER TABLE "Quvera_History"
    ALTER COLUMN "Before" TYPE JSONB USING CASE "What" WHEN 'Status' THEN jsonb_build_object('Status', "Before")
        WHEN 'SuspectedSpam' THEN jsonb_build_object('SuspectedSpam', "Before"::boolean) END,
    ALTER COLUMN "After" TYPE JSONB USING CASE "What" WHEN 'Status' THEN jsonb_build_object('Status', "After")
        WHEN 'SuspectedSpam' THEN jsonb_build_object('SuspectedSpam', "After"::boolean) END;
UPDATE "Quvera_History" SET "What" = CASE "What" WHEN 'Calls' THEN 'Call' ELSE 'Spam' END WHERE "What" IN ('Calls', 'SuspectedSpam');
-- A change that is sent twice is one.
CREATE UNIQUE INDEX "Quvera_History_Key_EnquiryId_Who_key" ON "Quvera_History" ("Key", "EnquiryId", "Who") NULLS NOT DISTINCT;
CREATE INDEX "Quvera_History_notes_idx" ON "Quvera_History" ("EnquiryId") WHERE "What" = 'Note';
CREATE INDEX "Quvera_History_TakesBack_idx" ON "Quvera_History" ("TakesBack") WHERE "TakesBack" IS NOT NULL;
ALTER TABLE "Quvera_History"
    ADD CONSTRAINT "Quvera_History_Text_check" CHECK (char_length("Text") <= 2000),
    ADD CONSTRAINT "Quvera_History_changed_check" CHECK (jsonb_typeof("Before") = 'object' AND jsonb_typeof("After") = 'object');
ALTER TABLE "Quvera_Form" DROP COLUMN "Note", DROP COLUMN "Calls";

-- For staff: one row for each enquiry, with Indian time, the last note and the states of its mails, of acknowledgements the last one’s.
CREATE VIEW "Quvera_Enquiries" AS
SELECT
    form."Reference",
    to_char(form."ReceivedAt" AT TIME ZONE 'Asia/Kolkata', 'DD Mon YYYY HH24:MI "IST"') AS "Received",
    form."Status", form."ClosedAs", form."RemindOn", form."Name", form."Mobile", form."Email", form."Products", form."Quantity",
    form."RetailerSelfUse", form."SuspectedSpam",
    (SELECT "Text" FROM "Quvera_History" note WHERE note."EnquiryId" = form."Id" AND "What" = 'Note' AND "Text" IS NOT NULL
        AND coalesce((SELECT back."What" <> 'Taken back' FROM "Quvera_History" back
            WHERE back."EnquiryId" = form."Id" AND back."TakesBack" = note."Key" ORDER BY back."Id" DESC LIMIT 1), TRUE)
        ORDER BY note."Id" DESC LIMIT 1) AS "Note",
    coalesce(mails."Staff", '-') AS "StaffMail",
    coalesce(mails."Acknowledgement", '-') AS "AcknowledgementMail",
    coalesce(mails."LastError", '') AS "LastError",
    form."ReceivedAt", form."Id"
FROM "Quvera_Form" form
CROSS JOIN LATERAL (
    SELECT string_agg("Status"::text, ', ' ORDER BY "Id") FILTER (WHERE "Kind" = 'Notice') AS "Staff",
        min("Status"::text) FILTER (WHERE "Kind" = 'Acknowledgement') AS "Acknowledgement",
        min("LastError") FILTER (WHERE "Kind" IN ('Notice', 'Acknowledgement')) AS "LastError"
    FROM "Quvera_Mail" mail WHERE "EnquiryId" = form."Id" AND NOT EXISTS (SELECT FROM "Quvera_Mail" newer
        WHERE newer."EnquiryId" = form."Id" AND mail."Kind" = 'Acknowledgement' AND newer."Kind" = mail."Kind" AND newer."Id" > mail."Id")
) mails
ORDER BY form."ReceivedAt" DESC;

-- The columns that a visitor fills in, by which the functions below go. A new field of the form is added here.
CREATE FUNCTION "Quvera_fields"() RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{Name,Email,Mobile,Quantity,RetailerSelfUse,Products}'::TEXT[];

-- The only ways to change what a visitor wrote, and to have an enquiry erased. Each writes its history itself, so that nothing
-- of it goes unseen; the site's role may call them, and neither changes these columns nor deletes rows.
-- "Fields": columns of Quvera_Form and their new values. "As": 'Correction', or 'Taken back' and 'Put back' of the key "Back".
-- Without "By" it was the visitor. With the address changes the secret, as a stranger may hold the link in the mail to the former
-- one. Who knows the secret itself can derive the next one, and so goes on; who knows that link cannot.
CREATE FUNCTION "Quvera_correct"("Enquiry" UUID, "Fields" JSONB, "By" TEXT, "Under" UUID, "As" TEXT, "Back" UUID)
RETURNS VOID LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format($sql$
        WITH changed AS (
            UPDATE public."Quvera_Form" form SET %s,
                "Secret" = CASE WHEN now."Email" = former."Email" THEN former."Secret"
                    ELSE encode(sha256(convert_to('next' || former."Secret", 'UTF8')), 'hex') END
            FROM (SELECT * FROM public."Quvera_Form" WHERE "Id" = $1 FOR NO KEY UPDATE) former
            CROSS JOIN LATERAL jsonb_populate_record(NULL::public."Quvera_Form", to_jsonb(former) || $2) now
            WHERE form."Id" = former."Id" AND $5 IN ('Correction', 'Accepted', 'Taken back', 'Put back')
            RETURNING form."Id", to_jsonb(former) AS was, to_jsonb(form) AS now
        )
        INSERT INTO public."Quvera_History" ("EnquiryId", "Who", "ByVisitor", "Key", "What", "TakesBack", "Before", "After")
        SELECT "Id", $3, $3 IS NULL, $4, $5, $6, jsonb_object_agg(field, changed.was -> field), jsonb_object_agg(field, changed.now -> field)
        FROM changed, jsonb_object_keys($2) field WHERE changed.was -> field IS DISTINCT FROM changed.now -> field GROUP BY "Id"
        $sql$, (SELECT string_agg(format('%1$I = now.%1$I', field), ', ') FROM unnest(public."Quvera_fields"()) field))
    USING "Enquiry", "Fields", "By", "Under", "As", "Back";
END $$;
-- Asked: it is erased a day later. Not asked any more: it is kept. Without "By" it was the visitor.
CREATE FUNCTION "Quvera_set_erasure"("Enquiry" UUID, "IsAsked" BOOLEAN, "By" TEXT, "Under" UUID, "As" TEXT, "Back" UUID)
RETURNS VOID LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH changed AS (
        UPDATE public."Quvera_Form" form SET "EraseAt" = CASE WHEN "IsAsked" THEN clock_timestamp() + interval '24 hours' END
        FROM (SELECT * FROM public."Quvera_Form" WHERE "Id" = "Enquiry" FOR NO KEY UPDATE) former
        WHERE form."Id" = former."Id" AND "IsAsked" = (former."EraseAt" IS NULL)
            AND "As" IN ('Erasure', 'Kept', 'Taken back', 'Put back')
        RETURNING form."Id", former."EraseAt" AS was, form."EraseAt" AS now
    )
    INSERT INTO public."Quvera_History" ("EnquiryId", "Who", "ByVisitor", "Key", "What", "TakesBack", "Before", "After")
    SELECT "Id", "By", "By" IS NULL, "Under", "As", "Back", jsonb_build_object('EraseAt', changed.was), jsonb_build_object('EraseAt', changed.now)
    FROM changed
$$;
-- Erases enquiries of which somebody has asked it a day ago, at most fifty in 24 hours. Each has a line in the access log.
CREATE FUNCTION "Quvera_erase_asked"() RETURNS SETOF TEXT LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN RAISE EXCEPTION 'Erasing needs READ COMMITTED'; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('Quvera_erase_asked', 0)); -- one at a time: each counts what the others have done
    RETURN QUERY WITH erased AS (
        DELETE FROM public."Quvera_Form" WHERE "Id" IN (
            SELECT "Id" FROM public."Quvera_Form" WHERE "EraseAt" <= now() ORDER BY "EraseAt" FOR UPDATE SKIP LOCKED
            LIMIT greatest(0, 50 - (SELECT count(*) FROM public."Quvera_Access"
                WHERE "Command" = 'erased as asked' AND "Role" <> 'quvera_readonly' AND "At" > now() - interval '24 hours')))
        RETURNING "Reference"
    ), told AS (
        INSERT INTO public."Quvera_Access" ("Who", "Command", "What") SELECT 'the site', 'erased as asked', "Reference" FROM erased
    )
    SELECT "Reference" FROM erased;
END $$;
REVOKE EXECUTE ON FUNCTION "Quvera_correct"(UUID, JSONB, TEXT, UUID, TEXT, UUID), "Quvera_set_erasure"(UUID, BOOLEAN, TEXT, UUID, TEXT, UUID),
    "Quvera_erase_asked"() FROM PUBLIC;

-- Erases at most so many rows of one kind that are older than a given time: access log lines after a year, whatever is given;
-- mails to staff that are about no enquiry, and enquiries, never younger than a month; and of the history, after a day, texts that
-- somebody has taken back, what was before a correction, and values that a later row has changed: they may be a stranger's. The
-- site's role may call it but not delete rows itself, so that an intruder cannot replace an enquiry unnoticed.
DROP FUNCTION "Quvera_erase_old"(TIMESTAMPTZ, INT);
CREATE FUNCTION "Quvera_erase_old"("What" TEXT, "Before" TIMESTAMPTZ, "Most" INT) RETURNS INT LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET TimeZone = 'UTC' AS $$ -- in a zone of the caller's a day may have minutes
DECLARE
    earlier CONSTANT TIMESTAMPTZ := CASE WHEN "Before" > now() - interval '1 month' THEN now() - interval '1 month' ELSE "Before" END; -- NULL: none
    fields CONSTANT TEXT[] := public."Quvera_fields"();
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
        WHEN 'what was taken back' THEN
            UPDATE public."Quvera_History" entry SET "Text" = CASE WHEN NOT found.is_back THEN entry."Text" END,
                "Before" = entry."Before" - fields, "After" = entry."After" - found.changed
            FROM (
                SELECT each."Id" AS id, is_back, changed FROM public."Quvera_History" each CROSS JOIN LATERAL (
                    SELECT coalesce((SELECT back."What" = 'Taken back' AND back."At" < now() - interval '1 day' FROM public."Quvera_History" back
                        WHERE back."EnquiryId" = each."EnquiryId" AND back."TakesBack" = each."Key" ORDER BY back."Id" DESC LIMIT 1), FALSE)) last (is_back)
                CROSS JOIN LATERAL (
                    SELECT coalesce(array_agg(field), '{}') FROM unnest(fields) field WHERE each."After" ? field AND EXISTS (
                        SELECT FROM public."Quvera_History" later WHERE later."EnquiryId" = each."EnquiryId" AND later."Id" > each."Id"
                            AND later."After" ? field AND later."At" < now() - interval '1 day'
                            AND (later."What" <> 'Proposal' OR each."What" = 'Proposal'))) since (changed)
                WHERE each."At" < now() - interval '1 day'
                    -- Asked first, as it needs no look at other rows: of most there is nothing to empty.
                    AND (each."Before" ?| fields OR each."After" ?| fields OR each."Text" IS NOT NULL AND each."Key" IN (
                        SELECT back."TakesBack" FROM public."Quvera_History" back WHERE back."TakesBack" IS NOT NULL))
                    AND (each."Before" ?| fields OR each."Text" IS NOT NULL AND is_back OR changed <> '{}')
                LIMIT "Most") found
            WHERE entry."Id" = found.id;
    END CASE;
    GET DIAGNOSTICS erased = ROW_COUNT;
    RETURN erased;
END $$;
REVOKE EXECUTE ON FUNCTION "Quvera_erase_old"(TEXT, TIMESTAMPTZ, INT) FROM PUBLIC;
