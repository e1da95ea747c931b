import { onTestFinished } from 'vitest'

/** Does all of it after the test that is running, the last first, whether it passed or failed. */
export function atEnd(...endings: (() => unknown)[]): void {
  for (const end of endings)
    onTestFinished(async () => {
      await end()
    })
}
