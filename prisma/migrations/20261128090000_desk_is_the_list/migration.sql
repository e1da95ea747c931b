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

-- Erases at most so many rows of one kind that are older than a given time: access log lines after a year, whatever is given;
-- summaries, sign-in mails and enquiries never younger than a month. The site's role may call it but not delete rows itself,
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
        WHEN 'summaries' THEN
            DELETE FROM public."Quvera_Summary" WHERE "Id" IN (
                SELECT "Id" FROM public."Quvera_Summary" WHERE "At" < earlier LIMIT "Most");
        WHEN 'sign-in mails' THEN
            DELETE FROM public."Quvera_Mail" WHERE "Id" IN (
                SELECT "Id" FROM public."Quvera_Mail" WHERE "Kind" = 'SignIn' AND "QueuedAt" < earlier LIMIT "Most");
        WHEN 'enquiries' THEN
            DELETE FROM public."Quvera_Form" WHERE "Id" IN (
                SELECT "Id" FROM public."Quvera_Form" WHERE "ReceivedAt" < earlier LIMIT "Most");
    END CASE;
    GET DIAGNOSTICS erased = ROW_COUNT;
    RETURN erased;
END $$;
REVOKE EXECUTE ON FUNCTION "Quvera_erase_old"(TEXT, TIMESTAMPTZ, INT) FROM PUBLIC;
