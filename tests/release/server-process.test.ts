// A server process that is told to end during its start ends properly, and a wrong HOST is refused in one sentence.
import { describe, expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { aDatabase, aServer, refusalToStart } from '../support/fixtures.ts'

describe('a server process', () => {
  it.each([
    [{ HOST: 'no such host' }, /no such host\. HOST must be an address or a name of this machine\.$/],
    [{ HOST: '192.0.2.1' }, /192\.0\.2\.1.* HOST must be an address or a name of this machine\.$/],
  ])('says in a sentence what is wrong with %j', async (env, sentence) => {
    const lines = await refusalToStart({ ...(await aDatabase()), ...env })
    expect(lines).toEqual([expect.stringMatching(sentence)])
  })

  it.each([{ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://127.0.0.1:9' }, { NODE_OPTIONS: '--require=node:http' }])(
    'goes on where the environment has %j',
    async (env) => {
      const server = await aServer({ ...(await aDatabase()), ...env })
      expect((await submit(server.url, anOrder())).status).toBe(200)
      expect(server.process.exitCode).toBeNull()
    },
  )

  it('can be called off while it waits for the embedded database that another process has', async () => {
    const env = { DATA_DIR: await aFolder('quvera-start-') }
    await aServer(env)
    const second = await aServer(env, { waitUntilReady: false })
    await eventually(() => expect(second.stdout()).toContain('another process has the database in'))
    expect(await second.stop()).toEqual({ code: 143, signal: null })
  })
})
