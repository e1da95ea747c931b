import react from '@vitejs/plugin-react'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { paletteStyles } from '../client/build/pages-plugin.ts'
import { pictures } from '../client/build/pictures-plugin.ts'
import { CHROMIUM_FLAGS, chromiumPath } from './support/browser.ts'
import { reports } from './vitest.reports.ts'

const globalSetup = 'tests/support/global-setup.ts'
const sharedSite = 'tests/support/shared-site.ts'
const assertBrowser = 'tests/support/assert-browser.ts'

const SLOW = /\/(?:process|backup|roles|next-version|start|embedded|sender|told)\.test\.ts$/

/**
 * The files of each project one after the other, as a worker that changes between projects ends and loads all anew; of
 * each project the slow files first. The others are sorted by size, as a fresh clone has no times of an earlier run.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const rank = ({ project, moduleId }: TestSpecification) =>
      2 * ['client', 'e2e', 'server', 'shared'].indexOf(project.name) + Number(!SLOW.test(moduleId))
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

/** Four levels: rules, the server through its real interface, components in a browser, the whole in a browser. */
export default defineConfig({
  test: {
    ...reports,
    testTimeout: 300_000, // a loaded machine takes three times as long as a quiet one
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: LongestFirst },
    maxWorkers: 4, // on two cores: most files wait for a process, a browser or a timer
    projects: [
      {
        extends: true,
        test: { name: 'shared', isolate: false, include: ['tests/*.test.ts', 'tests/shared/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'server',
          isolate: false, // imports are loaded once for all files: loading them for each took a third of the CPU time
          include: ['tests/server/**/*.test.ts'],
          globalSetup,
        },
      },
      {
        extends: true,
        plugins: [react(), pictures(), paletteStyles],
        optimizeDeps: {
          include: [
            '@tanstack/react-query',
            '@trpc/client',
            'react-dom/client',
            'react-dom/server',
            'react-slick',
            'react-toastify/unstyled',
            'zod/mini',
          ],
        },
        test: {
          name: 'client',
          include: ['tests/client/**/*.test.tsx'],
          globalSetup: assertBrowser,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions: { executablePath: await chromiumPath(), args: CHROMIUM_FLAGS } }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          isolate: false, // as with the server's, and what drives the browser
          include: ['tests/e2e/**/*.test.ts'],
          globalSetup: [assertBrowser, globalSetup, sharedSite],
        },
      },
    ],
  },
})
