// Short links to what staff look at in Prisma Studio, whose own addresses with a filter have hundreds of characters.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OperatorError } from './errors.ts'

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
 * Redirects each short link to Studio.
 * @param studioUrl where the browser finds Studio
 * @returns a line for each link
 */
export async function serveStudioLinks(at: { host: string; port: number }, studioUrl: string): Promise<string[]> {
  const server = createServer(({ url = '' }, answer) => {
    const view = new Map(Object.entries(views)).get(url.slice(1))
    answer.writeHead(view ? 302 : 404, view && { location: `${studioUrl}/#${addressOf(view)}` }).end()
  })
  await once(server.listen(at), 'listening').catch((error: Error) => {
    throw new OperatorError(`The short links to Studio cannot be served: ${error.message}. Does another Studio run?`)
  })
  const { port } = server.address() as AddressInfo
  return Object.entries(views).map(([name, { shows }]) => `${`http://localhost:${port}/${name}`.padEnd(30)}${shows}`)
}
