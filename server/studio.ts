/** `npm run studio`: Prisma Studio, for looking. */
import { runStudio } from './staff/studio.ts'

await runStudio(process.env)
