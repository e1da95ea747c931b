import * as z from 'zod/mini'
import { pagePaths } from './page-paths.ts'

const milliseconds = z.exactOptional(z.number().check(z.minimum(0), z.maximum(600_000)))

/** How fast a page was in somebody's hands: what the browser can measure of it. */
export const vitalsSchema = z.strictObject({
  page: z.enum(pagePaths as string[]),
  LCP: milliseconds,
  INP: milliseconds,
  TTFB: milliseconds,
  CLS: z.exactOptional(z.number().check(z.minimum(0), z.maximum(100))),
})

export type Vitals = z.infer<typeof vitalsSchema>
