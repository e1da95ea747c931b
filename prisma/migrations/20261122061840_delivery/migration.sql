-- AlterEnum
ALTER TYPE "Quvera_MailKind" ADD VALUE 'Digest';

-- AlterEnum
ALTER TYPE "Quvera_MailStatus" ADD VALUE 'Delivered';
ALTER TYPE "Quvera_MailStatus" ADD VALUE 'Bounced';
ALTER TYPE "Quvera_MailStatus" ADD VALUE 'Complained';

-- AlterTable
ALTER TABLE "Quvera_Form" ADD COLUMN     "Note" TEXT;

-- AlterTable
ALTER TABLE "Quvera_Mail" ADD COLUMN     "BundledInto" BIGINT,
ADD COLUMN     "CheckedAt" TIMESTAMPTZ(3),
ADD COLUMN     "Text" TEXT,
ALTER COLUMN "EnquiryId" DROP NOT NULL;

-- CreateTable
CREATE TABLE "Quvera_MailEvent" (
    "Id" TEXT NOT NULL,
    "ResendId" TEXT NOT NULL,
    "Type" TEXT NOT NULL,
    "Reason" TEXT,
    "ReceivedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Quvera_MailEvent_pkey" PRIMARY KEY ("Id")
);

-- CreateTable
CREATE TABLE "Quvera_Lease" (
    "Name" TEXT NOT NULL,
    "Holder" TEXT NOT NULL,
    "Until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Quvera_Lease_pkey" PRIMARY KEY ("Name")
);

-- CreateIndex
CREATE INDEX "Quvera_MailEvent_ResendId_idx" ON "Quvera_MailEvent"("ResendId");

-- CreateIndex
CREATE INDEX "Quvera_Mail_ResendId_idx" ON "Quvera_Mail"("ResendId");

-- CreateIndex
CREATE INDEX "Quvera_Mail_SentAt_idx" ON "Quvera_Mail"("SentAt");

-- CreateIndex
CREATE INDEX "Quvera_Mail_BundledInto_idx" ON "Quvera_Mail"("BundledInto");

-- AddForeignKey
ALTER TABLE "Quvera_Mail" ADD CONSTRAINT "Quvera_Mail_BundledInto_fkey" FOREIGN KEY ("BundledInto") REFERENCES "Quvera_Mail"("Id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Replaced and not made anew, so that the rights on it stay: a new column can only stand at the end.
CREATE OR REPLACE VIEW "Quvera_Enquiries" AS
SELECT
    form."Reference",
    to_char(form."ReceivedAt" AT TIME ZONE 'Asia/Kolkata', 'DD Mon YYYY HH24:MI "IST"') AS "Received",
    form."Status",
    form."Name",
    form."Mobile",
    form."Email",
    form."Products",
    form."Quantity",
    form."RetailerSelfUse",
    form."SuspectedSpam",
    coalesce(notice."Status"::text, '-') AS "StaffMail",
    coalesce(acknowledgement."Status"::text, '-') AS "AcknowledgementMail",
    coalesce(notice."LastError", acknowledgement."LastError", '') AS "LastError",
    form."ReceivedAt",
    form."Id",
    form."Note"
FROM "Quvera_Form" form
LEFT JOIN "Quvera_Mail" notice ON notice."EnquiryId" = form."Id" AND notice."Kind" = 'Staff'
LEFT JOIN "Quvera_Mail" acknowledgement ON acknowledgement."EnquiryId" = form."Id" AND acknowledgement."Kind" = 'Acknowledgement'
ORDER BY form."ReceivedAt" DESC;
