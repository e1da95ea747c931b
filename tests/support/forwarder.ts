import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * An address that leads to a server, and may lead to another one later: as that of a managed PostgreSQL.
 * @param change what becomes of what clients send
 */
export async function startForwarder(port: number, change = (bytes: Buffer) => bytes) {
  const sockets = new Set<Socket>()
  let target = port
  let wakeMs = 0
  let awake: Promise<unknown> = Promise.resolve()

  const server = createServer(async (client) => {
    sockets.add(client)
    client.on('error', () => client.destroy()).on('close', () => sockets.delete(client))
    client.pause()
    if (wakeMs > 0) awake = sleep(wakeMs)
    wakeMs = 0
    await awake
    const upstream = connect(target, '127.0.0.1')
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
    client.on('data', (bytes) => upstream.write(change(bytes))).resume()
    upstream.pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(other: number) {
      target = other
    },
    /** Ends all connections; the next one is answered after so long. */
    async sleepUntilAsked(ms: number) {
      wakeMs = ms
      const ended = [...sockets].map((socket) => once(socket, 'close'))
      for (const socket of sockets) socket.destroy()
      await Promise.all(ended)
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
