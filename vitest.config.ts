import { defineConfig } from 'vitest/config'
import { reports } from './vitest.reports.ts'

const globalSetup = 'tests/support/global-setup.ts'

/** Four levels: rules, the server through its real interface, components in a browser, the whole in a browser. */
export default defineConfig({
  test: {
    ...reports,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'shared', include: ['tests/shared/**/*.test.ts'] } },
      { extends: true, test: { name: 'server', include: ['tests/server/**/*.test.ts'], globalSetup } },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/e2e/**/*.test.ts'],
          globalSetup,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
