-- AlterTable
ALTER TABLE "Quvera_Mail" ADD COLUMN     "Key" TEXT;

-- What follows is written by hand: Prisma's schema language has no words for it.

-- What becomes of a bundle, a notice without an enquiry of its own, is told to the notices in it, whoever writes it down.
CREATE FUNCTION "Quvera_tell_bundled"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('UPDATE %s SET "Status" = $1."Status", "LastError" = $1."LastError", "SentAt" = $1."SentAt" WHERE "BundledInto" = $1."Id"', TG_RELID::regclass)
    USING NEW;
    RETURN NULL;
END $$;
CREATE TRIGGER "tell_bundled" AFTER UPDATE OF "Status", "LastError", "SentAt" ON "Quvera_Mail"
    FOR EACH ROW WHEN (NEW."EnquiryId" IS NULL) EXECUTE FUNCTION "Quvera_tell_bundled"();

-- Until now a bundle was the first of its notices. Those that wait for a first one which is not sent any more go by
-- themselves.
UPDATE "Quvera_Mail" along SET "BundledInto" = NULL
FROM "Quvera_Mail" first
WHERE first."Id" = along."BundledInto" AND along."Status" = 'Pending' AND first."Status" <> 'Pending';

-- The others become bundles, under the key that they were tried with: a repeat is not a second mail. In tables that a
-- backup has just filled the numbers begin anew.
SELECT setval(pg_get_serial_sequence('"Quvera_Mail"', 'Id'), max("Id")) FROM "Quvera_Mail" HAVING count(*) > 0;
WITH first AS (
    SELECT * FROM "Quvera_Mail" mail
    WHERE EXISTS (SELECT FROM "Quvera_Mail" along WHERE along."BundledInto" = mail."Id")
), bundle AS (
    INSERT INTO "Quvera_Mail" ("Kind", "Status", "Attempts", "NextAttemptAt", "AmbiguousAt", "LastError", "ResendId", "SentAt", "CheckedAt", "Key")
    SELECT "Kind", "Status", "Attempts", "NextAttemptAt", "AmbiguousAt", "LastError", "ResendId", "SentAt", "CheckedAt", 'staff/' || "EnquiryId"
    FROM first
    RETURNING "Id", "Key"
)
UPDATE "Quvera_Mail" mail
SET "BundledInto" = bundle."Id",
    "ResendId" = NULL,
    "Key" = CASE WHEN mail."Id" = first."Id" THEN bundle."Key" || '/alone' END
FROM first JOIN bundle ON bundle."Key" = 'staff/' || first."EnquiryId"
WHERE mail."Id" = first."Id" OR mail."BundledInto" = first."Id";

-- Until now the key of a digest was made of its text.
UPDATE "Quvera_Mail"
SET "Key" = 'digest/' || left(encode(sha256(convert_to("Text", 'UTF8')), 'hex'), 32)
WHERE "Text" IS NOT NULL;

-- Resend had these keys with other words: whether such a mail was sent is for a person to find out.
UPDATE "Quvera_Mail" SET "Status" = 'Unknown' WHERE "Status" = 'Failed' AND starts_with("LastError", '409 ');

-- Words of strangers' mail servers, from before they were cleaned.
UPDATE "Quvera_Mail" SET "LastError" = regexp_replace("LastError", '[[:cntrl:]\u200b-\u200f\u2028-\u202e\u2066-\u2069]+', ' ', 'g')
WHERE "LastError" ~ '[[:cntrl:]\u200b-\u200f\u2028-\u202e\u2066-\u2069]';
