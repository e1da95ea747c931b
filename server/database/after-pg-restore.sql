-- Mails pending in a backup may have been sent since, and subscribers may have left since. Run by `staff restore`; after
-- pg_restore run it with psql before the site starts. It can be repeated.

-- A pending summary is withheld below, so the next one has to name its enquiries: those whose notice it has told of, and, as
-- a failed notice does not say in which summary it was, those of every failed notice.
UPDATE "Quvera_Mail" notice SET "DueAt" = now(), "LastError" = CASE notice."Status" WHEN 'Withheld'
    THEN 'Not mailed alone: a restore withheld the summary.' ELSE notice."LastError" END
FROM "Quvera_Mail" summary
WHERE summary."Kind" = 'Summary' AND summary."Status" = 'Pending' AND notice."Kind" = 'Notice'
    AND (notice."LastError" = 'Told in summary ' || summary."Id" || '.'
        OR notice."Status" IN ('Bounced', 'Failed', 'Unknown'));
UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "LastError" = 'restored from a backup: may have been sent since',
    "DueAt" = CASE WHEN "Kind" = 'Notice' THEN now() END -- since when a notice waits for a summary
WHERE "Status" = 'Pending';
UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL WHERE "ConfirmedAt" IS NOT NULL;
