import { defineConfig } from 'vitest/config'
import { reports } from './vitest.reports.ts'

/** Those that measure how long something takes, and want the machine for themselves. */
const MEASURING = ['resend-fails', 'database-gone', 'server-stopped', 'cannot-write'].map(
  (name) => `tests/faults/${name}.test.ts`,
)

/** Faults: real processes are killed, frozen and lied to. */
export default defineConfig({
  test: {
    ...reports,
    testTimeout: 180_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'two at a time',
          include: ['tests/faults/**/*.test.ts'],
          exclude: MEASURING,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'alone', include: MEASURING, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
  },
})
