import { expect, it } from 'vitest'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { createStages, report } from '../support/fault-stage.ts'
import { sendOrders } from '../support/load.ts'
import { freePort } from '../support/server-process.ts'

const { setUp } = createStages()

it('three kills during 3,000 orders whose clients repeat them lose and double nothing', async () => {
  const stage = await setUp()
  const PORT = String(await freePort())
  let server = await stage.start({ PORT })
  const killAt = [500, 1300, 2200]
  let restarting: Promise<unknown> = Promise.resolve()
  const load = await sendOrders({
    url: () => `http://127.0.0.1:${PORT}`,
    orders: 3000,
    concurrency: 32,
    retry: true,
    onAnswer(count) {
      if (count < (killAt[0] ?? Number.POSITIVE_INFINITY)) return
      killAt.shift()
      restarting = server.stop('SIGKILL').then(async () => {
        server = await stage.start({ PORT })
      })
    },
  })
  await restarting
  const result = await stage.inspect((db) => audit(db, load, stage.resend))
  report('3 kills, clients repeat', result)
  expect(killAt).toEqual([])
  expect(result.acknowledged).toBe(3000)
  expectNothingLost(result)
})

it('a kill whose clients give up loses no answered order, and mails every stored one', async () => {
  const stage = await setUp()
  const PORT = String(await freePort())
  const server = await stage.start({ PORT })
  let killed: Promise<unknown> | undefined
  const load = await sendOrders({
    url: () => `http://127.0.0.1:${PORT}`,
    orders: 1000,
    concurrency: 32,
    retry: false,
    onAnswer(count) {
      if (count === 400) killed = server.stop('SIGKILL')
    },
  })
  await killed
  await stage.start({ PORT })
  const result = await stage.inspect((db) => audit(db, load, stage.resend))
  report('kill, clients give up', result)
  expect(result.acknowledged).toBeLessThan(1000)
  expect(result.stored).toBeGreaterThanOrEqual(result.acknowledged)
  expectNothingLost(result)
})

it('kills in the middle of sending send every mail once', async () => {
  const stage = await setUp()
  const PORT = String(await freePort())
  stage.resend.behaviour = { slowMs: 40 }
  let server = await stage.start({ PORT, RESEND_API_KEY: '' })
  const load = await sendOrders({ url: () => server.url, orders: 200, concurrency: 16, retry: true })
  await server.stop()
  server = await stage.start({ PORT })
  for (const sent of [60, 150, 250]) {
    await eventually(() => stage.resend.mails.length >= sent)
    await server.stop('SIGKILL')
    server = await stage.start({ PORT })
  }
  const result = await stage.inspect((db) => audit(db, load, stage.resend))
  const repeated = stage.resend.calls.all - stage.resend.mails.length
  report('3 kills while sending', { ...result, callsRepeated: repeated })
  expect(repeated).toBeGreaterThan(0)
  expectNothingLost(result)
})

it('two servers on one database share the orders, and the one that stays takes over', async () => {
  const stage = await setUp()
  const servers = await Promise.all([stage.start(), stage.start()])
  let turn = 0
  let killed: Promise<unknown> | undefined
  const load = await sendOrders({
    url: () => servers[turn++ % 2]?.url ?? '',
    orders: 1000,
    concurrency: 32,
    retry: true,
    onAnswer(count) {
      if (count === 500) killed = servers[1]?.stop('SIGKILL')
    },
  })
  const result = await stage.inspect((db) => audit(db, load, stage.resend))
  const [stayed = 0, killedOne = 0] = servers.map((server) => load.acknowledgedBy.get(server.url))
  report('2 servers, one killed', { ...result, stayed, killedOne })
  expect(await killed).toEqual({ code: null, signal: 'SIGKILL' })
  expect(result.acknowledged).toBe(1000)
  // Each took about half of the 500 orders before the kill.
  expect(killedOne).toBeGreaterThan(150)
  expect(stayed).toBeGreaterThan(150)
  expectNothingLost(result)
})
