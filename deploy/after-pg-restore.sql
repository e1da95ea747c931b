-- Mails pending in a backup may have been sent since, and subscribers may have left since. Run by `staff restore`; after
-- pg_restore run it with psql before the site starts. It can be repeated.
UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "LastError" = 'restored from a backup: may have been sent since',
    "DueAt" = CASE WHEN "Kind" = 'Notice' THEN now() END -- since when a notice waits for a summary
WHERE "Status" = 'Pending';
UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL WHERE "ConfirmedAt" IS NOT NULL;
