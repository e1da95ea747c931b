-- Run after pg_restore and before the site starts; `staff restore` does the same. Mails pending in the dump may have been
-- sent since, and subscribers may have left since.
BEGIN;
UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "LastError" = 'restored from a backup: may have been sent since',
    "DueAt" = CASE WHEN "Kind" = 'Notice' THEN now() END -- since when a notice waits for a summary
WHERE "Status" = 'Pending';
UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL WHERE "ConfirmedAt" IS NOT NULL;
COMMIT;
