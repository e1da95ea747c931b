-- Written by hand: Prisma's schema language has no words for it.

-- The mailbox behind an address: without a tag, and at Gmail without dots. Only what counts mails to it may use it, for
-- other providers tell more spellings apart.
CREATE FUNCTION "Quvera_mailbox"("Address" TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN split_part(lower("Address"), '@', 2) IN ('gmail.com', 'googlemail.com')
        THEN replace(split_part(split_part(lower("Address"), '@', 1), '+', 1), '.', '') || '@gmail.com'
        ELSE split_part(split_part(lower("Address"), '@', 1), '+', 1) || '@' || split_part(lower("Address"), '@', 2)
    END
$$;

-- Serves the limit on acknowledgements a day, in the place of the index on addresses.
DROP INDEX "Quvera_Form_address_idx";
CREATE INDEX "Quvera_Form_mailbox_idx" ON "Quvera_Form" ("Quvera_mailbox"("Email"), "ReceivedAt") WHERE NOT "SuspectedSpam";
