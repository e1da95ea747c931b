import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'

/** Browsers and proxies send a request when the one before is answered; this is for programs that do not wait. */
const UNANSWERED_MAX = 32

export interface Connections {
  /** Runs `then` once all that came whole over this connection is answered. */
  whenAnswered(socket: Socket, then: () => void): void
}

/** Knows which requests of a connection still wait for their answer, and cuts a connection with too many of them. */
export function watchConnections(app: FastifyInstance): Connections {
  const unanswered = new WeakMap<Socket, Set<FastifyReply['raw']>>()

  app.addHook('onRequest', ({ raw }, reply, done) => {
    const { socket } = raw
    // A client that has gone has no address any more, and needs no answer.
    if (socket.destroyed || !socket.remoteAddress) return void reply.hijack()
    const answers = unanswered.get(socket) ?? new Set()
    if (answers.add(reply.raw).size === 1) unanswered.set(socket, answers)
    if (answers.size <= UNANSWERED_MAX) return done()
    reply.hijack()
    socket.destroy()
  })
  // A listener for each answer would cost pages a fifth of their rate.
  app.addHook('onResponse', ({ raw }, reply, done) => {
    unanswered.get(raw.socket)?.delete(reply.raw)
    done()
  })

  return {
    whenAnswered(socket, then) {
      const whole = [...(unanswered.get(socket) ?? [])].filter(({ req }) => req.complete)
      let waiting = whole.length
      if (waiting === 0) return then()
      for (const answer of whole) answer.once('close', () => --waiting === 0 && then())
    },
  }
}
