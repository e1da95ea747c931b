-- After pg_restore, before the site starts (`staff restore` does the same). Mails that waited in the dump may have been sent
-- since, and who left the newsletter since would be on the list again.
BEGIN;
UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "LastError" = 'restored from a backup: may have been sent since'
WHERE "Status" = 'Pending';
UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL WHERE "ConfirmedAt" IS NOT NULL;
COMMIT;
