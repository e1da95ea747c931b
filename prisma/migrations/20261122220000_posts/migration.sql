-- AlterEnum
ALTER TYPE "Quvera_MailKind" ADD VALUE 'Post';
