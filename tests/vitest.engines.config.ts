import { defineConfig } from 'vitest/config'
import { reports } from './vitest.reports.ts'

/** What matters most, in the browser that BROWSER names: `firefox` or `webkit`, as Debian has them. */
export default defineConfig({
  test: {
    ...reports,
    include: ['tests/engines/**/*.test.ts'],
    globalSetup: 'tests/support/global-setup.ts',
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
