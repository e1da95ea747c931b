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
