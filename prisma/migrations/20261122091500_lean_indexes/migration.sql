-- An order writes two mails that have none of these values yet: it need not write them into three indexes as well,
-- which made it a tenth slower under load. Prisma's schema cannot name the condition; the names are the ones it expects.
DROP INDEX "Quvera_Mail_ResendId_idx", "Quvera_Mail_SentAt_idx", "Quvera_Mail_BundledInto_idx";
CREATE INDEX "Quvera_Mail_ResendId_idx" ON "Quvera_Mail" ("ResendId") WHERE "ResendId" IS NOT NULL;
CREATE INDEX "Quvera_Mail_SentAt_idx" ON "Quvera_Mail" ("SentAt") WHERE "SentAt" IS NOT NULL;
CREATE INDEX "Quvera_Mail_BundledInto_idx" ON "Quvera_Mail" ("BundledInto") WHERE "BundledInto" IS NOT NULL;
