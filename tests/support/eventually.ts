import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until `check` stops throwing or returning false; its last failure is thrown after `timeoutMs`. */
export async function eventually(
  check: () => unknown,
  timeoutMs = Number(process.env.EVENTUALLY_MS ?? 120_000),
): Promise<void> {
  const end = Date.now() + timeoutMs
  for (;;) {
    try {
      if ((await check()) !== false) return
      if (Date.now() > end) throw new Error('The condition did not come true in time')
    } catch (error) {
      if (Date.now() > end) throw error
    }
    await sleep(25)
  }
}
