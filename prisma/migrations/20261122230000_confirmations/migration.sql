-- AlterEnum
ALTER TYPE "Quvera_MailKind" ADD VALUE 'Confirmation';

-- AlterTable
ALTER TABLE "Quvera_Subscriber" ADD COLUMN     "ConfirmedAt" TIMESTAMPTZ(3),
ADD COLUMN     "EndsAt" TIMESTAMPTZ(3),
ADD COLUMN     "Id" UUID NOT NULL DEFAULT gen_random_uuid(),
ADD COLUMN     "Secret" TEXT NOT NULL DEFAULT replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');

-- AlterTable
ALTER TABLE "Quvera_Mail" ADD COLUMN     "SubscriberId" UUID;

-- CreateIndex
CREATE UNIQUE INDEX "Quvera_Subscriber_Id_key" ON "Quvera_Subscriber"("Id");

-- AddForeignKey
ALTER TABLE "Quvera_Mail" ADD CONSTRAINT "Quvera_Mail_SubscriberId_fkey" FOREIGN KEY ("SubscriberId") REFERENCES "Quvera_Subscriber"("Id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What follows is written by hand: Prisma's schema language has no words for it.

-- An order's mails have no subscriber and need not be written into it.
CREATE INDEX "Quvera_Mail_SubscriberId_idx" ON "Quvera_Mail" ("SubscriberId") WHERE "SubscriberId" IS NOT NULL;

-- Serves the limit on mails a day to a mailbox.
CREATE INDEX "Quvera_Subscriber_mailbox_idx" ON "Quvera_Subscriber" ("Quvera_mailbox"("Email"));
