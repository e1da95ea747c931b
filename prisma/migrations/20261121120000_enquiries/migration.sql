-- CreateEnum
CREATE TYPE "Quvera_BuyerType" AS ENUM ('Retailer', 'Self Use');

-- CreateEnum
CREATE TYPE "Quvera_Product" AS ENUM ('Quvera 300', 'Quvera XT');

-- CreateEnum
CREATE TYPE "Quvera_Status" AS ENUM ('New', 'Contacted', 'Closed');

-- CreateEnum
CREATE TYPE "Quvera_MailKind" AS ENUM ('Staff', 'Acknowledgement');

-- CreateEnum
CREATE TYPE "Quvera_MailStatus" AS ENUM ('Pending', 'Sent', 'Failed', 'Unknown', 'Withheld');

-- CreateTable
CREATE TABLE "Quvera_Form" (
    "Id" UUID NOT NULL,
    "Reference" TEXT NOT NULL,
    "ReceivedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "Name" TEXT NOT NULL,
    "Email" TEXT NOT NULL,
    "Mobile" TEXT NOT NULL,
    "Quantity" BIGINT NOT NULL,
    "RetailerSelfUse" "Quvera_BuyerType" NOT NULL,
    "Products" "Quvera_Product" NOT NULL,
    "Status" "Quvera_Status" NOT NULL DEFAULT 'New',
    "SuspectedSpam" BOOLEAN NOT NULL DEFAULT false,
    "NoticeVersion" TEXT NOT NULL,
    "SubmissionKey" UUID NOT NULL,

    CONSTRAINT "Quvera_Form_pkey" PRIMARY KEY ("Id")
);

-- CreateTable
CREATE TABLE "Quvera_Mail" (
    "Id" BIGSERIAL NOT NULL,
    "EnquiryId" UUID NOT NULL,
    "Kind" "Quvera_MailKind" NOT NULL,
    "Status" "Quvera_MailStatus" NOT NULL DEFAULT 'Pending',
    "Attempts" INTEGER NOT NULL DEFAULT 0,
    "NextAttemptAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "AmbiguousAt" TIMESTAMPTZ(3),
    "LastError" TEXT,
    "ResendId" TEXT,
    "SentAt" TIMESTAMPTZ(3),

    CONSTRAINT "Quvera_Mail_pkey" PRIMARY KEY ("Id")
);

-- CreateTable
CREATE TABLE "Quvera_Subscriber" (
    "Email" TEXT NOT NULL,
    "SubscribedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ConsentVersion" TEXT NOT NULL,

    CONSTRAINT "Quvera_Subscriber_pkey" PRIMARY KEY ("Email")
);

-- CreateIndex
CREATE UNIQUE INDEX "Quvera_Form_Reference_key" ON "Quvera_Form"("Reference");

-- CreateIndex
CREATE UNIQUE INDEX "Quvera_Form_SubmissionKey_key" ON "Quvera_Form"("SubmissionKey");

-- CreateIndex
CREATE INDEX "Quvera_Form_ReceivedAt_idx" ON "Quvera_Form"("ReceivedAt");

-- CreateIndex
CREATE INDEX "Quvera_Mail_Status_Kind_NextAttemptAt_idx" ON "Quvera_Mail"("Status", "Kind", "NextAttemptAt");

-- CreateIndex
CREATE UNIQUE INDEX "Quvera_Mail_EnquiryId_Kind_key" ON "Quvera_Mail"("EnquiryId", "Kind");

-- AddForeignKey
ALTER TABLE "Quvera_Mail" ADD CONSTRAINT "Quvera_Mail_EnquiryId_fkey" FOREIGN KEY ("EnquiryId") REFERENCES "Quvera_Form"("Id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What follows is written by hand: Prisma's schema language has no words for it.

-- The shape of an enquiry, also for those who edit it in Studio or psql.
ALTER TABLE "Quvera_Form"
    ADD CONSTRAINT "Quvera_Form_Name_check" CHECK ("Name" <> ''),
    ADD CONSTRAINT "Quvera_Form_Mobile_check" CHECK ("Mobile" ~ '^[0-9]{10}$'),
    ADD CONSTRAINT "Quvera_Form_Quantity_check" CHECK ("Quantity" BETWEEN 1 AND 9007199254740991);

-- Serve the limits on mails: three acknowledgements a day to one address, and a daily number of notices of suspected spam.
CREATE INDEX "Quvera_Form_address_idx" ON "Quvera_Form" (lower("Email"), "ReceivedAt");
CREATE INDEX "Quvera_Form_spam_idx" ON "Quvera_Form" ((CASE WHEN "SuspectedSpam" THEN "ReceivedAt" END)) WHERE "SuspectedSpam";

-- For staff: one line an enquiry, in the order in which one reads it, with Indian time and what became of the mails.
CREATE VIEW "Quvera_Enquiries" AS
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
    form."Id"
FROM "Quvera_Form" form
LEFT JOIN "Quvera_Mail" notice ON notice."EnquiryId" = form."Id" AND notice."Kind" = 'Staff'
LEFT JOIN "Quvera_Mail" acknowledgement ON acknowledgement."EnquiryId" = form."Id" AND acknowledgement."Kind" = 'Acknowledgement'
ORDER BY form."ReceivedAt" DESC;
