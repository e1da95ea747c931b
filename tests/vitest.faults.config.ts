import { defineConfig } from 'vitest/config'
import { reports } from './vitest.reports.ts'

/** Faults: real processes are killed, frozen and lied to. One at a time, since they load the machine. */
export default defineConfig({
  test: {
    ...reports,
    include: ['tests/faults/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
})
