-- Mails pending in a backup may have been sent since, and subscribers may have left since. Run by `staff restore`; after
-- pg_restore run it with psql before the site starts. It can be repeated.

UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "WithheldBecause" = 'Restored', "DueAt" = NULL WHERE "Status" = 'Pending';
UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL WHERE "ConfirmedAt" IS NOT NULL;
-- Somebody may have kept an enquiry since: staff have a day to see it.
UPDATE "Quvera_Form" SET "EraseAt" = now() + interval '24 hours' WHERE "EraseAt" IS NOT NULL;
-- A link or session of the desk may have been ended since.
DELETE FROM "Quvera_Session";
