/** `npm run studio`: Prisma Studio, for looking. */
import { runStudio } from './operations/studio.ts'

await runStudio(process.env)
