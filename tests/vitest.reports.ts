import type { ViteUserConfig } from 'vitest/config'

type TestOptions = NonNullable<ViteUserConfig['test']>

/** In CI each run also leaves its counts in a file, from which the last line of .ci/run is added up. */
export const reports: Pick<TestOptions, 'reporters' | 'outputFile'> = process.env.VITEST_REPORTS
  ? {
      reporters: ['default', 'json'],
      outputFile: { json: `${process.env.VITEST_REPORTS}/${crypto.randomUUID()}.json` },
    }
  : {}
