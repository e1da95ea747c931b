import { defineConfig } from 'vitest/config'
import { reports } from './vitest.reports.ts'

/** Those that measure how long something takes, and want the machine for themselves. */
const MEASURING = [
  ...['resend-fails', 'database-gone', 'server-stopped', 'slow-bodies', 'cannot-write'].map(
    (name) => `tests/faults/${name}.test.ts`,
  ),
  'tests/release/unread-answers.test.ts',
]

/** What is tried before a release: real processes killed, frozen and lied to, and the tools around the server. */
export default defineConfig({
  test: {
    ...reports,
    testTimeout: 300_000, // longer than the longest wait in a test, 180 s
    hookTimeout: 300_000,
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
      {
        extends: true,
        test: {
          name: 'tools',
          include: ['tests/release/**/*.test.ts'],
          exclude: MEASURING,
          globalSetup: ['tests/support/global-setup.ts', 'tests/support/shared-site.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: MEASURING,
          globalSetup: 'tests/support/global-setup.ts',
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
