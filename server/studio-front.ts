// What browsers reach of Prisma Studio. It has short links, because Studio's own addresses with a filter have hundreds of
// characters. It refuses requests under a foreign name: a stranger's page could lead its own name to this machine.
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { OperatorError } from './errors.ts'

const LOOPBACK = '127.0.0.1'
const OWN_NAMES = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

type Filter = [column: string, operator: string, value: unknown]

/** `sort` and `pin` as Studio writes them. A row is shown if one of the filters applies, or if there is none. */
interface View {
  shows: string
  table: string
  sort: string
  pin?: string
  filters?: Filter[]
}

const enquiries = { table: 'Quvera_Form', sort: 'ReceivedAt:desc', pin: 'Status,Reference,Name,Mobile' }
const views: Record<string, View> = {
  all: { ...enquiries, shows: 'the enquiries, newest first', pin: 'Status,ReceivedAt,Reference,Name' },
  new: { ...enquiries, shows: 'nobody has answered', filters: [['Status', '=', 'New']] },
  spam: { ...enquiries, shows: 'suspected spam', filters: [['SuspectedSpam', '=', true]] },
  notes: {
    ...enquiries,
    shows: 'with a note',
    pin: `${enquiries.pin},Note`,
    filters: [['Note', 'is not', null]],
  },
  mails: {
    shows: 'bounced and failed mails',
    table: 'Quvera_Mail',
    sort: 'Id:desc',
    filters: ['Bounced', 'Failed'].map((status): Filter => ['Status', '=', status]),
  },
}

/** What follows the # in Studio's address. */
function addressOf({ table, sort, pin, filters = [] }: View): string {
  const group = {
    kind: 'FilterGroup',
    id: 'all',
    after: 'and',
    filters: filters.map(([column, operator, value], index) => {
      return { kind: 'ColumnFilter', column, operator, after: 'or', id: `filter ${index}`, value }
    }),
  }
  return [
    `schema=public&table=${table}&view=table&sort=${sort}`,
    ...(pin ? [`pin=${pin}`] : []),
    ...(filters.length > 0 ? [`filter=${encodeURIComponent(JSON.stringify(group))}`] : []),
  ].join('&')
}

/**
 * Serves the short links, and passes everything else on to Studio.
 * @param studioPort where Studio listens on the loopback address. It refuses the Origin of any other port
 * @returns a line for each link
 */
export async function serveStudioFront(at: { host: string; port: number }, studioPort: number): Promise<string[]> {
  const server = createServer((asked, answer) => {
    const { url = '', headers } = asked
    if (!OWN_NAMES.test(headers.host ?? '')) return answer.writeHead(403).end(`Open http://localhost:${at.port}\n`)
    const name = url.slice(1)
    const view = Object.hasOwn(views, name) && views[name]
    if (view) return answer.writeHead(302, { location: `/#${addressOf(view)}` }).end()
    passOn(asked, answer, studioPort)
  })
  await once(server.listen(at), 'listening').catch((error: Error) => {
    throw new OperatorError(`Studio cannot be served: ${error.message}. Does another one run?`)
  })
  return Object.entries(views).map(([name, { shows }]) => {
    const link = `http://localhost:${at.port}/${name}`
    return link.padEnd(30) + shows
  })
}

function passOn(asked: IncomingMessage, answer: ServerResponse, port: number): void {
  const { method, url, headers } = asked
  const host = `localhost:${port}`
  const isOwn = headers.origin === `http://${headers.host}`
  const passed = { ...headers, host, ...(isOwn && { origin: `http://${host}` }) }
  const sent = request({ host: LOOPBACK, port, method, path: url, headers: passed }, (found) => {
    answer.writeHead(found.statusCode ?? 502, found.headers)
    found.pipe(answer)
  })
  sent.on('error', () => answer.writeHead(502).end('Studio does not answer yet.\n'))
  asked.pipe(sent)
}
