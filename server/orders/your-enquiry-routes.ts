import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Act, acts, type FormOutcome, fieldOf, YOUR_ENQUIRY_PATH } from '../../shared/form-outcome.ts'
import { postedFields, takeForms } from '../http/bodies.ts'
import { answerTo, RequestError } from '../http/errors.ts'
import type { RateLimits } from '../http/limits.ts'
import type { SendPage } from '../http/rendered-pages.ts'
import { ActRefused, type YourEnquiries } from './your-enquiry.ts'

/** Serves the visitor's page. GET changes nothing, as mail scanners follow links; each act is a button of its own. */
export async function serveYourEnquiry(
  app: FastifyInstance,
  yourEnquiry: YourEnquiries,
  { limits, sendPage }: { limits: RateLimits; sendPage: SendPage },
): Promise<void> {
  const send = (shown: FormOutcome['yourEnquiry'], reply: FastifyReply, status = 200) =>
    sendPage(YOUR_ENQUIRY_PATH, { ...(shown && { yourEnquiry: shown }) }, reply.code(status))

  takeForms(app)
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // With no-referrer browsers would send `Origin: null`.
    reply.header('referrer-policy', 'same-origin').header('x-robots-tag', 'noindex')
    done()
  })
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof ActRefused) return send(error.page, reply, 400)
    const { status, problem } = answerTo(error, request)
    if (error instanceof RequestError && error.isFlood) return reply.code(status).send(problem.message)
    if (status === 404) return send('gone', reply, 404)
    const fields = postedFields(request)
    const act = readAct(fields.get('act'))
    const again = act && { act, token: fields.get('token') ?? '', value: fields.get(fieldOf(act)) ?? '' }
    return send({ ...(status < 500 && { message: problem.message }), ...(again && { again }) }, reply, status)
  })
  app.addHook('onRequest', async (request, reply) => {
    await limits.countOrRefuse(request.method === 'POST' ? 'act' : 'look', request, reply)
  })
  app.addHook('preHandler', (request, reply) => limits.countOrRefuse('token', request, reply))

  app.get<{ Querystring: { token?: unknown; done?: unknown } }>(YOUR_ENQUIRY_PATH, async ({ query }, reply) => {
    const done = readAct(query.done)
    if (done === 'notMine') return send(done, reply)
    const shown = await yourEnquiry.show(String(query.token))
    if (!shown) return send('gone', reply, 404)
    const { status, eraseAt } = shown.standing
    const stillHolds = { withdraw: status === 'Withdrawn', resume: status !== 'Withdrawn' }
    const isUndone = eraseAt || stillHolds[done as keyof typeof stillHolds] === false // this address may be an older one
    return send({ ...shown, ...(done && !isUndone && { done }) }, reply)
  })

  app.post(YOUR_ENQUIRY_PATH, async (request, reply) => {
    const fields = postedFields(request)
    const name = readAct(fields.get('act'))
    if (!name) throw new RequestError(400)
    const act = () => yourEnquiry.act(fields.get('token') ?? '', name, fields)
    // It sends a mail to an address that was typed, as an order does.
    const location = await (name === 'email' ? limits.countIfSuccessful('order', request, reply, act) : act())
    return reply.redirect(location, 303)
  })
}

function readAct(text: unknown): Act | undefined {
  return acts.find((act) => act === text)
}
