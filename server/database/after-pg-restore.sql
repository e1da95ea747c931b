-- Mails pending in a backup may have been sent since, and subscribers may have left since. Run by `staff restore`; after
-- pg_restore run it with psql before the site starts. It can be repeated.

UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "WithheldBecause" = 'Restored', "DueAt" = NULL WHERE "Status" = 'Pending';
UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL WHERE "ConfirmedAt" IS NOT NULL;
-- A summary that was pending may have told of enquiries: a new one tells of each that is New and has no notice that arrived.
-- Not of what staff have judged to be spam.
UPDATE "Quvera_Form" form SET "UntoldSince" = now() WHERE "Status" = 'New' AND "UntoldSince" IS NULL AND NOT "SuspectedSpam" AND NOT EXISTS (
    SELECT FROM "Quvera_Mail" WHERE "EnquiryId" = form."Id" AND "Kind" = 'Notice' AND "Quvera_is_good"("Status"));
-- A link or session of the desk may have been ended since.
DELETE FROM "Quvera_Session";
